"""Opening it would wait for ever."""

from __future__ import annotations

import os
from pathlib import Path

ENTRY = 59
TITLE = "the notebook is a named pipe"
EXPECTED = "rejected"
REASON = "named pipe"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    os.mkfifo(folder / f"{folder.name}.ipynb")
