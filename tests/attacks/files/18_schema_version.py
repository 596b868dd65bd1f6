"""In nbgrader this stops the grading of everybody after this student."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 18
TITLE = "metadata of a future version"
EXPECTED = "graded"
FLAGS = ("changed-metadata",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    for cell in notebook["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["schema_version"] = 99
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
