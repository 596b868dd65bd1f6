"""One run over a class: from a folder of submissions to a run folder that says everything.

The run folder is written so that nothing half-written can be taken for whole: the journal line by line while grading,
every other file under another name first. Starting the same run again uses what the journal holds.
"""

from __future__ import annotations

import contextlib
import datetime
import hmac
import importlib
import json
import logging
import os
import secrets
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock

from autograder import log, records
from autograder.assignment import digest
from autograder.errors import CannotWrite, RunFolderInUse, WrongUse
from autograder.gradebook import Course, with_marks, write_gradebook
from autograder.gradebook.course import student_id
from autograder.gradebook.lateness import ClassFacts, judge_lateness
from autograder.gradebook.nbgrader_db import assignment_rows, students_in
from autograder.kernels.zygote import sweep
from autograder.records import RESULTS_VERSION, Assignment, Report, Submission
from autograder.report import write_class_report, write_feedback
from autograder.report.feedback import feedback_path
from autograder.runs.hidden import hidden_places
from autograder.runs.journal import Journal, JournalEntry, grading_key, key_of
from autograder.runs.pool import GradedSubmission, LocalPool
from autograder.submissions.intake import ClassFiles, StudentFiles, find_submissions

if TYPE_CHECKING:
    from autograder.runs.cluster import Cluster, DaskPool

LOGGER = logging.getLogger(__name__)
UNFINISHED = ".unfinished"
"""stands in a run folder while its gradebook and pages are written"""


@dataclass(frozen=True)
class Options:
    """What an instructor asks of a run."""

    out: Path
    workers: int
    seed_file: Path | None = None
    only: tuple[str, ...] = ()
    """students to grade; empty: all"""
    without: tuple[str, ...] = ()
    """students of the last run who are no longer among the submissions, and need not be"""
    regrade: bool = False
    """grade again what the journal already holds"""
    log_level: str = "info"
    """least level of what is written to `run.log`"""
    course: Course = field(default_factory=Course)
    """what the course decides about grades"""
    cluster: Cluster | None = None
    """the Dask cluster that grades; None: this machine alone"""


@dataclass
class RunOutcome:
    """A finished run."""

    reports: list[Report] = field(default_factory=list)
    graded: frozenset[str] = frozenset()
    """students whose work was graded now; all others' was graded before"""
    changed: list[str] = field(default_factory=list)
    """for each student whose score differs from the last results.json: a sentence"""
    outdated: list[str] = field(default_factory=list)
    """students whom `Options.only` left out although their submission or the checks have changed since"""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """what lay beside the submissions: name -> why it is nobody's"""
    told: Sequence[str] = ()
    """who handed in nothing, is in no list of people, or handed in at a time that nothing tells"""


Progress = Callable[[int, int, Report | None], None]
"""called with (finished, all, the report just finished)"""


def grade_class(assignment: Assignment, source: Path, options: Options, progress: Progress) -> RunOutcome:
    """Grade what `source` holds and write the run folder.

    Raises WrongUse (nothing to grade), RunFolderInUse, CannotWrite.
    """
    handed_in = find_submissions(source, assignment, fold_case=_folds_case(options.out))
    with run_folder(options.out), _logging_to(options.out / log.NAME, options.log_level):
        sweep()
        secret = run_secret(options.out, options.seed_file)
        old = _old_results(options.out / "results.json")
        before = _scores(old)
        _refuse_vanished(before, handed_in, source, options)
        for name, reason in handed_in.left_out.items():
            LOGGER.info("left out: %s %s", name, reason)
        entries, graded, kept = graded_entries(
            *(assignment, handed_in.students, options, secret, progress, source),
            meanwhile=lambda: _prepare_writing(assignment, options.out),
        )
        judged, facts = judge_lateness([e.report for e in entries], handed_in.students, options.course)
        submissions = [e.submission for e in entries]
        # Whom --only left out is shown as graded, so without what was handed in since.
        files = {one.student: one.files for one in handed_in.students if not one.rejected and one.student not in kept}
        reports = _write_results(
            *(assignment, judged, submissions, options, source, handed_in, facts, files, old, graded)
        )
        outcome = RunOutcome(reports, graded, outdated=kept, left_out=handed_in.left_out, told=facts.sentences())
        outcome.changed = [
            f"{r.student}: {before[r.student]:g} -> {r.final_score:g}"
            for r in outcome.reports
            if r.student in before and before[r.student] != r.final_score
        ]
    return outcome


def plan_class(assignment: Assignment, source: Path, options: Options) -> dict[str, Any]:
    """What `grade_class` would do, of which nothing is done and no notebook is opened: students, each with what becomes
    of their submission in words, `to_grade`, how many would be run, and what is `left_out`.

    Raises WrongUse (nothing to grade).
    """
    handed_in = find_submissions(source, assignment, fold_case=_folds_case(options.out))
    _refuse_vanished(_scores(_old_results(options.out / "results.json")), handed_in, source, options)
    secret = _known_secret(options.out / "seed", options.seed_file) or b""
    journal = Journal(options.out / "journal.jsonl")
    _, found, todo, kept = _known_and_to_grade(assignment, handed_in.students, options, secret, journal)
    students = {}
    for number, one in enumerate(handed_in.students):
        files = f"{len(one.files)} file{'s' * (len(one.files) != 1)}"
        if one.rejected:
            students[one.student] = f"cannot be graded: {one.rejected}"
        elif number in todo:
            students[one.student] = f"{files}, to grade"
        elif one.student in kept:
            students[one.student] = f"{files}, changed since it was graded, left out by --only"
        elif number in found:
            students[one.student] = f"{files}, graded before and unchanged"
        else:
            students[one.student] = f"{files}, left out by --only"
    to_grade = sum(not handed_in.students[number].rejected for number in todo)
    return {"students": students, "to_grade": to_grade, "left_out": dict(handed_in.left_out)}


def _folds_case(path: Path) -> bool:
    """Whether `Ada` and `ada` are one name where `path` is or will be, as they are on macOS and Windows."""
    folder = next(one for one in (path.absolute(), *path.absolute().parents) if one.exists())
    return folder != folder.parent and Path(str(folder).swapcase()).exists()


def _refuse_vanished(before: Mapping[str, float], handed_in: ClassFiles, source: Path, options: Options) -> None:
    """Raise WrongUse for students of the last run who are not among the submissions and did not leave the class."""
    gone = sorted(before.keys() - {one.student for one in handed_in.students} - set(options.without))
    if gone:
        names = ", ".join(gone[:10]) + f" and {len(gone) - 10} more" * (len(gone) > 10)
        raise WrongUse(
            f"{len(gone)} of the {len(before)} students of the last run in {options.out} are not in {source}: {names}. "
            "Nothing was graded and nothing changed. Name the folder of the whole class, or another --out; "
            "who left the class is named with --without STUDENT."
        )


def graded_entries(
    assignment: Assignment,
    student_files: Sequence[StudentFiles],
    options: Options,
    secret: bytes,
    progress: Progress,
    source: Path | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[list[JournalEntry], frozenset[str], list[str]]:
    """Every submission's entry, sorted by student: from the journal where it holds one, else graded now.

    With them, whose was graded now, and who of the others has a submission or checks that changed since: whom `only`
    does not name is never graded along. meanwhile: done while the first are graded.
    """
    journal = Journal(options.out / "journal.jsonl")
    keys, found, todo, kept = _known_and_to_grade(assignment, student_files, options, secret, journal)
    total = len(found) + len(todo)
    LOGGER.info(
        "%s on %s: %d to grade, %d in the journal, %s",
        *(assignment.name, assignment.device, len(todo), len(found), options.cluster or f"{options.workers} workers"),
    )
    progress(len(found), total, None)
    if todo:
        hidden = hidden_places(*filter(None, (options.out, assignment.folder, source)))
        with _open_pool(assignment, secret, options, hidden) as pool:
            for graded in pool.grade([student_files[n] for n in todo], meanwhile):
                entry = _journal_entry(keys[todo[graded.number]], graded)
                journal.add(entry)
                found[todo[graded.number]] = entry
                _log_report(entry.report)
                progress(len(found), total, entry.report)
    new = frozenset(student_files[number].student for number in todo)
    return sorted(found.values(), key=lambda e: e.report.student), new, kept


def _prepare_writing(assignment: Assignment, out: Path) -> None:
    """Imports and rows that the end of the run needs, while this process has nothing else to do."""
    with contextlib.suppress(Exception):  # whatever fails here fails there again, and is explained there
        if students_in(out, assignment) is None:
            assignment_rows(assignment)
    for needed in ("alembic.script", "autograder.report.figures"):
        importlib.import_module(needed)


def _open_pool(assignment: Assignment, secret: bytes, options: Options, hidden: Sequence[Path]) -> LocalPool | DaskPool:
    # Whoever grades for us gets what this assignment's inputs come from; the run's secret stays here.
    secret = hmac.digest(secret, assignment.name.encode(), "sha256")
    if options.cluster is None:
        key = hmac.digest(secret, grading_key(assignment).encode(), "sha256").hex()
        return LocalPool(assignment, secret, options.workers, hidden, (options.out / "reference", key))
    from autograder.runs.cluster import DaskPool

    return DaskPool(assignment, secret, options.cluster, hidden)


def _known_and_to_grade(
    assignment: Assignment, student_files: Sequence[StudentFiles], options: Options, secret: bytes, journal: Journal
) -> tuple[list[str], dict[int, JournalEntry], list[int], list[str]]:
    """The key of each submission, the entries in the journal by number, the numbers to grade, and who is kept as graded
    though their submission or the checks have changed."""
    unknown = set(options.only) - {h.student for h in student_files}
    if unknown:
        raise WrongUse(f"--only names {', '.join(sorted(unknown))}, who handed nothing in.")
    known = journal.entries()
    grading = grading_key(assignment)
    keys = [key_of(h.student, {"": h.rejected} if h.rejected else h.digests(), grading, secret) for h in student_files]
    latest = {entry.report.student: entry for entry in known.values()}
    found: dict[int, JournalEntry] = {}
    todo, kept = [], []
    for number, (key, one) in enumerate(zip(keys, student_files, strict=True)):
        wanted = not options.only or one.student in options.only
        if key in known and not (options.regrade and wanted):
            found[number] = known[key]
        elif wanted:
            todo.append(number)
        elif one.student in latest:
            # Not to be graded now, but nothing that was graded is lost.
            found[number] = latest[one.student]
            kept.append(one.student)
    return keys, found, todo, kept


def _journal_entry(key: str, graded: GradedSubmission) -> JournalEntry:
    return JournalEntry(key, graded.report, graded.submission)


def _log_report(report: Report) -> None:
    rejected = report.state is records.Verdict.REJECTED
    level = logging.WARNING if rejected or report.state is records.Verdict.GRADER_ERROR else logging.INFO
    score = f"{report.score:g} of {report.max_score:g} in {report.seconds:.1f} s"
    # The reason of a grader error may quote a check's values; where it came from, the judge has written.
    reason = f": {report.reason}" if rejected else ""
    LOGGER.log(level, "%s: %s, %s%s", report.student, report.state.value, score, reason)
    for flag in report.flags:
        if flag.kind.startswith(("forbidden", "grader-error")):
            LOGGER.warning("%s: %s in %s", report.student, flag.kind, flag.grade_id or "the submission")


@contextlib.contextmanager
def _logging_to(path: Path, level: str) -> Iterator[None]:
    log.start(path, "run", level)
    try:
        yield
    except BaseException:
        LOGGER.exception("the run ended early")
        raise
    finally:
        log.stop()


# -- the run folder ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def run_folder(out: Path) -> Iterator[None]:
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
    secret = _known_secret(kept, seed_file)
    if secret is not None and seed_file is None:
        return secret
    secret = secret or secrets.token_bytes(32)
    # Whole or not at all: an empty seed would be a secret that everybody knows.
    new = kept.with_name("seed.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret.hex() + "\n")
    os.replace(new, kept)
    return secret


def _known_secret(kept: Path, seed_file: Path | None) -> bytes | None:
    """The secret that was given or that an earlier start has left; None if there is none."""
    if seed_file is not None:
        try:
            given = seed_file.read_text(encoding="ascii").strip()
            secret = bytes.fromhex(given)
        except (OSError, ValueError) as error:
            raise WrongUse(f"--seed-file {seed_file} is not a file with a hexadecimal seed: {error}") from error
        if len(secret) < 16:
            raise WrongUse(f"--seed-file {seed_file} holds {len(secret)} bytes; at least 16 are needed to be a secret.")
        return secret
    if not kept.exists():
        return None
    try:
        secret = bytes.fromhex(kept.read_text(encoding="ascii").strip())
    except ValueError:
        secret = b""
    if len(secret) < 16:
        raise WrongUse(f"{kept} holds no seed. Delete it for a new one, or give the run's own with --seed-file.")
    return secret


def _write_results(
    assignment: Assignment,
    reports: Sequence[Report],
    submissions: Sequence[Submission],
    options: Options,
    source: Path,
    handed_in: ClassFiles,
    facts: ClassFacts,
    files: Mapping[str, Mapping[str, bytes]],
    old: Mapping[str, Any],
    graded: frozenset[str],
) -> list[Report]:
    out = options.out
    info = _run_info(assignment, options, source, reports)
    info |= {"left_out": dict(handed_in.left_out)}
    info |= {"people": records.to_data(facts)}
    info |= {"platform": {one.student: list(one.platform) for one in handed_in.students if one.platform[0]}}
    marked = with_marks(out, reports)
    found = results(assignment, info, marked)
    # Where writing was stopped, any page may be of that run.
    written = _Written(out, assignment, {} if (out / UNFINISHED).exists() else old, graded)
    changed = written.changed(found)
    if not changed and written.holds(found):
        return marked
    _keep_old_results(out, old)
    unfinished = out / UNFINISHED
    unfinished.touch()
    rows = [(s, r) for s, r in zip(submissions, reports, strict=True) if s.student in changed]
    write_gradebook(out, assignment, [s for s, _ in rows], [r for _, r in rows], files)
    reports = write_pages(out, info, assignment, submissions, reports, written)
    unfinished.unlink()
    return reports


@dataclass(frozen=True)
class _Written:
    """What an earlier run has left in the folder, so that one student's change does not write a thousand pages."""

    out: Path
    assignment: Assignment
    old: Mapping[str, Any]
    """its results.json; empty: nothing that counts"""
    graded: frozenset[str]
    """students whose work was graded since"""

    def changed(self, found: Mapping[str, Any]) -> set[str]:
        """The students of these results whose record is another one, or of whom something is missing in the folder."""
        students = {one["student"] for one in found["submissions"]}
        in_gradebook, name = students_in(self.out, self.assignment), self.assignment.name
        same = bool(self.old) and self.old["run"].get("assignment_digest") == found["run"]["assignment_digest"]
        if not same or in_gradebook is None:
            return students
        known = {one["student"]: one for one in self.old["submissions"]}
        return (students & self.graded) | {
            student
            for one in found["submissions"]
            if known.get(student := one["student"]) != one
            or student_id(student) not in in_gradebook
            or not (self.out / feedback_path(student, name)).is_file()
            or not (self.out / "autograded" / student_id(student) / name).is_dir()
        }

    def holds(self, found: Mapping[str, Any]) -> bool:
        """Whether nothing needs to be written but for when the run was, and on what."""
        apart = ("finished", "workers", "engine")
        there = {**self.old, "run": {**self.old["run"], **{key: found["run"][key] for key in apart}}}
        return there == found and (self.out / "report.html").is_file()


def write_pages(
    out: Path,
    info: Mapping[str, Any],
    assignment: Assignment,
    submissions: Sequence[Submission],
    reports: Sequence[Report],
    written: _Written | None = None,
) -> list[Report]:
    """Everything that is read of a run, with what people have entered into its gradebook; the reports that it shows.

    written: what is there, and is not written once more; None: nothing.
    """
    reports = with_marks(out, reports)
    found = results(assignment, info, reports)
    changed = (written or _Written(out, assignment, {}, frozenset())).changed(found)
    rows = [(s, r) for s, r in zip(submissions, reports, strict=True) if r.student in changed]
    write_feedback(out, assignment, [s for s, _ in rows], [r for _, r in rows])
    write_class_report(out, info, assignment, reports)
    # Last: results.json is what other programs read, and stands for a finished run.
    write_whole(out / "results.json", _as_text(found))
    return reports


def _as_text(found: Mapping[str, Any]) -> str:
    """The content of results.json with a line for each submission: Python indents a class's worth in seconds."""
    lines = ",\n".join(map(json.dumps, found["submissions"]))
    rest = json.dumps({**found, "submissions": []}, indent=1)
    return rest.replace('"submissions": []', f'"submissions": [\n{lines}\n]') + "\n"


def results(assignment: Assignment, info: Mapping[str, Any], reports: Sequence[Report]) -> dict[str, Any]:
    """The content of results.json."""
    return {
        "version": RESULTS_VERSION,
        "assignment": assignment.name,
        "run": dict(info),
        "submissions": [r.entry for r in reports],
    }


def _run_info(assignment: Assignment, options: Options, source: Path, reports: Sequence[Report]) -> dict[str, Any]:
    return {
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "submissions": str(source),
        "assignment_digest": digest(assignment),
        "limits": records.to_data(assignment.limits),
        "python": sys.version.split()[0],
        "numpy": version("numpy"),
        "sandbox": sorted({r.sandbox for r in reports if r.sandbox}),
        "workers": options.workers,
        "engine": "dask" if options.cluster else "local",
    }


def write_whole(path: Path, text: str) -> None:
    """Write a file that is either the old one or the whole new one, also when the machine loses power."""
    new = path.with_name(path.name + ".new")
    with open(new, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def _old_results(path: Path) -> dict[str, Any]:
    """What the last run has written; empty without one. Raises WrongUse if it is another file."""
    if not path.exists():
        return {}
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        datetime.datetime.fromisoformat(data["run"]["finished"])
        _scores(data)
        return data
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        # Overwriting it would lose what somebody may still want.
        raise WrongUse(f"{path} is no results.json of this grader. Move it away, or choose another --out.") from error


def _scores(old: Mapping[str, Any]) -> dict[str, float]:
    """The final score of each student of a run."""
    known = [(s["student"], s.get("final_score", s["score"])) for s in (old["submissions"] if old else ())]
    return dict(records.from_data(tuple[tuple[str, float], ...], known))


def _keep_old_results(out: Path, old: Mapping[str, Any]) -> None:
    """Put the last results and gradebook aside, so that a re-grade can be undone by copying them back."""
    if not old:
        return
    finished = datetime.datetime.fromisoformat(old["run"]["finished"]).isoformat()
    history = out / "history"
    aside = history / finished.replace(":", "")
    while aside.exists():
        if (aside / "results.json").read_bytes() == (out / "results.json").read_bytes():
            return  # a run that was stopped while writing put it aside, with the gradebook as it was before that
        aside = aside.with_name(f"{aside.name}-again")  # the clock was set back
    new = history / ".new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    shutil.copy2(out / "results.json", new)
    if (out / "gradebook.db").exists():
        # Through SQLite: formgrader may have the file open and be in the middle of a grade.
        try:
            with (
                contextlib.closing(sqlite3.connect(out / "gradebook.db")) as now,
                contextlib.closing(sqlite3.connect(new / "gradebook.db")) as kept,
            ):
                now.backup(kept)
        except sqlite3.Error as error:
            raise CannotWrite(
                f"{out / 'gradebook.db'} cannot be put aside: {error}. Make room, or move the file away if it is "
                "damaged, then run the same command again."
            ) from error
    os.replace(new, aside)
