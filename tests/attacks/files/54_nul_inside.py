"""NUL bytes where JSON has blanks."""

from __future__ import annotations

from pathlib import Path

ENTRY = 54
TITLE = "NUL bytes inside"
EXPECTED = "rejected"
REASON = "not a notebook"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest.replace(b"\n", b"\0\n"))
