"""Every hostile or broken file of `files/` is read as it says, soon, and the neighbors' submissions stay as they are.

`handed_in.py` says how a file says it, and so how one is added.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.records import PlannedCell, Submission
from autograder.submissions.intake import find_submissions
from tests.attacks.handed_in import NEIGHBORS, HostileFile, hostile_files

ATTACKS = hostile_files()
SECONDS = 5.0
PROMISED = {16, 17, 18, 20, *range(53, 62), 63, 64, 65}
"""entries of the catalogue that this folder covers"""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_hostile_file_is_read_as_it_says_and_spoils_nobody_elses(
    attack: HostileFile, little: Any, tmp_path: Path
) -> None:
    honest, assignment = little.bytes(little.honest()), little.load()
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "alice.ipynb").write_bytes(honest)
    expected = find_submissions(tmp_path / "alone", assignment)[0].read(assignment)
    where = attack.arrange(tmp_path / "class", honest, assignment.name)
    before = everything(tmp_path)
    began = time.process_time()
    submissions = {handed.student: handed.read(assignment) for handed in find_submissions(where, assignment)}
    assert time.process_time() - began < SECONDS
    assert everything(tmp_path) == before, "reading wrote something"
    for neighbor in NEIGHBORS:
        unaffected(submissions.pop(neighbor), expected)
    assert submissions, "nothing of the attacker's was found"
    for submission in submissions.values():
        check(submission, attack, expected)
    raised = {flag.kind for submission in submissions.values() for flag in submission.flags}
    assert set(attack.flags) <= raised


def everything(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), os.lstat(path).st_mtime_ns) for path in folder.rglob("*"))


def unaffected(submission: Submission, expected: Submission) -> None:
    assert submission.rejected == ""
    assert submission.notebooks == expected.notebooks
    assert {flag.kind for flag in submission.flags} <= {"identical"}


def check(submission: Submission, attack: HostileFile, honest: Submission) -> None:
    if attack.rejected:
        assert submission.rejected.endswith((".", "?"))
        assert attack.rejected in submission.rejected
        assert submission.notebooks == ()
        return
    assert submission.rejected == ""
    notebook, wanted = submission.notebooks[0], honest.notebooks[0]
    for text in attack.smuggled:
        assert not any(text in cell.source for cell in notebook.plan)
        assert text not in notebook.document
    nbformat.validate(nbformat.reads(notebook.document, as_version=4))
    if attack.unanswered:
        assert notebook.attempted == ()
        assert instructors(notebook.plan, wanted.plan) == instructors(wanted.plan, wanted.plan)
        return
    assert [cell for cell in notebook.plan if cell in wanted.plan] == list(wanted.plan)
    assert {cell.origin for cell in notebook.plan if cell not in wanted.plan} <= {"extra"}
    # A cell added after a task may be its answer, and is taken for it.
    tasks = {grade_id for grade_id, _ in wanted.answers if grade_id not in wanted.attempted}
    assert [grade_id for grade_id in notebook.attempted if grade_id not in tasks] == list(wanted.attempted)


def instructors(plan: tuple[PlannedCell, ...], wanted: tuple[PlannedCell, ...]) -> list[PlannedCell]:
    fixed = [cell for cell in wanted if cell.origin == "instructor"]
    return [cell for cell in plan if cell in fixed]


def test_every_promised_entry_has_a_file() -> None:
    assert {attack.entry for attack in ATTACKS if attack.entry != 80} == PROMISED
