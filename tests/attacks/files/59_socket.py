"""Something listens where a file should be."""

from __future__ import annotations

import os
import socket
from pathlib import Path

ENTRY = 59
TITLE = "a socket beside the notebook"
EXPECTED = "rejected"
REASON = "socket"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    here = os.open(folder, os.O_RDONLY)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{here}/data.csv")
    os.close(here)
