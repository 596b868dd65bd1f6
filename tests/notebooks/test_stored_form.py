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


def test_a_notebook_is_valid_its_cells_have_ids_of_their_own_and_the_file_is_laid_out_as_nbformat_writes_it(
    name: str,
) -> None:
    """One line of source for each line of the file, so that a small change is a small difference."""
    text = (NOTEBOOKS / name).read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(json.loads(text))
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert text == nbformat.writes(notebook) + "\n"


def test_it_names_the_plain_kernel_and_keeps_no_output_no_traces_of_an_editor_no_blanks_and_no_empty_cell(
    name: str,
) -> None:
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    assert notebook.metadata.kernelspec == KERNEL
    assert notebook.metadata.get("language_info", {}).keys() <= {"name"}
    assert notebook.metadata.keys() <= IN_A_NOTEBOOK
    for cell in notebook.cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None, cell.id
        assert cell.metadata.keys() <= IN_A_CELL and not cell.get("attachments"), cell.id
        assert cell.source.strip() and cell.source == cell.source.strip("\n"), cell.id
        assert [line for line in cell.source.splitlines() if line != line.rstrip()] == [], cell.id
