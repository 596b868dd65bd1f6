"""Each answer claims to be another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENTRY = 18
TITLE = "ids of the solution cells passed round"
EXPECTED = "graded"


def is_solution(cell: dict[str, Any]) -> bool:
    """Whether a cell is code for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("solution")) and cell["cell_type"] == "code"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    answers = [cell for cell in notebook["cells"] if is_solution(cell)]
    ids = [cell["metadata"]["nbgrader"]["grade_id"] for cell in answers]
    for cell, other in zip(answers, ids[1:] + ids[:1], strict=True):
        cell["metadata"]["nbgrader"]["grade_id"] = other
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
