"""What a browser calls a second download."""

from __future__ import annotations

from pathlib import Path

ENTRY = 58
TITLE = "name (1).ipynb"
EXPECTED = "graded"
FLAGS = ("renamed",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name} (1).ipynb").write_bytes(honest)
