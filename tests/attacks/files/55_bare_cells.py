"""No ids, no outputs, no metadata where none is needed, no notebook metadata, sources as lists of lines."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 55
TITLE = "everything optional is missing"
EXPECTED = "graded"
FLAGS = ("repaired",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    bare = []
    for cell in notebook["cells"]:
        kept = {"cell_type": cell["cell_type"], "source": cell["source"].splitlines(keepends=True)}
        bare.append(kept | ({"metadata": cell["metadata"]} if cell["metadata"] else {}))
    notebook = {"cells": bare}
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
