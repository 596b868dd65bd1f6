"""Copying a cell copies its id: an innocent Ctrl-C, Ctrl-V that stops nbgrader's whole batch."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

ENTRY = 18
TITLE = "every tests cell twice"
EXPECTED = "graded"
FLAGS = ("duplicate-cell",)


def is_tests(cell: dict[str, Any]) -> bool:
    """Whether a cell holds tests: graded, and not for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("grade")) and not meta.get("solution")


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    doubled = [[cell, copy.deepcopy(cell)] if is_tests(cell) else [cell] for cell in notebook["cells"]]
    notebook["cells"] = [cell for pair in doubled for cell in pair]
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
