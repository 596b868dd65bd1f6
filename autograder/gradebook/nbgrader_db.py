"""Write the gradebook of a run: what formgrader, `nbgrader export` and nbgrader's other tools open.

nbgrader's own code makes the assignment's half of the database (cells, points, checksums). The students' half
is written here in one transaction, since nbgrader commits after each cell and would take minutes for a class. What a
person entered by hand belongs to that person: manual scores, extra credit and comments stay for as long as the
answer they were given for; a digest of each answer, kept in a table beside nbgrader's, tells.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.assignment import digest
from autograder.errors import CannotWrite, RunFolderInUse
from autograder.gradebook.course import UNDECIDED, CourseEntry, write_course
from autograder.records import Assignment, Cell, Comment, Item, Notebook, Report, Role, Submission
from autograder.release.build import generate
from autograder.release.prose import harmless
from autograder.sandbox import own_prefix

DATABASE = "gradebook.db"
COURSE = "default_course"
"""nbgrader's name for a course that was given none"""
BUSY_S = 5.0
"""how long to wait for someone else's lock on the database"""

_EARLIER_COMMENT = "Comment on the earlier answer: "


def write_gradebook(
    run: Path,
    assignment: Assignment,
    submissions: Sequence[Submission],
    reports: Sequence[Report],
    files: Mapping[str, Mapping[str, bytes]] | None = None,
) -> None:
    """Write the nbgrader course of a run: `source/`, `submitted/`, `autograded/`, the config and `gradebook.db`.

    `files`: student -> what was handed in, of which the student's own files are put beside the autograded notebook.
    Students of an earlier run into the same folder who are not among `submissions` stay as they are. Raises
    RunFolderInUse while another program holds the database, CannotWrite where nothing can be written; the database
    is then as it was before.
    """
    by_student = {report.student: report for report in reports}
    entries = [CourseEntry(s, by_student.get(s.student), (files or {}).get(s.student, {})) for s in submissions]
    with _explain_failure(run):
        run.mkdir(parents=True, exist_ok=True)
        write_course(run, assignment, entries)
        _write_database(run / DATABASE, assignment, entries)


@dataclass(frozen=True)
class Marks:
    """What people entered by hand."""

    grades: Mapping[tuple[str, str, str], tuple[float | None, float, bool]]
    """(student's id here, notebook, grade id) -> manual score, extra credit, whether a person has yet to grade it; of
    cells of which that says more than the grader has"""
    comments: Mapping[str, tuple[Comment, ...]]
    """of each student's id"""


def read_marks(run: Path, assignment: str) -> Marks:
    """What people entered into the gradebook of a run; nothing where it has none."""
    path = run / DATABASE
    if not path.is_file():
        return Marks({}, {})
    with _explain_failure(run), contextlib.closing(sqlite3.connect(path, timeout=BUSY_S)) as database:
        grades = database.execute(_MARKS, (assignment,)).fetchall()
        commented = database.execute(_COMMENTS, (assignment,)).fetchall()
    comments: dict[str, tuple[Comment, ...]] = {}
    for student, notebook, cell, text in commented:
        comments[student] = (*comments.get(student, ()), Comment(notebook, cell, text))
    return Marks({(row[0], row[1], row[2]): (row[3], row[4], bool(row[5])) for row in grades}, comments)


def students_in(run: Path, assignment: Assignment) -> frozenset[str] | None:
    """The ids of who handed something in; None where the gradebook of a run does not hold the assignment as it is."""
    path = run / DATABASE
    if not path.is_file():
        return None
    with _explain_failure(run), contextlib.closing(sqlite3.connect(path, timeout=BUSY_S)) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'autograder_assignment'").fetchone():
            return None
        if not database.execute(_HELD, (assignment.name, digest(assignment))).fetchone():
            return None
        return frozenset(row[0] for row in database.execute(_STUDENTS, (assignment.name,)))


def people(run: Path) -> dict[str, dict[str, str]]:
    """What the gradebook knows of students beyond their name there: `first_name`, `last_name`, `email`, `id`."""
    path = run / DATABASE
    if not path.is_file():
        return {}
    fields = ("first_name", "last_name", "email", "lms_user_id AS id")
    with _explain_failure(run), contextlib.closing(sqlite3.connect(path, timeout=BUSY_S)) as database:
        rows = database.execute(f"SELECT id, {', '.join(fields)} FROM student").fetchall()
    return {row[0]: {k.rpartition(" ")[2]: v for k, v in zip(fields, row[1:], strict=True) if v} for row in rows}


# The database ---------------------------------------------------------------------------------------------------------


def _write_database(path: Path, assignment: Assignment, entries: Sequence[CourseEntry]) -> None:
    """Bring `gradebook.db` up to date: an existing one in one transaction, a new one beside it and then renamed."""
    for killed in path.parent.glob(".gradebook-*"):
        shutil.rmtree(killed, ignore_errors=True)
    if students_in(path.parent, assignment) is not None:
        _update(path, None, assignment, entries)
        return
    with tempfile.TemporaryDirectory(prefix=own_prefix("gradebook-")) as scratch:
        model = Path(scratch) / DATABASE
        model.write_bytes(assignment_rows(assignment))
        if path.exists():
            _update(path, model, assignment, entries)
            return
        with tempfile.TemporaryDirectory(prefix=".gradebook-", dir=path.parent) as staging:
            new = Path(staging) / DATABASE
            shutil.copyfile(model, new)
            _update(new, model, assignment, entries)
            os.replace(new, path)


@functools.lru_cache(maxsize=1)
def assignment_rows(assignment: Assignment) -> bytes:
    """A gradebook that holds the assignment and nobody's work, as nbgrader makes it.

    That takes most of a second, which whoever waits for the first grade has to spare.
    """
    with tempfile.TemporaryDirectory(prefix=own_prefix("gradebook-")) as scratch:
        model = Path(scratch) / DATABASE
        create_database(model)
        generate(assignment, Path(scratch), database=True)
        return model.read_bytes()


def create_database(path: Path) -> None:
    """An empty gradebook with nbgrader's tables, stamped with the version of its schema as nbgrader stamps it."""
    from nbgrader.api import Base
    from sqlalchemy import URL, create_engine

    engine = create_engine(URL.create("sqlite", database=str(path)))
    Base.metadata.create_all(bind=engine)
    engine.dispose()
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        database.execute("INSERT INTO alembic_version (version_num) VALUES (?)", (_schema_version(),))
        database.execute("INSERT INTO course (id) VALUES (?)", (COURSE,))


def _schema_version() -> str:
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    # Read from nbgrader's migrations: `nbgrader.api.get_alembic_version` starts a program that may not be on PATH.
    return str(ScriptDirectory(ALEMBIC_DIR).get_current_head())


def _update(path: Path, model: Path | None, assignment: Assignment, entries: Sequence[CourseEntry]) -> None:
    """`model`: a database that holds the assignment as it is now; None: this one does."""
    # isolation_level None: this function alone says where the transaction begins and ends.
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=BUSY_S)) as database:
        _check_schema(path, database)
        if model is not None:
            database.execute("ATTACH DATABASE ? AS model", (str(model),))
        database.execute("BEGIN IMMEDIATE")
        try:
            if model is not None:
                _copy_cells(database, assignment)
            cells = _cells_of(database, assignment)
            _copy_submissions(database, assignment, entries)
            _write_grades(database, assignment, entries, cells)
            database.execute("COMMIT")
        except BaseException:
            database.rollback()
            raise


def _check_schema(path: Path, database: sqlite3.Connection) -> None:
    found = database.execute("SELECT name FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
    version = database.execute("SELECT version_num FROM alembic_version").fetchone() if found else None
    if version is None or version[0] != _schema_version():
        raise CannotWrite(
            f"{path}: is not a gradebook of this version of nbgrader. Run `nbgrader db upgrade` in its folder, or move "
            "the file away; scores given by hand are in it."
        )


def _copy_cells(database: sqlite3.Connection, assignment: Assignment) -> None:
    """Make the assignment's rows those of the model, keeping ids, and note of which state they are."""
    name = {"name": assignment.name, "course": COURSE}
    database.execute("INSERT OR IGNORE INTO course (id) VALUES (:course)", name)
    for statement in _SYNC_ASSIGNMENT:
        database.execute(statement, name)
    database.execute(_ASSIGNMENTS)
    database.execute(
        f"INSERT OR REPLACE INTO autograder_assignment VALUES ({_OURS}, :digest)",
        {**name, "digest": digest(assignment)},
    )


def _cells_of(database: sqlite3.Connection, assignment: Assignment) -> dict[tuple[str, str, str], str]:
    """(notebook, cell, type) -> id of the cell."""
    rows = database.execute(
        "SELECT n.name, c.name, c.type, c.id FROM base_cell c JOIN notebook n ON n.id = c.notebook_id "
        "JOIN assignment a ON a.id = n.assignment_id WHERE a.name = ?",
        (assignment.name,),
    )
    return {(notebook, cell, kind): cell_id for notebook, cell, kind, cell_id in rows}


def _copy_submissions(database: sqlite3.Connection, assignment: Assignment, entries: Sequence[CourseEntry]) -> None:
    """A row for every student, submission and notebook that has none yet, and the rows that nbgrader hangs below."""
    (assignment_id,) = database.execute("SELECT id FROM assignment WHERE name = ?", (assignment.name,)).fetchone()
    students = [(entry.student,) for entry in entries]
    database.executemany("INSERT OR IGNORE INTO student (id) VALUES (?)", students)
    new = [(_new_id(), assignment_id, student) for (student,) in students]
    database.executemany(
        "INSERT OR IGNORE INTO submitted_assignment (id, assignment_id, student_id) VALUES (?, ?, ?)", new
    )
    # The students' timestamps decide nothing, and nbgrader compares this one with a file that is not written.
    database.execute("UPDATE submitted_assignment SET timestamp = NULL WHERE assignment_id = ?", (assignment_id,))
    for statement in _MISSING_ROWS:
        database.execute(statement, (assignment_id,))
    database.execute(_ANSWERS)
    flagged = [(assignment_id, e.student) for e in entries if e.report is not None and e.report.flags]
    database.executemany(_FLAG_NEW, flagged)
    database.execute(_FLAG_REST)


def _write_grades(
    database: sqlite3.Connection,
    assignment: Assignment,
    entries: Sequence[CourseEntry],
    cells: Mapping[tuple[str, str, str], str],
) -> None:
    rows = database.execute(_SUBMITTED_NOTEBOOKS, (assignment.name,)).fetchall()
    notebook_ids = {(student, notebook): notebook_id for student, notebook, notebook_id in rows}
    old = _EarlierRows.read(database)
    grades: list[tuple[Any, ...]] = []
    comments: list[tuple[Any, ...]] = []
    answers: list[tuple[str, str, str, str]] = []
    penalties: list[tuple[float, str]] = []
    for entry in entries:
        percent = entry.report.late.percent if entry.report and entry.report.late else 0.0
        for notebook in assignment.notebooks:
            place = notebook_ids[entry.student, notebook.name]
            # nbgrader adds up the penalties of all notebooks, and never goes below 0: manual scores may still come.
            most = sum(cell.points for cell in notebook.graded())
            penalties.append((most * percent / 100, place))
            notes: dict[str | None, str] = {}
            for cell in notebook.graded():
                cell_id = cells[
                    notebook.name, cell.grade_id or "", "TaskCell" if cell.role is Role.TASK else "GradeCell"
                ]
                answer = entry.answer(notebook, cell)
                same = old.answers.get((place, cell_id)) == answer
                item = entry.item(notebook.name, cell.grade_id or "")
                before = old.grades[place, cell_id]
                told = old.notes.get((place, cell_id), "")
                grade, note = _grade_row(item, cell, before, told, same=same)
                grades.append((*grade, place, cell_id))
                answers.append((place, cell_id, answer, note))
                for about in notebook.solutions_of(cell.grade_id or "")[:1] if note else ():
                    notes[about.grade_id] = note
            for cell in notebook.cells:
                if cell.role not in (Role.SOLUTION, Role.MANUAL, Role.TASK):
                    continue
                kind = "TaskCell" if cell.role is Role.TASK else "SolutionCell"
                cell_id = cells[notebook.name, cell.grade_id or "", kind]
                answer = entry.answer(notebook, cell)
                same = old.answers.get((place, cell_id)) == answer
                note = notes.get(cell.grade_id, "")
                comment = _comment_row(entry, notebook, cell, old.comments[place, cell_id], note, same=same)
                comments.append((*comment, place, cell_id))
                if cell.role is Role.SOLUTION or cell.role is Role.MANUAL:
                    answers.append((place, cell_id, answer, ""))
    database.executemany(_SET_GRADE, grades)
    database.executemany("UPDATE submitted_notebook SET late_submission_penalty = ? WHERE id = ?", penalties)
    database.executemany(_SET_COMMENT, comments)
    database.executemany("INSERT OR REPLACE INTO autograder_answer VALUES (?, ?, ?, ?)", answers)


@dataclass(frozen=True)
class _EarlierRows:
    """What the database holds of each (submitted notebook, cell) before this run."""

    grades: Mapping[tuple[str, str], tuple[float | None, float | None, bool]]
    """manual score, extra credit, needs manual grade"""
    comments: Mapping[tuple[str, str], tuple[str | None, str | None]]
    """auto comment, manual comment"""
    answers: Mapping[tuple[str, str], str]
    notes: Mapping[tuple[str, str], str]
    """what was told of a score whose answer changed, until a person decides again"""

    @classmethod
    def read(cls, database: sqlite3.Connection) -> _EarlierRows:
        select = database.execute
        grades = select("SELECT notebook_id, cell_id, manual_score, extra_credit, needs_manual_grade FROM grade")
        comments = select("SELECT notebook_id, cell_id, auto_comment, manual_comment FROM comment")
        answers = select("SELECT notebook_id, cell_id, digest, note FROM autograder_answer").fetchall()
        return cls(
            {(row[0], row[1]): (row[2], row[3], bool(row[4])) for row in grades.fetchall()},
            {(row[0], row[1]): (row[2], row[3]) for row in comments.fetchall()},
            {(row[0], row[1]): row[2] for row in answers},
            {(row[0], row[1]): row[3] for row in answers if row[3]},
        )


def _grade_row(
    item: Item | None, cell: Cell, old: tuple[float | None, float | None, bool], told: str, *, same: bool
) -> tuple[tuple[float | None, float | None, float | None, bool], str]:
    """(auto score, manual score, extra credit, needs manual grade) of a cell, and what to tell of a dropped score.

    `told`: what was told last time; it holds until a person has decided, whatever changes meanwhile.
    """
    decided = item is not None and item.verdict not in UNDECIDED
    auto = item.points if item is not None and decided else None
    manual, extra, needed = old
    if manual is None and extra is None:
        pending = bool(told) and needed
        return (auto, None, None, pending or not decided), told if pending else ""
    if same:
        return (auto, manual, extra, needed if manual is not None else not decided), ""
    parts = [f"{manual:g} of {cell.points:g}"] if manual is not None else []
    parts += [f"{extra:g} extra credit"] if extra else []
    note = f"Graded by hand before ({' and '.join(parts) or 'no points'}), for an answer that has changed since."
    return (auto, None, None, True), note


def _comment_row(
    entry: CourseEntry, notebook: Notebook, cell: Cell, old: tuple[str | None, str | None], note: str, *, same: bool
) -> tuple[str | None, str | None]:
    """(auto comment, manual comment) of a solution, manual or task cell."""
    auto, manual = old
    lines = [harmless(entry.trouble)] if entry.trouble else []
    submitted = entry.notebook(notebook.name)
    if submitted is not None and cell.grade_id not in submitted.attempted and cell.role is not Role.TASK:
        lines.append("No response.")
    lines += [note] if note else []
    if manual is not None and not same:
        lines.append(_EARLIER_COMMENT + manual)
        manual = None
    if auto is not None and _EARLIER_COMMENT in auto:
        lines.append(auto[auto.index(_EARLIER_COMMENT) :])
    return "\n".join(lines) or None, manual


def _new_id() -> str:
    return uuid.uuid4().hex


# nbgrader's tables ----------------------------------------------------------------------------------------------------

_NEW = "lower(hex(randomblob(16)))"

_OURS = "(SELECT id FROM assignment WHERE name = :name)"
_OUR_NOTEBOOKS = f"(SELECT id FROM notebook WHERE assignment_id = {_OURS})"
_MODEL_NOTEBOOK = (
    "model.notebook mn JOIN notebook n ON n.name = mn.name "
    f"AND n.assignment_id = {_OURS} AND mn.assignment_id = (SELECT id FROM model.assignment WHERE name = :name)"
)
_GONE_NOTEBOOKS = (
    f"(SELECT id FROM notebook WHERE assignment_id = {_OURS} AND name NOT IN (SELECT name FROM model.notebook))"
)
_GONE_CELLS = (
    f"(SELECT c.id FROM base_cell c JOIN notebook n ON n.id = c.notebook_id WHERE n.assignment_id = {_OURS} "
    "AND NOT EXISTS (SELECT 1 FROM model.base_cell mc JOIN model.notebook mn ON mn.id = mc.notebook_id "
    "WHERE mc.name = c.name AND mc.type = c.type AND mn.name = n.name))"
)


def _copy_statements(table: str, columns: tuple[str, ...]) -> tuple[str, str]:
    """Statements that add and update the rows of a table of typed cells."""
    model = (
        f"FROM base_cell c JOIN notebook n ON n.id = c.notebook_id AND n.assignment_id = {_OURS} "
        "JOIN model.notebook mn ON mn.name = n.name "
        "JOIN model.base_cell mc ON mc.notebook_id = mn.id AND mc.name = c.name AND mc.type = c.type "
        f"JOIN model.{table} mt ON mt.id = mc.id"
    )
    names, values = ", ".join(("id", *columns)), ", ".join(("c.id", *(f"mt.{c}" for c in columns)))
    add = f"INSERT OR REPLACE INTO {table} ({names}) SELECT {values} {model}"
    drop = f"DELETE FROM {table} WHERE id IN {_GONE_CELLS}"
    return drop, add


_SYNC_ASSIGNMENT = (
    f"INSERT INTO assignment (id, name, course_id) SELECT {_NEW}, :name, :course WHERE NOT EXISTS {_OURS}",
    # Cells and notebooks that the instructor removed, and everything that hangs on them.
    *(f"DELETE FROM {table} WHERE cell_id IN {_GONE_CELLS}" for table in ("grade", "comment")),
    *(_copy_statements(table, ())[0] for table in ("grade_cells", "solution_cells", "task_cells")),
    f"DELETE FROM base_cell WHERE id IN {_GONE_CELLS}",
    f"DELETE FROM submitted_notebook WHERE notebook_id IN {_GONE_NOTEBOOKS}",
    f"DELETE FROM source_cell WHERE notebook_id IN {_OUR_NOTEBOOKS}",
    f"DELETE FROM notebook WHERE id IN {_GONE_NOTEBOOKS}",
    # What the model has.
    f"INSERT INTO notebook (id, name, assignment_id, kernelspec) SELECT {_NEW}, mn.name, {_OURS}, mn.kernelspec "
    f"FROM model.notebook mn WHERE mn.name NOT IN (SELECT name FROM notebook WHERE assignment_id = {_OURS})",
    "UPDATE notebook SET kernelspec = (SELECT mn.kernelspec FROM model.notebook mn WHERE mn.name = notebook.name) "
    f"WHERE assignment_id = {_OURS}",
    f"INSERT INTO base_cell (id, name, notebook_id, type) SELECT {_NEW}, mc.name, n.id, mc.type "
    f"FROM {_MODEL_NOTEBOOK} JOIN model.base_cell mc ON mc.notebook_id = mn.id "
    "WHERE NOT EXISTS (SELECT 1 FROM base_cell c WHERE c.notebook_id = n.id AND c.name = mc.name AND c.type = mc.type)",
    _copy_statements("grade_cells", ("max_score", "cell_type"))[1],
    _copy_statements("task_cells", ("max_score", "cell_type"))[1],
    _copy_statements("solution_cells", ())[1],
    "INSERT INTO source_cell (id, name, cell_type, locked, source, checksum, notebook_id) "
    f"SELECT {_NEW}, ms.name, ms.cell_type, ms.locked, ms.source, ms.checksum, n.id "
    f"FROM {_MODEL_NOTEBOOK} JOIN model.source_cell ms ON ms.notebook_id = mn.id",
)

_MISSING_ROWS = (
    f"INSERT INTO submitted_notebook (id, assignment_id, notebook_id) SELECT {_NEW}, sa.id, n.id "
    "FROM submitted_assignment sa JOIN notebook n ON n.assignment_id = sa.assignment_id "
    "WHERE sa.assignment_id = ? AND NOT EXISTS "
    "(SELECT 1 FROM submitted_notebook sn WHERE sn.assignment_id = sa.id AND sn.notebook_id = n.id)",
    f"INSERT INTO grade (id, notebook_id, cell_id, needs_manual_grade) SELECT {_NEW}, sn.id, c.id, 1 "
    "FROM submitted_notebook sn JOIN base_cell c ON c.notebook_id = sn.notebook_id "
    "JOIN notebook n ON n.id = sn.notebook_id WHERE n.assignment_id = ? AND c.type IN ('GradeCell', 'TaskCell') "
    "AND NOT EXISTS (SELECT 1 FROM grade g WHERE g.notebook_id = sn.id AND g.cell_id = c.id)",
    f"INSERT INTO comment (id, notebook_id, cell_id) SELECT {_NEW}, sn.id, c.id "
    "FROM submitted_notebook sn JOIN base_cell c ON c.notebook_id = sn.notebook_id "
    "JOIN notebook n ON n.id = sn.notebook_id WHERE n.assignment_id = ? AND c.type IN ('SolutionCell', 'TaskCell') "
    "AND NOT EXISTS (SELECT 1 FROM comment o WHERE o.notebook_id = sn.id AND o.cell_id = c.id)",
)
_ANSWERS = (
    "CREATE TABLE IF NOT EXISTS autograder_answer "
    "(notebook_id VARCHAR(32), cell_id VARCHAR(32), digest VARCHAR(64), note TEXT, PRIMARY KEY (notebook_id, cell_id))"
)
_ASSIGNMENTS = (
    "CREATE TABLE IF NOT EXISTS autograder_assignment (assignment_id VARCHAR(32) PRIMARY KEY, digest VARCHAR(64))"
)
_HELD = (
    "SELECT 1 FROM autograder_assignment x JOIN assignment a ON a.id = x.assignment_id "
    "WHERE a.name = ? AND x.digest = ?"
)
# A person may take the flag away again; only a notebook that is new here is flagged.
_FLAG_NEW = (
    "UPDATE submitted_notebook SET flagged = 1 WHERE flagged IS NULL AND assignment_id IN "
    "(SELECT id FROM submitted_assignment WHERE assignment_id = ? AND student_id = ?)"
)
_FLAG_REST = "UPDATE submitted_notebook SET flagged = 0 WHERE flagged IS NULL"
_SUBMITTED_NOTEBOOKS = (
    "SELECT sa.student_id, n.name, sn.id FROM submitted_notebook sn JOIN notebook n ON n.id = sn.notebook_id "
    "JOIN submitted_assignment sa ON sa.id = sn.assignment_id JOIN assignment a ON a.id = sa.assignment_id "
    "WHERE a.name = ?"
)
_STUDENTS = (
    "SELECT sa.student_id FROM submitted_assignment sa JOIN assignment a ON a.id = sa.assignment_id WHERE a.name = ?"
)
_SET_GRADE = (
    "UPDATE grade SET auto_score = ?, manual_score = ?, extra_credit = ?, needs_manual_grade = ? "
    "WHERE notebook_id = ? AND cell_id = ?"
)
_SET_COMMENT = "UPDATE comment SET auto_comment = ?, manual_comment = ? WHERE notebook_id = ? AND cell_id = ?"
_OF_STUDENTS = (
    "JOIN submitted_notebook sn ON sn.id = x.notebook_id JOIN notebook n ON n.id = sn.notebook_id "
    "JOIN submitted_assignment sa ON sa.id = sn.assignment_id JOIN base_cell c ON c.id = x.cell_id "
    "JOIN assignment a ON a.id = sa.assignment_id WHERE a.name = ? AND "
)
_MARKS = (
    "SELECT sa.student_id, n.name, c.name, x.manual_score, coalesce(x.extra_credit, 0), x.needs_manual_grade "
    f"FROM grade x {_OF_STUDENTS} (x.manual_score IS NOT NULL OR coalesce(x.extra_credit, 0) <> 0 "
    "OR x.needs_manual_grade AND x.auto_score IS NOT NULL)"
)
_COMMENTS = (
    f"SELECT sa.student_id, n.name, c.name, x.manual_comment FROM comment x {_OF_STUDENTS} "
    "trim(coalesce(x.manual_comment, ''), ' \t\r\n') <> '' ORDER BY n.name, c.name"
)


@contextlib.contextmanager
def _explain_failure(run: Path) -> Iterator[None]:
    """Say in a sentence what stopped the writing, and that nothing was half done."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (sqlite3.Error, SQLAlchemyError) as error:
        reason = str(getattr(error, "orig", None) or error)
        if "locked" in reason or "busy" in reason:
            raise RunFolderInUse(
                f"{run / DATABASE}: another program holds the gradebook. Close formgrader or wait for the "
                "other run, then run the same command again."
            ) from None
        raise CannotWrite(
            f"{run / DATABASE}: cannot be used ({reason}); it is as it was before. Make room, or move the file "
            "away if it is damaged, then run the same command again."
        ) from None
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        reason = "no space left" if full else error.strerror or str(error)
        raise CannotWrite(
            f"{error.filename or run}: cannot be written ({reason}). Make room or choose another --out, then run the "
            "same command again."
        ) from None
