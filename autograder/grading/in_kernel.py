"""Score the test cells of a foreign nbgrader assignment as nbgrader scores honest work, without its known faults.

nbgrader reads a test cell's score off its outputs, first one first. That is kept for work that plays by the rules: an
error is 0, a number as the last expression is partial credit, anything else that ran is full marks. Repaired
is what costs honest students points (a warning on stderr counted as an error) or gives dishonest ones marks (a number
displayed before the error, one that is negative or not a number, a cell of which no end was seen).
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autograder.grading.items import LIMITS, manual_item, was_attempted
from autograder.records import Flag, Item, Notebook, Report, Role, SubmittedNotebook, Verdict

if TYPE_CHECKING:
    from autograder.kernels.session import CellResult

_NUMPY_SCALAR = re.compile(r"np\.(?:float|int|uint|longdouble)\w*\((.*)\)", re.DOTALL)
"""How NumPy 2 shows a scalar. nbgrader takes it for text and gives full marks."""
_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_MISSING = re.compile(rf"NameError: name '(\w+)' is not defined|{_MISSING_MODULE.pattern}")
_OWN_LINE = re.compile(r' \(line \d{1,6} of (?:your cell "([^"]*)"|a cell that you added)\)$')
_ROUNDING = 1e-9
"""Relative to the cell's points: 0.1 + 0.2 of 0.3 points is full marks, not an overflow."""


def items_in_kernel(
    notebook: Notebook, submitted: SubmittedNotebook, all_ran: Sequence[CellResult]
) -> tuple[list[Item], list[Flag]]:
    """The items of a foreign notebook: its test cells, from the instructor's copy, were run beside the student's code.

    all_ran: what running each planned cell showed.
    """
    ran = {cell.grade_id: ran for cell, ran in zip(submitted.plan, all_ran, strict=True) if cell.grade_id}
    items, flags = [], []
    read = "\n".join([*(cell.released for cell in notebook.cells), *(text for _, text in submitted.answers)])
    own = [grade_id for grade_id, _ in submitted.answers]
    for cell in notebook.graded():
        if cell.role is not Role.TESTS:
            items.append(manual_item(notebook, cell, submitted))
            continue
        found = ran.get(cell.grade_id or "")
        item = Item(notebook.name, cell.grade_id or "", 0.0, cell.points, found.verdict if found else Verdict.NOT_RUN)
        if found is None or item.verdict in (*LIMITS, Verdict.NOT_RUN):
            reason = found.error if found else "this test cell was not run"
            items.append(dataclasses.replace(item, message=f"While the tests ran: {reason}."))
            continue
        # Both the reply and the outputs must speak for it: either alone is easier to silence.
        points, verdict = score_in_kernel(
            found.outputs, "ok" if found.verdict is Verdict.PASSED else "error", cell.points
        )
        odd = odd_result(found.outputs, cell.points)
        if odd:
            flags.append(Flag("odd-result", odd, cell.grade_id))
        if verdict is Verdict.FAILED and not was_attempted(notebook, cell, submitted):
            verdict = Verdict.NOT_ATTEMPTED
        message = ""
        if verdict is Verdict.FAILED:
            told = f"A test of this cell failed: {_told(found.error, read, own)}."
            message = told if found.error else "The tests of this cell gave your answer no points."
        items.append(dataclasses.replace(item, points=points, verdict=verdict, message=message))
    return items, flags


def _told(error: str, read: str, grade_ids: Collection[str]) -> str:
    """What a student may read of an error in a test cell: its kind, since the text may quote a hidden test.

    Of a missing name or module that as well, if it stands in `read`, what the student was handed or wrote; and the
    line, if it is one of the student's own.
    """
    missing, place = _MISSING.match(error), _OWN_LINE.search(error)
    known = missing and re.search(rf"\b{re.escape(missing[1] or missing[2])}\b", read)
    told = missing[0] if missing and known else re.split(r"\W", error, maxsplit=1)[0]
    return told + (place[0] if place and (place[1] or "") in ("", *grade_ids) else "")


def why_reference_fails(report: Report) -> str:
    """What keeps the instructor's own answers from passing their own tests; empty if nothing does.

    report: of the instructor's notebooks, handed in. One in which an answer is missing is not held to anything, nor one
    that misses a file, which another notebook may have written: each runs by itself here.
    """
    names = dict.fromkeys(item.notebook for item in report.items)
    excused = ("NotImplementedError", *(["FileNotFoundError"] if len(names) > 1 else []))
    for name in names:
        runs = [run for run in report.runs if run.notebook == name]
        items = [item for item in report.items if item.notebook == name]
        if any(run.error.startswith(excused) for run in runs):
            continue
        wrong = next((item for item in items if item.verdict in (*LIMITS, Verdict.FAILED, Verdict.NOT_RUN)), None)
        if wrong is not None:
            return _why(wrong, [run.error for run in runs if run.error])
    return ""


def _why(item: Item, errors: Sequence[str]) -> str:
    modules = [found[1] for error in errors if (found := _MISSING_MODULE.search(error))]
    cause = f" The first error was: {errors[0]}." if errors else ""
    step = "Put the notebook right, or let the answer `raise NotImplementedError()` where the source is to have none"
    if modules:
        cause = f" The module {modules[0]} is not installed: {next(e for e in errors if modules[0] in e)}."
        step = f"Install {modules[0]} where autograder is installed"
    return (
        f"{item.notebook}.ipynb: with the instructor's own answers the tests cell '{item.grade_id}' is not passed "
        f"({item.verdict}), so nobody is graded.{cause} {step}; then run the same command again."
    )


def score_in_kernel(
    cell_outputs: Sequence[Mapping[str, Any]], execution_status: str | bool, max_points: float
) -> tuple[float, Verdict]:
    """Points and verdict of a test cell that was run beside the student's code.

    `cell_outputs`: outputs as nbformat stores them. `execution_status`: the status of the kernel's reply (`ok`,
    `error`, `aborted`), or whether the cell was seen to end at all. A score that no honest test gives (negative, more
    than the cell's points, not finite) counts 0 and is left to a person.
    """
    if any(output.get("output_type") == "error" for output in cell_outputs) or execution_status == "error":
        return 0.0, Verdict.FAILED
    if execution_status not in (True, "ok"):
        # No output is no proof: nbgrader gives full marks to a cell whose kernel died quietly.
        return 0.0, Verdict.NOT_RUN
    value = _partial(cell_outputs)
    if value is None:
        return max_points, Verdict.PASSED
    slack = _ROUNDING * max(max_points, 1.0)
    if not -slack <= value <= max_points + slack:  # also false for NaN
        return 0.0, Verdict.NEEDS_MANUAL
    if value >= max_points:
        return max_points, Verdict.PASSED
    return (value, Verdict.PARTIAL) if value > 0 else (0.0, Verdict.FAILED)


def odd_result(cell_outputs: Sequence[Mapping[str, Any]], max_points: float) -> str:
    """What an instructor should know of a test cell's last value; empty for what a test cell usually ends in."""
    result = _last_result(cell_outputs)
    if result is None:
        return ""
    shown = result if len(result) <= 60 else result[:59] + "…"
    value = _number(result)
    if value is None:
        return f"The test cell ends in a value that is no number ({shown}), which gives full marks, as in nbgrader."
    if math.isnan(value) or not 0 <= value <= max_points * (1 + _ROUNDING):
        return f"The test cell ends in {shown}, but its score lies between 0 and {max_points:g}. A person decides."
    return ""


def _partial(outputs: Sequence[Mapping[str, Any]]) -> float | None:
    """The number that a test cell gives as its score; None if its last value is none."""
    result = _last_result(outputs)
    return None if result is None else _number(result)


def _last_result(outputs: Sequence[Mapping[str, Any]]) -> str | None:
    # The last one: what student code displays from inside the tested function comes before the cell's own value.
    results = [output for output in outputs if output.get("output_type") == "execute_result"]
    if not results:
        return None
    data = results[-1].get("data")
    text = data.get("text/plain", "") if isinstance(data, Mapping) else ""
    return "".join(text) if isinstance(text, list) else str(text)


def _number(text: str) -> float | None:
    shown = text.strip()
    if found := _NUMPY_SCALAR.fullmatch(shown):
        shown = found[1]
    try:
        return float(shown)
    except ValueError:
        return None
