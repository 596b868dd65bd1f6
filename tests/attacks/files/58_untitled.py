"""A name that says nothing: known by what is inside."""

from __future__ import annotations

from pathlib import Path

ENTRY = 58
TITLE = "Untitled.ipynb"
EXPECTED = "graded"
FLAGS = ("renamed",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / "Untitled.ipynb").write_bytes(honest)
