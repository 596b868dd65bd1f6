"""The bank grades the grader: every surprise is found, and a bank that is not right is said to be so."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.bank import BankEntry
from autograder.errors import BadAssignment
from autograder.records import Assignment, CheckResult, Item, Report, Trust, Verdict
from autograder.selftest import Row, Selftest, inspect, selftest, selftest_here
from tests.autograder.conftest import make_judged

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


def square(expression: str) -> dict[str, str]:
    return {"square": f"def square(x):\n    return {expression}"}


def entry(kind: str, cells: Any = (), expected: Any = (), extra: Any = ()) -> str:
    facts = f"KIND = {kind!r}\nCELLS = {dict(cells)!r}\nEXPECTED = {dict(expected)!r}\nEXTRA = {list(extra)!r}\n"
    return f'"""What it is."""\n{facts}'


def bank(parent: Path, checks: str = CHECKS, **entries: str) -> Assignment:
    folder = make_judged(parent, SOLUTIONS, checks, FAULTS).assignment.folder
    (folder / "bank").mkdir()
    for name, text in entries.items():
        (folder / "bank" / f"{name}.py").write_text(text)
    return load_assignment(folder, parent)


GOOD = {
    "right": entry("correct", square("x * x")),
    "helper": entry("correct", square("h(x)"), extra=[("square", "def h(x): return x * x")]),
    "wrong_doubled": entry("fault", square("x + x"), {"test_square": "failed:doubled"}),
    "attack_exit": entry("attack", {"total": "import os; os._exit(0)"}, {"test_total": "crash"}),
}
SURPRISES = {
    "right_but_failed": (entry("correct", square("x + x")), "failed:doubled"),
    "wrong_but_passed": (entry("fault", {}, {"test_square": "failed:doubled"}), "passed"),
    "named_otherwise": (entry("fault", square("x + x"), {"test_square": "failed:cubed"}), "failed:doubled"),
    "not_named": (entry("fault", square("-x"), {"test_square": "failed:doubled"}), "failed"),
    "named_unasked": (entry("fault", square("x + x"), {"test_square": "failed"}), "failed:doubled"),
}
"""each with what it gets"""


def grade_bank(assignment: Assignment, out: Path, **how: Any) -> tuple[Selftest, list[tuple[int, int]]]:
    """A selftest and the progress it told."""
    seen: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))
        found = selftest(assignment, 2, lambda done, of: seen.append((done, of)), out=out, **how)
    return found, seen


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Selftest]:
    """The folder of a selftest of the good bank, and what it found."""
    base = tmp_path_factory.mktemp("selftest")
    found, seen = grade_bank(bank(base, **GOOD), base / "out")
    assert seen == [(n, 4) for n in range(5)]
    return base / "out", found


@pytest.mark.slow
@pytest.mark.xdist_group("selftest")
def test_a_bank_whose_every_verdict_is_met_is_without_surprise(first: Any) -> None:
    _, found = first
    assert found.wrong == () and len(found.rows) == 8 and found.reused == 0
    assert found.unnamed == ("cubed",), "a mistake that no entry plants"
    assert {e.kind for e in found.entries} == {"correct", "fault", "attack"}


@pytest.mark.slow
@pytest.mark.xdist_group("selftest")
def test_what_has_not_changed_is_not_graded_again(first: Any, tmp_path: Path) -> None:
    out = Path(shutil.copytree(first[0], tmp_path / "out"))
    secret = (out / "seed").read_text()
    again, seen = grade_bank(bank(tmp_path / "same", **GOOD), out)
    assert (again.reused, seen, again.rows) == (4, [(4, 4)], first[1].rows) and (out / "seed").read_text() == secret
    renamed = entry("fault", square("x + x"), {"test_square": "failed:cubed"})
    again, _ = grade_bank(bank(tmp_path / "renamed", **GOOD | {"wrong_doubled": renamed}), out)
    assert again.reused == 4 and len(again.wrong) == 1, "what is expected is no part of what was graded"
    again, _ = grade_bank(bank(tmp_path / "fresh", right=GOOD["right"]), out, fresh=True)
    assert again.reused == 0 and (out / "seed").read_text() != secret


@pytest.mark.slow
@pytest.mark.xdist_group("selftest")
def test_every_kind_of_surprise_is_found_and_a_changed_entry_is_graded_again(first: Any, tmp_path: Path) -> None:
    out = shutil.copytree(first[0], tmp_path / "out")
    changed = {"wrong_doubled": entry("fault", square("2 * x"), {"test_square": "failed:doubled"})}
    entries = {name: text for name, (text, _) in SURPRISES.items()}
    found, _ = grade_bank(bank(tmp_path, **GOOD | changed | entries), Path(out))
    assert found.reused == 3
    assert {(r.entry, r.cell, r.got) for r in found.wrong} == {
        (name, "test_square", got) for name, (_, got) in SURPRISES.items()
    }


def test_without_kernels_the_bank_meets_the_same_verdicts(tmp_path: Path) -> None:
    broken = entry("fault", {"square": "def square(x:"}, {"test_square": "failed"})
    seen: list[tuple[int, int]] = []
    found = selftest_here(bank(tmp_path, **GOOD, wrong_syntax=broken), lambda done, of: seen.append((done, of)))
    assert {e.name for e in found.entries} == {"right", "wrong_doubled"}, "what only a kernel can take is left out"
    assert found.wrong == () and seen[-1] == (5, 5)
    assert found.reports["wrong_doubled"].score == 2 and found.reports["right"].state is Verdict.PASSED
    assert found.unnamed == ("cubed",)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('cell("test_total"', 'cell("test_square"', "'test_total' has 2 points and no hidden check; add one"),
        ('cell("test_total"', 'cell("test_totall"', "test_totall', which is not there"),
        ("reference.total(x)", "1 + reference.total(x)", "the reference solution fails test_totals"),
        ("x = draw.normal(5)", "return", "the empty stub of 'test_total' passes test_totals"),
        (CHECKS, "import no_such_module\n", "no_such_module"),
        ("x = draw.normal(5)", "undefined", "undefined"),
        ('cell("test_total"', 'cell("test_total", evidence="observed"', "test_total.*only observed checks"),
    ],
    ids=["no check", "no such cell", "reference fails", "stub passes", "no import", "no name", "observed alone"],
)
def test_an_assignment_that_is_not_consistent_is_refused_with_the_finding(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in CHECKS
    with pytest.raises(BadAssignment, match=words):
        inspect(bank(tmp_path, CHECKS.replace(old, new)))


def test_an_assignment_without_checks_has_nothing_to_test(judged: Callable[..., Any]) -> None:
    folder = judged(SOLUTIONS, CHECKS).assignment.folder
    (folder / "checks.py").unlink()
    with pytest.raises(BadAssignment, match=r"no checks\.py"):
        inspect(load_assignment(folder, folder))


# -- what it sums up -------------------------------------------------------------------------------------------------


def a_selftest(rows: list[tuple[str, str, str]], distances: dict[str, float] | None = None) -> Selftest:
    """A selftest of submissions with one tests cell each: (name, expected, got), and distances by name.

    A distance `name/check` is that of a further check.
    """
    kinds = {name: "correct" if expected == "passed" else "fault" for name, expected, _ in rows}
    reports = {}
    for name, _, _ in rows:
        far = {key.partition("/")[2]: value for key, value in (distances or {}).items() if key.split("/")[0] == name}
        checks = [CheckResult("test_weights", Verdict.PASSED, "", distance=far.pop("", None))]
        checks += [CheckResult(check, Verdict.PASSED, "", distance=distance) for check, distance in far.items()]
        item = Item("nb", "test_square", 1.0, 1.0, Verdict.PASSED, checks=tuple(checks))
        reports[name] = Report(name, "small", 1, 1, Verdict.PASSED, Trust.JUDGED_APART, "cpu", (item,))
    told = tuple(Row(name, kinds[name], "test_square", expected, got) for name, expected, got in rows)
    return Selftest(told, tuple(BankEntry(name, "", kind, {}, {}) for name, kind in kinds.items()), (), reports)


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
    assert [(row.planted, row.times, row.rightly, dict(row.others)) for row in found.confusion()] == [
        ("doubled", 2, 1, {"cubed": 1}),
        ("cubed", 2, 0, {"passed": 1, "no name": 1}),
    ]


RIGHT_AND_WRONG = [(name, "passed", "passed") for name in "ab"] + [(name, "failed", "failed") for name in "xy"]


@pytest.mark.parametrize(
    ("distances", "margins"),
    [
        ({"a": 0.01, "b": 0.03, "x": 40.0, "y": 700.0}, [("test_weights", 0.03, 40.0, "x")]),
        # It failed for another reason than its distance.
        ({"a": 0.01, "x": 0.0}, [("test_weights", 0.01, None, "")]),
        # Within the tolerance.
        ({"a": 0.01, "x": 0.5}, [("test_weights", 0.01, None, "")]),
        ({}, []),
        # A wrong submission counts where it is told most clearly.
        (
            {"a": 0.01, "a/test_loss": 0.02, "x": 1.2, "x/test_loss": 50.0, "y": 80.0, "y/test_loss": 2.0},
            [("test_weights", 0.01, 80.0, "y"), ("test_loss", 0.02, 50.0, "x")],
        ),
    ],
)
def test_margins_are_the_worst_right_and_the_nearest_wrong_distance(
    distances: dict[str, float], margins: list[Any]
) -> None:
    found = a_selftest(RIGHT_AND_WRONG, distances).margins()
    assert [(m.check, m.worst_right, m.nearest_wrong, m.nearest) for m in found] == margins
