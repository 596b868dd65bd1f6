"""Every hostile or broken file of `files/` is read as it says, soon, and the neighbours' submissions stay as they are.

One attack is one small file there: `ENTRY` (number in the catalogue), `TITLE`, `EXPECTED`, and `build`, which writes what
is handed in, given the bytes of an honest notebook. It names nothing of a certain assignment. Optional: `FLAGS` that
must be raised, `REASON` that a rejection must give, `SMUGGLED` text that neither what
runs nor what a person reads may hold.

EXPECTED is one of
- `graded`: not rejected, and what runs is the honest plan: every answer and every cell of the instructor's, in order,
  each once; the student's own additions may stand between them; every honest answer counts as attempted;
- `graded without answers`: the same, but nothing counts as attempted: what was handed in hides the answers for good;
- `rejected`: nothing of it would run, and the instructor reads why.

`build(folder, honest)` writes into `CLASS/mallory/ASSIGNMENT/`. `build_class(folder, honest, assignment)` instead may
arrange a whole class, with honest submissions of alice's and zoe's, and returns the path to grade; whoever else is found
there is the attacker.
"""

from __future__ import annotations

import importlib.util
import os
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

from autograder.intake import find_submissions
from autograder.records import Assignment, PlannedCell, Submission

ATTACKS = sorted((Path(__file__).parent / "files").glob("*.py"))
NEIGHBOURS = ("alice", "zoe")
SECONDS = 5.0
PROMISED = {16, 17, 18, 20, *range(53, 62), 63, 64, 65}
"""entries of the catalogue that this folder covers"""


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"attack_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", ATTACKS, ids=lambda path: path.stem)
def test_a_hostile_file_is_read_as_it_says_and_spoils_nobody_elses(path: Path, little: Any, tmp_path: Path) -> None:
    attack, honest, assignment = loaded(path), little.bytes(little.honest()), little.load()
    expected = read_alone(tmp_path / "alone", honest, assignment)
    where = build(attack, tmp_path / "class", honest, assignment)
    before = everything(tmp_path)
    began = time.process_time()
    submissions = {handed.student: handed.read(assignment) for handed in find_submissions(where, assignment)}
    assert time.process_time() - began < SECONDS
    assert everything(tmp_path) == before, "reading wrote something"
    for neighbour in NEIGHBOURS:
        unaffected(submissions.pop(neighbour), expected)
    assert submissions, "nothing of the attacker's was found"
    for submission in submissions.values():
        check(submission, attack, expected)
    raised = {flag.kind for submission in submissions.values() for flag in submission.flags}
    assert set(getattr(attack, "FLAGS", ())) <= raised


def build(attack: ModuleType, folder: Path, honest: bytes, assignment: Assignment) -> Path:
    if hasattr(attack, "build_class"):
        folder.mkdir()
        return Path(attack.build_class(folder, honest, assignment.name))
    for student in (*NEIGHBOURS, "mallory"):
        (folder / student / assignment.name).mkdir(parents=True)
        if student != "mallory":
            (folder / student / assignment.name / f"{assignment.notebooks[0].name}.ipynb").write_bytes(honest)
    attack.build(folder / "mallory" / assignment.name, honest)
    return folder


def read_alone(folder: Path, honest: bytes, assignment: Assignment) -> Submission:
    folder.mkdir()
    (folder / "alice.ipynb").write_bytes(honest)
    return find_submissions(folder, assignment)[0].read(assignment)


def everything(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), os.lstat(path).st_mtime_ns) for path in folder.rglob("*"))


def unaffected(submission: Submission, expected: Submission) -> None:
    assert submission.rejected == ""
    assert submission.notebooks == expected.notebooks
    assert {flag.kind for flag in submission.flags} <= {"identical"}


def check(submission: Submission, attack: ModuleType, honest: Submission) -> None:
    if attack.EXPECTED == "rejected":
        assert submission.rejected.endswith((".", "?"))
        assert getattr(attack, "REASON", "") in submission.rejected
        assert submission.notebooks == ()
        return
    assert submission.rejected == ""
    notebook, wanted = submission.notebooks[0], honest.notebooks[0]
    for text in getattr(attack, "SMUGGLED", ()):
        assert not any(text in cell.source for cell in notebook.plan)
        assert text not in notebook.document
    nbformat.validate(nbformat.reads(notebook.document, as_version=4))
    if attack.EXPECTED == "graded without answers":
        assert notebook.attempted == ()
        assert instructors(notebook.plan, wanted.plan) == instructors(wanted.plan, wanted.plan)
        return
    assert attack.EXPECTED == "graded"
    assert [cell for cell in notebook.plan if cell in wanted.plan] == list(wanted.plan)
    assert {cell.origin for cell in notebook.plan if cell not in wanted.plan} <= {"extra"}
    # A cell added after a task may be its answer, and is taken for it.
    tasks = {grade_id for grade_id, _ in wanted.answers if grade_id not in wanted.attempted}
    assert [grade_id for grade_id in notebook.attempted if grade_id not in tasks] == list(wanted.attempted)


def instructors(plan: tuple[PlannedCell, ...], wanted: tuple[PlannedCell, ...]) -> list[PlannedCell]:
    fixed = [cell for cell in wanted if cell.origin == "instructor"]
    return [cell for cell in plan if cell in fixed]


def test_every_promised_entry_has_a_file_and_every_file_says_what_it_is() -> None:
    attacks = [loaded(path) for path in ATTACKS]
    assert {attack.ENTRY for attack in attacks if attack.ENTRY != 80} == PROMISED
    for path, attack in zip(ATTACKS, attacks, strict=True):
        assert path.stem.startswith(f"{attack.ENTRY}_")
        assert attack.TITLE and attack.__doc__
        assert attack.EXPECTED in ("graded", "graded without answers", "rejected")
