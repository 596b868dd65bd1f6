"""The right answers, from one place: the solution cells of the instructor's notebook, run in the judge's process.

Of the cells around them only what defines something is run (imports, functions, classes, constants): the reference
must not wait for a plot or a training loop that the notebook shows.
"""

from __future__ import annotations

import ast
import functools
import linecache
import types
from collections.abc import Collection, Mapping
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

from autograder.errors import BadAssignment
from autograder.records import Assignment, Cell, Role

DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def reference_names(
    assignment: Assignment,
    edits: Mapping[str, str] | None = None,
    *,
    may_fail: bool = False,
    mended: Collection[str] = (),
) -> dict[str, Any]:
    """The namespace after the reference solution has run. `edits` replaces solution cells by grade_id.

    may_fail: a cell that raises leaves what it has defined, and the next one runs, as in a notebook. Otherwise raises
    BadAssignment naming the cell. mended: cells behind whose edits the reference's own run.
    """
    names: dict[str, Any] = {"__name__": "reference"}
    for notebook in assignment.notebooks:
        for cell in notebook.cells:
            if cell.kind == "code" and cell.role is not Role.TESTS:
                whole = cell.role in (Role.SOLUTION, Role.MANUAL)
                sources = [(edits or {}).get(cell.grade_id or "", cell.source)]
                if cell.grade_id in mended:
                    sources.append(cell.source)
                for source in sources:
                    _run_cell(assignment, cell, source, whole, names, may_fail)
    return names


def _run_cell(
    assignment: Assignment, cell: Cell, source: str, whole: bool, names: dict[str, Any], may_fail: bool
) -> None:
    try:
        exec(_compiled(source, cell.grade_id or "cell", whole), names)
    except SyntaxError as error:
        where = f"the cell {cell.grade_id or source[:40]!r}"
        raise BadAssignment(f"{assignment.name}: {where} is not valid Python: {error}") from error
    except Exception as error:
        if may_fail:
            return
        where = f"the reference's cell {cell.grade_id or source[:40]!r}"
        finding = f"{type(error).__name__}: {error}"
        raise BadAssignment(f"{assignment.name}: {where} does not run in the judge: {finding}") from error


@functools.cache
def _compiled(source: str, name: str, whole: bool) -> types.CodeType:
    """Variants of a solution share most of their cells, so each text is compiled once."""
    text = TransformerManager().transform_cell(source)
    tree = ast.parse(text)
    if not whole:
        tree.body = [node for node in tree.body if _defines(node)]
    # By its number: `tf.function` looks for the source of what it traces, and each variant has its own.
    filename = f"<reference {name}, {len(linecache.cache)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    return compile(tree, filename, "exec")


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, DEFINITIONS):
        return True
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return False
    try:
        ast.literal_eval(node.value)
    except ValueError:
        return False
    return True
