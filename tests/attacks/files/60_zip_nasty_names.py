"""Names that file systems and shells take for something else."""

from __future__ import annotations

import zipfile
from pathlib import Path

ENTRY = 60
TITLE = "folders called -rf, a line break, a Windows device"
EXPECTED = "graded"
FLAGS = ("renamed-student",)


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a zip."""
    path = folder / "class.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in ("alice", "zoe"):
            archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest)
        for number, student in enumerate(("-rf", "a\nb", 'a"b', "con", "x" * 250)):
            archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest + b" " * number)
    return path
