"""What checks of training code may say: how far off its end is, which mistake they saw, that a device was missing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from autograder.grading import item_of, overall
from autograder.judge.run import Checks
from autograder.records import VIRTUAL_CUDA, Evidence, Verdict

Judge = Callable[..., Any]

DESCEND = {
    "descend": "def descend(w, rate, steps):\n"
    "    for _ in range(steps):\n"
    "        w = w - rate * 2 * w\n"
    "    return {'w': w, 'order': ['backward', 'step'] * steps}"
}
CHECKS = '''
@pytest.mark.cell("test_descend")
@pytest.mark.parametrize("steps", [1, 3])
def test_weights(student, reference, draw, expect, steps):
    """The weights are right after one and three steps."""
    w = draw.normal((3, 2), dtype="float32")
    got, right = student.descend(w, 0.1, steps), reference.descend(w, 0.1, steps)
    expect.trajectory({"w": got["w"]}, {"w": right["w"]}, {"w": w}, steps=steps)

@pytest.mark.cell("test_descend", evidence="observed")
def test_order(student, draw, expect, flag):
    """Each step follows its gradient."""
    order = student.descend(draw.normal(2), 0.1, 2)["order"]
    expect.true(order[:1] != ["step"], "the first step came before any gradient.", fault="step-first")
    if len(order) != 4:
        flag(f"2 steps were asked for, {len(order) // 2} were recorded")

@pytest.mark.cell("test_descend", evidence="observed", needs="cuda")
def test_copies(student, device, draw, expect):
    """Nothing is copied on the device."""
    expect.equal(device, "cuda")
    student.descend(draw.normal(2), 0.1, 1)
'''
FAULTS = """
FAULTS = [
    Fault("uphill", "descend", {"w - rate": "w + rate"}, "You climb."),
    Fault("step-first", cell="descend", words="You step before there is a gradient."),
    Fault("wrong-type", cell="descend", words="A list has no gradient.", raises=r"TypeError: .*list"),
]
"""


@pytest.fixture
def small(judged: Judge) -> Any:
    return judged(DESCEND, CHECKS, FAULTS)


def edited(old: str, new: str) -> dict[str, str]:
    assert old in DESCEND["descend"]
    return {"descend": DESCEND["descend"].replace(old, new)}


def test_the_distance_is_kept_in_tolerances(small: Any) -> None:
    assert small.results()["test_weights"].distance == 0
    rounded = small.results(edited("rate * 2 * w", "2 * rate * w"))["test_weights"]
    assert rounded.verdict is Verdict.PASSED and 0 <= rounded.distance < 0.1
    wrong = small.results(edited("2 * w", "2.1 * w"))["test_weights"]
    assert wrong.verdict is Verdict.FAILED and wrong.distance > 100
    assert small.results(edited("'w': w,", "'w': w[0],"))["test_weights"].distance is None, "of a wrong form"
    assert small.results()["test_order"].distance is None


def test_a_trajectory_is_called_by_the_mistake_that_leads_to_the_same_end(small: Any) -> None:
    uphill = small.results(edited("w - rate * 2 * w", "w * (1 + 2 * rate)"))["test_weights"]
    assert uphill.fault == "uphill" and uphill.difference.kind == "sign"


def test_a_check_names_the_mistake_that_it_saw(small: Any) -> None:
    result = small.results(edited("['backward', 'step']", "['step', 'backward']"))["test_order"]
    assert result.fault == "step-first" and result.message == "You step before there is a gradient."
    assert "before any gradient" in result.difference.sentence


def test_a_mistake_is_known_by_its_exception_where_no_replay_answers_alike(small: Any) -> None:
    raised = small.results(edited("w = w - rate * 2 * w", "w = w.tolist() - 1"))
    assert raised["test_weights"].fault == "wrong-type"
    assert small.results(edited("w = w - rate * 2 * w", "w = w.missing"))["test_weights"].fault is None


@pytest.mark.parametrize(("search", "one", "two"), [("pairs", "uphill", "uphill+twice"), ("single", "uphill", None)])
def test_a_check_says_how_far_its_mistake_is_looked_for(
    judged: Judge, search: str, one: str | None, two: str | None
) -> None:
    faults = FAULTS.replace("]\n", '    Fault("twice", "descend", {"* 2 *": "* 4 *"}, "You step twice."),\n]\n')
    marked = f'mark.cell("test_descend", search="{search}")'
    small = judged(DESCEND, CHECKS.replace('mark.cell("test_descend")', marked), faults)
    assert small.results(edited("w - rate * 2", "w + 2 * rate"))["test_weights"].fault == one
    assert small.results(edited("w - rate * 2", "w + 4 * rate"))["test_weights"].fault == two


def test_a_fault_that_faults_py_lacks_is_the_graders_error(judged: Judge) -> None:
    small = judged(DESCEND, CHECKS.replace("step-first", "no-such"), FAULTS)
    outcome = small.run(edited("['backward', 'step']", "['step', 'backward']"))
    assert outcome.problems and "no-such" in outcome.problems[0]
    assert outcome.checks["test_descend"][1].verdict is Verdict.GRADER_ERROR


def test_what_a_check_finds_odd_is_noticed_and_costs_nothing(small: Any) -> None:
    outcome = small.run(edited("* steps}", "* 3}"))
    assert outcome.noticed == ("2 steps were asked for, 3 were recorded",)
    assert {r.verdict for r in outcome.checks["test_descend"]} == {Verdict.PASSED, Verdict.NOT_RUN}
    assert small.run().noticed == ()


def test_without_a_device_its_checks_are_not_run_and_weigh_nothing(small: Any) -> None:
    result = small.results()["test_copies"]
    assert (result.verdict, result.weight, result.evidence) == (Verdict.NOT_RUN, 0.0, Evidence.OBSERVED)
    assert "costs nothing" in result.message
    small.checks = Checks(dataclasses.replace(small.assignment, device=VIRTUAL_CUDA))
    result = small.results()["test_copies"]
    assert (result.verdict, result.weight) == (Verdict.PASSED, 1.0)


def item(small: Any, cells: dict[str, str] | None = None, only: str = "") -> Any:
    notebook = small.assignment.notebooks[0]
    cell = next(c for c in notebook.cells if c.grade_id == "test_descend")
    results = [r for r in small.run(cells).checks["test_descend"] if only in r.name]
    return item_of(notebook, cell, results)


def test_a_check_that_was_not_run_for_want_of_a_device_costs_no_points(small: Any) -> None:
    found = item(small)
    assert (found.points, found.max_points, found.verdict) == (2.0, 2.0, Verdict.PASSED)


def test_a_cell_with_nothing_but_such_checks_is_not_run_and_takes_its_points_out_of_the_sum(small: Any) -> None:
    found = item(small, only="copies")
    assert (found.points, found.max_points, found.verdict) == (0.0, 0.0, Verdict.NOT_RUN)
    assert "CUDA device" in found.message
    passed = item(small, only="weights")
    assert overall([found, passed]) is Verdict.PASSED and overall([found]) is Verdict.NOT_RUN


def test_observations_earn_nothing_where_nothing_recomputed_is_right(small: Any) -> None:
    found = item(small, edited("w - rate * 2 * w", "w"))
    assert (found.points, found.verdict) == (0.0, Verdict.FAILED)
    found = item(small, edited("['backward', 'step']", "['step', 'backward']"))
    assert (found.points, found.verdict, found.fault) == (1.0, Verdict.PARTIAL, "step-first")
