"""An upload that broke off."""

from __future__ import annotations

from pathlib import Path

ENTRY = 53
TITLE = "cut off in the middle"
EXPECTED = "rejected"
REASON = "cut off"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest[: len(honest) // 2])
