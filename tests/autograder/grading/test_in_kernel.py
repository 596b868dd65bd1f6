from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from autograder.grading.in_kernel import items_in_kernel, odd_result, score_in_kernel, why_reference_fails
from autograder.kernels.session import CellResult
from autograder.records import CellRun, Item, Report, Trust, Verdict
from autograder.submissions.plan import read_submission
from tests.when_used import when_used

nbformat = when_used("nbformat")
determine_grade = when_used("nbgrader.utils.determine_grade")

MAX = 3.0
Outputs = list[Any]


def output(kind: str, **content: Any) -> dict[str, Any]:
    return {"output_type": kind} | content


def result(text: str) -> Any:
    return output("execute_result", data={"text/plain": text}, execution_count=1)


def printed(text: str, name: str = "stdout") -> Any:
    return output("stream", name=name, text=text)


def shown(text: str) -> Any:
    return output("display_data", data={"text/plain": text, "text/html": f"<b>{text}</b>"})


ERROR = output("error", ename="AssertionError", evalue="", traceback=["AssertionError"])


def nbgraders_score(outputs: Outputs, max_points: float = MAX) -> float:
    cell = nbformat.v4.new_code_cell("assert True", outputs=[nbformat.v4.new_output(**one) for one in outputs])
    cell.metadata["nbgrader"] = {"grade": True, "solution": False, "grade_id": "t", "points": max_points}
    score, _ = determine_grade(cell)
    assert score is not None
    return score


HONEST: dict[str, Outputs] = {
    "nothing shown": [],
    "something printed": [printed("checking...\n")],
    "a figure shown": [shown("<Figure>")],
    "printed, then shown": [printed("a"), shown("b")],
    "a failed assertion": [ERROR],
    "printed before it failed": [printed("a"), ERROR],
    "shown before it failed": [shown("b"), ERROR],
    "no points": [result("0")],
    "no points as a float": [result("0.0")],
    "half the points": [result("1.5")],
    "all points": [result("3")],
    "all points as a float": [result("3.0")],
    "in scientific notation": [result("5e-1")],
    "with blanks": [result(" 2 ")],
    "printed and partial": [printed("ok\n"), result("2")],
    "partial, printed after": [result("2"), printed("done\n")],
    "a list": [result("[1, 2, 3]")],
    "a list of one": [result("[2]")],
    "a tuple": [result("(2, 3)")],
    "a string": [result("'ok'")],
    "a quoted number": [result("'2'")],
    "True": [result("True")],
    "an array": [result("array([1., 2.])")],
    "several lines": [result("   a\n0  1\n1  2")],
    "a text of several lines as a list": [output("execute_result", data={"text/plain": ["1\n", "2"]})],
    "a number as a list": [output("execute_result", data={"text/plain": ["2"]})],
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_work_gets_the_score_that_nbgrader_gives(name: str) -> None:
    status = "error" if ERROR in HONEST[name] else "ok"
    points, verdict = score_in_kernel(HONEST[name], status, MAX)
    assert points == nbgraders_score(HONEST[name])
    expected = {0.0: Verdict.FAILED, MAX: Verdict.PASSED}.get(points, Verdict.PARTIAL)
    assert verdict is expected


REPAIRED: dict[str, tuple[Outputs, str | bool, float, Verdict]] = {
    "a warning on stderr": ([printed("UserWarning", "stderr")], "ok", MAX, Verdict.PASSED),
    "a native log line before partial credit": ([printed("oneDNN", "stderr"), result("2")], "ok", 2.0, Verdict.PARTIAL),
    "a number displayed before the error": ([result("3"), ERROR], "error", 0.0, Verdict.FAILED),
    "a number displayed, the error hidden": ([result("3")], "error", 0.0, Verdict.FAILED),
    "an error although the kernel says ok": ([result("3"), ERROR], "ok", 0.0, Verdict.FAILED),
    "displayed by the student, then the cell's own": ([result("3"), result("1")], "ok", 1.0, Verdict.PARTIAL),
    "no output because the kernel died": ([], False, 0.0, Verdict.NOT_RUN),
    "no output because the cell was not reached": ([], "aborted", 0.0, Verdict.NOT_RUN),
    "no output and no status": ([], "", 0.0, Verdict.NOT_RUN),
    "a negative score": ([result("-1")], "ok", 0.0, Verdict.NEEDS_MANUAL),
    "a score that is not a number": ([result("nan")], "ok", 0.0, Verdict.NEEDS_MANUAL),
    "more than the cell's points": ([result("4")], "ok", 0.0, Verdict.NEEDS_MANUAL),
    "an infinite score": ([result("inf")], "ok", 0.0, Verdict.NEEDS_MANUAL),
    "a NumPy scalar": ([result("np.float64(1.5)")], "ok", 1.5, Verdict.PARTIAL),
    "a NumPy integer": ([result("np.int64(0)")], "ok", 0.0, Verdict.FAILED),
}


@pytest.mark.parametrize("name", REPAIRED)
def test_what_nbgrader_gets_wrong_is_repaired(name: str) -> None:
    outputs, status, points, verdict = REPAIRED[name]
    assert score_in_kernel(outputs, status, MAX) == (points, verdict)


def test_a_sum_of_parts_that_overshoots_by_rounding_is_full_marks() -> None:
    assert score_in_kernel([result(repr(0.1 + 0.2))], "ok", 0.3) == (0.3, Verdict.PASSED)
    assert score_in_kernel([result("-1e-12")], "ok", MAX) == (0.0, Verdict.FAILED)


@pytest.mark.parametrize("points", [0.0, MAX])
def test_a_cell_that_was_seen_to_end_may_be_said_by_a_bool_and_be_worth_nothing(points: float) -> None:
    assert score_in_kernel([], True, points) == (points, Verdict.PASSED)
    assert score_in_kernel([ERROR], True, points) == (0.0, Verdict.FAILED)


@pytest.mark.parametrize("text", ["[1, 2]", "'ok'", "True", "-1", "nan", "4", ""])
def test_an_odd_last_value_is_told_to_the_instructor(text: str) -> None:
    assert odd_result([result(text)], MAX)


@pytest.mark.parametrize("outputs", [[], [printed("x")], [result("0")], [result("1.5")], [result("3")]])
def test_an_ordinary_last_value_is_not_worth_a_word(outputs: Outputs) -> None:
    assert odd_result(outputs, MAX) == ""


@pytest.mark.parametrize("data", [None, [], "x", {}, {"text/plain": None}, {"text/plain": 3}])
def test_an_output_of_no_known_form_is_not_an_exception(data: object) -> None:
    points, _ = score_in_kernel([{"output_type": "execute_result", "data": data}, {}], "ok", MAX)
    assert points == MAX


MISSING = "NameError: name 'double' is not defined"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("AssertionError: assert double(5) == 10", "A test of this cell failed: AssertionError."),
        ("AssertionError (line 2 of the cell \"t\")", "A test of this cell failed: AssertionError."),
        (f"{MISSING}. Did you mean: 'twice'?", f"A test of this cell failed: {MISSING}."),
        ('KeyError: 1 (line 2 of your cell "half")', 'A test of this cell failed: KeyError (line 2 of your cell "half").'),  # noqa: E501
        ('KeyError: 1 (line 2 of your cell "assert 1")', "A test of this cell failed: KeyError."),
        # No word of the text that students were handed: it may be one of a hidden test.
        ("NameError: name 'assert_hidden_is_10' is not defined", "A test of this cell failed: NameError."),
        ("", "The tests of this cell gave your answer no points."),
    ],
)  # fmt: skip
def test_a_failed_test_is_told_by_its_error_and_not_quoted(little: Any, error: str, told: str) -> None:
    assignment = little.load()
    files = {"little.ipynb": little.bytes(little.honest())}
    submitted = read_submission("ada", files, assignment).notebooks[0]
    failed = CellResult(
        Verdict.FAILED if error else Verdict.PASSED, error=error, outputs=[] if error else [result("0")]
    )
    items, _ = items_in_kernel(assignment.notebooks[0], submitted, [failed] * len(submitted.plan))
    assert {item.message for item in items if item.verdict is Verdict.FAILED} == {told}


@pytest.mark.parametrize(
    ("ran", "told"),
    [
        (CellResult(Verdict.NOT_RUN, error="not run: it was stopped"), "While the tests ran: not run: it was stopped."),
        (CellResult(Verdict.TIME, error="it was stopped"), "While the tests ran: it was stopped."),
        (None, "While the tests ran: this test cell was not run."),
    ],
)
def test_a_test_cell_that_was_not_run_is_no_wrong_answer(little: Any, ran: CellResult | None, told: str) -> None:
    assignment = little.load()
    submitted = read_submission("ada", {"little.ipynb": little.bytes(little.honest())}, assignment).notebooks[0]
    if ran is None:
        submitted = replace(submitted, plan=())
    items, _ = items_in_kernel(assignment.notebooks[0], submitted, [ran] * len(submitted.plan) if ran else [])
    tested = [item for item in items if item.verdict is not Verdict.NEEDS_MANUAL]
    assert {(item.verdict, item.message) for item in tested} == {(ran.verdict if ran else Verdict.NOT_RUN, told)}


def reference(verdict: Verdict, *errors: str) -> Report:
    """The instructor's notebook, graded: one tests cell, and cells that stopped."""
    runs = tuple(CellRun("ps1", None, "student", Verdict.FAILED, error=error) for error in errors)
    item = Item("ps1", "test_f", 0.0, 1.0, verdict)
    return Report("", "ps1", 0.0, 1.0, verdict, Trust.IN_KERNEL, "cpu", items=(item,), runs=runs)


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (
            reference(Verdict.FAILED, "NameError: x", "ModuleNotFoundError: No module named 'pandas' (line 1 of it)"),
            "module pandas is not installed: ModuleNotFoundError.*Install pandas where autograder is installed",
        ),
        (
            reference(Verdict.FAILED, "NameError: x", "AssertionError"),
            "'test_f' is not passed.* first error was: NameE",
        ),
        (reference(Verdict.TIME), r"\(time\), so nobody is graded"),
        (reference(Verdict.FAILED, "NotImplementedError"), "^$"),
        (reference(Verdict.PARTIAL), "^$"),
    ],
)
def test_a_foreign_reference_that_fails_says_why(report: Report, words: str) -> None:
    assert re.search(words, why_reference_fails(report))
