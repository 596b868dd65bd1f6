"""A small course of one assignment with every kind of cell, and the records of a class that handed it in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.records import (
    Assignment,
    CellRun,
    CheckResult,
    Item,
    Report,
    Submission,
    Trust,
    Verdict,
    to_data,
)
from autograder.submissions.plan import read_submission
from tests import notebook_builder as builder
from tests.when_used import when_used

nbformat = when_used("nbformat")

NAME = "a9_demo"

DOUBLE = '''def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    widened = np.asarray(x, dtype=float)
    return widened + widened
    ### END SOLUTION'''
MEAN = '''def mean_of(values):
    """The mean of a list."""
    ### BEGIN SOLUTION
    total = sum(float(value) for value in values)
    return total / max(len(values), 1)
    ### END SOLUTION'''
TEST_MEAN = """assert mean_of([1, 3]) == 2
### BEGIN HIDDEN TESTS
assert mean_of([2.5, 3.5, 9.0]) == 5.0
### END HIDDEN TESTS"""

CHECKS = '''"""Hidden checks."""
import pytest

@pytest.mark.cell("test_double_of_a_long_name_in_the_notebook")
def test_twice(student, reference, draw, expect):
    """Doubling is right for arrays of any shape whatsoever."""
    expect.close(student.double(draw.normal((3, 2))), reference.double(draw.normal((3, 2))))
'''
FAULTS = '''"""Known mistakes."""
from autograder.judge import Fault

FAULTS = [Fault("squared", family="X", cell="double", edits={"widened + widened": "widened * widened"},
    words="Your function squares its argument where it should "
          "double it: try it on the number three.")]
'''
BANK = '''"""By multiplication."""
EXPECTED = {}
KIND = "correct"
CELLS = {"double": """def double(x):
    factor = np.float64(2.0).astype(float)
    return np.multiply(np.asarray(x), factor)
"""}
'''


def source_notebook() -> Any:
    """The instructor's notebook: two solutions with tests, an essay, a task, locked text and a loose cell."""
    return builder.notebook(
        builder.text("# A demo\n\nDouble, then average."),
        builder.code("import numpy as np"),
        builder.solution(DOUBLE, "double"),
        builder.tests("assert double(2) == 4", "test_double", 3),
        builder.solution(MEAN, "mean_of"),
        builder.tests(TEST_MEAN, "test_mean_of", 2),
        builder.text("Explain what you see.", "intro", locked=True),
        builder.text("The mean is pulled by outliers, the median is not.", "why", 4, grade=True, solution=True),
        builder.text("Do a study.", "study", 5, locked=True, task=True),
        builder.code("double(21)"),
    )


@dataclass(frozen=True)
class Course:
    """A course on disk."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "notebooks" / "assignments" / NAME

    @property
    def notebook(self) -> Path:
        return self.folder / f"{NAME}.ipynb"

    def load(self) -> Assignment:
        return load_assignment(NAME, self.root)

    def change(self, edit: Callable[[Any], object]) -> Assignment:
        """Edit the instructor's notebook; return the assignment as it is then."""
        notebook = nbformat.read(self.notebook, as_version=4)
        edit(notebook)
        nbformat.write(notebook, self.notebook)
        return self.load()


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """The demo course with everything that `publish` reads."""
    course = Course(tmp_path / "course")
    (course.folder / "bank").mkdir(parents=True)
    nbformat.write(source_notebook(), course.notebook)
    files = {
        "checks.py": CHECKS,
        "faults.py": FAULTS,
        "probes.py": "def probe(ns):\n    return 1\n",
        "bank/multiplied.py": BANK,
        "assignment.toml": 'forbidden = ["torch"]\n',
        "table.csv": "a,b\n1,2\n",
    }
    for name, text in files.items():
        (course.folder / name).write_text(text)
    lecture = builder.notebook(builder.text("# A lecture"))
    others = {
        "notebooks/lectures/01_intro.ipynb": nbformat.writes(lecture),
        "course_lib/__init__.py": '"""What notebooks import."""\n',
        "data/README.md": "No data.\n",
        "autograder/cli.py": "print('the grader')\n",
        "LICENSE": "MIT\n",
        "pyproject.toml": PYPROJECT,
    }
    for name, text in others.items():
        (course.root / name).parent.mkdir(parents=True, exist_ok=True)
        (course.root / name).write_text(text)
    return course


PYPROJECT = """[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = "demo"
version = "0.1"
description = 'A demo "course".'
requires-python = ">=3.11"
dependencies = ["numpy>=1.26"]

[project.optional-dependencies]
autograder = ["nbgrader"]
frameworks = ["torch>=2.6"]

[project.scripts]
autograder = "autograder.cli:main"

[tool.course]
repository = "someone/demo"
"""


@pytest.fixture
def assignment(course: Course) -> Assignment:
    return course.load()


# A class

RIGHT = {
    "double": "def double(x):\n    return 2 * np.asarray(x)",
    "mean_of": "def mean_of(values):\n    return sum(values) / len(values)",
    "why": "An outlier <b>pulls</b> the mean, $x_i$.",
}


def handed_in(answers: dict[str, str], extra: tuple[tuple[str, str], ...] = ()) -> bytes:
    """The notebook of a student who gave `answers` (grade id -> text) and appended cells (kind, source)."""
    notebook = source_notebook()
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if cell.metadata.get("nbgrader", {}).get("solution"):
            stub = "YOUR ANSWER HERE" if cell.cell_type == "markdown" else _stub(cell.source)
            cell["source"] = answers.get(grade_id, stub)
    for number, (kind, source) in enumerate(extra):
        cell = getattr(nbformat.v4, f"new_{kind}_cell")(source)
        cell["id"] = f"extra-{number}"
        notebook.cells.append(cell)
    return nbformat.writes(notebook).encode()


def _stub(source: str) -> str:
    head, _, rest = source.partition("    ### BEGIN SOLUTION")
    return head + "    # YOUR CODE HERE\n    raise NotImplementedError()" + rest.partition("### END SOLUTION")[2]


def submit(assignment: Assignment, student: str, answers: dict[str, str] | None, **more: object) -> Submission:
    """A student's submission; `answers` None stands for a file that is no notebook."""
    content = b"{broken" if answers is None else handed_in(answers, **more)  # type: ignore[arg-type]
    return read_submission(student, {f"{NAME}.ipynb": content}, assignment)


def report(submission: Submission, assignment: Assignment, points: dict[str, float | None] | None = None) -> Report:
    """A report that gives `points` to cells (None: needs manual grading); cells not named get full marks."""
    items = []
    given = points or {}
    for cell in assignment.notebooks[0].graded():
        grade_id = cell.grade_id or ""
        if submission.rejected:
            items.append(Item(NAME, grade_id, 0.0, cell.points, Verdict.REJECTED, message=submission.rejected))
            continue
        automatic = grade_id.startswith("test_")
        score = given.get(grade_id, cell.points if automatic else None)
        verdict = Verdict.NEEDS_MANUAL if score is None else Verdict.PASSED
        message, checks = "", ()
        if score is not None and score < cell.points:
            verdict = Verdict.PARTIAL if score else Verdict.FAILED
            message = f"Something is wrong in {grade_id}."
            checks = (CheckResult("test_twice", Verdict.FAILED, "Doubling is right.", message=message),)
        items.append(Item(NAME, grade_id, score or 0.0, cell.points, verdict, message=message, checks=checks))
    plan = submission.notebooks[0].plan if submission.notebooks else ()
    runs = tuple(
        CellRun(NAME, p.grade_id, p.origin, Verdict.PASSED, output=f"printed by {p.grade_id or p.source[:12]}\n")
        for p in plan
    )
    state = Verdict.REJECTED if submission.rejected else Verdict.NEEDS_MANUAL
    return Report(
        student=submission.student,
        assignment=assignment.name,
        score=sum(i.points for i in items),
        max_score=sum(i.max_points for i in items),
        state=state,
        trust=Trust.JUDGED_APART,
        device="cpu",
        items=tuple(items),
        flags=submission.flags,
        runs=runs,
        reason=submission.rejected,
        digest=submission.digest,
        seconds=0.25,
    )


def write_results(run: Path, assignment: Assignment, reports: list[Report]) -> None:
    """`results.json` as `autograder grade` writes it."""
    run.mkdir(parents=True, exist_ok=True)
    data = {"version": 1, "assignment": assignment.name, "run": {}, "submissions": [to_data(r) for r in reports]}
    (run / "results.json").write_text(json.dumps(data))


@dataclass(frozen=True)
class Class:
    """Everybody in the course: makes submissions, reports and runs of the demo assignment."""

    assignment: Assignment
    right = RIGHT
    handed_in = staticmethod(handed_in)

    def submit(self, student: str, answers: dict[str, str] | None = RIGHT, **more: object) -> Submission:
        return submit(self.assignment, student, answers, **more)

    def report(self, submission: Submission, points: dict[str, float | None] | None = None) -> Report:
        return report(submission, self.assignment, points)

    def write_results(self, run: Path, reports: list[Report]) -> None:
        write_results(run, self.assignment, reports)


@pytest.fixture
def students(assignment: Assignment) -> Class:
    return Class(assignment)
