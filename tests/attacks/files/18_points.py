"""Whoever sets the points needs no answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENTRY = 18
TITLE = "points of every tests cell set to 1000"
EXPECTED = "graded"
FLAGS = ("changed-metadata",)


def is_tests(cell: dict[str, Any]) -> bool:
    """Whether a cell holds tests: graded, and not for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("grade")) and not meta.get("solution")


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    for cell in filter(is_tests, notebook["cells"]):
        cell["metadata"]["nbgrader"]["points"] = 1000
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
