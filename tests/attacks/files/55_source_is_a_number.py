"""A source that is no text cannot be repaired."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENTRY = 55
TITLE = "source is a number"
EXPECTED = "rejected"
REASON = "not text"


def is_solution(cell: dict[str, Any]) -> bool:
    """Whether a cell is code for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("solution")) and cell["cell_type"] == "code"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    next(filter(is_solution, notebook["cells"]))["source"] = 42
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
