"""More files than anybody hands in."""

from __future__ import annotations

from pathlib import Path

ENTRY = 60
TITLE = "thousands of files in one folder"
EXPECTED = "rejected"
REASON = "files"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    for number in range(2_100):
        (folder / str(number)).touch()
