"""Some editors and platforms save no metadata."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 80
TITLE = "no metadata at all"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
