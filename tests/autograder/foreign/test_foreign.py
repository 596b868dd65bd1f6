"""A plain nbgrader course, written for nobody's harness, grades with nbgrader's scores, at the lower trust level."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.autograder.foreign.conftest import HONEST, TOTALS
from tests.when_used import when_used

Gradebook = when_used("nbgrader.api.Gradebook")

ASSIGNMENT = "ps1"
ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("foreign")]


@dataclass(frozen=True)
class Graded:
    """What `autograder grade` made of the class."""

    run: Path
    status: int
    shown: str
    submissions: dict[str, dict[str, Any]]

    def points(self, student: str) -> dict[str, float]:
        return {item["grade_id"]: item["points"] for item in self.submissions[student]["items"]}


@pytest.fixture(scope="module")
def graded(foreign: Any, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    run = tmp_path_factory.mktemp("graded") / "run"
    command = [sys.executable, "-m", "autograder.cli", "grade", str(foreign.source), str(foreign.submissions)]
    command += ["--out", str(run), "--workers", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=500)
    assert (run / "results.json").exists(), done.stdout + done.stderr
    results = json.loads((run / "results.json").read_text())
    return Graded(run, done.returncode, done.stdout + done.stderr, {s["student"]: s for s in results["submissions"]})


def test_stock_nbgrader_tells_the_honest_submissions_apart(foreign: Any) -> None:
    totals = {s: sum(v or 0 for (who, _, _), v in foreign.scores.items() if who == s) for s in HONEST}
    assert totals == {student: TOTALS[student] for student in HONEST}


@pytest.mark.parametrize("student", HONEST)
def test_honest_work_gets_nbgraders_score_cell_by_cell(student: str, graded: Graded, foreign: Any) -> None:
    theirs = {key[1:]: score for key, score in foreign.scores.items() if key[0] == student}
    ours = {(i["notebook"], i["grade_id"]): i for i in graded.submissions[student]["items"]}
    assert ours.keys() == theirs.keys()
    for key, score in theirs.items():
        if score is None:
            # nbgrader leaves the untouched task to a person too; ours says beside it that nothing was added.
            assert ours[key]["verdict"] in ("needs manual", "not attempted"), key
        else:
            assert ours[key]["points"] == score, key


@pytest.mark.parametrize("student", HONEST)
def test_the_gradebook_says_what_nbgraders_gradebook_says(student: str, graded: Graded, foreign: Any) -> None:
    found: dict[tuple[str, str, str], float | None] = {}
    with Gradebook(f"sqlite:///{graded.run / 'gradebook.db'}") as gradebook:
        for notebook in gradebook.find_submission(ASSIGNMENT, student).notebooks:
            for grade in notebook.grades:
                found[student, notebook.name, grade.name] = grade.auto_score
    assert found == {key: score for key, score in foreign.scores.items() if key[0] == student}


def test_noise_on_stderr_costs_nothing(graded: Graded) -> None:
    assert graded.points("stderr-noise") == graded.points("all-right")


def test_a_test_cell_that_was_pasted_twice_counts_once(graded: Graded) -> None:
    assert graded.points("test-cell-twice") == graded.points("all-right")


def test_a_broken_file_is_rejected_with_a_reason_and_stops_nobody_else(graded: Graded) -> None:
    broken = graded.submissions["broken-json"]
    assert broken["state"] == "rejected" and "problem1" in broken["reason"]
    assert graded.status == 1 and "broken-json" in graded.shown and "Traceback" not in graded.shown
    assert len(graded.submissions) == 8


def test_the_trust_level_is_the_lower_one(graded: Graded) -> None:
    assert {s["trust"] for s in graded.submissions.values()} == {"in the kernel"}
