"""An entry that aims at the neighbour's file."""

from __future__ import annotations

import zipfile
from pathlib import Path

ENTRY = 60
TITLE = "a path that leads back to alice's folder"
EXPECTED = "rejected"
REASON = "leads out of the zip"


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a zip."""
    path = folder / "class.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in ("alice", "zoe"):
            archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest)
        archive.writestr(f"mallory/../alice/{assignment}/{assignment}.ipynb", b"{}")
    return path
