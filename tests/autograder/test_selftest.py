"""The bank grades the grader: every surprise is found, and a bank that is not right is said to be so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.bank import BankEntry
from autograder.errors import BadAssignment
from autograder.records import CheckResult, Item, Report, Trust, Verdict
from autograder.selftest import Row, Selftest, inspect, selftest, selftest_here

SOLUTIONS = {"square": "def square(x):\n    return x ** 2", "total": "def total(x):\n    return x.sum()"}
CHECKS = '''
@pytest.mark.cell("test_square")
def test_squares(student, reference, draw, expect):
    """Each element is squared."""
    x = draw.normal(3)
    expect.close(student.square(x), reference.square(x), "square")

@pytest.mark.cell("test_total")
def test_totals(student, reference, draw, expect):
    """The total is the sum."""
    x = draw.normal(5)
    expect.close(student.total(x), reference.total(x), "total")
'''
FAULTS = """FAULTS = [
    Fault("doubled", "square", {"x ** 2": "x * 2"}, "You double."),
    Fault("cubed", "square", {"x ** 2": "x ** 3"}, "You cube."),
]"""
DOUBLED = {"square": "def square(x):\n    return x + x"}


def entry(kind: str, cells: Any = (), expected: Any = (), title: str = "What it is.", extra: Any = ()) -> str:
    facts = f"KIND = {kind!r}\nCELLS = {dict(cells)!r}\nEXPECTED = {dict(expected)!r}\nEXTRA = {list(extra)!r}\n"
    return f'"""{title}"""\n{facts}'


def bank(judged: Callable[..., Any], checks: str = CHECKS, **entries: str) -> Any:
    small = judged(SOLUTIONS, checks, FAULTS)
    (small.assignment.folder / "bank").mkdir()
    for name, text in entries.items():
        (small.assignment.folder / "bank" / f"{name}.py").write_text(text)
    return small.assignment


GOOD = {
    "right": entry("correct", {"square": "def square(x):\n    return x * x"}),
    "helper": entry(
        "correct", {"square": "def square(x):\n    return h(x)"}, extra=[("square", "def h(x): return x * x")]
    ),
    "wrong_doubled": entry("fault", DOUBLED, {"test_square": "failed:doubled"}),
    "attack_exit": entry("attack", {"total": "import os; os._exit(0)"}, {"test_total": "crash"}),
}


@pytest.fixture(autouse=True)
def no_frameworks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))


@pytest.mark.slow
def test_a_bank_whose_every_verdict_is_met_is_without_surprise(judged: Callable[..., Any]) -> None:
    assignment, seen = bank(judged, **GOOD), []
    found = selftest(assignment, assignment.folder, 2, lambda done, of: seen.append((done, of)))
    assert found.wrong == () and len(found.rows) == 8
    assert found.unnamed == ("cubed",), "a mistake that no entry plants"
    assert seen == [(n, 4) for n in range(5)]
    assert {e.kind for e in found.entries} == {"correct", "fault", "attack"}


@pytest.mark.slow
def test_what_has_not_changed_is_not_graded_again(judged: Callable[..., Any], tmp_path: Path) -> None:
    assignment, out = bank(judged, **GOOD), tmp_path / "runs"

    def again(**how: Any) -> tuple[Selftest, list[tuple[int, int]]]:
        seen: list[tuple[int, int]] = []
        return selftest(
            assignment, assignment.folder, 2, lambda done, of: seen.append((done, of)), out=out, **how
        ), seen

    first, _ = again()
    secret = (out / "seed").read_text()
    second, seen = again()
    assert (first.reused, second.reused, seen) == (0, 4, [(4, 4)])
    assert second.rows == first.rows and (out / "seed").read_text() == secret
    other = entry("fault", {"square": "def square(x):\n    return 2 * x"}, {"test_square": "failed:doubled"})
    (assignment.folder / "bank" / "wrong_doubled.py").write_text(other)
    assert again()[0].reused == 3
    renamed = entry("fault", {"square": "def square(x):\n    return 2 * x"}, {"test_square": "failed:cubed"})
    (assignment.folder / "bank" / "wrong_doubled.py").write_text(renamed)
    found, _ = again()
    assert found.reused == 4 and len(found.wrong) == 1, "what is expected is no part of what was graded"
    assert again(fresh=True)[0].reused == 0 and (out / "seed").read_text() != secret


@pytest.mark.slow
def test_every_kind_of_surprise_is_found(judged: Callable[..., Any]) -> None:
    surprises = {
        "right_but_failed": entry("correct", DOUBLED),
        "wrong_but_passed": entry("fault", {}, {"test_square": "failed:doubled"}),
        "named_otherwise": entry("fault", DOUBLED, {"test_square": "failed:cubed"}),
        "not_named": entry("fault", {"square": "def square(x):\n    return -x"}, {"test_square": "failed:doubled"}),
        "named_unasked": entry("fault", DOUBLED, {"test_square": "failed"}),
    }
    assignment = bank(judged, **surprises)
    found = selftest(assignment, assignment.folder, 2, lambda *_: None)
    assert {(r.entry, r.cell, r.got) for r in found.wrong} == {
        ("right_but_failed", "test_square", "failed:doubled"),
        ("wrong_but_passed", "test_square", "passed"),
        ("named_otherwise", "test_square", "failed:doubled"),
        ("not_named", "test_square", "failed"),
        ("named_unasked", "test_square", "failed:doubled"),
    }


def test_without_kernels_the_bank_meets_the_same_verdicts(judged: Callable[..., Any]) -> None:
    broken = entry("fault", {"square": "def square(x:"}, {"test_square": "failed"})
    assignment = bank(judged, **GOOD, wrong_syntax=broken)
    seen: list[tuple[int, int]] = []
    found = selftest_here(assignment, lambda done, total: seen.append((done, total)))
    assert {e.name for e in found.entries} == {"right", "wrong_doubled"}, "what only a kernel can take is left out"
    assert found.wrong == () and seen[-1] == (5, 5)
    assert found.reports["wrong_doubled"].score == 2 and found.reports["right"].state is Verdict.PASSED
    assert found.unnamed == ("cubed",)


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        (CHECKS.replace('test_total"', 'test_square"'), "'test_total' has 2 points and no hidden check; add one"),
        (CHECKS.replace('test_total"', 'test_totall"'), "test_totall', which is not there"),
        (CHECKS + '@pytest.mark.cell("test_other")\ndef test_o(student): pass\n', "'test_other', which is not there"),
        (CHECKS.replace("reference.total(x)", "1 + reference.total(x)"), "the reference solution fails test_totals"),
        (CHECKS.replace("x = draw.normal(5)", "return"), "the empty stub of 'test_total' passes test_totals"),
        ("import no_such_module\n", "no_such_module"),
        (CHECKS.replace("x = draw.normal(5)", "undefined"), "undefined"),
    ],
)
def test_an_assignment_that_is_not_consistent_is_refused_with_the_finding(
    judged: Callable[..., Any], checks: str, words: str
) -> None:
    with pytest.raises(BadAssignment, match=words):
        inspect(bank(judged, checks))


def test_an_assignment_without_checks_has_nothing_to_test(judged: Callable[..., Any]) -> None:
    assignment = bank(judged)
    (assignment.folder / "checks.py").unlink()
    with pytest.raises(BadAssignment, match=r"no checks\.py"):
        inspect(load_assignment(assignment.folder, assignment.folder))


# -- what it sums up -------------------------------------------------------------------------------------------------


def a_selftest(rows: list[tuple[str, str, str]], distances: dict[str, float | None] | None = None) -> Selftest:
    """A selftest of submissions with one tests cell each: (name, expected, got), and distances by name.

    A distance `name/check` is that of a further check.
    """
    kinds = {name: "correct" if expected == "passed" else "fault" for name, expected, _ in rows}
    reports = {}
    for name, _, _ in rows:
        checks = [CheckResult("test_weights", Verdict.PASSED, "", distance=(distances or {}).get(name))]
        for key, distance in (distances or {}).items():
            if key.startswith(f"{name}/"):
                checks.append(CheckResult(key.partition("/")[2], Verdict.PASSED, "", distance=distance))
        item = Item("nb", "test_square", 1.0, 1.0, Verdict.PASSED, checks=tuple(checks))
        reports[name] = Report(name, "small", 1, 1, Verdict.PASSED, Trust.JUDGED_APART, "cpu", (item,))
    return Selftest(
        tuple(Row(name, kinds[name], "test_square", expected, got) for name, expected, got in rows),
        tuple(BankEntry(name, "", kind, {}, {}) for name, kind in kinds.items()),
        (),
        reports,
    )


def test_the_confusion_table_says_what_each_planted_mistake_was_called() -> None:
    found = a_selftest(
        [
            ("one", "failed:doubled", "failed:doubled"),
            ("two", "partial:doubled", "failed:cubed"),
            ("three", "failed:cubed", "passed"),
            ("four", "failed:cubed", "failed"),
            ("right", "passed", "passed"),
        ]
    )
    doubled, cubed = found.confusion()
    assert (doubled.planted, doubled.times, doubled.rightly, dict(doubled.others)) == ("doubled", 2, 1, {"cubed": 1})
    assert (cubed.planted, cubed.times, cubed.rightly) == ("cubed", 2, 0)
    assert dict(cubed.others) == {"passed": 1, "no name": 1}


def test_margins_are_the_worst_right_and_the_nearest_wrong_distance() -> None:
    rows = [
        ("a", "passed", "passed"),
        ("b", "passed", "passed"),
        ("x", "failed:y", "failed:y"),
        ("y", "failed", "failed"),
    ]
    (margin,) = a_selftest(rows, {"a": 0.01, "b": 0.03, "x": 40.0, "y": 700.0}).margins()
    assert (margin.check, margin.worst_right, margin.nearest_wrong) == ("test_weights", 0.03, 40.0)
    assert margin.nearest == "x"
    (margin,) = a_selftest(rows, {"a": 0.01, "x": 0.0}).margins()
    assert margin.nearest_wrong is None, "x failed for another reason than its distance"
    (margin,) = a_selftest(rows, {"a": 0.01, "x": 0.5}).margins()
    assert margin.nearest_wrong is None, "within the tolerance"
    assert a_selftest(rows).margins() == ()


def test_a_wrong_submission_counts_where_it_is_told_most_clearly() -> None:
    rows = [("a", "passed", "passed"), ("x", "failed", "failed"), ("y", "failed", "failed")]
    near = {"a": 0.01, "a/test_loss": 0.02, "x": 1.2, "x/test_loss": 50.0, "y": 80.0, "y/test_loss": 2.0}
    weights, loss = a_selftest(rows, near).margins()
    assert (weights.check, weights.nearest_wrong, weights.nearest) == ("test_weights", 80.0, "y")
    assert (loss.check, loss.nearest_wrong, loss.nearest) == ("test_loss", 50.0, "x")


def test_a_cell_that_rests_on_observations_alone_is_refused(judged: Callable[..., Any]) -> None:
    observed = CHECKS.replace('cell("test_total")', 'cell("test_total", evidence="observed")')
    with pytest.raises(BadAssignment, match=r"test_total.*only observed checks"):
        inspect(bank(judged, observed))
