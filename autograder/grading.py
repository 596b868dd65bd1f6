"""Grade one submission: read it, run it, judge it, explain it, record it.

This page is the whole story; each step is a module of its own. Nothing here has run, or will run, student code:
that happens in the kernel, behind `kernels`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import closing

from autograder.errors import AutograderError, KernelFailed
from autograder.judge.in_kernel import odd_result, score_in_kernel
from autograder.judge.run import Checks
from autograder.judge.student import KernelSide
from autograder.kernels.replay import StudentKernel
from autograder.kernels.session import Kernel, Ran
from autograder.records import (
    Assignment,
    Cell,
    CellRun,
    CheckResult,
    Evidence,
    Flag,
    Item,
    Notebook,
    Report,
    Role,
    Submission,
    SubmittedNotebook,
    Trust,
    Verdict,
)

LIMITS = (Verdict.TIME, Verdict.MEMORY, Verdict.OUTPUT, Verdict.CRASH)
StartKernel = Callable[[], Kernel]


def grade(
    submission: Submission, assignment: Assignment, checks: Checks | None, start: StartKernel, secret: bytes
) -> Report:
    """The verdict on one submission. Raises KernelFailed if the grader, not the submission, is at fault."""
    began = time.monotonic()
    if submission.rejected:
        return _rejected(submission, assignment)
    items: list[Item] = []
    report = _empty(submission, assignment, Trust.JUDGED_APART if checks else Trust.IN_KERNEL)
    for notebook in assignment.notebooks:
        submitted = next((n for n in submission.notebooks if n.name == notebook.name), None)
        if submitted is None:
            items += [_not_handed_in(notebook, cell) for cell in notebook.graded()]
            continue
        with closing(StudentKernel(start, submitted)) as student:
            student.run()
            judge = _judge_apart if checks else _judge_in_kernel
            found, flags = judge(assignment, notebook, submitted, student, checks, secret)
        items += found
        report = dataclasses.replace(
            report,
            runs=(*report.runs, *student.runs),
            flags=(*report.flags, *flags),
            sandbox=student.sandbox or report.sandbox,
        )
    items = _without_forbidden(items, assignment, submission.flags)
    return dataclasses.replace(
        report,
        items=tuple(items),
        score=round(sum(i.points for i in items), 6),
        max_score=round(sum(i.max_points for i in items), 6),
        state=overall(items),
        seconds=time.monotonic() - began,
    )


# -- judging -----------------------------------------------------------------------------------------------------


def _judge_apart(
    assignment: Assignment,
    notebook: Notebook,
    submitted: SubmittedNotebook,
    student: StudentKernel,
    checks: Checks | None,
    secret: bytes,
) -> tuple[list[Item], list[Flag]]:
    """Hidden checks in this process, calls in the student's."""
    assert checks is not None
    side = KernelSide(student, watch=assignment.forbidden)
    outcome = checks.run(side, secret)
    flags = [Flag("grader-error", problem) for problem in outcome.problems]
    flags += [Flag("observed", sentence) for sentence in outcome.noticed]
    if student.hurried:
        flags.append(Flag("wall-clock", "A call was ended by the clock before it had used its computing time."))
    flags += [
        Flag("forbidden-operations", f"{framework} worked while {', '.join(sorted(during))} ran (observed)")
        for framework, during in side.operations.items()
    ]
    items = []
    for cell in notebook.graded():
        assert cell.grade_id is not None
        if cell.role is Role.TESTS:
            results = tuple(outcome.checks.get(cell.grade_id, ()))
            attempted = _attempted(notebook, cell, submitted)
            items.append(item_of(notebook, cell, results, attempted=attempted, runs=student.runs))
        else:
            items.append(_manual(notebook, cell, submitted))
    return items, flags


def item_of(
    notebook: Notebook,
    cell: Cell,
    results: Sequence[CheckResult],
    *,
    attempted: bool = True,
    runs: Sequence[CellRun] = (),
) -> Item:
    """What a tests cell is worth, by the results of its checks.

    attempted: whether the student changed a cell that it tests. runs: how the submission's cells ran.
    """
    grade_id = cell.grade_id or ""
    item = Item(notebook.name, grade_id, 0.0, cell.points, Verdict.GRADER_ERROR, checks=tuple(results))
    here = [r for r in results if r.weight or r.verdict is not Verdict.NOT_RUN]
    if results and not here:
        # Every check wants a device that this run does not have: nothing was found out, so there is nothing to lose.
        return dataclasses.replace(item, max_points=0.0, verdict=Verdict.NOT_RUN, message=results[0].message)
    counted = [r for r in here if r.verdict is not Verdict.GRADER_ERROR]
    if not counted:
        return dataclasses.replace(item, message="This part could not be checked; a person will look at it.")
    passed = _earned(counted)
    whole = sum(r.weight for r in counted)
    # Checks that weigh nothing only inform; alone they decide together.
    share = sum(r.weight for r in passed) / whole if whole else float(len(passed) == len(counted))
    first_wrong = next((r for r in counted if r.verdict is not Verdict.PASSED), None)
    verdict, message = _explain(notebook, cell, counted, attempted, runs)
    if verdict is Verdict.PARTIAL and not passed:
        verdict = Verdict.FAILED
    return dataclasses.replace(
        item,
        points=round(cell.points * share, 6),
        verdict=verdict,
        fault=next((r.fault for r in counted if r.fault), None),
        message=message if first_wrong else "",
    )


def _earned(results: Sequence[CheckResult]) -> list[CheckResult]:
    """The checks that earn their weight: those passed; but what was only observed earns nothing by itself.

    Code that does nothing copies nothing and leaks nothing, and an observation could be forged.
    """
    passed = [r for r in results if r.verdict is Verdict.PASSED]
    recomputed = [r for r in results if r.evidence is Evidence.RECOMPUTED]
    if recomputed and not any(r.evidence is Evidence.RECOMPUTED for r in passed):
        return []
    return passed


def _explain(
    notebook: Notebook,
    cell: Cell,
    results: Sequence[CheckResult],
    attempted: bool,
    runs: Sequence[CellRun],
) -> tuple[Verdict, str]:
    """The verdict on a tests cell, and the sentence that explains it to the student."""
    wrong = [r for r in results if r.verdict is not Verdict.PASSED]
    if not wrong:
        return Verdict.PASSED, ""
    solutions = [c.grade_id for c in notebook.solutions_of(cell.grade_id or "")]
    if len(wrong) == len(results):
        if not attempted:
            return Verdict.NOT_ATTEMPTED, "The cell is as you received it."
        for run in runs:
            if run.grade_id in solutions and run.status in (*LIMITS, Verdict.FAILED):
                verdict = run.status if run.status in LIMITS else Verdict.FAILED
                return verdict, f"The cell {run.grade_id} did not run to its end: {run.error}"
    limits = [r.verdict for r in wrong if r.verdict in LIMITS]
    explained = next((r for r in wrong if r.fault), wrong[0])
    if len(limits) == len(wrong) and len(wrong) == len(results):
        return limits[0], explained.message
    return (Verdict.PARTIAL if len(wrong) < len(results) else Verdict.FAILED), explained.message


def _judge_in_kernel(
    assignment: Assignment,
    notebook: Notebook,
    submitted: SubmittedNotebook,
    student: StudentKernel,
    checks: Checks | None,
    secret: bytes,
) -> tuple[list[Item], list[Flag]]:
    """A foreign assignment: its own test cells, from the instructor's copy, run beside the student's code."""
    ran = {cell.grade_id: ran for cell, ran in zip(submitted.plan, student.ran, strict=True) if cell.grade_id}
    items, flags = [], []
    for cell in notebook.graded():
        if cell.role is not Role.TESTS:
            items.append(_manual(notebook, cell, submitted))
            continue
        found = ran.get(cell.grade_id or "", Ran(Verdict.NOT_RUN, error="this test cell was not run"))
        item = Item(notebook.name, cell.grade_id or "", 0.0, cell.points, found.verdict)
        if found.verdict in (*LIMITS, Verdict.NOT_RUN):
            items.append(dataclasses.replace(item, message=f"While the tests ran: {found.error}."))
            continue
        # Both the reply and the outputs must speak for it: either alone is easier to silence.
        points, verdict = score_in_kernel(
            found.outputs, "ok" if found.verdict is Verdict.PASSED else "error", cell.points
        )
        odd = odd_result(found.outputs, cell.points)
        if odd:
            flags.append(Flag("odd-result", odd, cell.grade_id))
        if verdict is Verdict.FAILED and not _attempted(notebook, cell, submitted):
            verdict = Verdict.NOT_ATTEMPTED
        # The error's text may quote a hidden test; its name does not.
        message = f"A test of this cell failed: {found.error.partition(':')[0]}." if verdict is Verdict.FAILED else ""
        items.append(dataclasses.replace(item, points=points, verdict=verdict, message=message))
    return items, flags


def _attempted(notebook: Notebook, cell: Cell, submitted: SubmittedNotebook) -> bool:
    """Whether the student changed any of the cells that `cell` tests; True where there are none to change."""
    solutions = {c.grade_id for c in notebook.solutions_of(cell.grade_id or "")}
    return not solutions or bool(solutions & set(submitted.attempted))


def _manual(notebook: Notebook, cell: Cell, submitted: SubmittedNotebook) -> Item:
    attempted = cell.grade_id in submitted.attempted
    verdict = Verdict.NEEDS_MANUAL if attempted else Verdict.NOT_ATTEMPTED
    message = "A person will grade this." if attempted else "The cell is as you received it."
    return Item(notebook.name, cell.grade_id or "", 0.0, cell.points, verdict, message=message)


def _not_handed_in(notebook: Notebook, cell: Cell) -> Item:
    message = f"The notebook {notebook.name}.ipynb was not handed in."
    return Item(notebook.name, cell.grade_id or "", 0.0, cell.points, Verdict.NOT_ATTEMPTED, message=message)


def _without_forbidden(items: Sequence[Item], assignment: Assignment, flags: Sequence[Flag]) -> list[Item]:
    """Where the instructor lets a forbidden route cost points, it does; else a flag for review is all."""
    if not assignment.forbidden_scores_zero:
        return list(items)
    hit = {f.grade_id for f in flags if f.kind == "forbidden-import"}
    kept = []
    for item in items:
        notebook = next(n for n in assignment.notebooks if n.name == item.notebook)
        cells = {c.grade_id for c in notebook.solutions_of(item.grade_id)}
        if hit & cells:
            words = "This cell uses a library that the assignment does not allow."
            item = dataclasses.replace(item, points=0.0, verdict=Verdict.FAILED, message=words)
        kept.append(item)
    return kept


# -- the record --------------------------------------------------------------------------------------------------


def overall(items: Sequence[Item]) -> Verdict:
    """One word for the whole submission.

    A part that could not be asked on this device, and so has no points, says nothing.
    """
    items = [i for i in items if i.max_points or i.verdict is not Verdict.NOT_RUN]
    verdicts = {i.verdict for i in items}
    for telling in (Verdict.GRADER_ERROR, Verdict.NEEDS_MANUAL):
        if telling in verdicts:
            return telling
    if not verdicts:
        return Verdict.NOT_RUN
    if verdicts <= {Verdict.PASSED}:
        return Verdict.PASSED
    if any(i.points > 0 for i in items):
        return Verdict.PARTIAL
    for limit in LIMITS:
        if verdicts <= {limit, Verdict.NOT_RUN, Verdict.NOT_ATTEMPTED} and limit in verdicts:
            return limit
    return Verdict.NOT_ATTEMPTED if verdicts <= {Verdict.NOT_ATTEMPTED} else Verdict.FAILED


def max_score(assignment: Assignment) -> float:
    """The sum of all points of the instructor's notebooks."""
    return sum(cell.points for notebook in assignment.notebooks for cell in notebook.graded())


def _empty(submission: Submission, assignment: Assignment, trust: Trust) -> Report:
    return Report(
        student=submission.student,
        assignment=assignment.name,
        score=0.0,
        max_score=max_score(assignment),
        state=Verdict.NOT_ATTEMPTED,
        trust=trust,
        device=assignment.device,
        flags=submission.flags,
        digest=submission.digest,
    )


def _rejected(submission: Submission, assignment: Assignment) -> Report:
    trust = Trust.JUDGED_APART if assignment.checks else Trust.IN_KERNEL
    report = _empty(submission, assignment, trust)
    items = tuple(
        Item(n.name, c.grade_id or "", 0.0, c.points, Verdict.REJECTED, message=submission.rejected)
        for n in assignment.notebooks
        for c in n.graded()
    )
    return dataclasses.replace(report, state=Verdict.REJECTED, reason=submission.rejected, items=items)


def could_not_grade(submission: Submission, assignment: Assignment, error: Exception) -> Report:
    """The record where the grader failed: no verdict on the student, and a reason for the instructor."""
    trust = Trust.JUDGED_APART if assignment.checks else Trust.IN_KERNEL
    known = isinstance(error, (AutograderError, KernelFailed))
    reason = str(error) if known else f"{type(error).__name__}: {error}"
    items = tuple(
        Item(n.name, c.grade_id or "", 0.0, c.points, Verdict.GRADER_ERROR, message="A person will look at this.")
        for n in assignment.notebooks
        for c in n.graded()
    )
    return dataclasses.replace(
        _empty(submission, assignment, trust), state=Verdict.GRADER_ERROR, reason=reason, items=items
    )
