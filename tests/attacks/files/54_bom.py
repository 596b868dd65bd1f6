"""A mark that the JSON parser stumbles over."""

from __future__ import annotations

from pathlib import Path

ENTRY = 54
TITLE = "UTF-8 with a byte order mark"
EXPECTED = "graded"
FLAGS = ("repaired",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(b"\xef\xbb\xbf" + honest)
