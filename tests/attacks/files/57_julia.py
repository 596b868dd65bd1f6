"""The kernel is the instructor's, whatever the file says."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 57
TITLE = "kernelspec and language say Julia"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["metadata"] = {
        "kernelspec": {"name": "julia-1.10", "language": "julia"},
        "language_info": {"name": "julia"},
    }
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
