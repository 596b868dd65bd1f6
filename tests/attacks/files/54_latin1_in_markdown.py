"""Bytes that are no UTF-8 where nothing depends on them."""

from __future__ import annotations

from pathlib import Path

ENTRY = 54
TITLE = "Latin-1 in a heading"
EXPECTED = "graded"
FLAGS = ("repaired",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest.replace(b"# ", b"# \xe9 ", 1))
