"""Text that is no JSON at all."""

from __future__ import annotations

from pathlib import Path

ENTRY = 53
TITLE = "not JSON"
EXPECTED = "rejected"
REASON = "not a notebook"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(b"print('hello')")
