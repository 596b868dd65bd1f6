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

from autograder.records import Submission
from autograder.submissions.intake import find_submissions
from tests.attacks.handed_in import NEIGHBORS, HostileFile, hostile_files

ATTACKS = hostile_files()
SECONDS = 5.0
PROMISED = {16, 17, 18, 20, *range(53, 62), 63, 64, 65}
"""entries of the catalog that this folder covers"""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_hostile_file_is_read_as_it_says_and_spoils_nobody_elses(
    attack: HostileFile, little: Any, tmp_path: Path
) -> None:
    honest, assignment = little.bytes(little.honest()), little.load()
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "alice.ipynb").write_bytes(honest)
    expected = find_submissions(tmp_path / "alone", assignment).students[0].read(assignment)
    where = attack.arrange(tmp_path / "class", honest, assignment.name)
    before = everything(tmp_path)
    began = time.process_time()
    submissions = {handed.student: handed.read(assignment) for handed in find_submissions(where, assignment).students}
    assert time.process_time() - began < SECONDS
    assert everything(tmp_path) == before, "reading wrote something"
    for neighbor in NEIGHBORS:
        theirs = submissions.pop(neighbor)
        assert (theirs.rejected, theirs.notebooks) == ("", expected.notebooks)
        assert {flag.kind for flag in theirs.flags} <= {"identical"}
    assert submissions, "nothing of the attacker's was found"
    for submission in submissions.values():
        check(submission, attack, expected)
    assert set(attack.flags) <= {flag.kind for submission in submissions.values() for flag in submission.flags}


def everything(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), os.lstat(path).st_mtime_ns) for path in folder.rglob("*"))


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
        fixed = [cell for cell in wanted.plan if cell.origin == "instructor"]
        assert notebook.attempted == () and [cell for cell in notebook.plan if cell in fixed] == fixed
        return
    assert [cell for cell in notebook.plan if cell in wanted.plan] == list(wanted.plan)
    assert {cell.origin for cell in notebook.plan if cell not in wanted.plan} <= {"extra"}
    # A cell added after a task may be its answer, and is taken for it.
    tasks = {grade_id for grade_id, _ in wanted.answers if grade_id not in wanted.attempted}
    assert [grade_id for grade_id in notebook.attempted if grade_id not in tasks] == list(wanted.attempted)


def test_every_promised_entry_has_a_file() -> None:
    assert {attack.entry for attack in ATTACKS} == PROMISED | {80}
