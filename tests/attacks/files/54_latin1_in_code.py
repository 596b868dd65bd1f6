"""A character of the answer is lost: no guess, the student types it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENTRY = 54
TITLE = "Latin-1 in the code of an answer"
EXPECTED = "rejected"
REASON = "broken character"


def is_solution(cell: dict[str, Any]) -> bool:
    """Whether a cell is code for the student to write."""
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("solution")) and cell["cell_type"] == "code"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    next(filter(is_solution, notebook["cells"]))["source"] += "\nname = 'PLACE'"
    honest = json.dumps(notebook).encode().replace(b"PLACE", b"caf\xe9")
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
