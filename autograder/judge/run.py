"""Run an assignment's hidden checks against a student's side, or against the reference alone."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import BadAssignment
from autograder.judge.faults import Explainer, Fault
from autograder.judge.plugin import ALL_CHECKS, FAILED_CHECKS, Judge
from autograder.judge.reference import reference_names
from autograder.judge.student import LocalSide, Memory, Side
from autograder.records import Assignment, CheckResult

PYTEST_OPTIONS = (
    *("-q", "--no-header", "--no-summary", "--import-mode=importlib", "-c", os.devnull),
    *("--disable-plugin-autoload", "--noconftest"),
    "--assert=plain",  # checks speak through `expect`; rewriting would cost more than the checks
    # These collect garbage, write files or install handlers: half of the time of a short run, and no use to a judge.
    *(
        f"-pno:{name}"
        for name in ["cacheprovider", "unraisableexception", "threadexception", "faulthandler", "logging"]
    ),
    *(
        f"-pno:{name}"
        for name in ["junitxml", "doctest", "pastebin", "stepwise", "setuponly", "setupplan", "nose", "debugging"]
    ),
)
"""pytest as a library: no configuration, no plugins but its core and ours"""


@dataclass(frozen=True)
class Outcome:
    """What the checks of one assignment found."""

    checks: dict[str, list[CheckResult]]
    """by grade_id of the tests cell"""
    problems: tuple[str, ...] = ()
    """what went wrong on the grader's side, for the instructor"""
    noticed: tuple[str, ...] = ()
    """what checks found worth a person's look, for the instructor"""


class Checks:
    """An assignment's checks, loaded once: reference, faults and variants are shared by all that run them."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.explainer = Explainer(assignment, load_faults(assignment))
        self._memories: dict[str, Memory] = {}
        """what the reference has answered, by case: judges that are forked from here need not work it out again"""

    @functools.cached_property
    def _reference(self) -> dict[str, Any]:
        return reference_names(self.assignment)

    def run(
        self, student: Side, secret: bytes, only: Collection[str] = (), *, demonstrate: str = FAILED_CHECKS
    ) -> Outcome:
        """Run every check, or those of some tests cells, against `student`. Never raises for what its side does.

        demonstrate: which checks are run on demonstration inputs, too.

        Raises KernelFailed if no kernel could be had.
        """
        of = self.assignment
        assert of.checks is not None, "a foreign assignment has no checks to run"
        judge = Judge(
            *(student, lambda: self._reference, self.explainer, secret, of.name, of.device, only),
            memories=self._memories,
            demonstrate=demonstrate,
        )
        printed = io.StringIO()
        with _on_path(of.folder), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            pytest.main([str(of.checks), *PYTEST_OPTIONS, f"--rootdir={of.folder}"], [judge])
        if judge.lost is not None:
            raise judge.lost
        problems = [f"{c.name}: {c.grader_error}" for c in judge.checks.values() if c.grader_error]
        problems += [
            f"{c.name} fails on its demonstration inputs: {c.shown_failure.sentence}"
            for c in judge.checks.values()
            if c.shown_failure and not c.failure
        ]
        if judge.failed_to_collect or not judge.checks:
            sys.modules.pop("checks", None)  # what is half there would be taken for whole the next time
            problems.append(f"the checks could not be loaded: {judge.failed_to_collect or printed.getvalue()[-2000:]}")
        return Outcome(judge.results(), tuple(problems), tuple(judge.noticed))

    def warm_up(self, secret: bytes = b"local") -> None:
        """Build the reference and every single mistake, and import all that a run needs. Raises BadAssignment.

        Called before processes are forked, so that they share the work, and what the reference answers: to the hidden
        inputs of the run with this secret, and to the demonstration inputs.
        """
        outcome = self.run_on_reference(secret=secret, demonstrate=ALL_CHECKS)
        if outcome.problems:
            raise BadAssignment(f"{self.assignment.name}: {outcome.problems[0]}")
        self.explainer.build()

    def run_on_reference(
        self,
        edits: dict[str, str] | None = None,
        secret: bytes = b"local",
        only: Collection[str] = (),
        *,
        demonstrate: str = FAILED_CHECKS,
    ) -> Outcome:
        """Run the checks on the reference, or on it with some solution cells replaced: milliseconds, no kernel.

        Only for code that is trusted: it runs in this process.
        """
        side = LocalSide(reference_names(self.assignment, edits, may_fail=bool(edits)))
        return self.run(side, secret, only, demonstrate=demonstrate)


def load_faults(assignment: Assignment) -> Sequence[Fault]:
    """The known mistakes of `faults.py`, or none. Raises BadAssignment if the file does not define FAULTS."""
    if assignment.faults is None:
        return ()
    names: dict[str, Any] = {"__name__": f"faults_of_{assignment.name}"}
    with _on_path(assignment.folder):
        exec(compile(assignment.faults.read_text(encoding="utf-8"), str(assignment.faults), "exec"), names)
    faults = names.get("FAULTS")
    if not isinstance(faults, (list, tuple)) or not all(isinstance(f, Fault) for f in faults):
        raise BadAssignment(f"{assignment.faults} must define FAULTS, a list of Fault")
    mute = [f.id for f in faults if not f.words]
    if mute:
        raise BadAssignment(f"{assignment.faults} gives these faults no words: {', '.join(mute)}")
    doubled = {f.id for f in faults if [g.id for g in faults].count(f.id) > 1}
    if doubled:
        raise BadAssignment(f"{assignment.faults} names a fault twice: {', '.join(sorted(doubled))}")
    return tuple(faults)


@contextlib.contextmanager
def _on_path(folder: Path) -> Any:
    """Let `from probes import ...` find this assignment's probes, and no other's that was loaded before."""
    sys.path.insert(0, str(folder))
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    _forget_others(folder)
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = before


def _forget_others(folder: Path) -> None:
    """Every assignment has a module `checks` and a module `probes`, and Python keeps one of each name."""
    for name in ("checks", "probes"):
        module = sys.modules.get(name)
        if module is not None and Path(module.__file__ or "").parent != folder:
            del sys.modules[name]
    importlib.invalidate_caches()
