"""Hand the scores of a run to the places that want them: spreadsheets, Canvas, Moodle, Gradescope, CI.

What is exported is the record of the run with the decisions of people on top: a score given by hand in formgrader
replaces the grader's. Where nobody has decided yet the cell stays empty, since a zero would tell a student something
that no one has said. Names come from strangers, so no text leaves here that a spreadsheet would take for a formula.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from autograder.errors import CannotWrite, WrongUse
from autograder.gradebook.course import UNDECIDED, student_id
from autograder.gradebook.nbgrader_db import manual_scores, people
from autograder.records import RESULTS_VERSION, Item, Report, Verdict, from_data

Row = Sequence[str | float | None]


@dataclass(frozen=True)
class StudentResult:
    """One student's result as it is exported."""

    report: Report
    scores: Mapping[tuple[str, str], float | None]
    """(notebook, grade id) -> points after people's decisions; None while nobody has decided"""
    person: Mapping[str, str]
    """`first_name`, `last_name`, `email`, `lms_user_id`, as far as the gradebook knows them"""

    @property
    def score(self) -> float | None:
        """All points together; None while any item is undecided."""
        if not self.scores or None in self.scores.values():
            return None
        return round(sum(s for s in self.scores.values() if s is not None), 6)

    @property
    def name(self) -> str:
        """`Last, First`, or the student's id."""
        parts = [self.person.get("last_name", ""), self.person.get("first_name", "")]
        return ", ".join(p for p in parts if p) or self.report.student


def export(run: Path, to: str, out: Path | None = None) -> Path:
    """Write the scores of the run folder `run` in the form `to`; return the file (for gradescope the folder).

    `to` is one of `csv`, `canvas`, `moodle`, `gradescope`, `junit`; `out` is where, by default in `run`. Raises
    WrongUse where `run` holds no results of this version or `to` is unknown, CannotWrite where `out` cannot be written.
    """
    if to not in FORMS:
        raise WrongUse(f"{to}: no such export; choose one of {', '.join(FORMS)}.")
    name, write = FORMS[to]
    assignment, lines = read_results(run)
    target = run / name if out is None else out
    with _explain_failure(target):
        write(target, assignment, lines)
    return target


def read_results(run: Path) -> tuple[str, list[StudentResult]]:
    """The assignment and every student's result of a run folder. Raises WrongUse where it holds none."""
    path = run / "results.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        version = data["version"]
        if version != RESULTS_VERSION:
            raise WrongUse(f"{path}: is of version {version}, this program reads {RESULTS_VERSION}; grade again.")
        assignment = str(data["assignment"])
        reports = [from_data(Report, entry) for entry in data["submissions"]]
    except FileNotFoundError:
        raise WrongUse(f"{run}: holds no results.json; name the --out folder of `autograder grade`.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WrongUse(f"{path}: is no record of a run ({type(error).__name__}: {error}); grade again.") from None
    decided, known = manual_scores(run, assignment), people(run)
    return assignment, [_student_result(report, decided, known) for report in reports]


def _student_result(
    report: Report, decided: Mapping[tuple[str, str, str], float], known: Mapping[str, Mapping[str, str]]
) -> StudentResult:
    who = student_id(report.student)
    scores: dict[tuple[str, str], float | None] = {}
    for item in report.items:
        own = None if item.verdict in UNDECIDED else item.points
        scores[item.notebook, item.grade_id] = decided.get((who, item.notebook, item.grade_id), own)
    return StudentResult(report, scores, known.get(who, {}))


# The forms ------------------------------------------------------------------------------------------------------------


def _write_csv(target: Path, assignment: str, lines: Sequence[StudentResult]) -> None:
    """Everything, one row for each student, two columns for each graded cell."""
    cells = list(dict.fromkeys(key for line in lines for key in line.scores))
    several = len({notebook for notebook, _ in cells}) > 1
    names = [f"{notebook}/{grade_id}" if several else grade_id for notebook, grade_id in cells]
    head = [
        "student",
        "name",
        "assignment",
        "score",
        "max_score",
        "state",
        "trust",
        "device",
        "flags",
        "seconds",
        "reason",
    ]
    rows: list[Row] = [[*head, *(column for name in names for column in (name, f"{name}: verdict"))]]
    for line in lines:
        report = line.report
        items = {(i.notebook, i.grade_id): i for i in report.items}
        flags = "; ".join(sorted({flag.kind for flag in report.flags}))
        row: list[str | float | None] = [report.student, line.name, assignment, line.score, report.max_score]
        row += [report.state.value, report.trust.value, report.device, flags, round(report.seconds, 3), report.reason]
        for key in cells:
            item = items.get(key)
            row += [line.scores.get(key), item.verdict.value if item else ""]
        rows.append(row)
    # With a byte-order mark: Excel, which opens this one by a double click, takes UTF-8 for the local code page else.
    _write_rows(target, rows, encoding="utf-8-sig")


def _write_canvas(target: Path, assignment: str, lines: Sequence[StudentResult]) -> None:
    """Canvas's gradebook import. The ID is filled in where the gradebook knows it; else the login finds the student."""
    most = max((line.report.max_score for line in lines), default=0.0)
    rows: list[Row] = [
        ["Student", "ID", "SIS Login ID", "Section", assignment],
        ["    Points Possible", "", "", "", most],
    ]
    for line in lines:
        rows.append([line.name, line.person.get("lms_user_id", ""), line.report.student, "", line.score])
    _write_rows(target, rows)


def _write_moodle(target: Path, assignment: str, lines: Sequence[StudentResult]) -> None:
    """Moodle's grade import (Grades > Import > CSV): map by Username or Email address."""
    rows: list[Row] = [["Username", "Full name", "Email address", assignment, "Maximum", "Feedback"]]
    for line in lines:
        report = line.report
        rows.append(
            [report.student, line.name, line.person.get("email", ""), line.score, report.max_score, _list_losses(line)]
        )
    _write_rows(target, rows)


def _write_gradescope(target: Path, assignment: str, lines: Sequence[StudentResult]) -> None:
    """Gradescope's autograder output, `STUDENT/results.json` each."""
    for line in lines:
        report = line.report
        tests = [_gradescope_test(item, line.scores[item.notebook, item.grade_id]) for item in report.items]
        result: dict[str, Any] = {
            "score": sum(score for score in line.scores.values() if score is not None),
            "execution_time": round(report.seconds, 3),
            "output": _printable(report.reason or _list_losses(line)),
            "output_format": "text",
            "visibility": "visible",
            "tests": tests,
        }
        text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
        _write_file(target / student_id(report.student) / "results.json", text.encode())


def _gradescope_test(item: Item, score: float | None) -> dict[str, Any]:
    told = item.message or item.verdict.value
    test: dict[str, Any] = {
        "name": _printable(f"{item.notebook}: {item.grade_id}"),
        "max_score": item.max_points,
        "output": _printable(told if score is not None else f"{told} (a person will grade this)"),
        "output_format": "text",
        "visibility": "visible",
    }
    if score is not None:
        test |= {"score": score, "status": "passed" if score >= item.max_points else "failed"}
    return test


def _write_junit(target: Path, assignment: str, lines: Sequence[StudentResult]) -> None:
    """JUnit's XML as CI servers read it: a suite for each student, a case for each graded cell."""
    root = ElementTree.Element("testsuites", name=_printable(assignment))
    for line in lines:
        _add_suite(root, line)
    suites = list(root)
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    root.set("time", f"{sum(line.report.seconds for line in lines):.3f}")
    ElementTree.indent(root)
    _write_file(target, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _add_suite(root: ElementTree.Element, line: StudentResult) -> None:
    report = line.report
    suite = ElementTree.SubElement(root, "testsuite", name=_printable(report.student), time=f"{report.seconds:.3f}")
    counts = dict.fromkeys(("failures", "errors", "skipped"), 0)
    for item in report.items:
        case = ElementTree.SubElement(
            suite, "testcase", name=_printable(item.grade_id), classname=_printable(item.notebook)
        )
        case.set("time", "0")
        outcome = _junit_outcome(item, line.scores[item.notebook, item.grade_id])
        if outcome is None:
            continue
        tag, plural = outcome
        counts[plural] += 1
        score = line.scores[item.notebook, item.grade_id]
        points = "not decided" if score is None else f"{score:g} of {item.max_points:g} points"
        message = _printable(f"{item.verdict.value}, {points}")
        told = ElementTree.SubElement(case, tag, message=message)
        if tag != "skipped":
            told.set("type", item.fault or item.verdict.value)
        told.text = _printable(item.message or report.reason)
    for key, count in counts.items():
        suite.set(key, str(count))
    suite.set("tests", str(len(report.items)))


def _junit_outcome(item: Item, score: float | None) -> tuple[str, str] | None:
    """The element for an item, and the count it belongs to; None for full marks."""
    if score is None:
        manual = item.verdict in (Verdict.NEEDS_MANUAL, Verdict.NOT_RUN)
        return ("skipped", "skipped") if manual else ("error", "errors")
    return None if score >= item.max_points else ("failure", "failures")


FORMS: dict[str, tuple[str, Callable[[Path, str, Sequence[StudentResult]], None]]] = {
    "csv": ("scores.csv", _write_csv),
    "canvas": ("canvas.csv", _write_canvas),
    "moodle": ("moodle.csv", _write_moodle),
    "gradescope": ("gradescope", _write_gradescope),
    "junit": ("junit.xml", _write_junit),
}
"""name of the form -> the file it is written to by default, and the function that writes it"""


# Small steps ----------------------------------------------------------------------------------------------------------


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula: with an apostrophe in front where it might."""
    flat = _printable(text).replace("\r", "")
    # Signs in full width count too: some spreadsheets fold them before they look. So do blanks: they skip them.
    first = unicodedata.normalize("NFKC", flat.lstrip(" \n\u00a0")[:1])
    return f"'{flat}" if first in {"=", "+", "-", "@", "\t", "|", "%"} else flat


def _list_losses(line: StudentResult) -> str:
    """What cost points, for a student's eyes."""
    told = []
    for item in line.report.items:
        score = line.scores[item.notebook, item.grade_id]
        if score is None:
            told.append(f"{item.grade_id}: a person will grade this")
        elif score < item.max_points:
            said = f": {item.message}" if item.message and score == item.points else ""
            told.append(f"{item.grade_id}: {score:g} of {item.max_points:g}{said}")
    return "\n".join(told)


def _write_rows(target: Path, rows: Sequence[Row], encoding: str = "utf-8") -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    for row in rows:
        writer.writerow([harmless(value) if isinstance(value, str) else _decimal(value) for value in row])
    _write_file(target, buffer.getvalue().encode(encoding, errors="replace"))


def _decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def _printable(text: str) -> str:
    """Without what XML and JSON readers refuse: control characters, surrogates, non-characters."""
    return re.sub("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", text)


def _write_file(path: Path, data: bytes) -> None:
    """All of a file or nothing of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as part:
        try:
            part.write(data)
            part.close()
            os.chmod(part.name, 0o644)
            os.replace(part.name, path)
        except BaseException:
            os.unlink(part.name)
            raise


@contextlib.contextmanager
def _explain_failure(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"{target}: cannot be written ({error.strerror or error}); choose another --out.") from None
