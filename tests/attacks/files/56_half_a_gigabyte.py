"""A sparse file of 512 MiB: no memory is taken for it."""

from __future__ import annotations

import os
from pathlib import Path

ENTRY = 56
TITLE = "a notebook of 512 MiB"
EXPECTED = "rejected"
REASON = "MiB"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    os.truncate(folder / f"{folder.name}.ipynb", 512 << 20)
