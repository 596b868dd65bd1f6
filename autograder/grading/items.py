"""How verdicts become points: the checks of a cell its item, the items of a submission its state.

And the records of what no verdict can be reached for. Nothing here runs or judges, so that whoever only reads and
writes records need not import the judge.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from autograder.errors import GraderFault
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
RUNS = 2
"""how often a notebook's allowance may be used: for the hidden inputs, and for those that are shown"""
UNDECIDED = "Not all of this part could be checked: a person will look at it, and its points can only rise."


def item_of(
    notebook: Notebook,
    cell: Cell,
    results: Sequence[CheckResult],
    *,
    attempted: bool = True,
    runs: Sequence[CellRun] = (),
) -> Item:
    """What a tests cell is worth, by the results of its checks.

    A check that ended in a grader's error keeps its weight in the sum: the cell is then undecided, and its points are
    what the other checks are sure of. Else whoever makes a check break would raise the share of the rest.

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
    passed = _earned(here)
    whole = sum(r.weight for r in here)
    # Checks that weigh nothing only inform; alone they decide together.
    share = sum(r.weight for r in passed) / whole if whole else float(len(passed) == len(here))
    undecided = any(r.verdict is Verdict.GRADER_ERROR and (r.weight or not whole) for r in here)
    first_wrong = next((r for r in counted if r.verdict is not Verdict.PASSED), None)
    verdict, message = _explain(notebook, cell, counted, attempted, runs)
    if verdict is Verdict.PARTIAL and not passed:
        verdict = Verdict.FAILED
    if undecided:
        return dataclasses.replace(item, points=round(cell.points * share, 6), message=UNDECIDED)
    return dataclasses.replace(
        item,
        points=round(cell.points * share, 6),
        verdict=verdict,
        fault=next((r.fault for r in counted if r.fault), None),
        message=message if first_wrong else _given(here),
    )


def _given(results: Sequence[CheckResult]) -> str:
    """What is said of a part that is right where the parts that it builds on are."""
    cells = dict.fromkeys(cell for result in results for cell in result.given)
    if not cells:
        return ""
    named = " and ".join(f"a correct `{cell}`" for cell in cells)
    return f"This part is right: with {named} in place of yours it passes every check, so it costs you nothing."


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
                why = f"did not run to its end: {run.error}"
                # The line that the released cell ends with; it has no message that could be quoted.
                if run.error.startswith("NotImplementedError"):
                    why = "is not finished: it still raises NotImplementedError."
                return verdict, f"The cell {run.grade_id} {why}"
    limits = [r.verdict for r in wrong if r.verdict in LIMITS]
    explained = next((r for r in wrong if r.fault), wrong[0])
    seen = explained.message or (explained.difference.sentence if explained.difference else "")
    if len(limits) == len(wrong) and len(wrong) == len(results):
        return limits[0], seen
    return (Verdict.PARTIAL if len(wrong) < len(results) else Verdict.FAILED), seen


def was_attempted(notebook: Notebook, cell: Cell, submitted: SubmittedNotebook) -> bool:
    """Whether the student changed any of the cells that `cell` tests; True where there are none to change."""
    solutions = {c.grade_id for c in notebook.solutions_of(cell.grade_id or "")}
    return not solutions or bool(solutions & set(submitted.attempted))


def manual_item(notebook: Notebook, cell: Cell, submitted: SubmittedNotebook) -> Item:
    """A cell that a person grades. The answer to a task may be anywhere: no program can say that it is missing."""
    attempted = cell.grade_id in submitted.attempted or cell.role is Role.TASK
    verdict = Verdict.NEEDS_MANUAL if attempted else Verdict.NOT_ATTEMPTED
    message = "A person will grade this." if attempted else "The cell is as you received it."
    return Item(notebook.name, cell.grade_id or "", 0.0, cell.points, verdict, message=message)


def missing_item(notebook: Notebook, cell: Cell) -> Item:
    """A cell of a notebook that was not handed in."""
    message = f"The notebook {notebook.name}.ipynb was not handed in."
    return Item(notebook.name, cell.grade_id or "", 0.0, cell.points, Verdict.NOT_ATTEMPTED, message=message)


def without_forbidden(items: Sequence[Item], assignment: Assignment, flags: Sequence[Flag]) -> list[Item]:
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


def unmarked(item: Item) -> Item:
    """The item as the grader left it, before a person decided."""
    if item.mark is None:
        return item
    points, verdict, message = item.mark.graded
    return dataclasses.replace(item, points=points, verdict=verdict, message=message, mark=None)


def rejection(report: Report) -> str:
    """Why nothing of a submission could be read, also where a person has graded it since; empty if it could be."""
    unread = {unmarked(item).verdict for item in report.items} == {Verdict.REJECTED}
    return report.reason if unread or report.state is Verdict.REJECTED else ""


def max_score(assignment: Assignment) -> float:
    """The sum of all points of the instructor's notebooks."""
    return sum(cell.points for notebook in assignment.notebooks for cell in notebook.graded())


def allowance_s(assignment: Assignment) -> tuple[float, float]:
    """CPU and wall time of one submission: of the hidden run and the shown one, with all that is replayed."""
    cpu_s = RUNS * assignment.limits.notebook_s * max(1, len(assignment.notebooks))
    return cpu_s, cpu_s * assignment.limits.wall_factor


# -- whole records -----------------------------------------------------------------------------------------------


def empty(submission: Submission, assignment: Assignment, trust: Trust) -> Report:
    """The record of a submission of which nothing is known yet."""
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


def rejected(submission: Submission, assignment: Assignment) -> Report:
    """The record where nothing could be read: every part says why."""
    reason = submission.rejected
    return _ungraded(submission, assignment, Verdict.REJECTED, reason, reason)


def could_not_grade(submission: Submission, assignment: Assignment, error: Exception) -> Report:
    """The record where the grader failed: no verdict on the student, and a reason for the instructor."""
    reason = str(error) if isinstance(error, GraderFault) else f"{type(error).__name__}: {error}"
    return _ungraded(submission, assignment, Verdict.GRADER_ERROR, reason, "A person will look at this.")


def _ungraded(submission: Submission, assignment: Assignment, verdict: Verdict, reason: str, message: str) -> Report:
    trust = Trust.JUDGED_APART if assignment.checks else Trust.IN_KERNEL
    items = tuple(
        Item(n.name, c.grade_id or "", 0.0, c.points, verdict, message=message)
        for n in assignment.notebooks
        for c in n.graded()
    )
    return dataclasses.replace(empty(submission, assignment, trust), state=verdict, reason=reason, items=items)
