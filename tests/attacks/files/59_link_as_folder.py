"""The same with the whole folder."""

from __future__ import annotations

from pathlib import Path

ENTRY = 59
TITLE = "the folder is a symbolic link to the neighbour's"
EXPECTED = "rejected"
REASON = "symbolic link"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    folder.rmdir()
    folder.symlink_to(folder.parent.parent / "alice" / folder.name)
