"""Copies of an answer with its id; the last one that was worked on counts."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

ENTRY = 18
TITLE = "every answer first in an unfinished version"
EXPECTED = "graded"
FLAGS = ("duplicate-cell",)


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
            cells.append(copy.deepcopy(cell) | {"source": "unfinished = True\n" + cell["source"]})
        cells.append(cell)
    notebook["cells"] = cells
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
