"""Bring what people entered in formgrader into a run that is graded: its pages, its report and its results.

Nothing is run. The run folder holds all that a page needs: the submissions and their figures in the journal, the
instructor's notebooks in `source/`, marks and comments in `gradebook.db`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from autograder.assignment import load_assignment
from autograder.errors import WrongUse
from autograder.gradebook import read_run
from autograder.grading import unmarked
from autograder.records import Limits, Report, Submission, from_data
from autograder.report.feedback import feedback_path
from autograder.runs.journal import Journal, JournalEntry
from autograder.runs.run import run_folder, write_pages


@dataclass(frozen=True)
class MarkedRun:
    """A run with what people entered."""

    reports: list[Report]
    changed: list[str]
    """for each student whose score is another one now: a sentence"""
    pages: Mapping[str, PurePosixPath]
    """student -> the feedback page, below the run folder"""


def update_feedback(out: Path) -> MarkedRun:
    """Write pages, report and results of the run folder `out` anew, with the marks and comments in its gradebook.

    Raises WrongUse where `out` holds no run, or not the journal of it; RunFolderInUse, CannotWrite.
    """
    read_run(out)  # no folder is made where there is no run
    with run_folder(out):
        name, info, reports = read_run(out)
        assignment = replace(
            load_assignment(out / "source" / name, out), limits=from_data(Limits, info.get("limits", {}))
        )
        entries = _entries_of(out, reports)
        submissions: list[Submission] = [entry.submission for entry in entries]
        marked = write_pages(
            out,
            info,
            assignment,
            submissions,
            [replace(entry.report, late=r.late) for entry, r in zip(entries, reports, strict=True)],
        )
    changed = [
        f"{now.student}: {before.final_score:g} -> {now.final_score:g}"
        for before, now in zip(reports, marked, strict=True)
        if before.final_score != now.final_score
    ]
    return MarkedRun(marked, changed, {r.student: feedback_path(r.student, name) for r in marked})


def _entries_of(out: Path, reports: list[Report]) -> list[JournalEntry]:
    """The journal's entry for each report: with figures, and without what people had entered before."""
    journal: dict[str, list[JournalEntry]] = defaultdict(list)
    for entry in Journal(out / "journal.jsonl"):
        journal[entry.report.student].append(entry)
    found = []
    for report in reports:
        items = tuple(unmarked(item) for item in report.items)
        for entry in reversed(journal[report.student]):
            own = entry.report
            before = replace(report, items=items, score=own.score, state=own.state, late=None, comments=())
            if own.entry == before.entry:
                found.append(entry)
                break
        else:
            raise WrongUse(
                f"{out / 'journal.jsonl'} does not hold what results.json says of {report.student}. Nothing was "
                "changed; run `autograder grade` again, which brings marks and comments in as well."
            )
    return found
