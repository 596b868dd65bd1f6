"""A mistake costs points once: what is right given right earlier parts is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.judge.carried import called_names
from autograder.judge.run import LocalProgram
from autograder.judge.student import Call, LocalSide
from autograder.records import CheckResult, Verdict
from tests.autograder.conftest import SECRET, Judged

SOLUTIONS = {
    "square": "def square(x):\n    return x ** 2",
    "total": "def total(x):\n    return square(x).sum()",
    "mean": "def mean(x):\n    return total(x) / len(x)",
    "twice": "def twice(x):\n    return x * 2",
}
CHECK = """
@pytest.mark.cell("test_{0}")
def test_{0}(student, reference, draw, expect):
    x = draw.normal(5)
    expect.close(student.{0}(x), reference.{0}(x), "{0}")
"""
FAULTS = """FAULTS = [
    Fault("doubled", "square", {"x ** 2": "x * 2"}, "You double."),
    Fault("last-missing", "total", {"square(x)": "square(x)[:-1]"}, "The last is missing."),
]"""
DOUBLED = {"square": "def square(x):\n    return x + x"}


@pytest.fixture
def small(judged: Callable[..., Judged]) -> Judged:
    return judged(SOLUTIONS, "".join(map(CHECK.format, SOLUTIONS)), FAULTS)


def carried(small: Judged, cells: dict[str, str]) -> dict[str, CheckResult]:
    """Check results by the name of the exercise."""
    outcome = small.checks.judge(LocalProgram(small.assignment, cells), SECRET)
    return {r.name.removeprefix("test_"): r for results in outcome.checks.values() for r in results}


def test_what_builds_on_a_mistake_is_right_given_a_right_one_and_says_so(small: Judged) -> None:
    found = carried(small, DOUBLED)
    assert (found["square"].verdict, found["square"].fault, found["square"].given) == (Verdict.FAILED, "doubled", ())
    for name in ("total", "mean"):  # `mean` reaches `square` through `total`, which is right and replaced with it
        assert (found[name].verdict, found[name].fault) == (Verdict.PASSED, None)
        assert found[name].given == ("square", "total")[: 1 + (name == "mean")]
    assert found["twice"].verdict is Verdict.PASSED and found["twice"].given == ()


@pytest.mark.parametrize(
    "square",
    [
        "def square(x):\n    raise ValueError('not yet')",
        "1 / 0",
        "# YOUR CODE HERE",
        "squares = []\ndef square(x):\n    squares.append(x)\n    return sum(squares)",
        "def square(x):\n    return np.zeros_like(x)",
    ],
    ids=["raises", "cell raises", "untouched", "remembers", "zeros"],
)
def test_earlier_parts_may_be_wrong_in_any_way(small: Judged, square: str) -> None:
    found = carried(small, {"square": square})
    assert found["square"].verdict is Verdict.FAILED
    assert (found["total"].given, found["mean"].given) == (("square",), ("square", "total"))


def test_a_mistake_of_its_own_stays_and_is_named_alone(small: Judged) -> None:
    found = carried(small, {**DOUBLED, "total": "def total(x):\n    return square(x)[:-1].sum()"})
    assert (found["total"].verdict, found["total"].fault) == (Verdict.FAILED, "last-missing")
    assert found["total"].message == "The last is missing."
    assert found["mean"].given == ("square", "total")


def test_the_name_of_an_earlier_mistake_is_not_given_to_one_of_its_own(small: Judged) -> None:
    # Over x + x it gives what the earlier mistake alone gives; over x ** 2 one half more.
    mean = "def mean(x):\n    return total(x) / len(x) * (1 if total(np.ones(1)) == 2 else 1.5)"
    found = carried(small, {**DOUBLED, "mean": mean})
    assert (found["mean"].verdict, found["mean"].fault, found["mean"].message) == (Verdict.FAILED, None, "")
    assert found["mean"].difference is not None


@pytest.mark.parametrize(
    "total",
    [
        "def total(x):\n    return 0.0",
        "def total(x):\n    return (x + x).sum()",
        "def total(x):\n    return square",
    ],
    ids=["nothing", "own mistake", "no value"],
)
def test_nothing_is_given_for_what_right_earlier_parts_do_not_make_right(small: Judged, total: str) -> None:
    found = carried(small, {"square": "def square(x):\n    return np.zeros_like(x)", "total": total})
    assert found["total"].verdict is Verdict.FAILED and found["total"].given == ()


def test_helpers_of_the_wrong_cell_are_there(small: Judged) -> None:
    cells = {
        "square": "def _add(x):\n    return x.sum()\ndef square(x):\n    return x + x",
        "total": "def total(x):\n    return _add(square(x))",
    }
    assert carried(small, cells)["total"].given == ("square",)


def test_no_earlier_part_can_bend_the_comparison(small: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "sum", np.sum)  # put back afterwards
    square = "np.sum = lambda x: 0.0\ndef square(x):\n    return 0 * x"
    total = "def total(x):\n    return np.sum(square(x))"
    assert carried(small, {"square": square, "total": total})["total"].verdict is Verdict.FAILED


def test_right_earlier_parts_and_parts_that_build_on_nothing_wrong_cost_nothing(small: Judged) -> None:
    asked: list[frozenset[str]] = []

    class Program(LocalProgram):
        def side(self, mended: frozenset[str]) -> LocalSide:
            asked.append(mended)
            return super().side(mended)

    wrong_last = {"mean": "def mean(x):\n    return total(x)"}
    for cells in ({}, {**DOUBLED, **wrong_last, "total": "def total(x):\n    return (x * x).sum()"}):
        small.checks.judge(Program(small.assignment, cells), SECRET)
    assert asked == [frozenset(), frozenset()]


def test_a_part_that_was_not_asked_is_nobodys_earlier_part(small: Judged) -> None:
    outcome = small.checks.judge(LocalProgram(small.assignment, DOUBLED), SECRET, only=["test_total"])
    assert [r.verdict for r in outcome.checks["test_total"]] == [Verdict.FAILED]


def probe(ns: Any, x: Any, name: str) -> Any:
    return getattr(ns, name)(ns.square(x))


def test_the_names_that_a_probe_calls_are_read_off_its_text() -> None:
    side = LocalSide({"square": lambda x: x, "total": lambda x: x})
    side.run(probe, x=1, name="total")
    side.square(2)
    assert {"square", "total"} <= called_names(side.calls)
    assert called_names([Call("def p(ns, x):\n    return getattr(ns, 'mean')(x)", "p", {"x": 1})]) == {"mean"}
