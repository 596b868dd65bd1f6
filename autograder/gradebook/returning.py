"""Pack the feedback pages of a run into what takes them back to the students: a platform's archive, or a mail merge.

A page that reached another student would tell what is nobody else's to know. So a page is packed only where the
platform named the student it belongs to, and where two pages claim one place neither is packed.
"""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from autograder.errors import WrongUse
from autograder.gradebook.course import student_id, waits
from autograder.gradebook.exports import StudentResult, explain_failure, read_results, write_file, write_rows
from autograder.gradebook.roster import Roster, some, to_complete
from autograder.submissions.platforms import name_to_return

WAYS = {"moodle": "feedback_moodle.zip", "canvas": "feedback_canvas.zip", "folder": "feedback_by_student"}
"""where pages go -> what is written for it by default"""
_TIME = (1980, 1, 1, 0, 0, 0)
"""of every file in an archive: the same pages give the same bytes"""


def pack_feedback(
    run: Path,
    to: str,
    pages: Mapping[str, PurePosixPath],
    out: Path | None = None,
    roster: Roster | None = None,
    digits: int = 2,
) -> list[str]:
    """Write what `to`, a key of `WAYS`, takes back, and say in sentences where it lies and whom it will not reach.

    pages: student -> the page, below `run`. digits: of points, after the point. Raises CannotWrite, and WrongUse where
    the platform would match no page: nothing is written then.
    """
    _, lines = read_results(run, roster, to, digits)
    found = {
        line.report.student: (run / pages[line.report.student]).read_bytes()
        for line in lines
        if line.report.student in pages
    }
    lines = [line for line in lines if line.report.student in found]
    target = out or run / WAYS[to]
    with explain_failure(target):
        if to == "folder":
            told = _write_folders(target, lines, found, roster)
        else:
            told = _write_archive(target, to, lines, found, roster)
    waiting = [line.report.student for line in lines if any(map(waits, line.report.items))]
    if waiting:
        told.append(f"Not graded yet, or not all of it: {some(waiting)}.")
    return [f"wrote {target}", *told]


def _write_archive(
    target: Path, to: str, lines: Sequence[StudentResult], pages: Mapping[str, bytes], roster: Roster | None
) -> list[str]:
    names, whose = {}, {}
    for line in lines:
        student = line.report.student
        names[student] = name_to_return(to, line.name, line.known("id"), line.file)
        whose[student] = line.known("id") or names[student]
    claims = Counter(whose[student] for student, name in names.items() if name)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, name in names.items():
            if name and claims[whose[student]] == 1:
                page = pages[student]
                content = _as_notebook(page) if name.endswith(".ipynb") else page
                archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)
        packed = len(archive.namelist())
    told = []
    unknown = {line.report.student: line.person for line in lines if not names[line.report.student]}
    rivals = [student for student, name in names.items() if name and claims[whose[student]] > 1]
    if unknown:
        need = {
            "canvas": "Canvas needs the numbers that its own download puts before the name of a file handed in: grade "
            "that download as it is.",
            "moodle": "Moodle needs the participant's number, which its own download and its grading worksheet have. "
            + to_complete(roster, unknown, ("id",)),
        }[to]
        told.append(f"Not matched: {some(list(unknown))}. {need}")
    if rivals:
        told.append(
            f"Not matched, because several claim to be the same person of {to.title()}: {some(rivals)}. Keep one "
            "submission of each person and grade again."
        )
    if not packed:
        raise WrongUse(" ".join([f"{target}: not written, as {to.title()} would match none of the pages.", *told]))
    write_file(target, buffer.getvalue())
    return [f"{to.title()} will match {packed} of {len(lines)} pages.", *told]


def _as_notebook(page: bytes) -> bytes:
    """The page as the output of a cell, which Jupyter and Colab show."""
    from nbformat import v4, writes

    shown = v4.new_output("display_data", {"text/html": page.decode()})
    cell = v4.new_code_cell("# Feedback on what you handed in", id="feedback", outputs=[shown])
    return str(writes(v4.new_notebook(cells=[cell]))).encode()


def _write_folders(
    target: Path, lines: Sequence[StudentResult], pages: Mapping[str, bytes], roster: Roster | None
) -> list[str]:
    """`STUDENT/feedback.html`, and a table for a mail merge."""
    rows: list[Sequence[str | float | None]] = [
        ["student", "first_name", "last_name", "email", "score", "penalty", "final_score", "max_score", "file"]
    ]
    for line in lines:
        report = line.report
        file = PurePosixPath(student_id(report.student), "feedback.html")
        write_file(target / file, pages[report.student])
        known = [line.known(key) for key in ("first_name", "last_name", "email")]
        points = (line.score, line.penalty, line.final_score, report.max_score)
        rows.append([report.student, *known, *points, str(file)])
    write_rows(target / "mail_merge.csv", rows, encoding="utf-8-sig")
    without = {line.report.student: line.person for line in lines if not line.known("email")}
    told = [f"{len(lines) - len(without)} of {len(lines)} students have an e-mail address in mail_merge.csv."]
    if without:
        told.append(f"Without one: {some(list(without))}. {to_complete(roster, without, ('email',))}")
    return told
