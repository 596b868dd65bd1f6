"""Both are graded; the instructor is told, and judges."""

from __future__ import annotations

from pathlib import Path

ENTRY = 65
TITLE = "one file under two names"
EXPECTED = "graded"
FLAGS = ("identical",)


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a flat folder."""
    for student in ("alice", "zoe", "mallory"):
        (folder / f"{student}.ipynb").write_bytes(honest)
    return folder
