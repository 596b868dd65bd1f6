"""A kernel that is a command and a path."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 57
TITLE = "kernelspec of odd types"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["metadata"] = {"kernelspec": {"name": "../../bin/sh -c id", "argv": ["sh"]}, "language_info": 7}
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
