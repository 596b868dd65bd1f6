"""A class of three that handed in one small assignment, graded by the command: for tests of whole runs."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder import cli
from autograder.grading import could_not_grade
from autograder.records import Verdict
from autograder.runs.pool import GradedSubmission, LocalPool
from autograder.submissions.intake import StudentFiles
from tests.autograder.conftest import Judged, make_judged

CHECKS = '''
@pytest.mark.cell("test_square")
def test_squares(student, reference, draw, expect):
    """Each element is squared."""
    x = draw.normal(3)
    expect.close(student.square(x), reference.square(x), "square")
'''
RIGHT = "def square(x):\n    return x ** 2"
WRONG = {"square": "def square(x):\n    return x * 3"}
SCORES = {"ann": 2.0, "bob": 0.0, "cid": 0.0}


def make_course(root: Path) -> Judged:
    """The assignment `small` in a course folder, and `submitted/` of ann, of bob, and of cid, whose file is broken."""
    small = make_judged(root / "notebooks" / "assignments", {"square": RIGHT}, CHECKS)
    for student, content in (("ann", small.notebook()), ("bob", small.notebook(WRONG)), ("cid", b"\0 no notebook")):
        hand_in(root / "submitted", student, content)
    return small


def hand_in(submitted: Path, student: str, content: bytes) -> None:
    (submitted / student / "small").mkdir(parents=True, exist_ok=True)
    (submitted / student / "small" / "small.ipynb").write_bytes(content)


PROGRAM = """
import sys
import autograder.runs.pool as local
local.FRAMEWORKS = ("numpy",)  # the tests' students need no torch
from autograder.cli import main
sys.exit(main(sys.argv[1:]))
"""


class InstantPool(LocalPool):
    """Everybody passes, with many words, and no process is needed for that."""

    def __enter__(self) -> InstantPool:
        return self

    def grade(
        self, student_files: Sequence[StudentFiles], meanwhile: Callable[[], None] = lambda: None
    ) -> Iterator[GradedSubmission]:
        meanwhile()
        for number, handed in enumerate(student_files):
            submission = handed.read(self.assignment)
            report = could_not_grade(submission, self.assignment, ValueError())
            passed: Any = {"verdict": Verdict.PASSED, "points": 2.0, "message": "Well done. " * 2000}
            items = tuple(dataclasses.replace(item, **passed) for item in report.items)
            report = dataclasses.replace(report, state=Verdict.PASSED, items=items, score=2.0, reason="")
            yield GradedSubmission(number, submission, report)


def scores(out: Path) -> dict[str, float]:
    return {s["student"]: s["score"] for s in json.loads((out / "results.json").read_text())["submissions"]}


def without_times(path: Path) -> Any:
    data = json.loads(path.read_text())
    del data["run"]["finished"], data["run"]["workers"], data["run"]["submissions"]
    for submission in data["submissions"]:
        del submission["seconds"]
        for cell in submission["runs"]:
            del cell["seconds"]
    return data


def graded_in_child(give_up: Callable[[], object], out: Path) -> tuple[int, str]:
    """Exit status and output of `grade` in a forked child, which first gives up what the tests need."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        # Past pytest's capture, which sits in `sys.stdout` too.
        sys.stdout = sys.stderr = os.fdopen(write, "w", buffering=1)
        status = 99
        try:
            give_up()
            status = cli.main(["grade", "small", "submitted", "--out", str(out)])
        except BaseException as error:
            print(f"Traceback {error!r}")
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.close(write)
    with open(read) as said:
        text = " ".join(said.read().split())
    assert "Traceback" not in text
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text
