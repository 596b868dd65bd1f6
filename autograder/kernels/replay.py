"""The student's notebook in a kernel that survives what the student's code does to it.

Cells run in order; one failing cell does not stop the rest. When a cell or a call kills the kernel, a fresh one is
forked, the earlier cells are replayed, the offender is left out, and things go on: at most three times while the cells
run, and three times in the calls for each exercise, so that what one function does takes no other's points.
"""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.errors import BadReply, KernelFailed, LimitReached
from autograder.kernels.session import SHOWN_OUTPUT, Account, CellResult, Kernel, Reply
from autograder.records import CellRun, PlannedCell, SubmittedNotebook, Verdict

MAX_RESTARTS = 3
"""of one part: the running of the cells, or the calls for one exercise; what all may use is the account's business"""
LOGGER = logging.getLogger(__name__)
SECOND_TRY_SHARE = 0.1
"""share of the time limit that a function gets after it has met the limit once"""
NOTEBOOK_OUTPUT = 20 * SHOWN_OUTPUT
"""characters that are kept of all cells of a notebook together"""
NOTEBOOK_FIGURES = 1_500_000
"""characters of base64 that are kept, likewise: a run remembers a class's worth"""


class StudentKernel:
    """One notebook's cells, run; then open for calls."""

    def __init__(
        self,
        start: Callable[[], Kernel],
        notebook: SubmittedNotebook,
        account: Account | None = None,
        forbidden: Sequence[str] | None = None,
    ) -> None:
        """forbidden: libraries whose use is noted, with what is replaced in others; None: nothing is."""
        self.start = start
        self.forbidden = forbidden
        self.footprints: dict[str, dict[str, None]] = {}
        """kind -> what was noted in any kernel"""
        self.account = account
        self.notebook = notebook
        self.part = ""
        """the exercise for which calls are made"""
        self.restarts: Counter[str] = Counter()
        self.lost: dict[str, LimitReached] = {}
        """part -> why no kernel will be started for it any more"""
        self.used_s: tuple[float, float] | None = None
        """computing and wall time that kernels now dead have used of the notebook's allowance"""
        self.skipped: set[int] = set()
        self.slow: set[str] = set()
        """functions and probes that have met the time limit"""
        self.stopped_by_clock = False
        """whether the clock ended a call that had not used its computing time"""
        self.disturbed = False
        """whether somebody killed or interrupted a kernel, and no limit did"""
        self.runs: list[CellRun] = []
        self.cell_results: list[CellResult] = []
        self.kernel: Kernel | None = None
        self.sandbox, self.tier = "", 0

    def mended(self, right: Mapping[str, str]) -> StudentKernel:
        """The same notebook in a kernel of its own, in which `right[grade_id]` is run behind the cell of that id.

        Cells that were left out here are left out there.
        """
        plan = []
        for number, cell in enumerate(self.notebook.plan):
            if number not in self.skipped:
                plan.append(cell)
            if reference := right.get(cell.grade_id or ""):
                plan.append(PlannedCell(reference, "instructor"))
        return StudentKernel(self.start, replace(self.notebook, plan=tuple(plan)), self.account, self.forbidden)

    def run(self) -> None:
        """Run every planned cell; what each showed is in `runs` and `cell_results`."""
        left, left_for_figures = NOTEBOOK_OUTPUT, NOTEBOOK_FIGURES
        for number, cell in enumerate(self.notebook.plan):
            result = self._run_cell(number, cell)
            self.cell_results.append(result)
            output, result.text = "".join(result.text), []
            shown = output[:left]
            left -= len(shown)
            if dropped := result.dropped + len(output) - len(shown):
                shown += f"\n[... {dropped} more characters]"
            figures, result.figures = result.figures, []
            while sum(map(len, figures)) > left_for_figures:
                figures.pop()
                shown += f"\n[figure {len(figures) + 1} is not kept: this notebook shows too many]"
            left_for_figures -= sum(map(len, figures))
            self.runs.append(
                CellRun(
                    self.notebook.name,
                    cell.grade_id,
                    cell.origin,
                    result.verdict,
                    shown,
                    result.error,
                    result.seconds,
                    result.by_wall_clock,
                    tuple(figures),
                )
            )

    def _run_cell(self, number: int, cell: PlannedCell) -> CellResult:
        try:
            kernel = self._living_kernel(number)
        except LimitReached as limit:
            self.skipped.add(number)  # nor in a kernel that is started for calls: its report says that it was not run
            return CellResult(Verdict.NOT_RUN, error=f"not run: {limit}")
        result = kernel.run_cell(cell.source, _called(cell))
        if result.verdict not in (Verdict.PASSED, Verdict.FAILED):
            self.skipped.add(number)
        return result

    def call(self, source: str, name: str, data: dict[str, Any], watch: Sequence[str] = ()) -> Reply:
        """As `Kernel.call`, in a kernel that has run all cells; started afresh if the last call killed it."""
        kernel = self._living_kernel(len(self.notebook.plan))
        called = str(data.get("_name", name))
        # What did not come back once rarely does later: it is tried again, for other checks' sake, but not for as long.
        kernel.cell_s = kernel.limits.cell_s * (SECOND_TRY_SHARE if called in self.slow else 1.0)
        try:
            return kernel.call(source, name, data, watch)
        except LimitReached as limit:
            if limit.verdict == Verdict.TIME:
                self.slow.add(called)
            self.stopped_by_clock = self.stopped_by_clock or limit.by_wall_clock
            raise

    def release(self, handles: list[int]) -> None:
        """Let go of kept objects, if their kernel still lives."""
        if self.kernel is not None and self.kernel.alive:
            with contextlib.suppress(LimitReached):
                self.kernel.release(handles)

    def _living_kernel(self, upto: int) -> Kernel:
        """A living kernel in which the cells before number `upto` have run."""
        if self.account and (met := self.account.limit_met()):
            self.close()
            self.stopped_by_clock = self.stopped_by_clock or met.by_wall_clock
            raise met
        while self.kernel is None or not self.kernel.alive:
            if self.part in self.lost:
                raise self.lost[self.part]
            if self.kernel is not None:
                limit = self.kernel.process.end_reason()
                self.used_s = (self.kernel.cpu_used_s, self.kernel.wall_used_s)
                self.close()
                self.restarts[self.part] += 1
                restarts = self.restarts[self.part]
                LOGGER.warning("kernel ended: %s; restart %d of %d", limit, restarts, MAX_RESTARTS)
                if restarts > MAX_RESTARTS:
                    self.lost[self.part] = LimitReached(limit.verdict, f"{limit} for the {_ordinal(restarts)} time")
                    raise self.lost[self.part]
            self.kernel = self._start_kernel()
            self._replay_cells(self.kernel, upto)
            if self.used_s:
                # The same allowance goes on; what the replay took is not counted.
                self.kernel.cpu_used_s, self.kernel.wall_used_s = self.used_s
        return self.kernel

    def _start_kernel(self) -> Kernel:
        kernel = self.start()
        kernel.account = self.account
        try:
            kernel.wait_until_ready()
            if self.forbidden is not None:
                kernel.lay_traps(self.forbidden)
        except (KernelFailed, LimitReached) as error:
            kernel.close()
            if isinstance(error, KernelFailed):
                raise
            # It has seen no line of the student's, so whatever ended it is not the student's doing.
            raise KernelFailed(f"the kernel ended while starting: {error}") from error
        self.sandbox, self.tier = kernel.process.sandbox, kernel.process.tier
        LOGGER.info("kernel %d is ready: %s", kernel.process.pid, self.sandbox)
        return kernel

    def note_footprints(self) -> None:
        """Ask the kernel, if it lives, what was done to the libraries that record work; look what it has started."""
        if self.forbidden is None or self.kernel is None or not self.kernel.alive:
            return
        found = {"started": self.kernel.libraries_of_programs(self.forbidden)}
        with contextlib.suppress(LimitReached, BadReply):
            found |= self.kernel.footprints()
        for kind, names in found.items():
            if names:
                self.footprints.setdefault(kind, {}).update(dict.fromkeys(names))

    def _replay_cells(self, kernel: Kernel, upto: int) -> None:
        for number, cell in enumerate(self.notebook.plan[:upto]):
            if number in self.skipped:
                continue
            result = kernel.run_cell(cell.source, _called(cell))
            if result.verdict not in (Verdict.PASSED, Verdict.FAILED):
                self.skipped.add(number)
            if not kernel.alive:
                return

    def turn_to(self, part: str) -> None:
        """The next calls are for this exercise, whose restarts are its own."""
        self.part = part

    def renew(self) -> None:
        """Go on in a fresh kernel, which has run the same cells and seen no call."""
        self.note_footprints()
        self.close()
        self.restarts.clear()
        self.lost.clear()
        self.used_s = None

    def close(self) -> None:
        """End the kernel."""
        if self.kernel is not None:
            self.disturbed = self.disturbed or self.kernel.disturbed
            self.kernel.close()
            self.kernel = None


def _called(cell: PlannedCell) -> str:
    """A cell, in a sentence to the student."""
    if cell.origin == "instructor":
        return f'the cell "{cell.grade_id}"' if cell.grade_id else "a cell of the assignment"
    return f'your cell "{cell.grade_id}"' if cell.grade_id else "a cell that you added"


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third", 4: "fourth"}.get(number, f"{number}th")
