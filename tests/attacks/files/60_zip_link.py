"""Unpacked, a later entry would be written through it."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

ENTRY = 60
TITLE = "a symbolic link in a zip"
EXPECTED = "rejected"
REASON = "symbolic link"


def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
    """Write the class as a zip."""
    path = folder / "class.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in ("alice", "zoe"):
            archive.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest)
        link = zipfile.ZipInfo(f"mallory/{assignment}/{assignment}.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    return path
