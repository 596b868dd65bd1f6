"""A small course of one assignment with every kind of cell, and the records of a class that handed it in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.gradebook.nbgrader_db import write_gradebook
from autograder.records import Assignment, CellRun, CheckResult, Item, Report, Submission, Trust, Verdict, to_data
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

[tool.course.extensions]
ada = 2
"""


def make_course(root: Path) -> Course:
    """The demo course with everything that `publish` reads."""
    course = Course(root)
    files = {
        "checks.py": CHECKS,
        "faults.py": FAULTS,
        "probes.py": "def probe(ns):\n    return 1\n",
        "bank/multiplied.py": BANK,
        "assignment.toml": 'forbidden = ["torch"]\n',
        "table.csv": "a,b\n1,2\n",
    }
    others = {
        "notebooks/lectures/01_intro.ipynb": nbformat.writes(builder.notebook(builder.text("# A lecture"))),
        "course_lib/__init__.py": '"""What notebooks import."""\n',
        "data/README.md": "No data.\n",
        "autograder/cli.py": "print('the grader')\n",
        "LICENSE": "MIT\n",
        "pyproject.toml": PYPROJECT,
    }
    for folder, texts in ((course.folder, files), (root, others)):
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    nbformat.write(source_notebook(), course.notebook)
    return course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path / "course")


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
    return str(nbformat.writes(notebook)).encode()


def _stub(source: str) -> str:
    head, _, rest = source.partition("    ### BEGIN SOLUTION")
    return head + "    # YOUR CODE HERE\n    raise NotImplementedError()" + rest.partition("### END SOLUTION")[2]


@dataclass(frozen=True)
class Class:
    """Everybody in the course: makes submissions, reports and runs of the demo assignment."""

    assignment: Assignment
    right = RIGHT

    def submit(self, student: str, answers: dict[str, str] | None = RIGHT, **more: Any) -> Submission:
        """A student's submission; `answers` None stands for a file that is no notebook."""
        content = b"{broken" if answers is None else handed_in(answers, **more)
        return read_submission(student, {f"{NAME}.ipynb": content}, self.assignment)

    def report(self, submission: Submission, points: dict[str, float | None] | None = None) -> Report:
        """A report that gives `points` to cells (None: needs manual grading); cells not named get full marks."""
        items, rejected = [], submission.rejected
        for cell in self.assignment.notebooks[0].graded():
            grade_id = cell.grade_id or ""
            full = cell.points if grade_id.startswith("test_") else None
            score = (points or {}).get(grade_id, full)
            verdict = Verdict.NEEDS_MANUAL if score is None else Verdict.PASSED
            message, checks = "", list[CheckResult]()
            if rejected:
                score, verdict, message = 0.0, Verdict.REJECTED, rejected
            elif score is not None and score < cell.points:
                verdict = Verdict.PARTIAL if score else Verdict.FAILED
                message = f"Something is wrong in {grade_id}."
                checks = [CheckResult("test_twice", Verdict.FAILED, "Doubling is right.", message=message)]
            items.append(Item(NAME, grade_id, score or 0.0, cell.points, verdict, None, message, tuple(checks)))
        plan = submission.notebooks[0].plan if submission.notebooks else ()
        printed = [(p, f"printed by {p.grade_id or p.source[:12]}\n") for p in plan]
        return Report(
            student=submission.student,
            assignment=NAME,
            score=sum(i.points for i in items),
            max_score=sum(i.max_points for i in items),
            state=Verdict.REJECTED if rejected else Verdict.NEEDS_MANUAL,
            trust=Trust.JUDGED_APART,
            device="cpu",
            items=tuple(items),
            flags=submission.flags,
            runs=tuple(CellRun(NAME, p.grade_id, p.origin, Verdict.PASSED, output=text) for p, text in printed),
            reason=rejected,
            digest=submission.digest,
            seconds=0.25,
        )

    def write_results(self, run: Path, reports: list[Report]) -> None:
        """`results.json` as `autograder grade` writes it."""
        run.mkdir(parents=True, exist_ok=True)
        data = {"version": 1, "assignment": NAME, "run": {}, "submissions": [to_data(r) for r in reports]}
        (run / "results.json").write_text(json.dumps(data))

    def write_gradebook(self, run: Path, *entries: tuple[Submission, dict[str, float | None]]) -> list[Report]:
        """The gradebook of submissions and what their cells got."""
        reports = [self.report(submission, points) for submission, points in entries]
        write_gradebook(run, self.assignment, [submission for submission, _ in entries], reports)
        return reports

    def graded_run(self, run: Path) -> Path:
        """A run with a good, a half-good, a silent and an unreadable submission."""
        half = {**RIGHT, "double": "def double(x):\n    return x"}
        entries: list[tuple[Submission, dict[str, float | None]]] = [
            (self.submit("ada"), {}),
            (self.submit("bob", half), {"test_double": 1.5}),
            (self.submit("Zoë O'Hara", {}), {"test_double": 0.0, "test_mean_of": 0.0, "why": 0.0}),
            (self.submit("dan", None), {}),
        ]
        self.write_gradebook(run, *entries)
        return run


@pytest.fixture
def students(assignment: Assignment) -> Class:
    return Class(assignment)


@pytest.fixture(scope="module")
def module_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`Class.graded_run`, made once."""
    base = tmp_path_factory.mktemp("graded")
    return Class(make_course(base / "course").load()).graded_run(base / "run")


@pytest.fixture
def run(module_run: Path, tmp_path: Path) -> Path:
    """A copy of `module_run`."""
    return Path(shutil.copytree(module_run, tmp_path / "run"))
