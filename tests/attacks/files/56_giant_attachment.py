"""A photograph of 20 MB in a text cell is honest, and dropped."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 56
TITLE = "an attachment of 20 MB"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["cells"][0]["attachments"] = {"photo.png": {"image/png": "A" * (20 << 20)}}
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
