"""The answers stand in the tests cells, whose text is the instructor's, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENTRY = 17
TITLE = "solution wrapped in the tests cell"
EXPECTED = "graded without answers"
FLAGS = ("edited-locked-cell", "missing-cell")
SMUGGLED = ("SMUGGLED",)


def is_solution(cell: dict[str, Any]) -> bool:
    """Whether a cell is code for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("solution")) and cell["cell_type"] == "code"


def is_tests(cell: dict[str, Any]) -> bool:
    """Whether a cell holds tests: graded, and not for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("grade")) and not meta.get("solution")


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    answers = [cell for cell in notebook["cells"] if is_solution(cell)]
    for tests, answer in zip(filter(is_tests, notebook["cells"]), answers, strict=False):
        tests["source"] = "SMUGGLED = 1\n" + answer["source"] + "\n" + tests["source"]
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("solution")]
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
