"""Half of an emoji in a string: it cannot be encoded, so it cannot be run."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 54
TITLE = "a lone surrogate in code"
EXPECTED = "rejected"
REASON = "broken character"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "x = 'PLACE'"})
    honest = json.dumps(notebook).replace("PLACE", "\\ud83d").encode()
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
