"""Lay out a run folder as an nbgrader course, so that formgrader finds the notebooks that a person grades by hand.

Whoever opens these notebooks is signed in to a server that holds the whole class, and nbgrader's pages copy prose into
HTML as it is. So nothing active gets here: outputs are plain text and checked figures, and a student's prose that would
become more than text and ordinary links is shown as the text it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.records import Assignment, Cell, Item, Notebook, Report, Role, Submission, SubmittedNotebook, Verdict
from autograder.release.build import public_files
from autograder.release.prose import harmless
from autograder.submissions.document import compact, instructors_cell, notebook_json
from autograder.submissions.plan import own_files

CONFIG = '''"""Opens this folder in nbgrader: `jupyter lab` here, then Nbgrader > Formgrader."""

import os

c = get_config()  # noqa: F821
c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))
# feedback/ holds the grader's own pages, which `nbgrader generate_feedback --force` would delete.
c.CourseDirectory.feedback_directory = "feedback_nbgrader"
# Outputs were reduced to plain text when they were graded; this holds for notebooks that come here another way.
c.HTMLExporter.sanitize_html = True
'''

UNDECIDED = (Verdict.NEEDS_MANUAL, Verdict.GRADER_ERROR, Verdict.NOT_RUN, Verdict.REJECTED)
"""Verdicts that are no finding about the answer: a person decides, and nobody loses points meanwhile."""


def waits(item: Item) -> bool:
    """Whether a person has yet to decide about it. Nobody does about what this device cannot ask: it has no points.

    (In the gradebook the cell keeps its points, so there it is left to a person all the same.)
    """
    return item.verdict in UNDECIDED and (item.verdict is not Verdict.NOT_RUN or item.max_points > 0)


@dataclass(frozen=True)
class CourseEntry:
    """One student: what was handed in beside what the grader says of it."""

    submission: Submission
    report: Report | None
    files: Mapping[str, bytes] = field(default_factory=dict)
    """as they were handed in, each read when it is asked for"""

    @property
    def student(self) -> str:
        return student_id(self.submission.student)

    @property
    def trouble(self) -> str:
        """Why there is no result, for the person who decides now; empty if there is one."""
        if self.submission.rejected:
            return f"This submission could not be graded: {self.submission.rejected}"
        if self.report is None:
            return "This submission has not been graded."
        if self.report.state in (Verdict.REJECTED, Verdict.GRADER_ERROR) and self.report.reason:
            return f"This submission could not be graded: {self.report.reason}"
        return ""

    def notebook(self, name: str) -> SubmittedNotebook | None:
        return next((n for n in self.submission.notebooks if n.name == name), None)

    def item(self, notebook: str, grade_id: str) -> Item | None:
        items = self.report.items if self.report else ()
        return next((i for i in items if i.notebook == notebook and i.grade_id == grade_id), None)

    def answer(self, notebook: Notebook, cell: Cell) -> str:
        """A digest of what a grade or comment on `cell` is about."""
        submitted = self.notebook(notebook.name)
        if submitted is None:
            return _digest("nothing to read in", self.submission.digest)
        texts = dict(submitted.answers)
        about = notebook.solutions_of(cell.grade_id or "")
        return _digest(*(f"{c.grade_id}\n{texts.get(c.grade_id or '', '')}" for c in about))


def student_id(student: str) -> str:
    """The name of a student as id and folder name in nbgrader, whose pages put it into HTML and globs unquoted.

    Most names are their own id. Others lose what is no letter, digit or plain punctuation and gain a digest instead.
    """
    plain = unicodedata.normalize("NFC", student)
    safe = re.sub(r"[^\w .,@+()'-]", "_", plain)[:100].strip()
    safe = re.sub(r"^[^\w]+|[ .]+$", "", safe)
    if safe == student != "":
        return safe
    return f"{safe or 'student'}-{hashlib.sha256(student.encode(errors='surrogatepass')).hexdigest()[:8]}"


# The course folder ----------------------------------------------------------------------------------------------------


def write_course(run: Path, assignment: Assignment, entries: Sequence[CourseEntry]) -> None:
    """Write `source/`, `submitted/`, `autograded/` and nbgrader's configuration, which is left alone if it is there."""
    if not (run / "nbgrader_config.py").exists():
        write_file(run / "nbgrader_config.py", CONFIG)
    source = run / "source" / assignment.name
    for path in [*public_files(assignment), *(assignment.folder / f"{n.name}.ipynb" for n in assignment.notebooks)]:
        write_file(source / path.relative_to(assignment.folder), path.read_bytes())
    for entry in entries:
        handed_in = run / "submitted" / entry.student / assignment.name
        graded = run / "autograded" / entry.student / assignment.name
        _write_own_files(graded, assignment, entry)
        for notebook in assignment.notebooks:
            submitted = entry.notebook(notebook.name)
            document = submitted.document if submitted is not None else _unanswered(notebook)
            write_file(handed_in / f"{notebook.name}.ipynb", document)
            write_file(graded / f"{notebook.name}.ipynb", autograded_document(notebook, document, submitted, entry))
        for path in public_files(assignment):
            write_file(graded / path.relative_to(assignment.folder), path.read_bytes())


_INERT = frozenset(
    {"", ".bin", ".bmp", ".cfg", ".csv", ".dat", ".docx", ".gif", ".gz", ".h5", ".ini", ".joblib", ".jpeg", ".jpg"}
    | {".json", ".jsonl", ".log", ".md", ".npy", ".npz", ".parquet", ".pdf", ".pickle", ".pkl", ".png", ".pt", ".py"}
    | {".rst", ".safetensors", ".toml", ".tsv", ".txt", ".webp", ".xlsx", ".yaml", ".yml", ".zip"}
)
"""endings of files that no browser runs, unlike .html and .svg"""


def _write_own_files(graded: Path, assignment: Assignment, entry: CourseEntry) -> None:
    """What the student's kernel found beside the notebook, for the person who opens it."""
    try:
        own = own_files(entry.files, assignment)
    except OSError:
        return  # gone or damaged since it was graded
    for place, content in own.items():
        if _is_inert(PurePosixPath(place)):
            # An earlier hand-in may have a folder in the place of this file, or a file in that of its folder.
            with contextlib.suppress(FileExistsError, IsADirectoryError, NotADirectoryError):
                write_file(graded / place, content)


def _is_inert(place: PurePosixPath) -> bool:
    """Whether nobody runs a file by opening it or the notebook beside it.

    Formgrader gives files to the browser as they are, and what Jupyter starts in a folder reads settings and imports
    modules there first, even its own.
    """
    module = place.suffix.lower() == ".py" and PathFinder.find_spec(place.parts[0].partition(".")[0])
    return (
        place.suffix.lower() in _INERT
        and not (module and module.origin)
        and not place.name.lower().startswith(("ipython", "jupyter", "nbgrader"))
        and not any(part.startswith(".") or len(part.encode(errors="replace")) > 200 for part in place.parts)
        and len(str(place).encode(errors="replace")) < 1000
    )


def autograded_document(
    notebook: Notebook, document: str, submitted: SubmittedNotebook | None, entry: CourseEntry
) -> str:
    """The notebook that a person reads in formgrader: answers, what they printed and drew, and the verdicts.

    `document`: the notebook as JSON, without outputs. A raw cell, which a page copies as it is, does not occur in it.
    """
    content = json.loads(document)
    cells = {cell.grade_id: cell for cell in notebook.cells if cell.grade_id}
    instructors = {text for cell in notebook.cells for text in (cell.released, cell.source)}
    printed = _printed(content["cells"], submitted, entry.report)
    for index, shown in enumerate(content["cells"]):
        cell = cells.get(shown["metadata"].get("nbgrader", {}).get("grade_id"))
        if cell is not None and cell.role in (Role.TESTS, Role.LOCKED):
            # nbgrader's feedback pages show this cell to students: hidden tests stay in source/.
            shown["source"] = cell.released
        if shown["cell_type"] != "code":
            shown["source"] = shown["source"] if shown["source"] in instructors else harmless(shown["source"])
            continue
        text, figures = printed.get(index, ("", ()))
        if cell is not None and cell.role is Role.TESTS:
            item = entry.item(notebook.name, cell.grade_id or "")
            text = _told(item) if item is not None else entry.trouble or "not graded"
        shown["outputs"] = [{"name": "stdout", "output_type": "stream", "text": _plain(text)}] if text else []
        shown["outputs"] += [
            {"output_type": "display_data", "data": {"image/png": figure}, "metadata": {}} for figure in figures
        ]
        shown["execution_count"] = None
    if entry.trouble:
        notice = {"cell_type": "markdown", "id": "grader-notice", "metadata": {}, "source": harmless(entry.trouble)}
        content["cells"].insert(0, notice)
    return compact(content)


def _unanswered(notebook: Notebook) -> str:
    """The notebook as it was released, standing for one that could not be read."""
    return notebook_json(notebook, [instructors_cell(cell, None) for cell in notebook.cells])


def _printed(
    cells: Sequence[Mapping[str, Any]], submitted: SubmittedNotebook | None, report: Report | None
) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Position in the document -> what that cell printed or raised, and its figures.

    A run that fits no cell is not shown.
    """
    if submitted is None or report is None:
        return {}
    runs = [run for run in report.runs if run.notebook == submitted.name]
    if len(runs) != len(submitted.plan):
        runs_by_id = {run.grade_id: run for run in runs if run.grade_id}
        pairs = [(planned, runs_by_id.get(planned.grade_id)) for planned in submitted.plan if planned.grade_id]
    else:
        pairs = list(zip(submitted.plan, runs, strict=True))
    places: dict[tuple[str | None, str], list[int]] = {}
    for index, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
            places.setdefault((grade_id, "" if grade_id else cell["source"].strip()), []).append(index)
    found: dict[int, tuple[str, tuple[str, ...]]] = {}
    for planned, run in pairs:
        waiting = places.get((planned.grade_id, "" if planned.grade_id else planned.source.strip()), [])
        if waiting and run is not None:
            limit = run.status.value if run.status not in (Verdict.PASSED, Verdict.FAILED) else ""
            text = "\n".join(part.rstrip("\n") for part in (run.output, run.error, limit) if part)
            found[waiting.pop(0)] = text, run.figures
    return found


def _told(item: Item) -> str:
    """An item in plain text, as the student may read it."""
    points = "not decided yet" if item.verdict in UNDECIDED else f"{item.points:g} of {item.max_points:g} points"
    lines = [f"{item.verdict}: {points}"]
    lines += [item.message] if item.message else []
    for check in item.checks:
        lines += ["", f"{check.verdict}: {check.sentence}"]
        lines += [check.message] if check.message and check.message != item.message else []
        if check.difference is not None:
            lines.append(check.difference.sentence)
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Without escape sequences and control characters, which some page or terminal might obey."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text)
    return "".join(c for c in text if c in "\n\t" or not unicodedata.category(c).startswith("C"))


# Small steps ----------------------------------------------------------------------------------------------------------


def write_file(path: Path, content: str | bytes) -> None:
    """Write a whole file or none: beside it first, then renamed. A file that is right already is left alone."""
    data = content.encode(errors="replace") if isinstance(content, str) else content
    if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()
