"""Notebooks as instructors write them, cell by cell: the one place where tests make cells with nbgrader's metadata."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.when_used import when_used

nbformat = when_used("nbformat")
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
ROLES = {"grade": False, "solution": False, "locked": False, "task": False}


def code(source: str, grade_id: str = "", points: float | None = None, **roles: bool) -> Any:
    """A code cell; one with a grade_id has nbgrader's metadata."""
    return _with_metadata(nbformat.v4.new_code_cell(source), grade_id, points, roles)


def text(source: str, grade_id: str = "", points: float | None = None, **roles: bool) -> Any:
    """A markdown cell."""
    return _with_metadata(nbformat.v4.new_markdown_cell(source), grade_id, points, roles)


def solution(source: str, grade_id: str) -> Any:
    """A cell that students fill in."""
    return code(source, grade_id, solution=True)


def tests(source: str, grade_id: str, points: float) -> Any:
    """A cell that gives points."""
    return code(source, grade_id, points, grade=True, locked=True)


def notebook(*cells: Any, kernel: str = "python3") -> Any:
    """A notebook whose cells are numbered, so that it is the same each time."""
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return nbformat.v4.new_notebook(cells=list(cells), metadata={"kernelspec": KERNEL | {"name": kernel}})


def write(path: Path, *cells: Any, kernel: str = "python3") -> Path:
    """The notebook of these cells as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook(*cells, kernel=kernel), path)
    return path


def _with_metadata(cell: Any, grade_id: str, points: float | None, roles: dict[str, bool]) -> Any:
    if grade_id:
        given = {} if points is None else {"points": points}
        cell.metadata["nbgrader"] = {"schema_version": 3, "grade_id": grade_id} | ROLES | roles | given
    return cell
