"""Code that no parser can take: it is read, and fails when it runs."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 56
TITLE = "brackets nested 40,000 deep in an added cell"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "x = " + "(" * 40_000 + ")" * 40_000})
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
