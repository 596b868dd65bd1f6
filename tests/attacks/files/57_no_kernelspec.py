"""A notebook that names no kernel."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 57
TITLE = "no kernelspec"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["metadata"] = {}
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
