"""A hundred thousand cells."""

from __future__ import annotations

from pathlib import Path

ENTRY = 56
TITLE = "10^5 cells"
EXPECTED = "rejected"
REASON = "cells"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(
        b'{"cells": [' + b'{"cell_type": "code", "source": "x = 1"},' * 100_000 + b"{}]}"
    )
