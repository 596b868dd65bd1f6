"""Python takes quadratic time for whole numbers of many digits."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 56
TITLE = "a number of ten million digits"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["metadata"]["n"] = "PLACE"
    honest = json.dumps(notebook).encode().replace(b'"PLACE"', b"7" * 10_000_000)
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
