"""Write the notebook that a person reads when grading by hand: the instructor's cells with the student's answers.

It is a new nbformat 4.5 document, not an edited copy of what was handed in: nothing of the student's reaches it but
the text of cells. No outputs, no attachments, no metadata of theirs, and no tag in their prose that a browser obeys.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from autograder.records import Cell, Notebook, Role

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SCHEMA_VERSION = 3
"""of nbgrader's cell metadata"""


def notebook_json(notebook: Notebook, cells: list[dict[str, Any]]) -> str:
    """The document as JSON, one byte sequence for one content."""
    used: set[str] = set()
    for number, cell in enumerate(cells):
        cell["id"] = _fresh_id(cell["id"], number, used)
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": notebook.kernel_name},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return compact(document)


def compact(document: Mapping[str, Any]) -> str:
    """JSON without indents, which take Python ten times as long and a class a tenth more room."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


def instructors_cell(cell: Cell, answer: str | None) -> dict[str, Any]:
    """One of the instructor's cells; in a solution, manual or plain cell with the student's text, if there is one."""
    text = cell.source if _is_locked(cell) else cell.released
    if answer is not None and answer != cell.released:
        text = answer if cell.kind == "code" else without_tags(answer)
    metadata: dict[str, Any] = {"tags": list(cell.tags)} if cell.tags else {}
    if cell.role is not Role.PLAIN:
        metadata |= {"nbgrader": nbgrader_metadata(cell)}
        if _is_locked(cell):
            metadata |= {"deletable": False, "editable": False}
    return _cell(cell.kind, text, cell.grade_id or "", metadata)


def students_cell(kind: str, source: str) -> dict[str, Any]:
    """A cell that the student added. Raw cells, which a page would copy as they are, become prose."""
    if kind == "code":
        return _cell("code", source, "", {})
    return _cell("markdown", without_tags(source), "", {})


def without_tags(markdown: str) -> str:
    """Prose in which no HTML tag is left: `<b>` becomes `< b>`, which reads the same in text, code and formulas."""
    return _TAG.sub("< ", markdown)


def nbgrader_metadata(cell: Cell) -> dict[str, Any]:
    """What nbgrader writes on a released cell, the checksum included: it tells untouched answers by it."""
    graded = cell.role in (Role.TESTS, Role.MANUAL)
    metadata: dict[str, Any] = {
        "cell_type": cell.kind,
        "checksum": checksum(cell, cell.source if _is_locked(cell) else cell.released),
        "grade": graded,
        "grade_id": cell.grade_id,
        "locked": _is_locked(cell),
        "schema_version": _SCHEMA_VERSION,
        "solution": cell.role in (Role.SOLUTION, Role.MANUAL),
        "task": cell.role is Role.TASK,
    }
    return metadata | ({"points": cell.points} if graded or cell.role is Role.TASK else {})


def checksum(cell: Cell, text: str) -> str:
    """nbgrader's MD5 of a cell (`nbgrader.utils.compute_checksum`), without the two seconds of importing it."""
    graded, solution = cell.role in (Role.TESTS, Role.MANUAL), cell.role in (Role.SOLUTION, Role.MANUAL)
    parts = [text, cell.kind, str(graded), str(solution), str(_is_locked(cell)), cell.grade_id or ""]
    parts += [str(float(cell.points))] if graded else []
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()


def _is_locked(cell: Cell) -> bool:
    return cell.role in (Role.TESTS, Role.LOCKED, Role.TASK)


def _cell(kind: str, source: str, cell_id: str, metadata: dict[str, Any]) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": cell_id, "metadata": metadata, "source": source}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _fresh_id(wanted: str, number: int, used: set[str]) -> str:
    fits = bool(_CELL_ID.fullmatch(wanted)) and wanted not in used
    chosen = wanted if fits else f"cell-{number}"
    while chosen in used:
        chosen += "-"
    used.add(chosen)
    return chosen
