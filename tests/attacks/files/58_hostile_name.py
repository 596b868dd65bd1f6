"""A line break, quotes and a bidirectional override in the name."""

from __future__ import annotations

from pathlib import Path

ENTRY = 58
TITLE = "a name that breaks lines"
EXPECTED = "graded"
FLAGS = ("renamed",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"a\n'\"\u202e{folder.name}.ipynb").write_bytes(honest)
