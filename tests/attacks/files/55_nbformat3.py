"""Worksheets and `input`, as ten years ago."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 55
TITLE = "notebook format 3"
EXPECTED = "graded"
FLAGS = ("repaired",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
            cell["language"] = "python"
    notebook = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": notebook["cells"]}]}
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
