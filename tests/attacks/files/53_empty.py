"""A file of no bytes."""

from __future__ import annotations

from pathlib import Path

ENTRY = 53
TITLE = "empty"
EXPECTED = "rejected"
REASON = "empty"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(b"")
