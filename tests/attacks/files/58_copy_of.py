"""What Google Drive calls a copy."""

from __future__ import annotations

from pathlib import Path

ENTRY = 58
TITLE = "Copy of name"
EXPECTED = "graded"
FLAGS = ("renamed",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"Copy of {folder.name}.ipynb").write_bytes(honest)
