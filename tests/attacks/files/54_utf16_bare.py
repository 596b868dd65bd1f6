"""UTF-16 that does not say so."""

from __future__ import annotations

from pathlib import Path

ENTRY = 54
TITLE = "UTF-16 without a mark"
EXPECTED = "graded"
FLAGS = ("repaired",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest.decode().encode("utf-16-be"))
