"""What some browsers make of an unknown type."""

from __future__ import annotations

from pathlib import Path

ENTRY = 58
TITLE = "name.ipynb.txt"
EXPECTED = "graded"
FLAGS = ("renamed",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb.txt").write_bytes(honest)
