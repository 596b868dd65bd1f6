"""Tests that ask nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENTRY = 17
TITLE = "tests replaced by pass"
EXPECTED = "graded"
FLAGS = ("edited-locked-cell",)
SMUGGLED = ("SMUGGLED",)


def is_tests(cell: dict[str, Any]) -> bool:
    """Whether a cell holds tests: graded, and not for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("grade")) and not meta.get("solution")


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    for cell in filter(is_tests, notebook["cells"]):
        cell["source"] = "pass  # SMUGGLED"
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
