"""The same beside an honest notebook."""

from __future__ import annotations

import os
from pathlib import Path

ENTRY = 59
TITLE = "a named pipe beside the notebook"
EXPECTED = "rejected"
REASON = "named pipe"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    os.mkfifo(folder / "data.csv")
