"""The neighbour's answers as one's own."""

from __future__ import annotations

from pathlib import Path

ENTRY = 59
TITLE = "the notebook is a symbolic link to the neighbour's"
EXPECTED = "rejected"
REASON = "symbolic link"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    neighbour = folder.parent.parent / "alice" / folder.name / f"{folder.name}.ipynb"
    (folder / neighbour.name).symlink_to(neighbour)
