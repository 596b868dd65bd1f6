"""nbgrader's own example course, a class that handed it in, and the scores that stock nbgrader gives honest work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.sampling import sample
from tests.when_used import when_used

nbformat = when_used("nbformat")
Gradebook = when_used("nbgrader.api.Gradebook")

ASSIGNMENT = "ps1"
NOTEBOOKS = ("problem1", "problem2")
TOTALS = {"all-right": 3, "one-wrong": 2.5, "partly-right": 1, "untouched": 0, "written": 3}
"""What stock nbgrader gives the honest submissions."""
HONEST = sample("foreign", list(TOTALS), 2)
"""Those that stock nbgrader grades in this run: it starts a kernel for each notebook."""

SQUARES = """def squares(n):
    if n < 1:
        raise ValueError("n must be at least 1")
    return [i ** 2 for i in range(1, n + 1)]"""
ANSWERS = {
    "squares": SQUARES,
    "sum_of_squares": "def sum_of_squares(n):\n    return sum(squares(n))",
}
WRITTEN = {
    "sum_of_squares_equation": r"$\sum_{i=1}^{n} i^2$",
    "sum_of_squares_application": "def pyramidal_number(n):\n    return sum_of_squares(n)",
    "part-a": "It computes Fibonacci numbers by recursion.",
    "part-b": "Below zero it never ends.",
}
Edit = Callable[[Any], object]


@dataclass(frozen=True)
class Foreign:
    """The course on disk, and what stock nbgrader made of it."""

    course: Path
    submissions: Path
    """everybody's, in nbgrader's layout"""
    scores: Mapping[tuple[str, str, str], float | None]
    """(student, notebook, grade id) of the honest -> nbgrader's auto score; None where a person is to decide"""

    @property
    def source(self) -> Path:
        return self.course / "source" / ASSIGNMENT


def _answer(answers: Mapping[str, str]) -> Edit:
    def edit(notebook: Any) -> None:
        for cell in notebook.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            if grade_id in answers:
                cell["source"] = answers[grade_id]

    return edit


def _noisy(notebook: Any) -> None:
    noise = 'import sys\nprint("a native library says hello", file=sys.stderr)\n'
    _answer({**ANSWERS, "squares": SQUARES.replace("    if n", '    print("computing", file=sys.stderr)\n    if n')})(
        notebook
    )
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "squares":
            cell["source"] = noise + cell["source"]


def _twice(notebook: Any) -> None:
    """All right, and the first test cell pasted a second time at the end, as copy and paste in Jupyter does it."""
    _answer(ANSWERS)(notebook)
    tests = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "correct_squares"]
    notebook.cells.extend(nbformat.from_dict(dict(cell)) for cell in tests)


CLASS: dict[str, Edit] = {
    "all-right": _answer(ANSWERS),
    "one-wrong": _answer({**ANSWERS, "sum_of_squares": "def sum_of_squares(n):\n    return sum(squares(n)) + 1"}),
    "partly-right": _answer({"squares": "def squares(n):\n    return [i * i for i in range(1, n + 1)]"}),
    "untouched": _answer({}),
    "written": _answer({**ANSWERS, **WRITTEN}),
    "stderr-noise": _noisy,
    "test-cell-twice": _twice,
}


@pytest.fixture(scope="session")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    """Built by nbgrader's own commands, as its documentation tells an instructor to."""
    base = tmp_path_factory.mktemp("foreign")
    course = base / "course"
    environment = _environment(base)
    _nbgrader(base, environment, "quickstart", "course")
    _nbgrader(course, environment, "generate_assignment", ASSIGNMENT)
    submissions = base / "submissions"
    for student, edit in CLASS.items():
        for name in NOTEBOOKS:
            notebook = nbformat.read(course / "release" / ASSIGNMENT / f"{name}.ipynb", as_version=4)
            edit(notebook)
            path = submissions / student / ASSIGNMENT / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, path)
        shutil.copy(course / "release" / ASSIGNMENT / "jupyter.png", submissions / student / ASSIGNMENT)
    shutil.copytree(submissions / "all-right", submissions / "broken-json")
    (submissions / "broken-json" / ASSIGNMENT / "problem1.ipynb").write_text('{"cells": [{"cell_type": "co')
    for student in HONEST:
        shutil.copytree(submissions / student, course / "submitted" / student)
    _nbgrader(course, environment, "autograde", ASSIGNMENT)
    return Foreign(course, submissions, _scores(course))


def _scores(course: Path) -> dict[tuple[str, str, str], float | None]:
    found: dict[tuple[str, str, str], float | None] = {}
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for submission in gradebook.find_assignment(ASSIGNMENT).submissions:
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    found[submission.student.id, notebook.name, grade.name] = grade.auto_score
    return found


def _environment(base: Path) -> dict[str, str]:
    """A home of its own, so that no configuration of this machine takes part."""
    home = base / "home"
    home.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    folders = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime"}
    own = {name: str(home / folder) for name, folder in folders.items()}
    return {**os.environ, **own, "HOME": str(home), "PATH": path, "IPYTHONDIR": str(home / "ipython")}


def _nbgrader(folder: Path, environment: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
