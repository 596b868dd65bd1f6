"""Tests that claim to be solutions, solutions that claim to be locked."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 18
TITLE = "grade, solution and locked turned round"
EXPECTED = "graded"
FLAGS = ("changed-metadata",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    for cell in notebook["cells"]:
        meta = cell["metadata"].get("nbgrader", {})
        for key in ("grade", "solution", "locked", "task"):
            meta[key] = not meta.get(key)
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
