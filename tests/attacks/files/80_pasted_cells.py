"""Copy, paste, write something else: the id of the copied cell comes along."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

ENTRY = 80
TITLE = "locked cells pasted and written over"
EXPECTED = "graded"


def is_tests(cell: dict[str, Any]) -> bool:
    """Whether a cell holds tests: graded, and not for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("grade")) and not meta.get("solution")


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        cells.append(cell)
        if is_tests(cell):
            cells.append(copy.deepcopy(cell) | {"source": f"tried_{number} = 'printing'"})
    notebook["cells"] = cells
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
