"""One run over a class: from a folder of submissions to a run folder that says everything.

The run folder is written so that nothing half-written can be taken for whole: the journal line by line while grading,
every other file under another name first. Starting the same run again uses what the journal holds.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib
import json
import os
import secrets
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import filelock

from autograder import records
from autograder.assignment import digest
from autograder.errors import CannotWrite, RunFolderInUse, WrongUse
from autograder.intake import Handed, find_submissions
from autograder.records import RESULTS_VERSION, Assignment, Report
from autograder.report import write_class_report, write_feedback
from autograder.scale.journal import Entry, Journal, key_of
from autograder.scale.local import Graded, LocalPool

GRADER_VERSION = "1"
"""part of every journal key; raise it when a verdict could come out differently"""


@dataclass(frozen=True)
class Options:
    """What an instructor asks of a run."""

    out: Path
    workers: int
    seed_file: Path | None = None
    only: tuple[str, ...] = ()
    """students to grade; empty: all"""
    regrade: bool = False
    """grade again what the journal already holds"""


@dataclass
class Outcome:
    """A finished run."""

    reports: list[Report] = field(default_factory=list)
    reused: int = 0
    changed: list[str] = field(default_factory=list)
    """for each student whose score differs from the last results.json: a sentence"""
    outdated: list[str] = field(default_factory=list)
    """students whom `Options.only` left out although their submission or the checks have changed since"""


Progress = Callable[[int, int, Report | None], None]
"""called with (finished, all, the report just finished)"""


def grade_class(assignment: Assignment, root: Path, source: Path, options: Options, progress: Progress) -> Outcome:
    """Grade what `source` holds and write the run folder.

    Raises WrongUse (nothing to grade), RunFolderInUse, CannotWrite.
    """
    handed = find_submissions(source, assignment)
    with _writing(options.out):
        secret = run_secret(options.out, options.seed_file)
        _check_old(options.out / "results.json")
        entries, reused, kept = _graded(assignment, root, handed, options, secret, progress)
        outcome = Outcome([e.report for e in entries], reused, outdated=kept)
        outcome.changed = _changes(options.out / "results.json", outcome.reports)
        _write_all(assignment, entries, options, source)
    return outcome


def _graded(
    assignment: Assignment,
    root: Path,
    handed: Sequence[Handed],
    options: Options,
    secret: bytes,
    progress: Progress,
) -> tuple[list[Entry], int, list[str]]:
    """Every submission's entry, sorted by student: from the journal where it holds one, else graded now.

    With them, how many were in the journal, and who of them has a submission or checks that changed since: whom `only`
    does not name is never graded along.
    """
    unknown = set(options.only) - {h.student for h in handed}
    if unknown:
        raise WrongUse(f"--only names {', '.join(sorted(unknown))}, who handed nothing in.")
    journal = Journal(options.out / "journal.jsonl")
    known = journal.entries()
    whole = digest(assignment)
    keys = [key_of(h.student, _readable(h), whole, secret, f"{GRADER_VERSION} {assignment.device}") for h in handed]
    latest = {entry.report.student: entry for entry in known.values()}
    found: dict[int, Entry] = {}
    todo, kept = [], []
    for number, (key, one) in enumerate(zip(keys, handed, strict=True)):
        wanted = not options.only or one.student in options.only
        if key in known and not (options.regrade and wanted):
            found[number] = known[key]
        elif wanted:
            todo.append(number)
        elif one.student in latest:
            # Not to be graded now, but nothing that was graded is lost.
            found[number] = latest[one.student]
            kept.append(one.student)
    reused, total = len(found), len(found) + len(todo)
    progress(reused, total, None)
    if todo:
        with LocalPool(assignment, root, secret, options.workers) as pool:
            # Two seconds of imports that the end of the run needs, while the warm processes do theirs.
            importlib.import_module("autograder.gradebook")
            for graded in pool.grade([handed[n] for n in todo]):
                entry = _entry(keys[todo[graded.number]], graded)
                if entry.report.state is not records.Verdict.GRADER_ERROR:
                    journal.add(entry)
                found[todo[graded.number]] = entry
                progress(len(found), total, entry.report)
    return sorted(found.values(), key=lambda e: e.report.student), reused, kept


def _entry(key: str, graded: Graded) -> Entry:
    return Entry(key, graded.report, graded.submission)


def _readable(handed: Handed) -> dict[str, bytes]:
    if handed.rejected:
        return {"": handed.rejected.encode()}
    try:
        return dict(handed.files)
    except OSError as error:
        return {"": str(error).encode()}


# -- the run folder ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _writing(out: Path) -> Iterator[None]:
    """The run folder, made if need be, held against other runs."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except FileExistsError as error:
        raise WrongUse(f"--out {out} is a file; name a folder.") from error
    except OSError as error:
        raise CannotWrite(
            f"The run folder {out} cannot be written: {error.strerror}. Choose another with --out."
        ) from error
    try:
        with filelock.FileLock(out / ".lock", timeout=0):
            yield
    except filelock.Timeout as error:
        raise RunFolderInUse(
            f"Another run is writing to {out}. Wait for it, or choose another folder with --out."
        ) from error
    except OSError as error:
        if error.errno is None:
            raise
        where = error.filename or out
        raise CannotWrite(f"{where} cannot be written: {error.strerror}. What is graded is kept in {out}.") from error


def run_secret(out: Path, seed_file: Path | None) -> bytes:
    """The secret that all hidden inputs of this run come from: given, found from an earlier start, or new."""
    kept = out / "seed"
    if seed_file is not None:
        try:
            given = seed_file.read_text(encoding="ascii").strip()
            secret = bytes.fromhex(given)
        except (OSError, ValueError) as error:
            raise WrongUse(f"--seed-file {seed_file} is not a file with a hexadecimal seed: {error}") from error
        if len(secret) < 16:
            raise WrongUse(f"--seed-file {seed_file} holds {len(secret)} bytes; at least 16 are needed to be a secret.")
    elif kept.exists():
        return _kept_secret(kept)
    else:
        secret = secrets.token_bytes(32)
    # Whole or not at all: an empty seed would be a secret that everybody knows.
    new = kept.with_name("seed.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret.hex() + "\n")
    os.replace(new, kept)
    return secret


def _kept_secret(kept: Path) -> bytes:
    try:
        secret = bytes.fromhex(kept.read_text(encoding="ascii").strip())
    except ValueError:
        secret = b""
    if len(secret) < 16:
        raise WrongUse(f"{kept} holds no seed. Delete it for a new one, or give the run's own with --seed-file.")
    return secret


def _write_all(assignment: Assignment, entries: Sequence[Entry], options: Options, source: Path) -> None:
    from autograder.gradebook import write_gradebook

    out = options.out
    reports = [e.report for e in entries]
    submissions = [e.submission for e in entries]
    info = _run_info(assignment, options, source, reports)
    _keep_old(out)
    write_feedback(out, assignment, submissions, reports)
    write_gradebook(out, assignment, submissions, reports)
    write_class_report(out, info, assignment, reports)
    # Last: results.json is what other programs read, and stands for a finished run.
    write_whole(out / "results.json", json.dumps(results(assignment, info, reports), indent=1, sort_keys=False) + "\n")


def results(assignment: Assignment, info: dict[str, Any], reports: Sequence[Report]) -> dict[str, Any]:
    """The content of results.json."""
    return {
        "version": RESULTS_VERSION,
        "assignment": assignment.name,
        "run": info,
        "submissions": [records.to_data(r) for r in reports],
    }


def _run_info(assignment: Assignment, options: Options, source: Path, reports: Sequence[Report]) -> dict[str, Any]:
    return {
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "submissions": str(source),
        "assignment_digest": digest(assignment),
        "python": sys.version.split()[0],
        "numpy": version("numpy"),
        "sandbox": sorted({r.sandbox for r in reports if r.sandbox}),
        "workers": options.workers,
    }


def write_whole(path: Path, text: str) -> None:
    """Write a file that is either the old one or the whole new one."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


def _check_old(path: Path) -> str:
    """When the run ended whose results.json this is; nothing without one. Raises WrongUse if it is another file."""
    if not path.exists():
        return ""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["run"]["finished"])
    except (ValueError, KeyError, TypeError) as error:
        # Overwriting it would lose what somebody may still want.
        raise WrongUse(f"{path} is no results.json of this grader. Move it away, or choose another --out.") from error


def _keep_old(out: Path) -> None:
    """Put the last results and gradebook aside, so that a re-grade can be undone by copying them back."""
    finished = _check_old(out / "results.json")
    if not finished:
        return
    aside = out / "history" / finished.replace(":", "")
    aside.mkdir(parents=True, exist_ok=True)
    shutil.copy2(out / "results.json", aside)
    if (out / "gradebook.db").exists():
        # Through SQLite: formgrader may have the file open and be in the middle of a grade.
        with (
            contextlib.closing(sqlite3.connect(out / "gradebook.db")) as now,
            contextlib.closing(sqlite3.connect(aside / "gradebook.db")) as kept,
        ):
            now.backup(kept)


def _changes(old: Path, reports: Sequence[Report]) -> list[str]:
    """What a re-grade changed, student by student."""
    try:
        before = {s["student"]: s["score"] for s in json.loads(old.read_text(encoding="utf-8"))["submissions"]}
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [
        f"{r.student}: {before[r.student]:g} -> {r.score:g}"
        for r in reports
        if r.student in before and before[r.student] != r.score
    ]
