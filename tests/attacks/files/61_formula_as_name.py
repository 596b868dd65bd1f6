"""Opened in a spreadsheet, such a name is a command."""

from __future__ import annotations

from pathlib import Path

ENTRY = 61
TITLE = "students called =cmd() and @SUM()"
EXPECTED = "graded"
FLAGS = ("renamed-student",)


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a flat folder."""
    for student in ("alice", "zoe"):
        (folder / f"{student}.ipynb").write_bytes(honest)
    for number, name in enumerate(("=cmd|' -C calc'!A0", "@SUM(1+1)", "+1", "-1")):
        (folder / f"{name}.ipynb").write_bytes(honest + b" " * number)
    return folder
