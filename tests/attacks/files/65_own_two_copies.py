"""One of several notebooks is graded, and the others are named."""

from __future__ import annotations

from pathlib import Path

ENTRY = 65
TITLE = "two different copies in one folder"
EXPECTED = "graded"
FLAGS = ("several-notebooks",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / f"{folder.name} (1).ipynb").write_bytes(honest + b" ")
