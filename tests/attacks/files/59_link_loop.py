"""A folder that holds itself."""

from __future__ import annotations

from pathlib import Path

ENTRY = 59
TITLE = "a link to the folder above"
EXPECTED = "rejected"
REASON = "symbolic link"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / "again").symlink_to(folder)
