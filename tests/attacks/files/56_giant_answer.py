"""A megabyte of code in one answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENTRY = 56
TITLE = "an answer of 1 MB"
EXPECTED = "rejected"
REASON = "characters of code"


def is_solution(cell: dict[str, Any]) -> bool:
    """Whether a cell is code for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("solution")) and cell["cell_type"] == "code"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    next(filter(is_solution, notebook["cells"]))["source"] += "\nx = 1" * 200_000
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
