from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import WrongUse
from autograder.gradebook.roster import read_roster
from autograder.gradebook.settings import Course, Group
from autograder.records import Item, Lateness, Report, Trust, Verdict, to_data
from autograder.totals import Totals, totals, write_totals
from tests.autograder.report.build import Page
from tests.autograder.small_course import Class, make_course

PEOPLE = "student,first_name,last_name,section\nada,Ada,Lovelace,Mon\nbob,Bob,Roe,Mon\ncyd,Cyd,Doe,Fri\n"


def run(root: Path, assignment: str, points: dict[str, float | None], late: dict[str, float] | None = None) -> Path:
    """A run folder in which each student has some of 10 points (None: nobody has decided), less a percentage."""
    reports = []
    for student, score in points.items():
        verdict = Verdict.NEEDS_MANUAL if score is None else Verdict.PARTIAL
        item = Item(assignment, "test_f", score or 0.0, 10.0, verdict)
        cost = Lateness(percent=late[student], days=1) if late and student in late else None
        report = Report(student, assignment, score or 0.0, 10.0, verdict, Trust.JUDGED_APART, "cpu", (item,), late=cost)
        reports.append(report)
    (root / assignment).mkdir()
    data = {"version": 1, "assignment": assignment, "run": {}, "submissions": [to_data(r) for r in reports]}
    (root / assignment / "results.json").write_text(json.dumps(data))
    return root / assignment


@pytest.fixture
def term(tmp_path: Path) -> list[Path]:
    return [
        run(tmp_path, "a1", {"ada": 10.0, "bob": 2.0, "eve": 5.0}),
        run(tmp_path, "a2", {"ada": 5.0, "bob": 10.0}, late={"bob": 20.0}),
        run(tmp_path, "a3", {"ada": 8.0, "bob": 6.0}),
    ]


@pytest.fixture
def roster(tmp_path: Path) -> Any:
    (tmp_path / "people.csv").write_text(PEOPLE)
    return read_roster(tmp_path / "people.csv")


GROUPS = (Group("homework", ("a1", "a2"), 60, 1), Group("project", ("a3",), 40))


def of(table: Totals) -> dict[str, float | None]:
    return {row.student: None if row.total is None else round(100 * row.total, 6) for row in table.rows}


def test_without_settings_all_assignments_count_alike_and_what_is_missing_is_zero(term: list[Path]) -> None:
    table = totals(term, Course())
    assert of(table) == pytest.approx({"ada": 230 / 3, "bob": 160 / 3, "eve": 50 / 3})
    assert [row.marks["a2"].state for row in table.rows] == ["counts", "counts", "missing"]


def test_the_best_of_a_group_count_by_weight_after_what_being_late_costs(term: list[Path], roster: Any) -> None:
    table = totals(term, Course(roster=roster, groups=GROUPS))
    assert of(table) == {"ada": 92, "bob": 72, "cyd": 0, "eve": 30}  # 60 * 10/10 + 40 * 8/10, 60 * 8/10 + 40 * 6/10
    assert [row.name for row in table.rows] == ["Doe, Cyd", "eve", "Lovelace, Ada", "Roe, Bob"]
    states = {row.student: [mark.state for mark in row.marks.values()] for row in table.rows}
    assert states["bob"] == ["dropped", "counts", "counts"] and states["cyd"] == ["missing"] * 3
    assert next(table.rules()) == "homework: 60 % of the total, the best 1 of 2 (a1, a2)."
    assert table.told == ("Not in the roster: eve.",)


def test_a_section_is_a_table_of_its_own(term: list[Path], roster: Any) -> None:
    assert of(totals(term, Course(roster=roster), "Fri")) == {"cyd": 0}
    with pytest.raises(WrongUse, match="Nobody is of section 'Sun'"):
        totals(term, Course(roster=roster), "Sun")


def test_what_nobody_has_decided_leaves_the_total_open(term: list[Path], tmp_path: Path) -> None:
    open_run = run(tmp_path, "a4", {"ada": None, "bob": 1.0})
    assert of(totals([*term[:2], open_run], Course())) == pytest.approx({"ada": None, "bob": 110 / 3, "eve": 50 / 3})


def test_what_does_not_count_or_was_not_given_is_told(term: list[Path], tmp_path: Path) -> None:
    table = totals([term[0], term[2]], Course(groups=GROUPS[:1]))
    assert table.told == (
        "No run of a2 was given: the totals are without it.",
        "In no group of [tool.course], so that it counts nothing: a3.",
    )
    assert of(table) == {"ada": 100, "bob": 20, "eve": 50} and table.rows[0].marks["a3"].state == "in no group"
    with pytest.raises(WrongUse, match="second run of a1"):
        totals([term[0], term[0]], Course())
    with pytest.raises(WrongUse, match="None of these assignments counts"):
        totals(term[2:], Course(groups=GROUPS[:1]))


def test_one_person_under_two_names_of_one_run_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("student,email\nada,ada@x.org\n")
    course = Course(roster=read_roster(tmp_path / "people.csv"))
    table = totals([run(tmp_path, "a1", {"ada": 1.0, "ada@x.org": 2.0})], course)
    assert (
        of(table) == {"ada": 10, "ada@x.org": 20}
        and "second submission of one person, with a row of its own: ada@x.org" in table.told[0]
    )


def test_moodles_numbers_differ_between_assignments_and_names_lead_to_the_roster(tmp_path: Path) -> None:
    names = ("Ada Doe_1", "Bob Roe_2"), ("Ada Doe_7", "Bob Roe_8")
    runs = [run(tmp_path, f"a{n}", dict.fromkeys(two, 5.0)) for n, two in enumerate(names)]
    for folder, two in zip(runs, names, strict=True):
        results = json.loads((folder / "results.json").read_text())
        results["run"]["platform"] = {name: ["moodle", name[-1]] for name in two}
        (folder / "results.json").write_text(json.dumps(results))
    (tmp_path / "p.csv").write_text("email,first name,surname\na@x,Ada,Doe\nb@x,Bob,Roe\nc@x,Bob,Roe\n")
    table = totals(runs, Course(roster=read_roster(tmp_path / "p.csv")))
    assert of(table) == {"a@x": 50, "b@x": 0, "c@x": 0, "Bob Roe_2": 25, "Bob Roe_8": 25}  # there are two Bobs


def test_the_table_is_written_for_spreadsheets_and_as_a_page_without_scripts(tmp_path: Path) -> None:
    hostile = '=1+1<script>alert("x")</script>'
    runs = [run(tmp_path, "a1", {hostile: 10 / 3, "bob": 9.0}), run(tmp_path, "a2", {"bob": 9.0}, late={"bob": 10.0})]
    written, page = write_totals(tmp_path / "out", totals(runs, Course(digits=1)))
    with written.open(encoding="utf-8-sig", newline="") as file:
        first, bob = csv.DictReader(file)
    assert first["student"] == f"'{hostile}" and (first["a1"], first["a2: state"], first["total %"]) == (
        "3.3",
        "missing",
        "16.7",
    )
    assert (bob["a2"], bob["a2: late penalty"], bob["total %"]) == ("8", "1", "85")
    shown = Page(page.read_text())
    assert not shown.all("script") and hostile in shown.text and "late \N{MINUS SIGN}1" in shown.text


def test_a_score_by_hand_counts_in_the_totals(tmp_path: Path) -> None:
    students = Class(make_course(tmp_path / "course").load())
    submission = students.submit("ada")
    students.write_results(tmp_path, students.write_gradebook(tmp_path, (submission, {"study": 5.0})))
    assert of(totals([tmp_path], Course())) == {"ada": None}
    with sqlite3.connect(tmp_path / "gradebook.db") as database:
        database.execute(
            "UPDATE grade SET manual_score = 4 WHERE cell_id IN (SELECT id FROM base_cell WHERE name = 'why')"
        )
    assert of(totals([tmp_path], Course())) == {"ada": 100}
