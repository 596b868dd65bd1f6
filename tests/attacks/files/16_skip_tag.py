"""nbclient leaves out cells with this tag: untested code then has full marks in nbgrader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENTRY = 16
TITLE = "tests tagged skip-execution"
EXPECTED = "graded"
FLAGS = ("skip-tag",)


def is_tests(cell: dict[str, Any]) -> bool:
    """Whether a cell holds tests: graded, and not for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("grade")) and not meta.get("solution")


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    for cell in notebook["cells"]:
        if is_tests(cell):
            cell["metadata"]["tags"] = ["skip-execution", "otter_ignore", "raises-exception"]
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
