"""300 MiB of blanks in 300 KiB."""

from __future__ import annotations

import zipfile
from pathlib import Path

ENTRY = 60
TITLE = "a small entry that unpacks to 300 MiB"
EXPECTED = "rejected"
REASON = "MiB"


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a zip."""
    path = folder / "class.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in ("alice", "zoe"):
            archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest)
        with archive.open(f"mallory/{assignment}/{assignment}.ipynb", "w") as entry:
            for _ in range(300):
                entry.write(b" " * (1 << 20))
    return path
