"""Folders in folders in folders."""

from __future__ import annotations

from pathlib import Path

ENTRY = 60
TITLE = "a notebook sixty folders down"
EXPECTED = "rejected"
REASON = "folders deep"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    for _ in range(60):
        folder = folder / "d"
    folder.mkdir(parents=True)
    (folder / "deep.ipynb").write_bytes(honest)
