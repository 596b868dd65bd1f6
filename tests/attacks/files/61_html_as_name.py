"""Shown on the instructor's page, such a name is a script."""

from __future__ import annotations

from pathlib import Path

ENTRY = 61
TITLE = "a student called <script>"
EXPECTED = "graded"
FLAGS = ("renamed-student",)


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a flat folder."""
    for student in ("alice", "zoe"):
        (folder / f"{student}.ipynb").write_bytes(honest)
    (folder / "<script>alert(1)<script>.ipynb").write_bytes(honest + b" ")
    return folder
