"""Grade the grader: every known submission of an assignment's bank must meet its expected verdict.

A known submission (`autograder.bank`) is built into a notebook, read, run in a confined kernel and judged as any
student's would be. No right answer may fail, no wrong one pass, and every mistake that has a name must be called by it.
"""

from __future__ import annotations

import ast
import contextlib
import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.assignment import on_device
from autograder.bank import BankEntry, load_bank, notebook_of
from autograder.errors import BadAssignment
from autograder.grading import item_of, overall
from autograder.judge.faults import load_faults
from autograder.judge.judge import NO_CHECKS
from autograder.judge.run import Checks
from autograder.records import VIRTUAL_CUDA, VIRTUAL_DEVICES, Assignment, Evidence, Report, Role, Trust, Verdict
from autograder.runs.run import Options, graded_entries, run_folder, run_secret
from autograder.submissions.intake import StudentFiles
from course_lib import virtual_cuda


@dataclass(frozen=True)
class Row:
    """One tests cell of one bank entry."""

    entry: str
    kind: str
    cell: str
    expected: str
    got: str
    cost: float = 0.0
    """the share of the cell's points that it lost"""

    @property
    def ok(self) -> bool:
        return self.expected == self.got


@dataclass(frozen=True)
class ConfusionRow:
    """What became of one planted mistake: a row of the confusion table, in its sparse form."""

    planted: str
    """its id, or several joined by `+`"""
    times: int
    """tests cells in which it was planted"""
    others: Mapping[str, int]
    """what it was called where it was not called by its name: another id, `no name` or `passed`"""
    cost: float = 0.0
    """the smallest share of a cell's points that it cost"""

    @property
    def rightly(self) -> int:
        return self.times - sum(self.others.values())


@dataclass(frozen=True)
class Margin:
    """How far right programs and mistakes lie apart in one check of training, in tolerances."""

    check: str
    worst_right: float
    """the largest distance of a correct submission; 1 would be refused"""
    nearest_wrong: float | None
    """the smallest distance of the wrong submissions that this check tells most clearly"""
    nearest: str = ""
    """the name of that submission"""


@dataclass(frozen=True)
class Selftest:
    """What grading the bank found."""

    rows: tuple[Row, ...]
    entries: tuple[BankEntry, ...]
    unnamed: tuple[str, ...]
    """faults that no bank entry is expected to be called by"""
    reports: Mapping[str, Report]
    reused: int = 0
    """how many entries had been graded by an earlier selftest and have not changed since"""

    @property
    def wrong(self) -> tuple[Row, ...]:
        return tuple(r for r in self.rows if not r.ok)

    def confusion(self) -> tuple[ConfusionRow, ...]:
        """Every planted mistake with what it was called, in the order of the bank."""
        found: dict[str, Counter[str]] = {}
        costs: dict[str, float] = {}
        for row in self.rows:
            planted = row.expected.partition(":")[2]
            if planted:
                verdict, _, called = row.got.partition(":")
                name = called or ("passed" if verdict == Verdict.PASSED else "no name")
                found.setdefault(planted, Counter())[name] += 1
                costs[planted] = min(costs.get(planted, 1.0), row.cost)
        return tuple(
            ConfusionRow(
                planted, called.total(), {name: n for name, n in called.items() if name != planted}, costs[planted]
            )
            for planted, called in found.items()
        )

    def margins(self) -> tuple[Margin, ...]:
        """For each check that compares where training arrived: the worst right program, the nearest wrong one.

        A wrong program counts in the check of a cell that tells it most clearly: there it is refused, and how near to
        the right one it comes in others does not matter.
        """
        kinds = {entry.name: entry.kind for entry in self.entries}
        right: dict[str, float] = {}
        wrong: dict[str, list[tuple[float, str]]] = {}
        for name, report in self.reports.items():
            for item in report.items:
                far = {check.name: check.distance for check in item.checks if check.distance is not None}
                for check in far:
                    right.setdefault(check, 0.0)
                if kinds[name] == "correct":
                    right.update({check: max(right[check], distance) for check, distance in far.items()})
                elif far and max(far.values()) > 1:
                    clearest = max(far, key=far.__getitem__)
                    wrong.setdefault(clearest, []).append((far[clearest], name))
        return tuple(Margin(check, most, *min(wrong.get(check, [(None, "")]))) for check, most in right.items())


def selftest(
    assignment: Assignment,
    workers: int,
    progress: Callable[[int, int], None],
    choose: Callable[[BankEntry], bool] = lambda entry: True,
    *,
    out: Path | None = None,
    fresh: bool = False,
    secret: bytes | None = None,
) -> Selftest:
    """Grade the bank of `assignment`, or those entries of it that are chosen.

    out: a run folder with the journal and the secret of the selftests before; what it holds and has not changed is not
    graded again. fresh: forget both. secret: decides the hidden inputs; by default that of `out`, else a new one.

    Raises BadAssignment if its checks, faults or bank are not consistent.
    """
    assignment = on_device(assignment)
    with its_device(assignment):
        inspect(assignment)
    entries = [entry for entry in load_bank(assignment) if choose(entry)]
    handed = [_handed(assignment, e) for e in entries]
    with contextlib.ExitStack() as stack:
        out = out or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(run_folder(out))
        if fresh:
            for kept in ("journal.jsonl", "seed"):
                (out / kept).unlink(missing_ok=True)
        secret = secret or run_secret(out, None)
        found, graded, _ = graded_entries(
            assignment, handed, Options(out, workers), secret, lambda done, total, _: progress(done, total)
        )
    return _found(assignment, entries, {e.report.student: e.report for e in found}, len(found) - len(graded))


def selftest_here(
    assignment: Assignment,
    progress: Callable[[int, int], None],
    choose: Callable[[BankEntry], bool] = lambda entry: True,
    *,
    spoiled_alone: bool = False,
    secret: bytes | None = None,
) -> Selftest:
    """Grade the bank in this process, without kernel or box: on a real GPU if the assignment's device is `cuda`.

    A bank is the instructor's own code. Left out is what only a kernel can tell (`needs_kernel`). The verdicts expected
    are the same as everywhere; that is what is tested. spoiled_alone: of an entry only the tests cells that it is
    expected to spoil are graded. secret: as for `selftest`.
    """
    entries, reports = [], {}
    bank = [entry for entry in load_bank(assignment) if choose(entry)]
    with its_device(assignment):
        checks = Checks(assignment)
        secret = secret or secrets.token_bytes(32)
        checks.warm_up(secret, demonstrate=NO_CHECKS)
        for number, entry in enumerate(bank):
            progress(number, len(bank))
            if needs_kernel(entry):
                continue
            only = tuple(entry.expected) if spoiled_alone else ()
            # Demonstrations only add what a student would be shown.
            found = checks.run_on_reference(dict(entry.cells), secret, only, demonstrate=NO_CHECKS).checks
            items = tuple(
                item_of(notebook, cell, found.get(cell.grade_id or "", []))
                for notebook in assignment.notebooks
                for cell in notebook.cells
                if cell.role is Role.TESTS and (not only or cell.grade_id in only)
            )
            score, most = sum(i.points for i in items), sum(i.max_points for i in items)
            trust, device = Trust.JUDGED_APART, assignment.device
            reports[entry.name] = Report(entry.name, assignment.name, score, most, overall(items), trust, device, items)
            entries.append(entry)
    progress(len(bank), len(bank))
    return _found(assignment, entries, reports)


def needs_kernel(entry: BankEntry) -> bool:
    """Whether the verdict on an entry takes more than calling its functions: limits, added or untouched cells."""
    by_checks = {v.partition(":")[0] for v in entry.expected.values()} <= {"passed", "failed", "partial"}
    python = all(map(_is_python, entry.cells.values()))
    return entry.kind == "attack" or bool(entry.extra) or not python or not by_checks


def its_device(assignment: Assignment) -> AbstractContextManager[Any]:
    if assignment.device != VIRTUAL_CUDA:
        return nullcontext()
    return virtual_cuda.session(devices=VIRTUAL_DEVICES, force=True, quiet=True)


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _found(
    assignment: Assignment, entries: Sequence[BankEntry], reports: Mapping[str, Report], reused: int = 0
) -> Selftest:
    rows = [row for entry in entries for row in _rows(assignment, entry, reports[entry.name])]
    named = {part for e in entries for v in e.expected.values() for part in v.partition(":")[2].split("+")}
    unnamed = tuple(f.id for f in load_faults(assignment) if f.id not in named)
    return Selftest(tuple(rows), tuple(entries), unnamed, reports, reused)


def inspect(assignment: Assignment) -> None:
    """The assignment is consistent: each cell with points has a check that the reference passes and the stub fails."""
    if assignment.checks is None:
        raise BadAssignment(
            f"{assignment.name} has no checks.py, so there is nothing to test; it is graded by its own cells."
        )
    checks = Checks(assignment)
    on_reference = checks.warm_up()
    tests = [c for n in assignment.notebooks for c in n.cells if c.role is Role.TESTS]
    for cell in tests:
        results = on_reference.get(cell.grade_id or "", [])
        if cell.points and results and all(r.evidence is Evidence.OBSERVED for r in results):
            raise BadAssignment(
                f"{assignment.name}: the cell {cell.grade_id!r} has {cell.points:g} points and only observed checks, "
                "which could be forged; add one that recomputes what the student's code returns."
            )
        if cell.points and not results:
            raise BadAssignment(
                f"{assignment.name}: the cell {cell.grade_id!r} has {cell.points:g} points and no hidden check; "
                f'add one to checks.py with @pytest.mark.cell("{cell.grade_id}").'
            )
    stubs = {
        c.grade_id: c.released
        for n in assignment.notebooks
        for c in n.cells
        if c.role is Role.SOLUTION and c.kind == "code" and c.grade_id
    }
    for grade_id, results in checks.run_on_reference(stubs).checks.items():
        passed = [r.name for r in results if r.verdict is Verdict.PASSED]
        if passed:
            raise BadAssignment(f"{assignment.name}: the empty stub of {grade_id!r} passes {', '.join(passed)}.")


def _handed(assignment: Assignment, entry: BankEntry) -> StudentFiles:
    name = f"{assignment.notebooks[0].name}.ipynb"
    return StudentFiles(entry.name, {name: notebook_of(assignment, entry.cells, entry.extra)})


def _rows(assignment: Assignment, entry: BankEntry, report: Report) -> list[Row]:
    rows = []
    for item in report.items:
        if item.verdict is Verdict.NEEDS_MANUAL:
            continue
        got = f"{item.verdict}:{item.fault}" if item.fault else str(item.verdict)
        cost = 1 - item.points / item.max_points if item.max_points else 0.0
        rows.append(Row(entry.name, entry.kind, item.grade_id, entry.expected.get(item.grade_id, "passed"), got, cost))
    return rows
