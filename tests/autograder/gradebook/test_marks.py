"""What people enter in formgrader stands in the record, changes with it, and can be taken back."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from autograder.gradebook.exports import export
from autograder.gradebook.marks import with_marks
from autograder.grading import could_not_grade, rejection
from autograder.records import Comment, Report, Verdict
from tests.autograder.small_course import NAME
from tests.when_used import when_used

Gradebook = when_used("nbgrader.api.Gradebook")


@pytest.fixture
def reports(tmp_path: Path, students: Any) -> list[Report]:
    """Ada waits for marks, Bob lost points, Dan's file is broken: of a run in `tmp_path`."""
    handed = [
        (students.submit("ada"), {}),
        (students.submit("bob"), {"test_double": 1.5}),
        (students.submit("dan", None), {}),
    ]
    found: list[Report] = students.write_gradebook(tmp_path, *handed)
    students.write_results(tmp_path, found)
    return found


def enter(
    run: Path, student: str, cell: str, manual: float | None, extra: float | None = None, comment: str = ""
) -> None:
    with Gradebook(f"sqlite:///{run / 'gradebook.db'}") as gb:
        grade = gb.find_grade(cell, NAME, NAME, student)
        grade.manual_score, grade.extra_credit = manual, extra
        grade.needs_manual_grade = manual is None and grade.auto_score is None
        if comment:
            gb.find_comment(cell.removeprefix("test_"), NAME, NAME, student).manual_comment = comment
        gb.db.commit()


def item(report: Report, cell: str) -> Any:
    return next(i for i in report.items if i.grade_id == cell)


def test_marks_make_points_verdicts_score_and_state(tmp_path: Path, reports: list[Report]) -> None:
    enter(tmp_path, "ada", "why", 3.0, 0.5, "Nicely put.")
    enter(tmp_path, "ada", "study", 5.0)
    enter(tmp_path, "bob", "test_double", None, 1.0, "Close.")
    ada, bob, dan = with_marks(tmp_path, reports)
    assert (item(ada, "why").points, item(ada, "why").verdict, item(ada, "why").message) == (3.5, Verdict.PARTIAL, "")
    assert (ada.score, ada.state, ada.comments) == (13.5, Verdict.PARTIAL, (Comment(NAME, "why", "Nicely put."),))
    assert (item(bob, "test_double").points, item(bob, "test_double").verdict) == (2.5, Verdict.PARTIAL)
    assert bob.comments == (Comment(NAME, "double", "Close."),) and bob.state is Verdict.NEEDS_MANUAL
    assert dan == reports[2]
    # Put on again, changed and taken back, over and over.
    assert with_marks(tmp_path, [ada, bob, dan]) == [ada, bob, dan]
    enter(tmp_path, "ada", "why", None)
    enter(tmp_path, "ada", "study", None)
    enter(tmp_path, "bob", "test_double", None)
    again = with_marks(tmp_path, [ada, bob, dan])
    assert [dataclasses.replace(report, comments=()) for report in again] == reports


def test_extra_credit_alone_decides_nothing_that_waits(tmp_path: Path, reports: list[Report]) -> None:
    enter(tmp_path, "ada", "why", None, 2.0)
    ada = with_marks(tmp_path, reports)[0]
    assert item(ada, "why").verdict is Verdict.NEEDS_MANUAL and ada.state is Verdict.NEEDS_MANUAL


def test_an_answer_that_changed_after_it_was_marked_waits(tmp_path: Path, students: Any, reports: list[Report]) -> None:
    enter(tmp_path, "bob", "test_double", 3.0)
    changed = students.submit("bob", {**students.right, "double": "def double(x):\n    return x + x"})
    [report] = with_marks(tmp_path, students.write_gradebook(tmp_path, (changed, {})))
    assert item(report, "test_double").verdict is Verdict.NEEDS_MANUAL


def test_work_that_could_not_be_read_can_be_graded_by_hand_and_says_why(tmp_path: Path, reports: list[Report]) -> None:
    enter(tmp_path, "dan", "why", 1.0)
    dan = with_marks(tmp_path, reports)[2]
    assert (dan.score, dan.state) == (1.0, Verdict.NEEDS_MANUAL)
    assert {i.verdict for i in dan.items} == {Verdict.PARTIAL, Verdict.NEEDS_MANUAL}
    assert rejection(dan) == dan.reason == reports[2].reason
    moodle = export(tmp_path, "moodle").read_text()
    assert "Could not be read: " in moodle and "why: 1 of 4" in moodle


def test_what_broke_on_our_side_is_told_to_no_student(tmp_path: Path, students: Any) -> None:
    secret = could_not_grade(students.submit("ada"), students.assignment, ValueError("hidden 4711"))
    students.write_results(tmp_path, [secret])
    for form in ("moodle", "gradescope", "junit"):
        written = export(tmp_path, form)
        files = [written] if written.is_file() else list(written.rglob("*.json"))
        assert files and not any("4711" in file.read_text() for file in files), form


def test_marks_and_comments_reach_every_export_that_has_room_for_them(tmp_path: Path, reports: list[Report]) -> None:
    enter(tmp_path, "ada", "why", 3.0, 0.5, "=1+1 if a < b")
    enter(tmp_path, "ada", "study", 5.0)
    texts = {form: export(tmp_path, form) for form in ("csv", "canvas", "moodle", "blackboard", "brightspace", "junit")}
    texts["gradescope"] = export(tmp_path, "gradescope") / "ada" / "results.json"
    written = {form: path.read_text() for form, path in texts.items()}
    for form, text in written.items():
        assert ("3.5 of 4" if form == "junit" else "13.5") in text, form
    for form in ("csv", "gradescope", "junit"):
        assert "=1+1 if a" in written[form], form
    assert "why: comment" in written["csv"] and "'=1+1" in written["csv"]
    assert "why, comment: =1+1 if a &lt; b" in written["moodle"]  # which takes it for HTML
