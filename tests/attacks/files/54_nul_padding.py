"""What a full disk or a crash leaves at the end."""

from __future__ import annotations

from pathlib import Path

ENTRY = 54
TITLE = "NUL bytes after the end"
EXPECTED = "graded"
FLAGS = ("repaired",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest + bytes(4096))
