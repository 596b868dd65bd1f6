"""The same in the other system's spelling."""

from __future__ import annotations

import zipfile
from pathlib import Path

ENTRY = 60
TITLE = "..\\ in a zip"
EXPECTED = "rejected"
REASON = "leads out of the zip"


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a zip."""
    path = folder / "class.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in ("alice", "zoe"):
            archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest)
        archive.writestr(f"..\\\\alice\\\\{assignment}\\\\{assignment}.ipynb", honest)
    return path
