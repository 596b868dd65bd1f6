"""The page one student gets for one assignment: what counted, what went wrong, and what to do next.

A page says only what the student may know. From the records come the student-safe words alone: a check's sentence,
message and difference, never its name; what the student's own cells printed, never the instructor's; repairs of the
file, never suspicions (`words.FLAG_SENTENCES` is the list). Nothing on it depends on the clock, so that a re-grade
of the same work gives the same bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.grading import rejection
from autograder.records import (
    Assignment,
    Cell,
    CellRun,
    CheckResult,
    Comment,
    Evidence,
    Item,
    Limits,
    Notebook,
    Report,
    Role,
    Submission,
    Trust,
    Verdict,
)
from autograder.report import words
from autograder.report.pages import render, write_page
from autograder.report.sanitize import printed, visible
from autograder.submissions.intake import safe_name
from course_lib.difference import Difference

CODE_LINES = 300
"""of a student's own cell; more is cut, and said"""

CASE_LINES, CASE_CHARS = 2000, 30_000
"""of an input that shows a failure: no cell that the judge writes is longer"""

_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_OF_STUDENT = ("student", "extra")
_SAID_IN_ADVICE = (Verdict.NOT_ATTEMPTED, Verdict.NEEDS_MANUAL, Verdict.GRADER_ERROR, Verdict.NOT_RUN)
"""verdicts whose message says what happened in the grader's words, to which the advice adds the next step"""


def feedback_page(report: Report, assignment: Assignment, submission: Submission) -> str:
    """The feedback on one submission as one HTML page that needs nothing else and runs nothing."""
    return render("feedback.html.j2", page=_build_page(report, assignment, submission))


def write_feedback(
    folder: Path, assignment: Assignment, submissions: Sequence[Submission], reports: Sequence[Report]
) -> list[Path]:
    """Write one page for each student to its place below the run folder `folder`. Raises CannotWrite.

    `submissions` and `reports` belong to the same students in the same order; raises ValueError if they do not.
    """
    if [s.student for s in submissions] != [r.student for r in reports]:
        raise ValueError("submissions and reports are not those of the same students in the same order")
    return [
        write_page(folder / feedback_path(r.student, r.assignment), feedback_page(r, assignment, s))
        for s, r in zip(submissions, reports, strict=True)
    ]


def feedback_path(student: str, assignment: str) -> PurePosixPath:
    """Where a page lies below the run folder: nbgrader's layout, and below it whatever the student is called."""
    return PurePosixPath("feedback", safe_name(student)[0], safe_name(assignment)[0], "feedback.html")


def assignment_title(assignment: Assignment) -> str:
    """The first heading of the assignment's first notebook that has one, else its name."""
    for notebook in assignment.notebooks:
        for heading in _headings(notebook.cells):
            return heading
    return assignment.name


def item_title(assignment: Assignment, item: Item) -> str:
    """What a graded item is called: the heading above the last of the cells it grades, else `item_cells`."""
    notebook = _notebook(assignment, item.notebook)
    cells = _graded_cells(assignment, item)
    title = ""
    if notebook and cells:
        # Not the title of the whole notebook: that would name every item of a notebook without headings alike.
        own = cells[-1].role is Role.TASK  # whose text is the instructor's
        above = list(_headings(notebook.cells[: notebook.cells.index(cells[-1]) + own]))[1:]
        title = above[-1] if above else ""
    return title or item_cells(assignment, item)


def item_cells(assignment: Assignment, item: Item) -> str:
    """The names of the cells a student wrote for this item, as the notebook names them."""
    names = [cell.grade_id for cell in _graded_cells(assignment, item) if cell.grade_id]
    return ", ".join(names) or item.grade_id


@dataclass(frozen=True)
class _Reason:
    """Why there is no score to speak of."""

    happened: str
    found: str
    next_step: str


@dataclass(frozen=True)
class _Note:
    sentence: str
    cell: str
    detail: str


@dataclass(frozen=True)
class _Stop:
    """A cell of the student's that did not run through, or what one printed."""

    name: str
    how: str
    error: str
    output: str
    figures: tuple[str, ...]
    """as base64"""
    next_step: str


@dataclass(frozen=True)
class _ShownDifference:
    """A `Difference` with the place spelt as code."""

    sentence: str
    place: str
    yours: str
    expected: str
    case: str
    runs: bool
    """whether the case is a cell that can be run, and not a description"""


@dataclass(frozen=True)
class _Check:
    style: words.VerdictStyle
    sentence: str
    notes: str
    message: str
    difference: _ShownDifference | None


@dataclass(frozen=True)
class _Answer:
    """What the student wrote in one cell."""

    name: str
    prose: bool
    text: str
    rows: tuple[str, ...]


@dataclass(frozen=True)
class _Item:
    number: int
    title: str
    cell_name: str
    style: words.VerdictStyle
    points: str
    earned: str
    working: str
    message: str
    advice: words.Advice | None
    stops: tuple[_Stop, ...]
    mistakes: tuple[str, ...]
    seen: str
    """where no mistake has a name: what the first check that failed has found"""
    checks: tuple[_Check, ...]
    checks_passed: int
    answers: tuple[_Answer, ...]
    answers_title: str
    passed: bool
    prints: tuple[_Stop, ...]
    by_hand: str
    """what a person decided"""
    comments: tuple[Comment, ...]


@dataclass(frozen=True)
class _FeedbackPage:
    title: str
    student: str
    score: float
    late: str
    penalty: float
    final_score: float
    max_score: float
    percent: float
    open_points: float
    state: words.VerdictStyle
    reason: _Reason | None
    items: tuple[_Item, ...]
    other_stops: tuple[_Stop, ...]
    other_comments: tuple[Comment, ...]
    """on cells that carry no points"""
    notes: tuple[_Note, ...]
    rule: str
    trust: str
    device: str
    fingerprint: str


def _build_page(report: Report, assignment: Assignment, submission: Submission) -> _FeedbackPage:
    reason = _reason(report, submission)
    graded_cells = {(i.notebook, c.grade_id) for i in report.items for c in _graded_cells(assignment, i)}
    others = [
        run
        for run in report.runs
        if run.origin in _OF_STUDENT
        and run.status is not Verdict.PASSED
        and (run.notebook, run.grade_id) not in graded_cells
    ]
    return _FeedbackPage(
        title=assignment_title(assignment),
        student=report.student,
        score=report.score,
        late=report.late.sentence if report.late else "",
        penalty=report.penalty,
        final_score=report.final_score,
        max_score=report.max_score,
        percent=_percent(report.final_score, report.max_score),
        open_points=sum(i.max_points - i.points for i in report.items if i.verdict in words.STILL_OPEN),
        state=words.VERDICT_STYLES[report.state],
        reason=reason,
        items=()
        if reason
        else tuple(_item(k, item, report, assignment, submission) for k, item in enumerate(report.items, 1)),
        other_stops=tuple(_stop(run, assignment.limits) for run in others),
        other_comments=tuple(c for c in report.comments if reason or (c.notebook, c.grade_id) not in graded_cells),
        notes=(*_rejection(report), *_notes_on_file(report)),
        rule=_rule(report),
        trust=words.trust_sentence(report.trust),
        device=words.device_sentence(report.device),
        fingerprint=report.digest[:16],
    )


def _notes_on_file(report: Report) -> Iterator[_Note]:
    for flag in words.flags_for_student(report.flags):
        yield _Note(words.FLAG_SENTENCES[flag.kind], flag.grade_id or "", flag.message)


def _rejection(report: Report) -> Iterator[_Note]:
    """Of work that only a person could grade."""
    if rejection(report) and report.state is not Verdict.REJECTED:
        yield _Note("Your file could not be read by the program; a person graded it.", "", rejection(report))


def _percent(score: float, max_score: float) -> float:
    return round(100 * min(1.0, max(0.0, score / max_score)), 1) if max_score > 0 else 0.0


def _reason(report: Report, submission: Submission) -> _Reason | None:
    """Why a submission could not be graded. What the reader found is about the student's file and is shown; what
    broke on our side is for the instructor."""
    if report.state is Verdict.REJECTED:
        return _Reason(
            "Your file could not be graded, and nothing in it was run.",
            submission.rejected or report.reason,  # which says what to hand in instead
            "",
        )
    if report.state in words.UNGRADED and all(i.verdict in words.UNGRADED for i in report.items):
        happened = "Something went wrong on our side, not on yours."
        return _Reason(
            happened, "", "It costs you nothing: your work will be graded again. There is nothing that you need to do."
        )
    return None


def _rule(report: Report) -> str:
    by_hand = any(item.mark and item.mark.points is not None for item in report.items)
    return _rule_of_grader(report) + " Points that a person gave count in their place." * by_hand


def _rule_of_grader(report: Report) -> str:
    if report.trust is Trust.JUDGED_APART:
        observed = any(c.evidence is Evidence.OBSERVED for i in report.items for c in i.checks)
        return (
            "Each part has one or more checks. A part's points are shared among its checks by their weight, and every "
            "check that passed brings its share. "
            + ("What was only seen while your code ran counts where another check passed too. " if observed else "")
            + "A part that builds on one that lost points is also judged with a correct one in its place: a mistake "
            + "costs points once. What the notebook's own visible checks say does not count here."
        )
    return "Each part's points come from the assignment's own test cells. The score is their sum."


def _item(number: int, item: Item, report: Report, assignment: Assignment, submission: Submission) -> _Item:
    cells = _graded_cells(assignment, item)
    names = {cell.grade_id for cell in cells}
    runs = [r for r in report.runs if r.notebook == item.notebook and r.grade_id in names and r.origin in _OF_STUDENT]
    # A limit that the item met is explained once for the item, not again for the cell that met it.
    stops = [r for r in runs if r.status not in (Verdict.PASSED, item.verdict) or r.status is Verdict.FAILED]
    prints = tuple(_stop(r, assignment.limits) for r in runs if r.output.strip())
    is_open = item.verdict in words.STILL_OPEN and not item.points
    earned = "open" if is_open else words.points(item.points)
    mistakes = _mistakes(item)
    lost = [c.difference for c in item.checks if c.verdict is Verdict.FAILED and c.difference]
    seen = lost[0].sentence if lost and not mistakes and not stops else ""
    return _Item(
        number=number,
        title=item_title(assignment, item),
        cell_name=item_cells(assignment, item),
        style=words.VERDICT_STYLES[item.verdict],
        points=f"{earned} / {words.points(item.max_points)}",
        earned=earned,
        working=_working(item, report.trust),
        message=_message(item, runs, (*mistakes, seen)),
        advice=_advice(item, assignment.limits),
        stops=tuple(_stop(r, assignment.limits) for r in stops),
        mistakes=mistakes,
        seen=seen,
        checks=tuple(_checks(item, (*mistakes, seen))),
        checks_passed=sum(c.verdict is Verdict.PASSED for c in item.checks),
        answers=() if item.verdict is Verdict.NOT_ATTEMPTED else tuple(_answers(cells, item.notebook, submission)),
        answers_title=_answers_title(cells, bool(prints)),
        passed=item.verdict is Verdict.PASSED,
        prints=prints,
        by_hand=_by_hand(item),
        comments=tuple(c for c in report.comments if c.notebook == item.notebook and c.grade_id in names),
    )


def _message(item: Item, runs: Sequence[CellRun], told: Sequence[str]) -> str:
    """The item's own sentence, unless the page says the same elsewhere: with a check, a stopped cell or the advice."""
    said = item.message in (*told, *(c.message for c in item.checks)) or any(
        run.error and run.error in item.message for run in runs
    )
    return "" if said or item.verdict in _SAID_IN_ADVICE else item.message


def _advice(item: Item, limits: Limits) -> words.Advice | None:
    advice = words.advice(item.verdict, limits)
    if item.verdict is Verdict.NOT_RUN and not item.max_points:
        return words.Advice(item.message, "There is nothing that you need to do: it has no part in this score.")
    if advice and item.message and item.verdict in _SAID_IN_ADVICE:
        return words.Advice(item.message, advice.next_step)
    return advice


def _working(item: Item, trust: Trust) -> str:
    """The arithmetic behind an item's points, where it is that of the checks' weights."""
    if item.mark and item.verdict not in words.STILL_OPEN:
        return _by_hand(item)
    if item.verdict in words.STILL_OPEN:
        return words.VERDICT_STYLES[item.verdict].word
    total = sum(c.weight for c in item.checks)
    passed = sum(c.weight for c in item.checks if c.verdict is Verdict.PASSED)
    if total > 0 and math.isclose(item.points, item.max_points * passed / total, abs_tol=1e-6):
        return f"{words.points(item.max_points)} \N{MULTIPLICATION SIGN} {words.points(passed)} / {words.points(total)}"
    if trust is Trust.IN_KERNEL:
        return "by the assignment's test cell"
    return words.VERDICT_STYLES[item.verdict].word


def _by_hand(item: Item) -> str:
    """What a person decided about an item, in words."""
    mark = item.mark
    if mark is None or (mark.points is None and not mark.extra):
        return ""
    given = words.points(mark.points if mark.points is not None else mark.graded[0])
    extra = f" and {words.points(mark.extra)} extra credit" if mark.extra else ""
    by = "given by a person" if mark.points is not None else "by the grader"
    return f"{given} {by}{extra}"


def _mistakes(item: Item) -> tuple[str, ...]:
    """The named mistakes of an item in words, each once however many checks it failed."""
    found = [check.message for check in item.checks if check.fault and check.message]
    if item.fault and item.message:
        found.append(item.message)
    return tuple(dict.fromkeys(found))


def _checks(item: Item, said: Sequence[str]) -> Iterator[_Check]:
    """The checks, each sentence about a failure once; `said` is what stands above them."""
    told = set(said)
    equal_weights = len({c.weight for c in item.checks}) == 1
    for check in item.checks:
        message = check.message if check.message not in told else ""
        told.add(check.message)
        yield _Check(
            style=words.VERDICT_STYLES[check.verdict],
            sentence=check.sentence,
            notes=_notes(check, equal_weights),
            message=message,
            difference=_shown_difference(check.difference, told) if check.difference else None,
        )


def _notes(check: CheckResult, equal_weights: bool) -> str:
    quiet = (Verdict.PASSED, Verdict.FAILED)
    found = [
        "" if check.verdict in quiet else words.VERDICT_STYLES[check.verdict].word,
        "" if equal_weights else f"weight {words.points(check.weight)}",
        words.evidence_note(check.evidence),
        " and ".join(f"with a correct {cell}" for cell in check.given),
    ]
    return ", ".join(filter(None, found))


def _shown_difference(difference: Difference, told: Collection[str]) -> _ShownDifference:
    at = f"[{', '.join(map(str, difference.index))}]" if difference.index else ""
    return _ShownDifference(
        "" if difference.sentence in told else difference.sentence,
        f"{difference.what}{at}",
        difference.yours,
        difference.expected,
        printed(difference.case, lines=CASE_LINES, chars=CASE_CHARS),
        difference.case.endswith("\n"),
    )


def _stop(run: CellRun, limits: Limits) -> _Stop:
    advice = words.advice(run.status, limits)
    if advice:
        how, next_step = (
            "was stopped: " + words.VERDICT_STYLES[run.status].word,
            f"{advice.happened} {advice.next_step}",
        )
    else:
        how = "stopped with this error" if run.error else "did not run through"
        next_step = (
            "Read the error's last line first. Restart the kernel and run all cells from the top: what the cell would "
            "have defined after the line that failed does not exist for the cells below."
        )
    return _Stop(
        run.grade_id or "", how, printed(run.error, lines=12, chars=3000), printed(run.output), run.figures, next_step
    )


def _answers(cells: Iterable[Cell], notebook: str, submission: Submission) -> Iterator[_Answer]:
    """What the student wrote in the graded cells. Prose is shown as it was typed: rendering it would be reading it."""
    written = {name: text for n in submission.notebooks if n.name == notebook for name, text in n.answers}
    for cell in cells:
        text = visible(written.get(cell.grade_id or "", "").replace("\r\n", "\n")).rstrip()
        if text:
            yield _Answer(cell.grade_id or "", cell.kind != "code", "\n".join(_rows(text)), _rows(text))


def _answers_title(cells: tuple[Cell, ...], with_prints: bool) -> str:
    what = "Your code" if all(cell.kind == "code" for cell in cells) else "Your answer"
    return f"{what}, and what it printed" if with_prints else what


def _rows(text: str) -> tuple[str, ...]:
    rows = text.split("\n")
    kept = [row if len(row) <= 1000 else f"{row[:1000]}…" for row in rows[:CODE_LINES]]
    return (*kept, f"… {len(rows) - CODE_LINES} more lines") if len(rows) > CODE_LINES else tuple(kept)


def _headings(cells: Iterable[Cell]) -> Iterator[str]:
    """The markdown headings that students were handed, in order, as plain text."""
    for cell in cells:
        if cell.kind == "markdown" and cell.role in (Role.LOCKED, Role.PLAIN, Role.TASK):
            for match in _HEADING.finditer(cell.source):
                yield re.sub(r"\*\*|\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1))


def _graded_cells(assignment: Assignment, item: Item) -> tuple[Cell, ...]:
    """The cells whose content an item grades; empty where the source does not know the item."""
    notebook = _notebook(assignment, item.notebook)
    try:
        return notebook.solutions_of(item.grade_id) if notebook else ()
    except KeyError:
        return ()


def _notebook(assignment: Assignment, name: str) -> Notebook | None:
    return next((n for n in assignment.notebooks if n.name == name), None)
