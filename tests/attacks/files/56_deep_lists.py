"""Deeper than any parser's stack."""

from __future__ import annotations

from pathlib import Path

ENTRY = 56
TITLE = "JSON nested 10^5 deep"
EXPECTED = "rejected"
REASON = "nested"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")
