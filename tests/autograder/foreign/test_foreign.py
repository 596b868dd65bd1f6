"""A plain nbgrader course, written for nobody's harness, grades with nbgrader's scores, at the lower trust level."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.submissions.intake import find_submissions
from tests.autograder.conftest import run_command
from tests.sampling import sample
from tests.when_used import when_used

nbformat = when_used("nbformat")
Gradebook = when_used("nbgrader.api.Gradebook")
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("foreign")]

ASSIGNMENT = "ps1"
NOTEBOOKS = ("problem1", "problem2")
TOTALS = {"all-right": 3, "one-wrong": 2.5, "partly-right": 1, "untouched": 0, "written": 3, "with-helper": 3}
"""What stock nbgrader gives the honest submissions."""
HONEST = sample("foreign", list(TOTALS), 2)
"""Those that stock nbgrader grades in this run: it starts a kernel for each notebook."""

SQUARES = """def squares(n):
    if n < 1:
        raise ValueError("n must be at least 1")
    return [i ** 2 for i in range(1, n + 1)]"""
NOISY = 'import sys\nprint("a native library says hello", file=sys.stderr)\n' + SQUARES.replace(
    "    if n", '    print("computing", file=sys.stderr)\n    if n'
)
ANSWERS = {"squares": SQUARES, "sum_of_squares": "def sum_of_squares(n):\n    return sum(squares(n))"}
WRITTEN = {
    "sum_of_squares_equation": r"$\sum_{i=1}^{n} i^2$",
    "sum_of_squares_application": "def pyramidal_number(n):\n    return sum_of_squares(n)",
    "part-a": "It computes Fibonacci numbers by recursion.",
    "part-b": "Below zero it never ends.",
}
Scores = Mapping[tuple[str, str, str], float | None]
"""(student, notebook, grade id) -> nbgrader's auto score; None where a person is to decide"""


def _answer(answers: Mapping[str, str]) -> Callable[[Any], object]:
    def edit(notebook: Any) -> None:
        for cell in notebook.cells:
            cell["source"] = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell["source"])

    return edit


def _twice(notebook: Any) -> None:
    """All right, and the first test cell pasted a second time at the end, as copy and paste in Jupyter does it."""
    _answer(ANSWERS)(notebook)
    tests = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "correct_squares"]
    notebook.cells.extend(nbformat.from_dict(dict(cell)) for cell in tests)


CLASS: dict[str, Callable[[Any], object]] = {
    "all-right": _answer(ANSWERS),
    "one-wrong": _answer({**ANSWERS, "sum_of_squares": "def sum_of_squares(n):\n    return sum(squares(n)) + 1"}),
    "partly-right": _answer({"squares": "def squares(n):\n    return [i * i for i in range(1, n + 1)]"}),
    "untouched": _answer({}),
    "written": _answer({**ANSWERS, **WRITTEN}),
    "with-helper": _answer({**ANSWERS, "squares": "from helper import squares"}),
    "stderr-noise": _answer({**ANSWERS, "squares": NOISY}),
    "test-cell-twice": _twice,
}


@dataclass(frozen=True)
class Foreign:
    """The course on disk, and what stock nbgrader made of it."""

    course: Path
    submissions: Path
    """everybody's, in nbgrader's layout"""
    scores: Scores
    """those of the honest"""

    @property
    def source(self) -> Path:
        return self.course / "source" / ASSIGNMENT


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    """Built by nbgrader's own commands, as its documentation tells an instructor to."""
    base = tmp_path_factory.mktemp("foreign")
    course, submissions, home = (base / name for name in ("course", "submissions", "home"))
    home.mkdir()
    # A home of its own, so that no configuration of this machine takes part.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    environment = {**os.environ, **own, "HOME": str(home), "PATH": path, "IPYTHONDIR": str(home / "ipython")}

    def nbgrader(folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "nbgrader", *arguments]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    nbgrader(base, "quickstart", "course")
    nbgrader(course, "generate_assignment", ASSIGNMENT)
    for student, edit in CLASS.items():
        for name in NOTEBOOKS:
            notebook = nbformat.read(course / "release" / ASSIGNMENT / f"{name}.ipynb", as_version=4)
            edit(notebook)
            path_in = submissions / student / ASSIGNMENT / f"{name}.ipynb"
            path_in.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, path_in)
        shutil.copy(course / "release" / ASSIGNMENT / "jupyter.png", submissions / student / ASSIGNMENT)
    (submissions / "with-helper" / ASSIGNMENT / "helper.py").write_text(SQUARES)
    shutil.copytree(submissions / "all-right", submissions / "broken-json")
    (submissions / "broken-json" / ASSIGNMENT / "problem1.ipynb").write_text('{"cells": [{"cell_type": "co')
    for student in HONEST:
        shutil.copytree(submissions / student, course / "submitted" / student)
    nbgrader(course, "autograde", ASSIGNMENT)
    return Foreign(course, submissions, _scores(course))


def _scores(folder: Path) -> Scores:
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        return {
            (submission.student.id, notebook.name, grade.name): grade.auto_score
            for submission in gradebook.find_assignment(ASSIGNMENT).submissions
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


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
def graded(foreign: Foreign, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    run = tmp_path_factory.mktemp("graded") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))
        status, shown, said = run_command("grade", foreign.source, foreign.submissions, "--out", run, "--workers", 2)
    results = json.loads((run / "results.json").read_text())
    return Graded(run, status, shown + said, {s["student"]: s for s in results["submissions"]})


def test_released_text_is_what_nbgrader_generates(foreign: Foreign) -> None:
    assignment = load_assignment(foreign.source, foreign.course)
    assert tuple(notebook.name for notebook in assignment.notebooks) == NOTEBOOKS
    for notebook in assignment.notebooks:
        released = nbformat.read(foreign.course / "release" / ASSIGNMENT / f"{notebook.name}.ipynb", as_version=4)
        ours = {cell.grade_id: cell.released for cell in notebook.cells if cell.grade_id}
        assert ours == {c.metadata.nbgrader.grade_id: c.source for c in released.cells if "nbgrader" in c.metadata}
    assert assignment.checks is None
    assert [path.name for path in assignment.files] == ["jupyter.png"]


def test_submissions_are_found_in_nbgraders_course_and_read(foreign: Foreign) -> None:
    assignment = load_assignment(foreign.source, foreign.course)
    assert {handed.student for handed in find_submissions(foreign.course, assignment).students} >= set(HONEST)
    by_student = {handed.student: handed for handed in find_submissions(foreign.submissions, assignment).students}
    assert by_student.keys() == CLASS.keys() | {"broken-json"}
    written = by_student["written"].read(assignment)
    first, second = written.notebooks
    tests = [cell.grade_id for cell in first.plan if cell.origin == "instructor" and cell.grade_id]
    assert tests == [
        "correct_squares",
        "squares_invalid_input",
        "correct_sum_of_squares",
        "sum_of_squares_uses_squares",
    ]
    assert (first.attempted, second.attempted) == ((*ANSWERS, *list(WRITTEN)[:2]), ("part-a", "part-b"))
    assert written.flags == ()  # nothing is told of jupyter.png, which came back as it was handed out


def test_stock_nbgrader_tells_the_honest_submissions_apart(foreign: Foreign) -> None:
    totals = {s: sum(v or 0 for (who, _, _), v in foreign.scores.items() if who == s) for s in HONEST}
    assert totals == {student: TOTALS[student] for student in HONEST}


@pytest.mark.parametrize("student", HONEST)
def test_honest_work_gets_nbgraders_score_cell_by_cell(student: str, graded: Graded, foreign: Foreign) -> None:
    theirs = {key[1:]: score for key, score in foreign.scores.items() if key[0] == student}
    ours = {(i["notebook"], i["grade_id"]): i for i in graded.submissions[student]["items"]}
    assert ours.keys() == theirs.keys()
    for key, score in theirs.items():
        if score is None:
            assert ours[key]["verdict"] == "needs manual", key
        else:
            assert ours[key]["points"] == score, key


def test_the_gradebook_says_what_nbgraders_gradebook_says(graded: Graded, foreign: Foreign) -> None:
    assert {key: score for key, score in _scores(graded.run).items() if key[0] in HONEST} == {
        key: score for key, score in foreign.scores.items() if key[0] in HONEST
    }


@pytest.mark.parametrize("student", ["stderr-noise", "test-cell-twice"])
def test_noise_on_stderr_and_a_test_cell_pasted_twice_change_nothing(student: str, graded: Graded) -> None:
    assert graded.points(student) == graded.points("all-right")


def test_a_students_own_module_lies_beside_the_notebook(graded: Graded) -> None:
    assert graded.points("with-helper") == graded.points("all-right")


def test_a_reference_that_fails_its_own_tests_stops_the_run_and_names_what_is_missing(
    foreign: Foreign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))
    source = shutil.copytree(foreign.source, tmp_path / ASSIGNMENT)
    text = (source / "problem1.ipynb").read_text()
    (source / "problem1.ipynb").write_text(text.replace("def squares(n):", "import nowhere\\ndef squares(n):", 1))
    run = ["grade", source, foreign.submissions, "--out", tmp_path / "run", "--workers", 1]
    status, _, said = run_command(*run)
    assert status == 2 and "The module nowhere is not installed" in said and "nobody is graded" in said


def test_a_broken_file_is_rejected_with_a_reason_and_stops_nobody_else(graded: Graded) -> None:
    broken = graded.submissions["broken-json"]
    assert broken["state"] == "rejected" and "problem1" in broken["reason"]
    assert graded.status == 1 and "broken-json" in graded.shown
    assert len(graded.submissions) == 9


def test_the_trust_level_is_the_lower_one(graded: Graded) -> None:
    assert {s["trust"] for s in graded.submissions.values()} == {"in the kernel"}
