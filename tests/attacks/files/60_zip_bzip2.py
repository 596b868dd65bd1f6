"""Cannot be unpacked piece by piece, and so not within limits."""

from __future__ import annotations

import zipfile
from pathlib import Path

ENTRY = 60
TITLE = "packed with bzip2"
EXPECTED = "rejected"
REASON = "deflate"


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a zip."""
    path = folder / "class.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in ("alice", "zoe"):
            archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest)
        archive.writestr(f"mallory/{assignment}/{assignment}.ipynb", honest, zipfile.ZIP_BZIP2)
    return path
