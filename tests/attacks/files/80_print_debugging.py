"""What an honest student leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 80
TITLE = "added cells that print and explain"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        cells += [cell, {"cell_type": "code", "metadata": {}, "source": f"print({number})  # does it work?"}]
        cells.append({"cell_type": "markdown", "metadata": {}, "source": "It works: 1 < 2."})
    notebook["cells"] = cells
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
