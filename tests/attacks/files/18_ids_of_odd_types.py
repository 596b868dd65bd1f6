"""Metadata of every wrong type."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 18
TITLE = "nbgrader metadata that is no metadata"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    odd = [
        None,
        3,
        [],
        "text",
        {"grade_id": 7},
        {"grade_id": ["a"]},
        {"grade_id": None, "points": {}},
        {"grade_id": ""},
    ]
    for number, value in enumerate(odd):
        cell = {"cell_type": "code", "metadata": {"nbgrader": value, "tags": value}, "source": f"extra_{number} = 1"}
        notebook["cells"].append(cell)
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
