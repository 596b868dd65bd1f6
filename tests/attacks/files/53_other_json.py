"""Valid JSON that is something else."""

from __future__ import annotations

from pathlib import Path

ENTRY = 53
TITLE = "JSON, but a list of numbers"
EXPECTED = "rejected"
REASON = "not an object"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(b"[1, 2, 3]")
