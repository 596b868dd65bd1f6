"""How verdicts become points, and the items of a submission one word."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.grading import item_of, overall
from autograder.records import Cell, CheckResult, Evidence, Item, Notebook, Role, Verdict

OURS, SEEN = Verdict.GRADER_ERROR, Evidence.OBSERVED


@pytest.mark.parametrize(
    ("found", "verdict", "points"),
    [
        ([("passed", 1), (OURS, 1)], OURS, 2.0),
        ([("failed", 1), (OURS, 1)], OURS, 0.0),
        ([("passed", 1), ("failed", 1), (OURS, 2)], OURS, 1.0),
        ([("passed", 1), (OURS, 0)], "passed", 4.0),
        ([("passed", 0), (OURS, 0)], OURS, 0.0),
        ([("passed", 1, SEEN), (OURS, 1)], OURS, 0.0),
        ([("not run", 0), (OURS, 1)], OURS, 0.0),
    ],
)
def test_what_broke_keeps_its_weight(found: list[Any], verdict: str, points: float) -> None:
    notebook = Notebook("n", (Cell("code", "", Role.TESTS, "t", 4.0),))
    checks = [CheckResult("c", Verdict(v), "", float(w), *evidence) for v, w, *evidence in found]
    item = item_of(notebook, notebook.cells[0], checks)
    assert (item.verdict, item.points, item.max_points) == (verdict, points, 4.0)


P, F, N = Verdict.PASSED, Verdict.FAILED, Verdict.NOT_ATTEMPTED


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ([(P, 1)], P),
        ([(P, 1), (P, 0)], P),
        ([(P, 1), (F, 0)], Verdict.PARTIAL),
        ([(Verdict.PARTIAL, 0.5)], Verdict.PARTIAL),
        ([(F, 0), (N, 0)], F),
        ([(N, 0)], N),
        ([(Verdict.TIME, 0), (N, 0)], Verdict.TIME),
        ([(Verdict.CRASH, 0), (Verdict.NOT_RUN, 0)], Verdict.CRASH),
        ([(Verdict.TIME, 0), (Verdict.MEMORY, 0)], F),
        ([(Verdict.TIME, 0), (F, 0)], F),
        ([(P, 1), (Verdict.NEEDS_MANUAL, 0)], Verdict.NEEDS_MANUAL),
        ([(Verdict.GRADER_ERROR, 0), (Verdict.NEEDS_MANUAL, 0), (P, 1)], Verdict.GRADER_ERROR),
        ([], Verdict.NOT_RUN),
    ],
)
def test_the_state_of_a_submission_follows_from_its_items(found: list[tuple[Verdict, float]], word: Verdict) -> None:
    assert overall([Item("n", "g", points, 1.0, verdict) for verdict, points in found]) is word
