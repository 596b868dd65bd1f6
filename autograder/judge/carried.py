"""A mistake costs points once: a part that fails is judged again with right earlier parts in place of the student's.

`train` calls `forward`. If `forward` lacks its ReLU, every check of `train` fails, whatever `train` is like. So the
student's cells run once more, and after the student's `forward` runs the reference's: `train` then calls a right one.
What it passes now was right, given a right `forward`; what it still fails is its own.

The other way, the reference's `train` over the student's `forward`, would agree with too much: over a `forward` and a
`backward` that always give zeros, a `train` that does nothing gives what the reference's gives. Here each answer is
still compared with the right one, so that no earlier part, however it was meant, can earn a later one a point.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from autograder.judge.student import CALL_SOURCE, Call, Side
from autograder.records import Cell, CheckResult, Notebook, Role, Verdict
from autograder.submissions.python_text import program_facts

Sources = Sequence[tuple[str, str]]
"""(grade id, or nothing; source) of the code cells of a notebook, in order"""
LOST = frozenset({Verdict.FAILED, Verdict.TIME, Verdict.MEMORY, Verdict.OUTPUT, Verdict.CRASH})
"""verdicts on a check that right earlier parts might change"""


class Program(Protocol):
    """A student's notebook."""

    @property
    def student(self) -> str:
        """The name under which it was handed in; empty in a bank that is graded in this process."""

    @property
    def cells(self) -> Sources:
        """What the student handed in."""

    def side(self, mended: frozenset[str]) -> Side:
        """Its functions, after the reference's cell has run behind each of the student's cells in `mended`."""


Judging = Callable[[Side, str], Sequence[CheckResult]]
"""the checks of one tests cell, asked of a side"""


def carry_forward(
    notebook: Notebook,
    found: Mapping[str, Sequence[CheckResult]],
    called: Mapping[str, Collection[str]],
    program: Program,
    judge: Judging,
) -> dict[str, list[CheckResult]]:
    """The results `found`, by tests cell, with what each part passes given right earlier parts.

    called: for each check that failed, the names of the student's that it called.
    """
    results = {grade_id: list(checks) for grade_id, checks in found.items()}
    earlier: list[Cell] = []
    """solution cells before"""
    wrong: set[str] = set()
    """those of them whose part has lost something of its own"""
    for cell in notebook.cells:
        if cell.role is not Role.TESTS:
            continue
        grade_id = cell.grade_id or ""
        checks = results.get(grade_id, [])
        own = notebook.solutions_of(grade_id)
        names = {name for check in _lost(checks) for name in called.get(check.name, ())}
        right = [(c.grade_id or "", c.source) for c in earlier if c not in own]
        if builds_on(names, program.cells, [(name, source) for name, source in right if name in wrong]):
            # All that it builds on is replaced, what was right too: a right `backward` cannot read the cache of a
            # `forward` that has one of its own.
            mended = builds_on(names, program.cells, right)
            with_right = {check.name: check for check in judge(program.side(frozenset(mended)), grade_id)}
            results[grade_id] = [_better(check, with_right.get(check.name), mended) for check in checks]
        earlier += [c for c in own if c not in earlier]
        if _lost(results.get(grade_id, [])):
            wrong.update(c.grade_id or "" for c in own)
    return results


def _better(check: CheckResult, with_right: CheckResult | None, mended: tuple[str, ...]) -> CheckResult:
    """What is said of a check: it passes given right earlier parts, or it fails with a mistake of its own."""
    if check.verdict not in LOST or with_right is None:
        return check
    if with_right.verdict is Verdict.PASSED:
        return replace(with_right, given=mended)
    # A name that is gone with the earlier mistakes was theirs. What raises may only not fit together with right parts.
    not_its_own = check.fault and with_right.difference is not None
    if with_right.verdict is Verdict.FAILED and (with_right.fault or not_its_own):
        return replace(check, verdict=Verdict.FAILED, fault=with_right.fault, message=with_right.message)
    return check


def _lost(checks: Sequence[CheckResult]) -> list[CheckResult]:
    return [check for check in checks if check.verdict in LOST]


def builds_on(names: Iterable[str], cells: Sources, right: Sources) -> tuple[str, ...]:
    """Those of the cells in `right`, put in place of the student's, that calls of `names` lead to, read off the text.

    `mean` calls `total`, which calls `square`. Where `total` itself is replaced, what the right one calls counts too.
    """
    uses: dict[str, set[str]] = {}
    for _, source in (*cells, *right):
        facts = program_facts(source)
        for name in facts.defined:
            uses.setdefault(name, set()).update(facts.used)
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += uses.get(name, ())
    return tuple(dict.fromkeys(grade_id for grade_id, source in right if program_facts(source).defined & reached))


def called_names(calls: Sequence[Call]) -> frozenset[str]:
    """The student's names that calls use: a function called as it is, or what a probe takes from its namespace."""
    found: set[str] = set()
    for call in calls:
        if call.source == CALL_SOURCE:
            found.add(str(call.data["_name"]))
            continue
        tree = ast.parse(call.source)
        namespace = next((a.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for a in node.args), "")
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == namespace:
                found.add(node.attr)  # ns.train
        if f"getattr({namespace}, " in call.source:  # getattr(ns, "train"), or a name that was sent
            found.update(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
            found.update(value for value in call.data.values() if isinstance(value, str))
    return frozenset(found)
