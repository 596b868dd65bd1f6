"""Run an assignment's hidden checks against a student's side, or against the reference alone."""

from __future__ import annotations

import contextlib
import functools
import importlib
import linecache
import os
import pickle
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from autograder.errors import BadAssignment
from autograder.judge import remembered
from autograder.judge.carried import Program, Sources, carry_forward
from autograder.judge.collection import Collection as Collected
from autograder.judge.diagnosis import Explainer
from autograder.judge.faults import Fault, load_faults
from autograder.judge.judge import ALL_CHECKS, FAILED_CHECKS, NO_CHECKS, Judge
from autograder.judge.reference import reference_names
from autograder.judge.remembered import Tried
from autograder.judge.student import LocalSide, Memory, Side
from autograder.records import Assignment, CheckResult, Evidence, Role, Verdict

T = TypeVar("T")


@dataclass(frozen=True)
class CheckOutcome:
    """What the checks of one assignment found."""

    checks: dict[str, list[CheckResult]]
    """by grade_id of the tests cell"""
    problems: tuple[str, ...] = ()
    """what went wrong on the grader's side, for the instructor"""
    noticed: tuple[str, ...] = ()
    """what checks found worth a person's look, for the instructor"""
    called: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """for each check that failed, the student's names that it called"""


@dataclass(frozen=True)
class LocalProgram:
    """The reference with some solution cells replaced, run in this process: only for code that is trusted."""

    assignment: Assignment
    edits: Mapping[str, str]
    student: str = ""

    @property
    def cells(self) -> Sources:
        cells = [c for n in self.assignment.notebooks for c in n.cells if c.kind == "code" and c.role is not Role.TESTS]
        return [(c.grade_id or "", self.edits.get(c.grade_id or "", c.source)) for c in cells]

    def side(self, mended: frozenset[str]) -> LocalSide:
        names = functools.partial(
            reference_names, self.assignment, self.edits, may_fail=bool(self.edits), mended=mended
        )
        return LocalSide(names(), again=names)


class Checks:
    """An assignment's checks, loaded once: reference, faults and variants are shared by all that run them."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.explainer = Explainer(assignment, load_faults(assignment))
        self._memories: dict[str, Memory] = {}
        """what the reference has answered, by case: judges that are forked from here need not work it out again"""
        self._observed: frozenset[str] | None = None
        """the checks that rest on claims, known once the reference was tried"""

    @functools.cached_property
    def _collection(self) -> Collected:
        return Collected(self.assignment)

    @functools.cached_property
    def _reference(self) -> dict[str, Any]:
        return reference_names(self.assignment)

    def run(
        self,
        student: Side,
        secret: bytes,
        only: Collection[str] = (),
        *,
        demonstrate: str = FAILED_CHECKS,
        program: Program | None = None,
    ) -> CheckOutcome:
        """Run every check, or those of some tests cells, against `student`. Never raises for what its side does.

        demonstrate: which checks are run on demonstration inputs, too. program: whose text checks may read; the
        reference's if there is none.

        Raises a GraderFault if no kernel could be had, or the reference does not run.
        """
        program = program or LocalProgram(self.assignment, {})
        judge = self._ask(student, program, secret, only, demonstrate)
        if judge.lost is not None:
            raise judge.lost
        problems = [f"{c.name}: {c.grader_error}" for c in judge.checks.values() if c.grader_error]
        problems += [
            f"{c.name} fails on its demonstration inputs: {c.shown_failure.sentence}"
            for c in judge.checks.values()
            if c.shown_failure and not c.failure
        ]
        if judge.broken:
            problems = [f"the checks could not be run: {judge.broken}"]

        def failing(faults: Sequence[Fault], checks: Collection[str]) -> Collection[str] | None:
            names = self.explainer.variant(faults)
            if names is None:
                return None
            # What a check says of a text is the same whatever the code does.
            asked = self._ask(LocalSide(names), program, secret, only, NO_CHECKS, checks)
            return [name for name, check in asked.checks.items() if check.failure]

        return CheckOutcome(judge.results(failing), tuple(problems), tuple(judge.noticed), judge.called())

    def _ask(
        self,
        student: Side,
        program: Program,
        secret: bytes,
        only: Collection[str],
        demonstrate: str,
        checks: Collection[str] = (),
    ) -> Judge:
        """Run checks: those of the tests cells `only`, and of them those that `checks` names; empty: all."""
        judge = Judge(
            *(student, lambda: self._reference, self.explainer, secret, self._collection, only),
            memories=self._memories,
            demonstrate=demonstrate,
            observed=self._observed,
            chosen=checks,
            program=program,
        )
        judge.run()
        if judge.broken:
            del self._collection  # whoever asks next collects anew
        return judge

    def judge(
        self, program: Program, secret: bytes, only: Collection[str] = (), *, demonstrate: str = FAILED_CHECKS
    ) -> CheckOutcome:
        """As `run`; then parts that failed are judged again with right earlier parts (`carry_forward`)."""
        outcome = self.run(program.side(frozenset()), secret, only, demonstrate=demonstrate, program=program)
        checks, problems, noticed = outcome.checks, list(outcome.problems), list(outcome.noticed)

        def ask(side: Side, tests_cell: str) -> Sequence[CheckResult]:
            again = self.run(side, secret, (tests_cell,), demonstrate=NO_CHECKS, program=program)
            problems.extend(again.problems)
            noticed.extend(again.noticed)
            return again.checks.get(tests_cell, [])

        for notebook in self.assignment.notebooks:
            checks = carry_forward(notebook, checks, outcome.called, program, ask)
        return replace(outcome, checks=checks, problems=tuple(problems), noticed=tuple(dict.fromkeys(noticed)))

    def warm_up(self, secret: bytes = b"local", *, demonstrate: str = ALL_CHECKS) -> dict[str, list[CheckResult]]:
        """Try the reference, build every single mistake, and import all that a run needs.

        Called before processes are forked, so that they share the work, and what the reference answers: to the hidden
        inputs of the run with this secret, and to the demonstration inputs of the checks that `demonstrate` names.
        Returns what the checks say of it.

        Raises BadAssignment naming the check that the reference fails: it would fail the whole class.
        """
        checks = self._try_reference(secret, demonstrate)
        self.explainer.build()
        return checks

    def _try_reference(self, secret: bytes, demonstrate: str) -> dict[str, list[CheckResult]]:
        outcome = self.run_on_reference(secret=secret, demonstrate=demonstrate)
        if outcome.problems:
            raise BadAssignment(f"{self.assignment.name}: {outcome.problems[0]}")
        found = [check for checks in outcome.checks.values() for check in checks]
        for check in found:
            lacks_device = check.verdict is Verdict.NOT_RUN and not check.weight
            if check.verdict is not Verdict.PASSED and not lacks_device:
                said = check.difference.sentence if check.difference else check.message
                raise BadAssignment(
                    f"{self.assignment.name}: the reference solution fails {check.name}: {said} "
                    f"Nothing is graded before {self.assignment.checks} or the solution is mended."
                )
        self._observed = frozenset(c.name for c in found if c.evidence is Evidence.OBSERVED)
        return outcome.checks

    def warm_up_apart(self, secret: bytes, kept: tuple[Path, str] | None = None) -> None:
        """As `warm_up`, for a process that will be forked: a fork tries the reference, says what it found, and ends.

        What the reference starts ends with it: TensorFlow's runtime, which no fork can use, and the threads of a
        `DataLoader`, which may outlive it. The modules that it imported are imported here too, so that the processes
        forked from here share them; where TensorFlow is used, those of the checks and the reference alone.

        kept: a file, and the key under which it may hold what an earlier trial with this secret found. The key stands
        for all that can change that.
        """
        _ = self._reference  # may import TensorFlow, and runs nothing of it
        if self._collection.broken:
            del self._collection  # the trial says why
        if probes := getattr(sys.modules.get("probes"), "__file__", None):
            # What is sent to kernels is what was loaded, also when the file is edited while a class is graded: an entry
            # without a time is not read again.
            lines = linecache.getlines(probes)
            linecache.cache[probes] = (len(lines), None, lines, probes)
        tried = remembered.read(*kept) if kept else None
        if tried is None:
            tried = in_a_fork(lambda: self._tried(secret))
            if kept:
                remembered.write(*kept, tried)
        self._memories, self._observed = tried.memories, tried.observed
        if "tensorflow" not in sys.modules:
            for name in tried.imported:
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
        self.explainer.build()

    def _tried(self, secret: bytes) -> Tried:
        before = set(sys.modules)
        self._try_reference(secret, ALL_CHECKS)
        files = {name: getattr(sys.modules[name], "__file__", None) for name in sys.modules.keys() - before}
        folder = self.assignment.folder
        others = [name for name, file in files.items() if file and folder not in Path(file).parents]
        return Tried(self._memories, self._observed, others)

    def run_on_reference(
        self,
        edits: dict[str, str] | None = None,
        secret: bytes = b"local",
        only: Collection[str] = (),
        *,
        demonstrate: str = FAILED_CHECKS,
    ) -> CheckOutcome:
        """Judge the reference, or the reference with some solution cells replaced: milliseconds, no kernel.

        Only for code that is trusted: it runs in this process.
        """
        return self.judge(LocalProgram(self.assignment, edits or {}), secret, only, demonstrate=demonstrate)


def in_a_fork(work: Callable[[], T]) -> T:
    """What `work` returns, done in a fork of this process: whatever it starts ends with it. Its errors come back, too.

    Raises BadAssignment if the fork ended without an answer.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            try:
                answer = pickle.dumps((True, work()))
            except Exception as error:
                answer = pickle.dumps((False, error))
            os.close(read)
            with open(write, "wb") as pipe:
                pipe.write(answer)
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if not answer:
        raise BadAssignment(
            f"the process that tried the reference ended with status {os.waitstatus_to_exitcode(status)}"
        )
    done, found = pickle.loads(answer)
    if not done:
        raise found
    return found
