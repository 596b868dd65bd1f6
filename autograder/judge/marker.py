"""Read `@pytest.mark.cell(...)`: which tests cell a hidden check counts for, and how. A misspelt marker is refused."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import pytest

from autograder.errors import BadAssignment
from autograder.judge.diagnosis import SEARCHES
from autograder.records import Evidence


@dataclass(frozen=True)
class Marker:
    """What a check's marker says."""

    grade_id: str
    """the tests cell"""
    weight: float = 1.0
    evidence: Evidence = Evidence.RECOMPUTED
    """the most that it may be called: what it uses decides, and may lower it"""
    shown: bool = True
    """whether a failure may be repeated on demonstration inputs and shown"""
    needs: str = ""
    """`cuda`: says nothing where kernels offer no CUDA device"""
    search: str = SEARCHES[0]
    """how far the mistake behind a failure is looked for"""


OPTIONS = tuple(field.name for field in dataclasses.fields(Marker) if field.name != "grade_id")
ACCEPTED: dict[str, tuple[Any, ...]] = {
    "evidence": (str(Evidence.OBSERVED),),
    "shown": (True, False),
    "needs": ("cuda",),
    "search": SEARCHES,
}


def read_marker(item: pytest.Function, tests_cells: Collection[str]) -> Marker:
    """The marker of a check. Raises BadAssignment, naming file and line and what is accepted."""
    marks = list(item.iter_markers("cell"))
    finding = _finding(marks[0], tests_cells) if marks else "has no marker: add @pytest.mark.cell(GRADE_ID)"
    if finding:
        path, line, name = item.reportinfo()
        raise BadAssignment(f"{path}, line {(line or 0) + 1}: the check {name.partition('[')[0]} {finding}.")
    grade_id, options = marks[0].args[0], dict(marks[0].kwargs)
    if "evidence" in options:
        options["evidence"] = Evidence(options["evidence"])
    return Marker(grade_id, **options)


def _finding(mark: pytest.Mark, tests_cells: Collection[str]) -> str:
    """What is wrong with a marker; empty if nothing is."""
    if len(mark.args) != 1:
        return "must name one tests cell and give all else by keyword: @pytest.mark.cell(GRADE_ID, weight=2)"
    if mark.args[0] not in tests_cells:
        return f"names the tests cell {mark.args[0]!r}, which is not there. There are: {', '.join(tests_cells)}"
    for option, value in mark.kwargs.items():
        if option not in OPTIONS:
            return f"has the unknown option {option!r}. Known: {', '.join(OPTIONS)}"
        if option in ACCEPTED and value not in ACCEPTED[option]:
            return f"has {option}={value!r}. Accepted: {', '.join(map(repr, ACCEPTED[option]))}"
    weight = mark.kwargs.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight < math.inf:
        return f"has weight={weight!r}. Accepted: a number from 0 upwards"
    return ""
