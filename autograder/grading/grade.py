"""Grade one submission: read it, run it, judge it, explain it, record it.

This page is the whole story; each step is a module of its own. Nothing here has run, or will run, student code:
that happens in the kernel, behind `kernels`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing

from autograder.grading.in_kernel import items_in_kernel
from autograder.grading.items import (
    allowance_s,
    empty,
    item_of,
    manual_item,
    missing_item,
    overall,
    rejected,
    was_attempted,
    without_forbidden,
)
from autograder.judge.run import Checks
from autograder.judge.student import KernelSide
from autograder.kernels.replay import StudentKernel
from autograder.kernels.session import Account, Kernel
from autograder.records import (
    Assignment,
    Flag,
    Item,
    Notebook,
    Report,
    Role,
    Submission,
    SubmittedNotebook,
    Trust,
)

StartKernel = Callable[[], Kernel]
FOOTPRINT_FLAGS = {
    "patched": (
        "patched",
        "Code of the submission replaced {} (observed): what is seen while code runs may be untrue.",
    ),
    "traced": ("patched", "Code of the submission called {}, by which it sees what runs beside it (observed)."),
    "loaded": ("forbidden-operations", "Code of the submission loaded {}, which is forbidden here (observed)."),
    "started": ("forbidden-operations", "A program that the submission started loaded {}, which is forbidden here."),
}
"""kind of footprint -> kind of flag, and what it says"""


def grade(
    submission: Submission, assignment: Assignment, checks: Checks | None, start: StartKernel, secret: bytes
) -> Report:
    """The verdict on one submission. Raises a GraderFault if the grader, not the submission, is at fault."""
    began = time.monotonic()
    if submission.rejected:
        return rejected(submission, assignment)
    items: list[Item] = []
    report = empty(submission, assignment, Trust.JUDGED_APART if checks else Trust.IN_KERNEL)
    account = account_of(assignment)
    for notebook in assignment.notebooks:
        submitted = next((n for n in submission.notebooks if n.name == notebook.name), None)
        if submitted is None:
            items += [missing_item(notebook, cell) for cell in notebook.graded()]
            continue
        with closing(StudentKernel(start, submitted, account, assignment.forbidden if checks else None)) as student:
            student.run()
            student.note_footprints()
            if checks:
                found, flags = _judge_apart(notebook, submitted, submission.student, student, checks, secret)
            else:
                found, flags = items_in_kernel(notebook, submitted, student.cell_results)
        if not checks:
            flags += _disturbance([student])
        items += found
        report = dataclasses.replace(
            report,
            runs=(*report.runs, *student.runs),
            flags=(*report.flags, *flags),
            sandbox=student.sandbox or report.sandbox,
        )
    items = without_forbidden(items, assignment, submission.flags)
    return dataclasses.replace(
        report,
        items=tuple(items),
        score=round(sum(i.points for i in items), 6),
        max_score=round(sum(i.max_points for i in items), 6),
        state=overall(items),
        seconds=time.monotonic() - began,
    )


def _judge_apart(
    notebook: Notebook, submitted: SubmittedNotebook, name: str, student: StudentKernel, checks: Checks, secret: bytes
) -> tuple[list[Item], list[Flag]]:
    """Hidden checks in this process, calls in the student's."""
    with closing(_KernelProgram(notebook, submitted, name, student, checks.assignment.forbidden)) as program:
        outcome = checks.judge(program, secret)
    flags = [Flag("grader-error", problem) for problem in outcome.problems]
    flags += [Flag("observed", sentence) for sentence in outcome.noticed]
    flags += program.flags()
    items = []
    for cell in notebook.graded():
        if cell.role is Role.TESTS:
            results = outcome.checks.get(cell.grade_id or "", ())
            attempted = was_attempted(notebook, cell, submitted)
            items.append(item_of(notebook, cell, results, attempted=attempted, runs=student.runs))
        else:
            items.append(manual_item(notebook, cell, submitted))
    return items, flags


class _KernelProgram:
    """A student's notebook in kernels: the one in which it has run, and one at a time in which parts are put right."""

    def __init__(
        self, notebook: Notebook, submitted: SubmittedNotebook, name: str, student: StudentKernel, watch: Sequence[str]
    ) -> None:
        self.student = name
        self.cells = [(cell.grade_id or "", cell.source) for cell in submitted.plan]
        self._right = {cell.grade_id or "": cell.source for cell in notebook.cells}
        self._watch = watch
        self._kernels = {frozenset[str](): student}
        self._sides: list[KernelSide] = []

    def side(self, mended: frozenset[str]) -> KernelSide:
        self.close()
        if mended not in self._kernels:
            kernel = self._kernels[frozenset()].mended({grade_id: self._right[grade_id] for grade_id in mended})
            self._kernels[mended] = kernel
            kernel.run()
        self._sides.append(KernelSide(self._kernels[mended], self._watch))
        return self._sides[-1]

    def close(self) -> None:
        """Take down what the living kernel has noted, and end it."""
        for kernel in self._kernels.values():
            if self._sides and kernel.kernel is not None:
                kernel.note_footprints()
                kernel.close()

    def flags(self) -> list[Flag]:
        """What a person should look at, in whichever kernel it was seen."""
        flags: dict[Flag, None] = {}
        for kernel in self._kernels.values():
            for kind, names in kernel.footprints.items():
                flags[Flag(FOOTPRINT_FLAGS[kind][0], FOOTPRINT_FLAGS[kind][1].format(", ".join(names)))] = None
        if any(kernel.stopped_by_clock for kernel in self._kernels.values()):
            flags[Flag("wall-clock", "A call was ended by the clock before it had used its computing time.")] = None
        for framework in dict.fromkeys(framework for side in self._sides for framework in side.operations):
            during = sorted(set().union(*(side.operations.get(framework, set()) for side in self._sides)))
            flags[Flag("forbidden-operations", f"{framework} worked while {', '.join(during)} ran (observed)")] = None
        return [*flags, *_disturbance(self._kernels.values())]


def _disturbance(kernels: Iterable[StudentKernel]) -> list[Flag]:
    disturbed = any(kernel.disturbed for kernel in kernels)
    return [Flag("disturbed", "Its Python process was killed or interrupted, and not by a limit.")] if disturbed else []


def account_of(assignment: Assignment) -> Account:
    """What one submission may take in all, nothing of it used."""
    return Account(*allowance_s(assignment))
