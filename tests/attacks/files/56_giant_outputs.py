"""A print in a loop is honest, and outputs are never looked at."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 56
TITLE = "outputs of 20 MB"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["line of some output\n"] * 100_000}]
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
