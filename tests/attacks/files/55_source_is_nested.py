"""A list of lists of lines."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 55
TITLE = "source is a nested list"
EXPECTED = "rejected"
REASON = "not text"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["cells"][0]["source"] = [["# Title"]]
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
