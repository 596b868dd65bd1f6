"""Half of an emoji, as some editors leave it, in a comment of an added cell."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 54
TITLE = "a lone surrogate in a comment"
EXPECTED = "graded"
FLAGS = ("repaired",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "x = 1  # PLACE"})
    honest = json.dumps(notebook).replace("PLACE", "\\ud83d").encode()
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
