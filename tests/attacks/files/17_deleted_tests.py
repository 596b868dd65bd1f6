"""A tests cell that is not there cannot fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENTRY = 17
TITLE = "tests deleted"
EXPECTED = "graded"
FLAGS = ("missing-cell",)


def is_tests(cell: dict[str, Any]) -> bool:
    """Whether a cell holds tests: graded, and not for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("grade")) and not meta.get("solution")


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["cells"] = [cell for cell in notebook["cells"] if not is_tests(cell)]
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
