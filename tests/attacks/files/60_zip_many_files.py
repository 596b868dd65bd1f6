"""More files than anybody hands in."""

from __future__ import annotations

import zipfile
from pathlib import Path

ENTRY = 60
TITLE = "thousands of entries in one submission"
EXPECTED = "rejected"
REASON = "files"


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a zip."""
    path = folder / "class.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in ("alice", "zoe"):
            archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest)
        archive.writestr(f"mallory/{assignment}/{assignment}.ipynb", honest)
        for number in range(5_000):
            archive.writestr(f"mallory/{assignment}/{number}", b"")
    return path
