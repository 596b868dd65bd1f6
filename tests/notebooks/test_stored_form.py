"""Notebooks are stored in one form only: no outputs, no traces of an editor, stable ids, one JSON layout."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
STORED = [
    path.relative_to(NOTEBOOKS).as_posix()
    for path in sorted(NOTEBOOKS.rglob("*.ipynb"))
    if ".ipynb_checkpoints" not in path.parts
]

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
IN_A_NOTEBOOK = {"kernelspec", "language_info", "accelerator"}
IN_A_CELL = {"nbgrader", "tags", "deletable", "editable"}
"""what may stand in the metadata; `deletable` and `editable` are how nbgrader locks a cell"""

pytestmark = pytest.mark.parametrize("name", STORED)


def _stored(name: str) -> tuple[str, nbformat.NotebookNode]:
    text = (NOTEBOOKS / name).read_text(encoding="utf-8")
    return text, nbformat.reads(text, as_version=4)


def test_a_notebook_is_valid_and_its_cells_have_ids_of_their_own(name: str) -> None:
    text, notebook = _stored(name)
    nbformat.validate(json.loads(text))
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


def test_a_notebook_holds_no_output_and_no_execution_count(name: str) -> None:
    _, notebook = _stored(name)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.id for cell in code if cell.outputs or cell.execution_count is not None] == []


def test_a_notebook_names_the_plain_kernel_and_no_version(name: str) -> None:
    _, notebook = _stored(name)
    assert notebook.metadata.kernelspec == KERNEL
    assert notebook.metadata.get("language_info", {}).keys() <= {"name"}
    assert notebook.metadata.keys() <= IN_A_NOTEBOOK


def test_no_cell_keeps_traces_of_an_editor(name: str) -> None:
    _, notebook = _stored(name)
    assert {key for cell in notebook.cells for key in cell.metadata} <= IN_A_CELL
    assert [cell.id for cell in notebook.cells if cell.get("attachments")] == []


def test_the_file_is_laid_out_as_nbformat_writes_it(name: str) -> None:
    """One line of source for each line of the file, so that a small change is a small difference."""
    text, notebook = _stored(name)
    assert text == nbformat.writes(notebook) + "\n"


def test_no_line_ends_in_blanks_and_no_cell_is_empty(name: str) -> None:
    _, notebook = _stored(name)
    assert [
        cell.id for cell in notebook.cells if not cell.source.strip() or cell.source != cell.source.strip("\n")
    ] == []
    assert [line for cell in notebook.cells for line in cell.source.splitlines() if line != line.rstrip()] == []
