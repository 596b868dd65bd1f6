"""A zip inside is not unpacked."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

ENTRY = 60
TITLE = "a zip instead of the notebook, inside the class's zip"
EXPECTED = "rejected"
REASON = "No notebook"


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a zip."""
    path = folder / "class.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in ("alice", "zoe"):
            archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest)
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as packed:
            packed.writestr(f"{assignment}.ipynb", honest)
        archive.writestr(f"mallory/{assignment}/{assignment}.zip", inner.getvalue())
    return path
