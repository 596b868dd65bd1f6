"""The input that a student is shown can be run: a cell below theirs sees what the check saw."""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from autograder.assignment import known_assignments, load_assignment, on_device
from autograder.bank import load_bank
from autograder.errors import StudentError
from autograder.judge import judge
from autograder.judge.diagnosis import answered_alike
from autograder.judge.reference import reference_names
from autograder.judge.run import Checks, LocalProgram
from autograder.judge.student import Call, LocalSide
from autograder.protocol.settings import settings_kept
from autograder.selftest import its_device, needs_kernel
from course_lib.compare import Difference
from tests.apart import on_its_back_end
from tests.sampling import sample

ROOT = Path(__file__).resolve().parents[2]
NAMES = known_assignments(ROOT)
SECRET = b"any"


def answer(cell: str, names: dict[str, Any]) -> Call:
    """What the last expression of a cell gives, as the judge would have received it."""
    tree, made = ast.parse(cell), Call("", "", {})
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), settings_kept():
            exec(compile(tree, "cell", "exec"), names)
            made.value = LocalSide({}).as_data(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
    except Exception as error:
        made.error = StudentError(type(error).__name__, str(error))
    return made


def does_again(one: Call, calls: Sequence[Call]) -> bool:
    """Whether `one` raises as one of the calls did, or answers as their last; what became of the arguments aside.

    A check may go on after a call that raised, to find out more; the cell ends there.
    """
    one.after = calls[-1].after
    return bool(one.error and any(call.error for call in calls)) or answered_alike(one, calls[-1])


@pytest.mark.slow
@pytest.mark.timeout(2400)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.xdist_group(f"shown {n}")) for n in sample("shown inputs", NAMES, 1)]
)
def test_the_cell_that_is_shown_does_again_what_the_check_saw(name: str) -> None:
    bank = load_bank(load_assignment(name, ROOT))
    wrong = [entry.name for entry in bank if entry.kind == "fault" and not needs_kernel(entry)]
    tried, differing = on_its_back_end(shown_again, name, sample(f"shown {name}", wrong, 3, thin=15))
    assert tried and differing == []


def shown_again(name: str, chosen: Collection[str]) -> tuple[int, list[tuple[str, str, str]]]:
    """How many shown cells were run for the `chosen` entries, and those that did not do what the check saw."""
    assignment = on_device(load_assignment(name, ROOT))
    shown: list[tuple[str, Sequence[Call]]] = []

    def remember(error: BaseException, calls: Sequence[Call], *, forgets: bool = True) -> Difference:
        difference = show(error, calls, forgets=forgets)
        if difference.case.endswith("\n"):
            shown.append((difference.case, tuple(calls)))
        return difference

    show = judge.shown_failure
    differing, tried = [], 0
    with its_device(assignment), mock.patch.object(judge, "shown_failure", remember):
        checks = Checks(assignment)
        for entry in load_bank(assignment):
            if entry.name not in chosen:
                continue
            edits = dict(entry.cells)
            program = LocalProgram(assignment, edits)
            checks.run(program.side(frozenset()), SECRET, tuple(entry.expected), program=program)
            for cell, calls in shown:
                names = reference_names(assignment, edits, may_fail=True) | {"__name__": "__main__"}
                got = first = answer(cell, names)
                if not does_again(first, calls):
                    # A graph that all calls share fails at the second. The student pastes the cell below the notebook's
                    # own tests, which have called the function before.
                    got = answer(cell, names)
                if not does_again(got, calls):
                    anew = answer(cell, reference_names(assignment, edits, may_fail=True) | {"__name__": "__main__"})
                    if not does_again(anew, [first]):
                        continue  # The student's code draws random numbers of its own: no cell gives the same twice.
                    differing.append((entry.name, cell, str(got.error or got.value)))
                tried += 1
            shown.clear()
    return tried, differing
