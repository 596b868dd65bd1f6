"""The same with objects, never closed."""

from __future__ import annotations

from pathlib import Path

ENTRY = 56
TITLE = "objects nested 10^6 deep"
EXPECTED = "rejected"
REASON = "nested"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(b'{"a":' * 1_000_000)
