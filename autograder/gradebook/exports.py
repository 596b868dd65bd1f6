"""Hand the scores of a run to the places that want them: spreadsheets, learning platforms, Gradescope, CI.

What is exported is the record of the run with the decisions of people on top: a score given by hand in formgrader
replaces the grader's. Where nobody has decided yet the cell stays empty, since a zero would tell a student something
that no one has said. Names come from strangers, so no text leaves here that a spreadsheet would take for a formula.
"""

from __future__ import annotations

import contextlib
import csv
import html
import io
import json
import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from autograder.errors import CannotWrite, WrongUse
from autograder.gradebook.course import student_id, waits
from autograder.gradebook.marks import with_marks
from autograder.gradebook.nbgrader_db import people
from autograder.gradebook.roster import Roster, attendance, full_name, some, to_complete
from autograder.grading import rejection
from autograder.records import RESULTS_VERSION, Item, Report, Verdict, from_data

Row = Sequence[str | float | None]
EXACT = 9
"""digits that no score needs: beyond them is what adding up leaves"""


@dataclass(frozen=True)
class StudentResult:
    """One student's result as it is exported."""

    report: Report
    """after people's decisions"""
    person: Mapping[str, str]
    """`roster.FIELDS`, as far as the list of people, the gradebook or the name of the submission tell them"""
    file: str = ""
    """what the platform called the file that was graded"""
    digits: int = EXACT
    """after the point"""

    @property
    def scores(self) -> Mapping[tuple[str, str], float | None]:
        """(notebook, grade id) -> points, rounded; None while nobody has decided."""
        return {(i.notebook, i.grade_id): None if waits(i) else round(i.points, self.digits) for i in self.report.items}

    @property
    def score(self) -> float | None:
        """All points together; None while any item is undecided."""
        return self._rounded(self._decided)

    @property
    def penalty(self) -> float | None:
        """What being late takes off the score."""
        return self._rounded(self._penalty)

    @property
    def final_score(self) -> float | None:
        """The score less the penalty."""
        return self._rounded(self._decided - self._penalty)

    @property
    def provisional(self) -> float:
        """What `final_score` is without the items that are undecided."""
        return round(self._decided - self._penalty, self.digits)

    @property
    def _decided(self) -> float:
        return sum(i.points for i in self.report.items if not waits(i))

    @property
    def _penalty(self) -> float:
        return self.report.late.penalty(self._decided, self.report.max_score) if self.report.late else 0.0

    def _rounded(self, points: float) -> float | None:
        return None if not self.scores or None in self.scores.values() else round(points, self.digits)

    def known(self, key: str) -> str:
        """Of the person; empty where nobody has told it."""
        return self.person.get(key, "")

    @property
    def name(self) -> str:
        """`Last, First`, or the student's id."""
        parts = [self.person.get("last_name", ""), self.person.get("first_name", "")]
        return ", ".join(p for p in parts if p) or self.report.student


def export(
    run: Path,
    to: str,
    out: Path | None = None,
    roster: Roster | None = None,
    section: str = "",
    digits: int = 2,
    tell: Callable[[str], object] = lambda sentence: None,
) -> Path:
    """Write the scores of the run folder `run` in the form `to`; return the file (for gradescope the folder).

    `to`: a key of `FORMS`. `out`: where, by default in `run`. `roster`: who is who on the platform. `section`: of the
    roster, to export it alone. `digits`: after the point. `tell`: is told whom the platform will find, and, with a
    roster, who handed in nothing and who is not in it. Raises WrongUse where `run` holds no results of this version,
    `to` is unknown or nobody is of that section, CannotWrite where `out` cannot be written.
    """
    if to not in FORMS:
        raise WrongUse(f"{to}: no such export; choose one of {', '.join(FORMS)}.")
    name, write = FORMS[to]
    assignment, lines = read_results(run, roster, to, digits)
    if section:
        lines = [line for line in lines if line.person.get("section") == section]
        if not lines:
            raise WrongUse(f"Nobody with a submission is of section {section!r} in the roster.")
    target = run / name if out is None else out
    with explain_failure(target):
        write(target, assignment, lines)
    for sentence in _matches(lines, to, roster, section):
        tell(sentence)
    return target


def read_results(
    run: Path, roster: Roster | None = None, to: str = "", digits: int = EXACT
) -> tuple[str, list[StudentResult]]:
    """The assignment and every student's result of a run folder. Raises WrongUse where it holds none.

    `to`: a platform. A number or name that another one put into the names of files is somebody else's there.
    """
    assignment, info, reports = read_run(run)
    known, lines = people(run), []
    for report in with_marks(run, reports):
        platform, number, *file = info["platform"].get(report.student, ("", ""))
        person = {"id": number} if number and platform == to else {}
        person |= known.get(student_id(report.student), {})
        if roster:
            # Gradescope has no numbers of its own: it tells addresses, or the institution's.
            key = person.get("id") or (number if platform == "gradescope" else "")
            called = full_name(report.student, platform, number) if to in ("", platform) else ""
            person |= roster.find(report.student, key, called)
        lines.append(StudentResult(report, person, "".join(file) if platform == to else "", digits))
    return assignment, lines


def read_run(run: Path) -> tuple[str, dict[str, Any], list[Report]]:
    """What `results.json` of a run folder says: the assignment, facts of the run, and the reports. Raises WrongUse."""
    path = run / "results.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        version = data["version"]
        if version != RESULTS_VERSION:
            raise WrongUse(f"{path}: is of version {version}, this program reads {RESULTS_VERSION}; grade again.")
        info = {"platform": {}} | data.get("run", {})
        from_data(tuple[tuple[str, ...], ...], list(info["platform"].values()))
        return str(data["assignment"]), info, [from_data(Report, entry) for entry in data["submissions"]]
    except FileNotFoundError:
        raise WrongUse(f"{run}: holds no results.json; name the --out folder of `autograder grade`.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WrongUse(f"{path}: is no record of a run ({type(error).__name__}: {error}); grade again.") from None


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
        "penalty",
        "final_score",
        "max_score",
        "late",
        "state",
        "trust",
        "device",
        "flags",
        "seconds",
        "reason",
    ]
    commented = list(dict.fromkeys((c.notebook, c.grade_id) for line in lines for c in line.report.comments))
    rows: list[Row] = [[*head, *(column for name in names for column in (name, f"{name}: verdict"))]]
    rows[0] = [
        *rows[0],
        *(f"{notebook}/{cell}: comment" if several else f"{cell}: comment" for notebook, cell in commented),
    ]
    for line in lines:
        report = line.report
        items = {(i.notebook, i.grade_id): i for i in report.items}
        flags = "; ".join(sorted({flag.kind for flag in report.flags}))
        row: list[str | float | None] = [report.student, line.name, assignment, line.score, line.penalty]
        row += [line.final_score, report.max_score, report.late.sentence if report.late else ""]
        row += [report.state.value, report.trust.value, report.device, flags, round(report.seconds, 3), report.reason]
        for key in cells:
            item = items.get(key)
            row += [line.scores.get(key), item.verdict.value if item else ""]
        comments = {(c.notebook, c.grade_id): c.text for c in report.comments}
        row += [comments.get(key, "") for key in commented]
        rows.append(row)
    # With a byte-order mark: Excel, which opens this one by a double click, takes UTF-8 for the local code page else.
    write_rows(target, rows, encoding="utf-8-sig")


def _write_canvas(target: Path, assignment: str, lines: Sequence[StudentResult]) -> None:
    """Canvas's gradebook import, which looks for a student by ID, then SIS User ID, then SIS Login ID."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", assignment]
    rows: list[Row] = [head, ["    Points Possible", "", "", "", "", _most(lines)]]
    for line in lines:
        known = [line.known(key) for key in ("id", "sis_id", "login", "section")]
        if not any(known[:3]):
            known[2] = line.report.student
        rows.append([line.name, *known, line.final_score])
    write_rows(target, rows)


def _write_moodle(target: Path, assignment: str, lines: Sequence[StudentResult]) -> None:
    """Moodle, both ways: the assignment's *Upload grading worksheet* reads Identifier, Grade, Last modified (grade) and
    Feedback comments; *Grades > Import > CSV* maps Username, ID number or Email address to Grade."""
    head = ["Identifier", "Full name", "Username", "ID number", "Email address", "Grade", "Maximum Grade"]
    rows: list[Row] = [[*head, "Last modified (grade)", "Feedback comments"]]
    # The worksheet's grade is taken only if it is newer than Moodle's own.
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    for line in lines:
        number, report = line.known("id"), line.report
        login = line.known("login") or ("" if number else report.student)
        row: list[str | float | None] = [f"Participant {number}" if number else "", line.name, login]
        row += [line.known("sis_id"), line.known("email"), line.final_score, report.max_score, now]
        row.append(html.escape(_told(line), quote=False).replace("\n", "<br>"))  # Moodle takes it for HTML
        rows.append(row)
    write_rows(target, rows)


def _write_blackboard(target: Path, assignment: str, lines: Sequence[StudentResult]) -> None:
    """Blackboard's *Upload Grades*, which finds students by Username."""
    rows: list[Row] = [["Last Name", "First Name", "Username", f"{assignment} [Total Pts: {_most(lines):g} Score]"]]
    for line in lines:
        login = line.known("login") or line.report.student
        rows.append([line.known("last_name"), line.known("first_name"), login, line.final_score])
    write_rows(target, rows)


def _write_brightspace(target: Path, assignment: str, lines: Sequence[StudentResult]) -> None:
    """Brightspace's *Import Grades*, which finds students by OrgDefinedId or Username and wants a sign at each end."""
    rows: list[Row] = [["OrgDefinedId", "Username", f"{assignment} Points Grade", "End-of-Line Indicator"]]
    for line in lines:
        login, number = line.known("login"), line.known("org_id")
        login = login or ("" if number else line.report.student)
        rows.append([f"#{number}" if number else "", f"#{login}" if login else "", line.final_score, "#"])
    write_rows(target, rows)


def _most(lines: Sequence[StudentResult]) -> float:
    return max((line.report.max_score for line in lines), default=0.0)


def _write_gradescope(target: Path, assignment: str, lines: Sequence[StudentResult]) -> None:
    """Gradescope's autograder output, `STUDENT/results.json` each."""
    for line in lines:
        report = line.report
        tests = [_gradescope_test(item, line.scores[item.notebook, item.grade_id]) for item in report.items]
        # Without a score Gradescope says that the grader failed, which is what happened.
        score = {} if report.state is Verdict.GRADER_ERROR else {"score": line.provisional}
        result: dict[str, Any] = {
            **score,
            "execution_time": round(report.seconds, 3),
            "output": _printable(_told(line)),
            "output_format": "text",
            "visibility": "visible",
            "tests": tests,
        }
        text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
        write_file(target / student_id(report.student) / "results.json", text.encode())


def _gradescope_test(item: Item, score: float | None) -> dict[str, Any]:
    told = item.message or (_WAITS if score is None else item.verdict.value)
    test: dict[str, Any] = {
        "name": _printable(f"{item.notebook}: {item.grade_id}"),
        "max_score": item.max_points,
        "output": _printable(told),
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
    write_file(target, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _add_suite(root: ElementTree.Element, line: StudentResult) -> None:
    report = line.report
    suite = ElementTree.SubElement(root, "testsuite", name=_printable(report.student), time=f"{report.seconds:.3f}")
    if report.late:
        properties = ElementTree.SubElement(suite, "properties")
        facts = {"score": line.score, "penalty": line.penalty, "final_score": line.final_score}
        for name, value in {**facts, "late": _printable(report.late.sentence)}.items():
            ElementTree.SubElement(properties, "property", name=name, value="" if value is None else str(value))
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
    if report.comments:  # after the cases, as the schema wants it
        ElementTree.SubElement(suite, "system-out").text = _printable("\n".join(_comments(line)))
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
    "blackboard": ("blackboard.csv", _write_blackboard),
    "brightspace": ("brightspace.csv", _write_brightspace),
    "gradescope": ("gradescope", _write_gradescope),
    "junit": ("junit.xml", _write_junit),
}
"""name of the form -> the file it is written to by default, and the function that writes it"""
KEYS = {
    "canvas": ("id", "sis_id", "login"),
    "moodle": ("id", "sis_id", "login", "email"),
    "blackboard": ("login",),
    "brightspace": ("org_id", "login"),
}
"""by which of `roster.FIELDS` a platform finds a student"""


def _matches(lines: Sequence[StudentResult], to: str, roster: Roster | None, section: str) -> list[str]:
    """In sentences: whom the platform will find, and, with a roster, who handed in nothing and who is not in it."""
    told = []
    if to in KEYS:
        guessed = {line.report.student: line.person for line in lines if not any(map(line.known, KEYS[to]))}
        told.append(f"{len(lines) - len(guessed)} of {len(lines)} students have a number or login of {to.title()}.")
        if guessed:
            told.append(f"Without one, so that the submission's name stands for the login: {some(list(guessed))}.")
            told.append(to_complete(roster, guessed, KEYS[to]))
    if roster is not None:
        told += attendance(roster, {line.report.student: line.person for line in lines}, section).sentences()
    return told


# Small steps ----------------------------------------------------------------------------------------------------------


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula: with an apostrophe in front where it might."""
    flat = _printable(text).replace("\r", "")
    # Signs in full width count too: some spreadsheets fold them before they look. So do blanks: they skip them.
    first = unicodedata.normalize("NFKC", flat.lstrip(" \n\u00a0")[:1])
    return f"'{flat}" if first in {"=", "+", "-", "@", "\t", "|", "%"} else flat


_WAITS = "a person will grade this"


def _told(line: StudentResult) -> str:
    """For a student's eyes: of work that could not be read why, what cost points, and what people wrote."""
    report = line.report
    why = rejection(report)  # what broke on our side is for the instructor
    told = [f"Could not be read: {why}"] if why else []
    if report.late and report.late.sentence and not why:
        taken_off = f" {line.score:g} - {line.penalty:g} = {line.final_score:g} points." if line.penalty else ""
        told.append(report.late.sentence + taken_off)
    for item in () if report.state is Verdict.REJECTED else report.items:
        score = line.scores[item.notebook, item.grade_id]
        if score is None:
            told.append(f"{item.grade_id}: {_WAITS}")
        elif score < item.max_points:
            said = f": {item.message}" if item.message and item.mark is None else ""
            told.append(f"{item.grade_id}: {score:g} of {item.max_points:g}{said}")
    return "\n".join([*told, *_comments(line)])


def _comments(line: StudentResult) -> list[str]:
    return [f"{comment.grade_id}, comment: {comment.text}" for comment in line.report.comments]


def write_rows(target: Path, rows: Sequence[Row], encoding: str = "utf-8") -> None:
    """Write a table as CSV, in which no text is a formula. Raises CannotWrite."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    for row in rows:
        writer.writerow([harmless(value) if isinstance(value, str) else _decimal(value) for value in row])
    with explain_failure(target):
        write_file(target, buffer.getvalue().encode(encoding, errors="replace"))


def _decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def _printable(text: str) -> str:
    """Without what XML and JSON readers refuse: control characters, surrogates, non-characters."""
    return re.sub("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", text)


def write_file(path: Path, data: bytes) -> None:
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
def explain_failure(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"{target}: cannot be written ({error.strerror or error}); choose another --out.") from None
