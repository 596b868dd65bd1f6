"""One submission's story, from its bytes to its record."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from autograder.errors import KernelFailed
from autograder.grading import could_not_grade, max_score
from autograder.grading.grade import grade
from autograder.kernels.session import Kernel
from autograder.kernels.zygote import Zygote
from autograder.records import Report, Submission, Trust, Verdict, from_data, to_data
from autograder.submissions.plan import read_submission

pytestmark = pytest.mark.slow

SOLUTIONS = {"square": "def square(x):\n    return x ** 2", "total": "def total(x):\n    return square(x).sum()"}
CHECKS = '''
@pytest.mark.cell("test_square", weight=3)
def test_squares(student, reference, draw, expect):
    """Each element is squared."""
    x = draw.normal(3)
    expect.close(student.square(x), reference.square(x), "square")

@pytest.mark.cell("test_square")
def test_not_in_place(student, draw, expect):
    """The argument stays as it was."""
    student.square(draw.normal(2))
    expect.unchanged(student)

@pytest.mark.cell("test_total")
def test_totals(student, reference, draw, expect):
    """The total is the sum of squares."""
    x = draw.normal(5)
    expect.close(student.total(x), reference.total(x), "total")
'''
FAULTS = 'FAULTS = [Fault("doubled", "square", {"x ** 2": "x * 2"}, "You double where you should square.")]'
SETTINGS = 'forbidden = ["colorsys"]\nforbidden_scores_zero = {}\n[limits]\ncell_s = 1\nmemory_bytes = 536870912\n'
Grade = Callable[..., Report]


@pytest.fixture
def small(judged: Callable[..., Any]) -> Any:
    return judged(SOLUTIONS, CHECKS, FAULTS, **{"assignment.toml": SETTINGS.format("false")})


@pytest.fixture
def graded(small: Any, zygote: Zygote) -> Grade:
    """`graded(cells, of=..., extra=...)`: the report on these answers, with extra cells (after which, source)."""

    def run(cells: dict[str, str] | None = None, of: Any = small, extra: list[tuple[str, str]] | None = None) -> Report:
        notebook = json.loads(of.notebook(cells))
        for after, source in extra or []:
            places = [c["metadata"].get("nbgrader", {}).get("grade_id") for c in notebook["cells"]]
            cell = {"cell_type": "code", "id": f"x-{after}", "metadata": {}, "source": source, "outputs": []}
            notebook["cells"].insert(places.index(after) + 1, {**cell, "execution_count": None})
        submission = handed(of, json.dumps(notebook).encode())
        return grade(submission, of.assignment, of.checks, lambda: Kernel(zygote, of.assignment.limits), b"secret")

    return run


def handed(of: Any, content: bytes | None = None) -> Submission:
    return read_submission("ann", {f"{of.assignment.name}.ipynb": content or of.notebook()}, of.assignment)


def items(report: Report) -> dict[str, tuple[Verdict, float, str | None]]:
    return {i.grade_id: (i.verdict, i.points, i.fault) for i in report.items}


STUBS = dict.fromkeys(SOLUTIONS, "# YOUR CODE HERE\nraise NotImplementedError()")
PASSED = (Verdict.PASSED, 2.0, None)


def test_a_right_submission_has_all_points_and_says_where_it_was_judged(graded: Grade) -> None:
    report = graded()
    assert items(report) == {"test_square": PASSED, "test_total": PASSED}
    assert (report.score, report.max_score, report.state) == (4.0, 4.0, Verdict.PASSED)
    assert report.trust is Trust.JUDGED_APART and report.device == "cpu" and report.sandbox
    assert all(i.message == "" for i in report.items) and report.seconds > 0
    assert from_data(Report, json.loads(json.dumps(to_data(report)))) == report


def square(body: str, before: str = "") -> dict[str, str]:
    return {"square": f"{before}def square(x):\n    {body}"}


HELPER = [("square", "def helper(x):\n    return x * x")]
YES = "print('2 passed')\nclass Yes:\n    __eq__ = lambda *a: True\n"
FAILED, CRASH, TIMED_OUT = ((verdict, 0.0, None) for verdict in (Verdict.FAILED, Verdict.CRASH, Verdict.TIME))
NOT_IN_PLACE = (Verdict.PARTIAL, 1.5, None)
DOUBLED, DOUBLES = (Verdict.FAILED, 0.0, "doubled"), "You double where you should square."
RAISED = "The cell square did not run to its end: ZeroDivisionError: division by zero"
UNTOUCHED = (Verdict.NOT_ATTEMPTED, 0.0, None)


@pytest.mark.parametrize(
    ("cells", "extra", "of_square", "of_total", "says"),
    [
        (square("x *= x\n    return x"), [], NOT_IN_PLACE, PASSED, "your code changed"),  # 3 parts of 4 passed
        (square("return x + x"), [], DOUBLED, PASSED, DOUBLES),  # `total` is right, given a right `square`
        (square("while True: pass"), [], TIMED_OUT, PASSED, ""),
        ({"square": "while True: pass"}, [], TIMED_OUT, PASSED, ""),
        (square("import os; os._exit(0)"), [], CRASH, PASSED, ""),
        (STUBS, [], UNTOUCHED, UNTOUCHED, ""),
        (STUBS, list(SOLUTIONS.items()), PASSED, PASSED, ""),  # written in cells of one's own
        (square("return helper(x)"), HELPER, PASSED, PASSED, ""),
        (square("return x ** 2\n1 / 0"), [], PASSED, PASSED, ""),  # what a cell defined before it raised is there
        ({"square": "1 / 0\n" + SOLUTIONS["square"]}, [], FAILED, PASSED, RAISED),
        ({"square": "x = 1\nraise NotImplementedError()"}, [], FAILED, PASSED, "The cell square is not finished"),
        (square("return Yes()", YES), [], FAILED, PASSED, ""),
        ({"total": "def total(x):\n    import os; os._exit(0)"}, [], PASSED, CRASH, ""),
        (square("if len(x) == 2: os._exit(0)\n    return x ** 2", "import os\n"), [], NOT_IN_PLACE, PASSED, ""),
    ],
)
def test_each_cell_gets_what_it_deserves_and_other_cells_theirs(
    graded: Grade, cells: dict[str, str], extra: list[tuple[str, str]], of_square: Any, of_total: Any, says: str
) -> None:
    report = graded(cells, extra=extra)
    assert items(report) == {"test_square": of_square, "test_total": of_total}
    assert report.score == of_square[1] + of_total[1]
    states = {of_square[0], of_total[0]}
    assert report.state is (states.pop() if len(states) == 1 else Verdict.PARTIAL)
    assert says in json.dumps(to_data(report.items[0]))


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("while True: pass", Verdict.TIME),
        ("x = []\nwhile True: x.append(bytearray(b'x') * (10 << 20))", Verdict.MEMORY),
        ("import os; os._exit(0)", Verdict.CRASH),
    ],
)
def test_a_limit_met_by_a_cell_is_the_verdict_on_its_tests_and_the_rest_is_graded(
    graded: Grade, small: Any, source: str, verdict: Verdict
) -> None:
    # On a busy machine the second of computing time would be over before the memory.
    limits = dataclasses.replace(small.assignment.limits, cell_s=1 if verdict is Verdict.TIME else 60)
    of = dataclasses.replace(small, assignment=dataclasses.replace(small.assignment, limits=limits))
    report = graded({"square": source, "total": "def total(x):\n    return (x ** 2).sum()"}, of=of)
    assert items(report) == {"test_square": (verdict, 0.0, None), "test_total": PASSED}
    assert report.state is Verdict.PARTIAL
    assert [r.status for r in report.runs if r.grade_id == "square"] == [verdict]


def test_a_forbidden_import_is_a_flag_and_costs_nothing_by_itself(graded: Grade) -> None:
    report = graded({"square": "import colorsys\ndef square(x):\n    return x ** 2"})
    flags = [f for f in report.flags if f.kind == "forbidden-import"]
    assert [f.grade_id for f in flags] == ["square"]
    assert report.score == 4.0


def test_it_scores_zero_where_the_instructor_says_so_and_other_cells_keep_theirs(
    graded: Grade, judged: Callable[..., Any]
) -> None:
    strict = judged(SOLUTIONS, CHECKS, FAULTS, name="strict", **{"assignment.toml": SETTINGS.format("true")})
    report = graded({"square": "import colorsys\ndef square(x):\n    return x ** 2"}, of=strict)
    assert items(report) == {"test_square": (Verdict.FAILED, 0.0, None), "test_total": PASSED}
    assert "does not allow" in report.items[0].message


def never() -> Kernel:
    raise AssertionError("no kernel is needed")


def test_a_rejected_submission_starts_no_kernel_and_keeps_its_reason(small: Any) -> None:
    submission = Submission("ann", "small", rejected="This file is no notebook.")
    report = grade(submission, small.assignment, small.checks, never, b"s")
    assert report.state is Verdict.REJECTED and report.reason == "This file is no notebook."
    assert {(i.verdict, i.points) for i in report.items} == {(Verdict.REJECTED, 0.0)}
    assert report.max_score == max_score(small.assignment) == 4.0


def test_a_notebook_that_was_not_handed_in_is_not_attempted(small: Any) -> None:
    report = grade(Submission("ann", "small"), small.assignment, small.checks, never, b"s")
    assert {i.verdict for i in report.items} == {Verdict.NOT_ATTEMPTED}
    assert "small.ipynb was not handed in" in report.items[0].message


def test_a_grader_without_kernels_raises_and_is_recorded_as_its_own_fault(small: Any) -> None:
    submission = handed(small)

    def none() -> Kernel:
        raise KernelFailed("no kernels today")

    with pytest.raises(KernelFailed) as caught:
        grade(submission, small.assignment, small.checks, none, b"s")
    report = could_not_grade(submission, small.assignment, caught.value)
    assert report.state is Verdict.GRADER_ERROR and report.reason == "no kernels today"
    assert {i.verdict for i in report.items} == {Verdict.GRADER_ERROR} and report.max_score == 4.0


def test_a_check_that_breaks_leaves_its_cell_undecided_and_raises_no_other_share(
    graded: Grade, judged: Callable[..., Any]
) -> None:
    more = '@pytest.mark.cell("test_total", weight=3)\ndef test_broken(student):\n    raise RuntimeError("mine")\n'
    report = graded(of=judged(SOLUTIONS, CHECKS + more, name="broken"))
    assert items(report) == {"test_square": PASSED, "test_total": (Verdict.GRADER_ERROR, 0.5, None)}
    assert (report.score, report.max_score, report.state) == (2.5, 4.0, Verdict.GRADER_ERROR)
    assert "a person will look" in report.items[1].message
    assert [f.message for f in report.flags if f.kind == "grader-error"] == ["test_broken: RuntimeError: mine"]


def test_a_cell_of_which_no_check_could_be_run_is_left_to_a_person(graded: Grade, judged: Callable[..., Any]) -> None:
    checks = CHECKS.replace("x = draw.normal(5)", "raise RuntimeError")
    report = graded(of=judged(SOLUTIONS, checks, name="broken"))
    assert items(report)["test_total"][0] is Verdict.GRADER_ERROR and report.state is Verdict.GRADER_ERROR
    assert items(report)["test_square"] == PASSED


def test_checks_that_weigh_nothing_decide_together(graded: Grade, judged: Callable[..., Any]) -> None:
    light = judged(SOLUTIONS, CHECKS.replace('"test_total"', '"test_total", weight=0'), name="light")
    assert items(graded(of=light))["test_total"][1] == 2.0
    assert items(graded({"total": "def total(x):\n    return 0"}, of=light))["test_total"][1] == 0.0
