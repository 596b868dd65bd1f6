from __future__ import annotations

import csv
import dataclasses
import json
import sqlite3
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from autograder.errors import WrongUse
from autograder.gradebook.exports import export
from autograder.gradebook.lateness import UNKNOWN, judge_lateness, with_lateness
from autograder.gradebook.nbgrader_db import write_gradebook
from autograder.gradebook.returning import pack_feedback
from autograder.gradebook.roster import days_for, read_roster
from autograder.gradebook.settings import Course, read_course
from autograder.records import Flag, Report, from_data, to_data
from autograder.submissions.intake import StudentFiles

NAME = "a9_demo"
DUE = datetime.fromisoformat("2026-10-01T23:59:00+02:00")
COURSE = Course(due={NAME: DUE}, grace=timedelta(hours=1), percent_per_day=10, cap_percent=50)
ALL = {"why": 4.0, "study": 5.0}


@pytest.fixture
def report(students: Any) -> Report:
    """14 of 14 points."""
    return students.report(students.submit("ada"), ALL)


def late(report: Report, when: str, *, marked: bool = False, course: Course = COURSE, **person: str) -> Report:
    return with_lateness(report, course, person, when, marked=marked)


@pytest.mark.parametrize(
    ("handed_in", "days", "penalty"),
    [
        ("2026-10-01 21:59:00 UTC", 0, 0),  # the due time itself, as nbgrader writes it
        ("2026-10-01 22:59:00.000000 UTC", 0, 0),  # the end of the grace period
        ("2026-10-01 22:59:01 UTC", 1, 1.4),
        ("2026-10-02 22:59:00+00:00", 1, 1.4),
        ("2026-10-03 00:59:00 CEST", 1, 1.4),  # which the zone of the due time tells
        ("2026-10-02 17:59:00 EST", 1, 1.4),
        ("2026-10-02 22:59:01+00:00", 2, 2.8),
        ("2026-10-03 00:59:01", 2, 2.8),  # Blackboard, in the zone of the due time
        ("Saturday, 3 October 2026, 12:59 AM", 1, 1.4),  # Moodle's worksheet
        ("2027-01-01 00:00:00 UTC", 92, 7.0),  # the cap
    ],
)
def test_each_day_begun_after_the_grace_period_costs_its_percentage(
    report: Report, handed_in: str, days: int, penalty: float
) -> None:
    found = late(report, handed_in)
    assert found.late is not None and found.late.days == days
    assert (found.score, found.penalty, found.final_score) == pytest.approx((14, penalty, 14 - penalty))


def test_what_happened_is_told_in_a_sentence(report: Report) -> None:
    def told(handed_in: str, **more: Any) -> str:
        found = late(report, handed_in, **more).late
        return found.sentence if found else "nothing"

    was_due = "after it was due (Oct 01, 2026, 23:59, UTC+0200)"
    assert told("2026-10-01 20:00 UTC") == ""
    assert told("2026-10-01 22:19 UTC") == (
        f"Handed in 20 minutes {was_due}, which is within the grace period and costs nothing."
    )
    assert told("2026-10-03 23:59 UTC") == (
        f"Handed in 2 days and 2 hours {was_due}; a grace period of 1 hour does not count. "
        "This is 3 days late, and each day costs 10 % of the points."
    )
    assert told("2026-10-20 00:00 UTC").endswith("each day costs 10 % of the points, 50 % at most.")
    assert told("") == told("soon") == told("12:30") == UNKNOWN
    assert told("", course=Course()) == "nothing"
    assert told("2026-10-02 21:59 UTC", extension="2") == ""


def test_a_penalty_is_never_more_than_the_work_earned(report: Report) -> None:
    poor = dataclasses.replace(report, score=0.5)
    assert (late(poor, "2026-10-04 10:00 UTC").penalty, late(poor, "2026-10-04 10:00 UTC").final_score) == (0.5, 0)
    below = dataclasses.replace(report, score=-1.0)  # a person's to decide
    assert late(below, "2026-10-04 10:00 UTC").final_score == -1


def test_judging_twice_takes_off_once_and_records_come_back_as_they_were(report: Report) -> None:
    once = late(report, "2026-10-02 12:00 UTC")
    assert late(once, "2026-10-02 12:00 UTC") == once != report
    assert from_data(Report, to_data(once)) == once and to_data(once)["final_score"] == once.final_score
    assert from_data(Report, {k: v for k, v in to_data(report).items() if k not in ("late", "penalty")}) == report
    assert dataclasses.replace(once, score=10.0).final_score == 10 - once.penalty


def test_a_bare_mark_counts_as_a_day_unless_somebody_knows_better(report: Report) -> None:
    assert late(report, "", marked=True, course=Course(percent_per_day=10)).penalty == pytest.approx(1.4)
    assert late(report, "", marked=True).penalty == pytest.approx(1.4)
    assert late(report, "", marked=True, extension="1").penalty == 0
    assert late(report, "", marked=True, days_late="3").penalty == pytest.approx(4.2)
    assert late(report, "", marked=True, days_late=f"{NAME} 0, other 3").penalty == 0
    assert late(report, "", marked=True, handed_in="2026-10-01T20:00:00Z").penalty == 0


def test_extensions_stand_in_the_roster_or_in_the_settings_and_the_greater_counts(report: Report) -> None:
    course = dataclasses.replace(COURSE, extensions={"ada": f"1, {NAME} 3", "ada@x.org": "4"})
    assert late(report, "2026-10-05 00:30 UTC", course=course).penalty == pytest.approx(1.4)  # one day after three
    assert late(report, "2026-10-05 00:30 UTC", course=course, email="Ada@X.org").penalty == 0
    assert late(report, "2026-10-05 00:30 UTC", course=course, extension="5").penalty == 0


WORKSHEET = "Identifier,Full name,Status,Grade,Last modified (submission)\nParticipant 7,Ada Doe,{},-,{}\n"
"""Moodle's, where `col_status` of `mod/assign/gradingtable.php` has put ' - ' between what it says of a submission"""
SUBMITTED = "Submitted for grading - 1 day 2 hours late - Not marked"


@pytest.mark.parametrize(
    ("status", "days", "due"),
    [
        (f"{SUBMITTED} - Extension granted until: Saturday, 3 October 2026, 11:59 PM", 0, "2026-10-03T23:59:00+02:00"),
        (f"{SUBMITTED} - Extension granted until: Saturday, October 3, 2026, 12:59 AM", 1, "2026-10-03T00:59:00+02:00"),
        ("Extension granted until: Sunday, 4 October 2026, 11:59 PM - ", 0, "2026-10-04T23:59:00+02:00"),
        ("Extension granted until: Tuesday, 1 September 2026, 11:59 PM", 2, DUE.isoformat()),
        (SUBMITTED, 2, DUE.isoformat()),
    ],
)
def test_an_extension_in_moodles_worksheet_counts(
    report: Report, tmp_path: Path, status: str, days: int, due: str
) -> None:
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET.format(f'"{status}"', '"Saturday, 3 October 2026, 11:30 PM"'))
    found = late(report, "", **read_roster(path).find("", "7")).late
    assert found is not None and (found.days, found.due) == (days, due)
    assert ("an extension of" in found.sentence) == (days == 1)


@pytest.mark.parametrize("until", ["3/10/2026, 23:59", "3.10.26", "03-10-2026", "sábado, 3 de octubre de 2026", "soon"])
def test_an_extension_whose_end_cannot_be_read_is_told_and_nothing_is_guessed(
    students: Any, tmp_path: Path, until: str
) -> None:
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET.format(f'"{SUBMITTED} - Extension granted until: {until}"', ""))
    course = dataclasses.replace(COURSE, roster=read_roster(path))

    def judged(handed_in: str) -> tuple[float, list[str]]:
        one = StudentFiles("Ada Doe_7", {}, platform=("moodle", "7", ""), handed_in=handed_in)
        reports, facts = judge_lateness([students.report(students.submit(one.student), ALL)], [one], course)
        return reports[0].penalty, facts.sentences()

    assert judged("2026-10-03 12:00 UTC") == (
        0,
        [
            f"When an extension ends cannot be read, so that nothing was taken off: Ada Doe_7 ({until}). "
            "Write it in the roster's column extended_until, as 2026-10-03 23:59, and grade again."
        ],
    )
    assert judged("2026-10-01 12:00 UTC") == (0, []), "in time without it"
    path.write_text(path.read_text().replace("\n", ",extended_until\n", 1).rstrip() + ",2026-10-02 23:59\n")
    course = dataclasses.replace(COURSE, roster=read_roster(path))
    assert judged("2026-10-03 12:00 UTC") == (pytest.approx(1.4), []), "written as it was asked for"


@pytest.mark.parametrize(
    ("text", "days"),
    [("", None), ("2", 2), ("1.5", 1.5), ("a9 2", 2), ("a8 2", None), ("1, a9 2", 2), ("a9 2; 1", 2), ("a8 2, 1", 1)],
)
def test_days_are_for_all_assignments_or_for_those_that_are_named(text: str, days: float | None) -> None:
    assert days_for(text, "a9") == days


@pytest.mark.parametrize("text", ["-1", "two", "a9", "2026-10-05", "a9 two", "2 a9"])
def test_what_is_no_number_of_days_is_refused_where_it_stands(tmp_path: Path, text: str) -> None:
    (tmp_path / "people.csv").write_text(f"student,extension\nada,\nbob,{text}\n")
    with pytest.raises(WrongUse, match=r"people\.csv: line 3, extension: '.*' is no number of days"):
        read_roster(tmp_path / "people.csv")


def test_a_class_knows_who_is_missing_whose_time_nothing_tells_and_whose_extension_is_nobodys(
    students: Any, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("student,id,section,extension\nada,7,Mon,\nbob,8,Fri,1\ncyd,9,Fri,\n")
    course = dataclasses.replace(
        COURSE, roster=read_roster(tmp_path / "people.csv"), extensions={"cyd": "1", "dna": "1"}
    )
    handed_in = [
        StudentFiles("ada", {}, flags=(Flag("late", "x"),)),
        StudentFiles("bob_8", {}, platform=("canvas", "8"), handed_in="2026-10-02 20:00 UTC"),
        StudentFiles("dan", {}),
    ]
    reports = [students.report(students.submit(one.student), ALL) for one in handed_in]
    judged, facts = judge_lateness(reports, handed_in, course)
    assert [r.penalty for r in judged] == pytest.approx([1.4, 0, 0])
    assert facts.sections == {"ada": "Mon", "bob_8": "Fri"}
    assert facts.sentences() == [
        "Handed in nothing: cyd.",
        "Not in the roster: dan.",
        "When it was handed in is not known, so that nothing was taken off: dan.",
        "Extensions in [tool.course] that are nobody's: dna.",
    ]


# --- what others read ------------------------------------------------------------------------------------------------


@pytest.fixture
def late_run(tmp_path: Path, students: Any) -> Path:
    """Ada is two days late, and Cyn, whose essay nobody has read yet, is one."""
    submissions = [students.submit(name) for name in ("ada", "cyn")]
    points = [{**ALL, "test_double": 1.0 / 3}, {"study": 5.0}]
    reports = [students.report(s, p) for s, p in zip(submissions, points, strict=True)]
    reports = [late(r, f"2026-10-0{day} 12:00 UTC") for r, day in zip(reports, (3, 2), strict=True)]
    write_gradebook(tmp_path, students.assignment, submissions, reports)
    students.write_results(tmp_path, reports)
    return tmp_path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_every_export_takes_it_off_once_and_rounds_as_the_course_says(late_run: Path) -> None:
    ada, cyn = rows(export(late_run, "csv"))
    assert (ada["score"], ada["penalty"], ada["final_score"], ada["test_double"]) == ("11.33", "2.8", "8.53", "0.33")
    assert (cyn["score"], cyn["penalty"], cyn["final_score"]) == ("", "", "")
    assert "2 days late" in ada["late"]
    assert rows(export(late_run, "csv", digits=0))[0]["final_score"] == "9"
    assert rows(export(late_run, "canvas"))[1][NAME] == "8.53"
    moodle = rows(export(late_run, "moodle"))[0]
    assert moodle["Grade"] == "8.53" and "11.33 - 2.8 = 8.53 points." in moodle["Feedback comments"]
    assert rows(export(late_run, "blackboard"))[0][f"{NAME} [Total Pts: 14 Score]"] == "8.53"
    assert rows(export(late_run, "brightspace"))[0][f"{NAME} Points Grade"] == "8.53"
    gradescope = json.loads((export(late_run, "gradescope") / "ada" / "results.json").read_text())
    assert gradescope["score"] == 8.53 and "= 8.53 points" in gradescope["output"]
    assert 'name="final_score" value="8.53"' in export(late_run, "junit").read_text()


def test_a_mail_merge_tells_the_same_and_unreadable_work_nothing_of_it(late_run: Path, students: Any) -> None:
    page = PurePosixPath("page.html")
    (late_run / page).write_text("x")
    pack_feedback(late_run, "folder", dict.fromkeys(("ada", "cyn"), page), late_run / "out")
    ada, _ = rows(late_run / "out" / "mail_merge.csv")
    assert (ada["score"], ada["penalty"], ada["final_score"]) == ("11.33", "2.8", "8.53")
    students.write_results(late_run, [late(students.report(students.submit("dan", None)), "2026-10-09 12:00 UTC")])
    told = rows(export(late_run, "moodle"))[0]["Feedback comments"]
    assert told.startswith("Could not be read") and "late" not in told


def test_a_score_by_hand_is_what_the_penalty_is_taken_off(late_run: Path) -> None:
    with sqlite3.connect(late_run / "gradebook.db") as database:
        database.execute(
            "UPDATE grade SET manual_score = 4 WHERE cell_id IN (SELECT id FROM base_cell WHERE name = 'why')"
        )
    assert rows(export(late_run, "csv"))[1]["final_score"] == "12.6"


def test_nbgrader_knows_the_penalty(late_run: Path) -> None:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{late_run / 'gradebook.db'}") as gb:
        penalties = {s.student.id: s.late_submission_penalty for s in gb.assignment_submissions(NAME)}
    assert penalties == pytest.approx({"ada": 2.8, "cyn": 1.4})


# --- settings --------------------------------------------------------------------------------------------------------

SETTINGS = """
[tool.course]
repository = "someone/demo"
round = 1
roster = "people.csv"
[tool.course.due]
a9_demo = 2026-10-01T23:59:00+02:00
[tool.course.late]
grace_hours = 1
percent_per_day = 10
cap_percent = 50
[tool.course.extensions]
Ada = 2
"""


def settings(root: Path, text: str) -> Course:
    (root / "people.csv").write_text("student\nada\n")
    (root / "pyproject.toml").write_text(text)
    return read_course(root)


def test_settings_are_read_from_the_courses_pyproject(tmp_path: Path) -> None:
    assert read_course(tmp_path) == Course()
    course = settings(tmp_path, SETTINGS)
    assert dataclasses.replace(course, roster=None) == dataclasses.replace(COURSE, digits=1, extensions={"ada": "2"})
    assert course.roster is not None and course.roster.find("ada")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[tool.course]\nround = 2.5", "round = 2.5 is no whole number from 0 to 6"),
        ("[tool.course]\nroster = 3", "roster = 3 is no text"),
        ("[tool.course]\nroster = 'no.csv'", "no.csv: cannot be read"),
        ("[tool.course.late]\nper_day = 10", "late: per_day is no setting; there are grace_hours, percent_per_day"),
        ("[tool.course.late]\npercent_per_day = 'ten'", "percent_per_day = 'ten' is no number from 0 to 100"),
        ("[tool.course.late]\npercent_per_day = nan", "is no number from 0 to 100"),
        ("[tool.course.due]\na9 = 2026-10-01T23:59:00", "due.a9 = 2026-10-01 23:59:00 is no time with its offset"),
        ("[tool.course.due]\na9 = '2026-10-01'", "due.a9 = 2026-10-01 is no time with its offset"),
        ("[tool.course.extensions]\nada = 'two'", "extensions.ada: 'two' is no number of days"),
        ("[[tool.course.totals]]\nname = 'x'", "totals: 'x' needs assignments"),
        ("[[tool.course.totals]]\nassignments = ['a', 'b']\nbest = 3", "best = 3 is no whole number from 0 to 2"),
        ("[tool.course", "cannot be read"),
    ],
)
def test_a_setting_without_sense_is_refused_by_name(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(WrongUse) as refused:
        settings(tmp_path, line)
    assert words in str(refused.value)
