"""Ten million empty lists in 30 MB: a gigabyte once parsed."""

from __future__ import annotations

from pathlib import Path

ENTRY = 56
TITLE = "10^7 values"
EXPECTED = "rejected"
REASON = "values"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(b'{"cells": [' + b"[]," * 10_000_000 + b"1]}")
