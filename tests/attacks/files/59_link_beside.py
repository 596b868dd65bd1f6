"""nbgrader copies what such a link leads to into its own folder."""

from __future__ import annotations

from pathlib import Path

ENTRY = 59
TITLE = "a symbolic link beside the notebook"
EXPECTED = "rejected"
REASON = "symbolic link"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / "leak.txt").symlink_to("/etc/passwd")
