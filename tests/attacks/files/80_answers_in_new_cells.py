"""The answers stand in cells of the student's own; their true cells were emptied."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

ENTRY = 80
TITLE = "answers in new cells"
EXPECTED = "graded"


def is_solution(cell: dict[str, Any]) -> bool:
    """Whether a cell is code for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("solution")) and cell["cell_type"] == "code"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    cells = []
    for cell in notebook["cells"]:
        if is_solution(cell):
            cells.append(copy.deepcopy(cell) | {"source": ""})
            cells.append({"cell_type": "code", "metadata": {}, "source": cell["source"]})
        else:
            cells.append(cell)
    notebook["cells"] = cells
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
