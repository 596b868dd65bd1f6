"""Another case, another ending."""

from __future__ import annotations

from pathlib import Path

ENTRY = 58
TITLE = "NAME.IPYNB"
EXPECTED = "graded"
FLAGS = ("renamed",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name.upper()}.IPYNB").write_bytes(honest)
