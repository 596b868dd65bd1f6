"""`autograder feedback RUN`: what people entered in formgrader reaches pages, report and results, and stays there."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main
from autograder.records import Lateness, Limits, to_data
from autograder.runs.journal import Journal, JournalEntry
from autograder.runs.run import write_whole
from tests.autograder.small_course import NAME, Class, make_course
from tests.when_used import when_used

pytestmark = pytest.mark.slow  # it imports nbgrader
Gradebook = when_used("nbgrader.api.Gradebook")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """As `autograder grade` leaves it after Ada was graded three times: her essay and task wait, and she has a plot."""
    students = Class(make_course(tmp_path / "course").load())
    submissions = [students.submit("ada"), students.submit("bob")]
    run = tmp_path / "run"
    reports = students.write_gradebook(run, (submissions[0], {}), (submissions[1], {}))
    drawn = [dataclasses.replace(r, figures=("aQ==",)) if r.grade_id == "mean_of" else r for r in reports[0].runs]
    journaled = [dataclasses.replace(reports[0], runs=tuple(drawn)), reports[1]]
    earlier = dataclasses.replace(journaled[0], seconds=9.0)
    journal = Journal(run / "journal.jsonl")
    for report, submission in zip(
        (earlier, *journaled, earlier), (*submissions[:1], *submissions, submissions[0]), strict=True
    ):
        journal.add(JournalEntry("key", report, submission))
    students.write_results(run, reports)
    results = json.loads((run / "results.json").read_text())
    results["run"] = {"finished": "2026-11-02T10:00:00+00:00", "limits": to_data(Limits(cell_s=7.0)), "platform": {}}
    write_whole(run / "results.json", json.dumps(results))
    return run


def enter(run: Path, manual: float | None, comment: str | None) -> None:
    with Gradebook(f"sqlite:///{run / 'gradebook.db'}") as gb:
        gb.find_grade("why", NAME, NAME, "ada").manual_score = manual
        gb.find_comment("why", NAME, NAME, "ada").manual_comment = comment
        gb.db.commit()


def entry(run: Path) -> Any:
    return json.loads((run / "results.json").read_text())["submissions"][0]


def test_a_late_penalty_is_taken_once_from_the_score_that_a_mark_has_changed(run: Path) -> None:
    results = json.loads((run / "results.json").read_text())
    results["submissions"][0]["late"] = to_data(Lateness(percent=50.0, sentence="Handed in late."))
    write_whole(run / "results.json", json.dumps(results))
    enter(run, 3.0, None)
    for _ in range(2):
        assert main(["feedback", str(run)]) == 0
        ada = entry(run)
        assert (ada["score"], ada["penalty"], ada["final_score"]) == (8, 7, 1), "half of 14 points"


def test_marks_reach_the_page_the_table_the_report_and_the_results(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = json.loads((run / "results.json").read_text())
    enter(run, 3.0, "Nicely <i>put</i>.")
    assert main(["feedback", str(run)]) == 0
    printed = capsys.readouterr().out
    assert "changed: ada: 5 -> 8" in printed and "1 with marks, 1 comment by people" in printed
    page = (run / "feedback" / "ada" / NAME / "feedback.html").read_text()
    assert "Nicely &lt;i&gt;put&lt;/i&gt;." in page and "3 given by a person" in page
    assert "data:image/png;base64,aQ==" in page, "the figures stand in the journal"
    assert entry(run)["score"] == 8 and entry(run)["comments"][0]["text"] == "Nicely <i>put</i>."
    assert "8 / 14" in (run / "report.html").read_text()
    # Taken back, nothing is left of it.
    enter(run, None, None)
    assert main(["feedback", str(run)]) == 0
    assert json.loads((run / "results.json").read_text()) == before
    assert "given by a person" not in (run / "feedback" / "ada" / NAME / "feedback.html").read_text()


@pytest.mark.parametrize("platform", ["moodle", "canvas"])
def test_a_platform_that_would_match_nobody_gets_no_archive_and_the_pages_are_written_all_the_same(
    run: Path, capsys: pytest.CaptureFixture[str], platform: str
) -> None:
    assert main(["feedback", str(run), "--to", platform]) == 2
    said = capsys.readouterr()
    assert "2 pages written" in said.out and "Not matched: ada, bob." in " ".join(said.err.split())
    assert (run / "feedback" / "ada" / NAME / "feedback.html").exists() and not list(run.glob("*.zip"))


def test_a_run_without_its_journal_is_left_as_it_is(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (run / "results.json").read_text()
    (run / "journal.jsonl").write_text("")
    assert main(["feedback", str(run), "--to", "moodle"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "does not hold what results.json says of ada" in said and "run `autograder grade` again" in said
    assert (run / "results.json").read_text() == before and not (run / "feedback").exists()


def test_a_folder_that_is_no_run_is_not_made_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["feedback", str(tmp_path / "none")]) == 2
    assert "holds no results.json" in capsys.readouterr().err and not (tmp_path / "none").exists()
    assert main(["feedback", str(tmp_path), "--out", "x.zip"]) == 2
