"""Lateness and names come from the platform, never from the file."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 64
TITLE = "timestamp.txt, student and checksums forged"
EXPECTED = "graded"
FLAGS = ("dropped-file",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["metadata"] |= {"student": "alice", "timestamp": "1999-01-01", "authors": [{"name": "alice"}]}
    for cell in notebook["cells"]:
        cell["metadata"].get("nbgrader", {})["checksum"] = "0" * 32
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
    (folder / "timestamp.txt").write_text("not a date")
    (folder / "student_id.txt").write_text("alice")
