"""Run hidden checks with pytest and record what they found.

First every check runs on hidden inputs from the run secret: they decide. Checks that failed then run once more, in a
fresh kernel, on demonstration inputs from a public seed: only what is seen there may be shown to the student. That
kernel has never met a hidden input, so nothing hidden can leak through a value, a printed line or an exception's text.

A check that the judge did not see start and finish did not pass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Collection as Names
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from autograder.errors import GraderFault, LimitReached
from autograder.judge.agreement import Failing, Failure, agreed
from autograder.judge.carried import Program, called_names
from autograder.judge.collection import Collection, name_of
from autograder.judge.diagnosis import Diagnosis, Explainer
from autograder.judge.draw import PUBLIC_SECRET, Draw, seed_for
from autograder.judge.expect import Expect, Mismatch
from autograder.judge.faults import Fault
from autograder.judge.marker import Marker
from autograder.judge.student import Call, LocalSide, Memory, Side
from autograder.judge.words import (
    NEEDS_DEVICE,
    cut_text,
    limit_in_words,
    shown_failure,
    without_values,
)
from autograder.protocol.wire import handles_in, holds_claims
from autograder.records import CPU, CheckResult, Evidence, Role, Verdict
from autograder.submissions.python_text import remembers_calls
from course_lib.compare import Difference

DEMONSTRATION, HIDDEN = "demonstration", "hidden"
FAILED_CHECKS, ALL_CHECKS, NO_CHECKS = "failed", "all", "none"
"""which checks are run on the demonstration inputs"""


@dataclass(frozen=True)
class Submitted:
    """The `submission` fixture: for checks that read a text, or ask who handed it in."""

    student: str = ""
    """the name under which it was handed in; empty in a bank that is graded in this process"""
    sources: Mapping[str, str] = field(default_factory=dict)
    """grade id -> the text of the student's cell"""


@dataclass
class Check:
    """One test function while it is being run: all its cases together."""

    name: str
    sentence: str
    marker: Marker
    planned: int = 0
    finished: int = 0
    shown_failure: Difference | None = None
    failure: BaseException | None = None
    """why it does not pass: the first failure on hidden inputs, or a limit met on the way"""
    calls: list[Call] = field(default_factory=list)
    """the calls of the failing case"""
    case: str = ""
    """the name of the failing case"""
    distance: float | None = None
    """the largest distance between trajectories in any case on hidden inputs, in tolerances"""
    claimed: bool = False
    """whether it used what the student's process says of itself"""
    sent_back: int = 0
    """in how many cases it asked for numbers that it had sent; in one that may be chance: a gradient for one row"""
    grader_error: str = ""

    @property
    def can_be_shown(self) -> bool:
        """Whether a second run on demonstration inputs can tell the student more."""
        wrong = self.failure is not None and not isinstance(self.failure, LimitReached)
        return self.marker.shown and wrong and not self.grader_error


class Judge:
    """Asks one side the collected checks; holds the reference and the run secret."""

    def __init__(
        self,
        student: Side,
        reference_names: Callable[[], dict[str, Any]],
        explainer: Explainer,
        secret: bytes,
        collection: Collection,
        only: Names[str] = (),
        memories: dict[str, Memory] | None = None,
        demonstrate: str = FAILED_CHECKS,
        observed: Names[str] | None = None,
        chosen: Names[str] = (),
        program: Program | None = None,
    ) -> None:
        """only: the tests cells whose checks are run; chosen: the names of checks among these; empty: all.

        memories: what the reference has answered, by case.
        demonstrate: which checks are run on the demonstration inputs, too: those that failed, all, or none.
        observed: the checks that rest on claims, as the reference's run has shown; None: this run shows it.
        program: what was handed in, for checks that read it.
        """
        self.student_side = student
        self.handed_in = Submitted(program.student, dict(program.cells)) if program else Submitted()
        self.program = program
        self.collection = collection
        assignment = collection.assignment
        self.assignment_cells = [c for n in assignment.notebooks for c in n.cells]
        self.reference_names = reference_names
        self.explainer = explainer
        self.secret = secret
        self.assignment = assignment.name
        self.device_offered = assignment.device
        self.memories = {} if memories is None else memories
        self.demonstrate = demonstrate
        self.observed = None if observed is None else frozenset(observed)
        self.noticed: dict[str, None] = {}
        """what checks found worth a person's look"""
        self.phase = HIDDEN
        self.checks = {
            name: Check(name, check.sentence, check.marker, check.cases)
            for name, check in collection.checks.items()
            if (not only or check.marker.grade_id in only) and (not chosen or name in chosen)
        }
        self.broken = collection.broken
        """why the checks could not be loaded, or not run to their end: then nothing that they found counts"""
        self.lost: GraderFault | None = None
        """no kernel could be had, or the reference does not run: nothing more can be found out"""
        self.named: dict[Fault, None] = {}
        """mistakes found so far, in the order of the check file"""

    # -- what checks are given -------------------------------------------------------------------------------------

    def reference_side(self, case: str) -> Side:
        """The reference, which remembers what it has answered in this case."""
        return LocalSide(dict(self.reference_names()), self.memories.setdefault(case, {}))

    def expectations(self) -> Expect:
        """What may be demanded."""
        return Expect(self.student_side if self.observed is None else None)

    def notice(self, sentence: str) -> None:
        """Ask a person to look."""
        self.noticed[cut_text(sentence)] = None

    def drawn(self, case: str) -> Draw:
        """Random inputs: hidden ones, or those of the demonstration."""
        secret = self.secret if self.phase == HIDDEN else PUBLIC_SECRET
        return Draw(seed_for(secret, self.assignment, case), demonstration=self.phase == DEMONSTRATION)

    # -- running ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the checks that were chosen: on hidden inputs, then those that are to be shown."""
        if self.broken:
            return
        chosen = [item for item in self.collection.items if name_of(item) in self.checks]
        self._run([item for item in chosen if not self._lacks_device(self.checks[name_of(item)])])
        shown = [item for item in chosen if self._is_demonstrated(self.checks[name_of(item)])]
        if shown:
            self.phase = DEMONSTRATION
            if not self._remembers:
                self.student_side.renew()
            self._run(shown)

    def _is_demonstrated(self, check: Check) -> bool:
        if self.demonstrate == ALL_CHECKS:
            return check.marker.shown and not self._lacks_device(check)
        return self.demonstrate == FAILED_CHECKS and check.can_be_shown

    @functools.cached_property
    def _remembers(self) -> bool:
        """Whether what a call of the student's gives may depend on calls before it."""
        given = {c.source for c in self.assignment_cells if c.role not in (Role.SOLUTION, Role.MANUAL)}
        return self.program is not None and remembers_calls(s for _, s in self.program.cells if s not in given)

    def _run(self, items: Sequence[pytest.Function]) -> None:
        self.broken = self.broken or self.collection.run(self, items, self._prepare)

    def _prepare(self, item: pytest.Function) -> bool:
        """Whether to go on, with the student's side turned to this case's exercise."""
        if self.lost is not None:
            return False
        calls = self.student_side.calls  # of the case before
        self.student_side.release([handle.number for call in calls for handle in handles_in(call.value)])
        calls.clear()
        if self.phase == DEMONSTRATION and self._remembers:
            self.student_side.renew()  # or the input that is shown would not do again what this check saw
        self.student_side.turn_to(self.checks[name_of(item)].marker.grade_id)
        return True

    def run_case(self, item: pytest.Function, arguments: dict[str, Any]) -> None:
        """One case of a check, its fixtures made."""
        check = self.checks[name_of(item)]
        # After a failure there is nothing more to learn from larger cases.
        if self.phase == DEMONSTRATION:
            if check.shown_failure is None:
                self._run_demonstration_case(check, item, arguments)
        elif check.failure is None and not check.grader_error:
            self._run_hidden_case(check, item, arguments)

    def note_error(self, item: pytest.Function, error: BaseException) -> None:
        """What was raised around a case, by a fixture for example."""
        check = self.checks[name_of(item)]
        if self.phase == HIDDEN and check.failure is None:
            self._record_failure(check, item.name, error, lambda: False)

    def _run_hidden_case(self, check: Check, item: pytest.Function, arguments: dict[str, Any]) -> None:
        try:
            item.obj(**arguments)
        except (Exception, *OUTCOMES) as error:
            self._record_failure(check, item.name, error, lambda: self._right_for_reference(item))
        else:
            check.finished += 1
        expect = arguments.get("expect")
        if isinstance(expect, Expect) and expect.distance is not None:
            check.distance = max(check.distance or 0.0, expect.distance)
        if isinstance(expect, Expect):
            check.claimed |= expect.observed
            check.sent_back += expect.sent_back
        # What a function of the student's returns is its answer, whatever its type; what a probe adds is a claim.
        check.claimed |= any(call.is_probe and holds_claims(call.value) for call in self.student_side.calls)

    def _record_failure(
        self, check: Check, case: str, error: BaseException, right_for_reference: Callable[[], bool]
    ) -> None:
        """Whether a failed case is the student's failure or the grader's."""
        if isinstance(error, GraderFault):
            self.lost = error
            return
        student_raised = any(call.error is error for call in self.student_side.calls)
        if isinstance(error, pytest.skip.Exception):  # a check that skips itself has asked nothing: never a pass
            check.grader_error = f"skipped: {error}"
        elif isinstance(error, Mismatch) and error.fault and not self.explainer.named(error.fault).faults:
            check.grader_error = f"it names the fault {error.fault!r}, which faults.py lacks"
        elif not isinstance(error, Mismatch) and not student_raised and not right_for_reference():
            check.grader_error = f"{type(error).__name__}: {error}"
        check.failure, check.calls, check.case = error, list(self.student_side.calls), case

    def _run_demonstration_case(self, check: Check, item: pytest.Function, arguments: dict[str, Any]) -> None:
        try:
            item.obj(**arguments)
        except GraderFault as error:
            self.lost = error
        except (Exception, *OUTCOMES) as error:
            check.shown_failure = shown_failure(error, self.student_side.calls, forgets=self.student_side.forgets)

    def _right_for_reference(self, item: pytest.Function) -> bool:
        """Whether this case passes for the reference: then an odd exception came from the student's odd value."""
        arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
        if "student" in arguments:
            arguments["student"] = LocalSide(dict(self.reference_names()))
        if "draw" in arguments:
            arguments["draw"] = self.drawn(item.name)
        try:
            item.obj(**arguments)
        except (Exception, *OUTCOMES):
            return False
        return True

    # -- results -------------------------------------------------------------------------------------------------

    def results(self, failing: Failing) -> dict[str, list[CheckResult]]:
        """Check results by grade_id, in the order of the check file."""
        cells: dict[str, list[Check]] = {}
        for check in self.checks.values():
            cells.setdefault(check.marker.grade_id, []).append(check)
        return {grade_id: self._results_of(checks, failing) for grade_id, checks in cells.items()}

    def _results_of(self, checks: Sequence[Check], failing: Failing) -> list[CheckResult]:
        """Of one tests cell."""
        verdicts = {check.name: self._verdict_of(check) for check in checks}
        failures: dict[str, Failure] = {}
        likely = dict(self.named)
        for check in checks:
            if verdicts[check.name] is Verdict.FAILED:
                found = self._diagnosis(check, tuple(likely))
                likely.update(dict.fromkeys(found.faults))
                failures[check.name] = Failure(check.calls, found, self._evidence(check) is Evidence.OBSERVED)
        passed = [
            check.name
            for check in checks
            if verdicts[check.name] is Verdict.PASSED and self._evidence(check) is Evidence.RECOMPUTED
        ]
        diagnoses = agreed(failures, passed, self.explainer, failing)
        # What fits one check's calls first may be contradicted by another check; what fits them next may not.
        turned_down: set[Fault] = set()
        while again := _turned_down(failures, diagnoses):
            turned_down.update(failures[name].found.faults[0] for name in again)
            for check in checks:
                if check.name in again:
                    found = self._diagnosis(check, tuple(self.named), turned_down)
                    failures[check.name] = replace(failures[check.name], found=found)
            diagnoses = agreed(failures, passed, self.explainer, failing)
        for diagnosis in diagnoses.values():
            self.named.update(dict.fromkeys(diagnosis.faults))
        return [self._result(check, verdicts[check.name], diagnoses.get(check.name, Diagnosis())) for check in checks]

    def called(self) -> dict[str, frozenset[str]]:
        """For each check that failed, the student's names that it called until then."""
        return {check.name: called_names(check.calls) for check in self.checks.values() if check.failure}

    def _result(self, check: Check, verdict: Verdict, diagnosis: Diagnosis) -> CheckResult:
        difference = None
        if verdict is Verdict.FAILED and check.failure is not None:
            difference = check.shown_failure or without_values(check.failure)
        message = diagnosis.words or self._words(check, verdict)
        # What cannot be asked on this device weighs nothing: it is neither passed nor lost.
        weight, evidence = 0.0 if self._lacks_device(check) else check.marker.weight, self._evidence(check)
        return CheckResult(
            *(check.name, verdict, check.sentence, weight, evidence, diagnosis.id, message, difference),
            distance=check.distance,
        )

    def _evidence(self, check: Check) -> Evidence:
        """What a check rests on: by where its values come from, whatever its author thinks; an author may lower it."""
        claimed = check.claimed or 0 < check.planned == check.sent_back
        claimed = claimed if self.observed is None else check.name in self.observed
        return Evidence.OBSERVED if claimed else check.marker.evidence

    def _lacks_device(self, check: Check) -> bool:
        return check.marker.needs == "cuda" and self.device_offered == CPU

    def _verdict_of(self, check: Check) -> Verdict:
        if check.grader_error or self.broken:
            return Verdict.GRADER_ERROR
        if self._lacks_device(check):
            return Verdict.NOT_RUN
        if isinstance(check.failure, LimitReached):
            return Verdict(check.failure.verdict)
        if check.failure is not None:
            return Verdict.FAILED
        whole = check.planned and check.finished == check.planned and self.lost is None
        return Verdict.PASSED if whole else Verdict.NOT_RUN

    def _words(self, check: Check, verdict: Verdict) -> str:
        """What is said where no mistake has a name; of a check that failed its difference says it."""
        if verdict is Verdict.GRADER_ERROR:
            return "This check could not be run; it costs you nothing."
        if verdict is Verdict.NOT_RUN:
            return NEEDS_DEVICE if self._lacks_device(check) else "This check was not run to its end."
        return limit_in_words(check.failure) if isinstance(check.failure, LimitReached) else ""

    def _diagnosis(self, check: Check, likely: Sequence[Fault], without: Names[Fault] = ()) -> Diagnosis:
        """The known mistake: as the check itself names it, or as the replay finds it.

        without: single mistakes that fit but are not it; then neither pairs nor exceptions are asked.
        """
        if isinstance(check.failure, Mismatch) and check.failure.fault:
            return self.explainer.named(check.failure.fault)
        memory = self.memories.get(check.case)
        of = check.marker
        if not without:
            return self.explainer.explain(check.calls, of.grade_id, likely, of.search, memory)
        search = "none" if of.search == "none" else "single"
        found = self.explainer.explain(check.calls, of.grade_id, likely, search, memory, without)
        return found if found.replayed else Diagnosis()


def _turned_down(failures: Mapping[str, Failure], diagnoses: Mapping[str, Diagnosis]) -> set[str]:
    """The checks whose one replayed mistake was not agreed to, where no other was."""
    if any(diagnosis.replayed for diagnosis in diagnoses.values()):
        return set()
    return {name for name, failure in failures.items() if failure.found.replayed and len(failure.found.faults) == 1}


OUTCOMES = (pytest.fail.Exception, pytest.skip.Exception)
"""pytest's own ways to end a test; they are no Exceptions"""
