"""The words of grading: how a verdict, a limit, a repair, a trust level and a device are called, and what to do next.

One place for all of them, so that the page a student reads, the report of the class and the terminal say the
same. A verdict always has a mark and a word; color only repeats them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from autograder.records import Evidence, Flag, Limits, Report, Trust, Verdict


@dataclass(frozen=True)
class VerdictStyle:
    """How a verdict appears."""

    mark: str
    """one column wide, so that tables on a terminal stay straight"""
    word: str
    tone: str
    """which of the style sheet's colors"""


NO_SCORE = "\N{EN DASH}"
"""in place of the score of what could not be graded: it has none, not 0"""

VERDICT_STYLES: dict[Verdict, VerdictStyle] = {
    Verdict.PASSED: VerdictStyle("✓", "passed", "passed"),
    Verdict.PARTIAL: VerdictStyle("◐", "partly passed", "partial"),
    Verdict.FAILED: VerdictStyle("✗", "failed", "failed"),
    Verdict.NOT_ATTEMPTED: VerdictStyle("○", "not attempted", "absent"),
    Verdict.TIME: VerdictStyle("T", "time limit", "limit"),
    Verdict.MEMORY: VerdictStyle("M", "memory limit", "limit"),
    Verdict.OUTPUT: VerdictStyle("O", "output limit", "limit"),
    Verdict.CRASH: VerdictStyle("C", "crashed", "limit"),
    Verdict.REJECTED: VerdictStyle("R", "could not be read", "limit"),
    Verdict.NEEDS_MANUAL: VerdictStyle("?", "to be marked", "open"),
    Verdict.GRADER_ERROR: VerdictStyle("!", "grader error", "open"),
    Verdict.NOT_RUN: VerdictStyle("·", "not run", "absent"),
}

STILL_OPEN = frozenset({Verdict.NEEDS_MANUAL, Verdict.GRADER_ERROR})
"""items of these verdicts have not had their last word: their points are not lost"""

UNGRADED = frozenset({Verdict.REJECTED, Verdict.GRADER_ERROR, Verdict.NOT_RUN})
"""submissions of these states have no final score: nothing, or not everything, could be graded"""

LOST_TO_CELL: dict[Verdict, str] = {
    Verdict.NOT_ATTEMPTED: "The cell was left as it was handed out.",
    Verdict.TIME: "The cell met the time limit.",
    Verdict.MEMORY: "The cell met the memory limit.",
    Verdict.OUTPUT: "The cell met the output limit.",
    Verdict.CRASH: "The cell ended its Python process.",
    Verdict.NOT_RUN: "The cell was not run.",
}
"""why an item lost points that no single check accounts for"""
BY_TEST_CELL: dict[Verdict, str] = {
    Verdict.FAILED: "The assignment's own test cell failed.",
    Verdict.PARTIAL: "The assignment's own test cell gave part of the points.",
}
"""the same of an item without checks, which its test cell scores"""
BY_RULE = "A forbidden library was used, or what passed was only observed, so the whole cell lost these points."
"""the same where no check that failed accounts for them"""

FLAG_SENTENCES: dict[str, str] = {
    "renamed": "Your file did not have the assignment's name. It was recognized and graded.",
    "renamed-student": "Your name is spelt differently here, because not every system can store it as it was.",
    "handed-in-again": "You handed in more than once. The last hand-in was graded.",
    "group": "You handed this in together with others. Each of you gets this result.",
    "several-notebooks": "You handed in more than one file that could be this assignment. One was graded.",
    "missing-notebook": "A notebook of this assignment was not in what you handed in.",
    "repaired": "Your file departed from the notebook format. It was put right; no answer was changed.",
    "dropped-file": "A file that you handed in with the notebook was not used.",
    "missing-cell": "A cell of the assignment is missing from your file. An answer that is gone was not graded.",
    "moved-cell": "A cell stood in another place than in the assignment. It was put back.",
    "duplicate-cell": "A cell of the assignment was there more than once. One of them counted.",
    "found-answer": "An answer had lost its label, as happens when a cell is copied and pasted. It was found.",
    "answer-in-task": "An answer was typed into the cell that sets the task. It is read as your answer.",
    "edited-locked-cell": "A locked cell was changed. It was put back as the assignment has it before grading.",
}
"""The flags that a student sees, each with its sentence: what was put right, and so what counted.

A kind that is not listed is for the instructor alone. That holds for every suspicion, and for every kind that
somebody adds later and forgets here: saying too little to a student can be mended, saying too much cannot.
"""

FOR_REVIEW_TOO = frozenset({"edited-locked-cell"})
"""told to the student as a repair, and to the instructor as something to look at"""


def flags_for_student(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags a student may see."""
    return tuple(flag for flag in flags if flag.kind in FLAG_SENTENCES)


def for_review(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags a person should look at: all that are not mere repairs."""
    return tuple(flag for flag in flags if flag.kind not in FLAG_SENTENCES or flag.kind in FOR_REVIEW_TOO)


def repairs(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags that only say what was put right."""
    return tuple(flag for flag in flags if flag.kind in FLAG_SENTENCES and flag.kind not in FOR_REVIEW_TOO)


def points(value: float) -> str:
    """Points with at most two decimals: `2`, `2.5`, `2.67`."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def score_line(report: Report) -> str:
    """`7 / 10`, after what being late costs; a dash for what has no score."""
    return NO_SCORE if report.state in UNGRADED else f"{points(report.final_score)} / {points(report.max_score)}"


def late_note(report: Report) -> str:
    """`2 days late: 9 − 2`; empty for work in time and for what has no score."""
    if report.late is None or not report.late.days or report.state in UNGRADED:
        return ""
    return f"{plural(report.late.days, 'day')} late: {points(report.score)} \N{MINUS SIGN} {points(report.penalty)}"


def size(count: int) -> str:
    """Bytes as a person says them: `2 GiB`, `1 MiB`."""
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= step:
            return f"{points(count / step)} {unit}"
    return f"{count} bytes"


def plural(count: int, one: str, many: str = "") -> str:
    """`1 student`, `2 students`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


@dataclass(frozen=True)
class Advice:
    """What happened to a cell, and the next step."""

    happened: str
    next_step: str


def advice(verdict: Verdict, limits: Limits) -> Advice | None:
    """What to tell a student whose cell ended so; None where the checks say it themselves."""
    match verdict:
        case Verdict.NOT_ATTEMPTED:
            return Advice(
                "This cell is still as it was handed out.",
                "If you did solve it, see whether you saved the notebook and handed in the right file.",
            )
        case Verdict.TIME:
            return Advice(
                f"Stopped after {points(limits.cell_s)} seconds of computing time. Your other cells still ran.",
                "Look for a loop whose end is never reached, and for a loop over single numbers where one array "
                "operation does the same. Try it on a much smaller input and see how the time grows.",
            )
        case Verdict.MEMORY:
            return Advice(
                f"This needed more than the {size(limits.memory_bytes)} of memory there are. Your other cells ran.",
                "Look for an array of the wrong shape: (n, 1) with (n,) gives (n, n). Look, too, for a list that grows "
                "with every step. Print the shapes on a small input.",
            )
        case Verdict.OUTPUT:
            return Advice(
                f"Stopped after printing more than {size(limits.output_bytes)} or {limits.output_messages} messages.",
                "Take the print out of the loop, or print only every hundredth step.",
            )
        case Verdict.CRASH:
            return Advice(
                "Not an error message: the whole Python process ended while this ran. Your other cells still ran.",
                "Common reasons are a recursion without an end and a call that quits Python. Restart the kernel and "
                "run all cells from the top; if that works for you, ask, and bring the notebook.",
            )
        case Verdict.NEEDS_MANUAL:
            return Advice("A person reads this answer.", "Its points come later; they are not lost.")
        case Verdict.GRADER_ERROR:
            return Advice(
                "Something went wrong on our side here, not on yours.",
                "It costs you nothing: this will be graded again. There is nothing that you need to do.",
            )
        case Verdict.NOT_RUN:
            return Advice(
                "This was not run.",
                "An earlier stop left no way to run it. Put right what is named above it, and it runs next time.",
            )
        case _:
            return None


def reason(report: Report) -> str:
    """Why a submission has no final score, for the instructor."""
    return report.reason or "; ".join(flag.message for flag in report.flags if flag.kind == "grader-error")


def trust_sentence(trust: Trust) -> str:
    """What the trust level means, to a student."""
    if trust is Trust.JUDGED_APART:
        return (
            "Judged apart: a separate process, which never ran your code, called your functions with fresh inputs and "
            "compared the values that came back."
        )
    return (
        "Judged in the kernel: the assignment's own test cells ran beside your code, as in nbgrader; a person may look "
        "at the result again."
    )


def device_sentence(device: str) -> str:
    """What the device means, to a student."""
    known = {
        "cpu": "Run on the CPU: nothing in this result depends on a GPU.",
        "cuda": "Run on a real GPU (CUDA).",
        "virtual cuda": (
            "Run on virtual CUDA: a CPU that keeps CUDA's rules. "
            "Device mistakes count as on a GPU; the numbers are a CPU's."
        ),
    }
    return known.get(device, f"Run on: {device}.")


def evidence_note(evidence: Evidence) -> str:
    """What to add to a check that does not rest on recomputed values."""
    return "seen while your code ran" if evidence is Evidence.OBSERVED else ""


def faults_named(report: Report) -> tuple[str, ...]:
    """The ids of the known mistakes in one report, each once, in order."""
    found = [fault for item in report.items for fault in (item.fault, *(c.fault for c in item.checks)) if fault]
    return tuple(dict.fromkeys(found))
