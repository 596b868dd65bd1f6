"""A second name of one's own file: seen, and harmless."""

from __future__ import annotations

import os
from pathlib import Path

ENTRY = 59
TITLE = "the notebook has a second hard link"
EXPECTED = "graded"
FLAGS = ("hard-link",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    os.link(folder / f"{folder.name}.ipynb", folder / "backup")
