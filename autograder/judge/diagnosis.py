"""Name the mistake: replay known wrong variants of the reference on the very calls that a failed check made.

A fault is a small edit of the instructor's solution. If the edited solution answers every recorded call as the
student's code did, and clearly not as the reference does, the student made that mistake. If no single fault fits, pairs
are tried. If none fits, the verdict says so: a guess would send the student looking in the wrong place.

Some mistakes cannot be replayed: the text of an exception depends on the operator that met it first, an order of
events on how a program is written. Those are known by their exception (`raises`), or named by the check that saw them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.errors import BadAssignment, StudentError, StudentFault
from autograder.judge.expect import agree
from autograder.judge.faults import Fault, edited_source
from autograder.judge.reference import reference_names
from autograder.judge.student import Call, LocalSide, Memory
from autograder.judge.superposition import effect, unexplained
from autograder.protocol.wire import Handle, Tensor, files_in, handles_in
from autograder.records import Assignment, Cell, Notebook

SAME = {"float64": 1e-6, "float32": 2e-4, "float16": 1e-2, "bfloat16": 4e-2}
"""relative distance up to which two answers are the same answer, by the coarsest dtype in them"""
APART = 10.0
"""how many times further the right answer must be"""
MOST_COMBINATIONS = 40
"""mistakes tried together on one failed check; the right pair is among the first 15, mostly the first"""
SEARCHES = ("pairs", "single", "none")
"""how far a mistake is looked for after a check has failed; less for checks whose replay takes long"""


@dataclass(frozen=True)
class Diagnosis:
    """What the replay found."""

    faults: tuple[Fault, ...] = ()
    replayed: bool = False
    """found by what the calls answer, not by an exception or by the check itself"""
    bare: bool = False
    """all wrong answers are NaN, or arrays of zeros or of ones: many mistakes give such"""

    @property
    def id(self) -> str | None:
        return "+".join(f.id for f in self.faults) or None

    @property
    def words(self) -> str:
        return " Also: ".join(f.words for f in self.faults)


class Explainer:
    """Finds the known mistake behind a failed check. Variants are built once and kept."""

    def __init__(self, assignment: Assignment, faults: Sequence[Fault]) -> None:
        self.assignment = assignment
        self.faults = tuple(faults)
        self._names: dict[tuple[str, ...], dict[str, Any] | None] = {}

    def build(self) -> None:
        """Build every single mistake now. Raises BadAssignment where an edit does not fit the reference."""
        for fault in self.faults:
            if fault.edits:
                self._variant((fault,))
            if fault.raises:
                re.compile(fault.raises)

    def explain(
        self,
        calls: Sequence[Call],
        tests_cell: str,
        named: Sequence[Fault] = (),
        search: str = "pairs",
        memory: Memory | None = None,
        without: Collection[Fault] = (),
    ) -> Diagnosis:
        """The fault, or the few together, that answer all of `calls` as the student did; an empty diagnosis if none do.

        named: faults already found in this submission, whose effects later functions inherit. search: whether pairs are
        tried, single faults alone, or none but those found already. memory: what the reference has answered before.
        without: what is known not to be it.
        """
        calls = [c for c in calls if c.error is None or isinstance(c.error, StudentError)]
        right = self._replay(calls, (), memory)
        if not calls or right is None or _alike(calls, right):
            return Diagnosis()
        raised = any(c.error for c in calls)
        # Two mistakes that together raise one exception would be a guess.
        pairs = search == "pairs" and not raised
        relevant: dict[Fault, list[Call]] = {}
        # What was found before comes first: of two mistakes that these calls cannot tell apart, it is the likelier.
        for fault in dict.fromkeys([*named, *(self.faults if search != "none" else ())]):
            if fault in without or not fault.edits or not _may_explain(fault, tests_cell):
                continue
            variant = self._replay(calls, (fault,), stop_at_difference=not pairs)
            if variant is None or _alike(right, variant):
                continue  # this mistake changes nothing about these calls
            if _alike(calls, variant) and _apart(right, variant):
                return Diagnosis((fault,), replayed=True, bare=_bare(calls, right))
            relevant[fault] = variant
        several_at_once = self._combinations(calls, right, relevant, tests_cell, named) if pairs else ()
        for several in itertools.islice(several_at_once, MOST_COMBINATIONS):
            variant = self._replay(calls, several, stop_at_difference=True)
            if variant is not None and _apart(right, variant):
                return Diagnosis(several, replayed=True, bare=_bare(calls, right))
        return self._by_exception(calls[-1], tests_cell)

    def agrees(self, calls: Sequence[Call], faults: Sequence[Fault]) -> bool:
        """Whether a program with these mistakes answers as the student did, or raises as well where that one raised."""
        calls = [c for c in calls if c.error is None or isinstance(c.error, StudentError)]
        variant = self._replay(calls, tuple(faults))
        if variant is None or not calls:
            return False
        both_raise = calls[-1].error is not None and variant[-1].error is not None
        return both_raise or _alike(calls, variant)

    def variant(self, faults: Sequence[Fault]) -> dict[str, Any] | None:
        """The names of the reference with these mistakes; None where they cannot all be made."""
        names = self._variant(tuple(faults))
        return None if names is None else dict(names)

    def named(self, fault_id: str) -> Diagnosis:
        """The mistake that a check has named itself; empty if `faults.py` does not know it."""
        return Diagnosis(tuple(fault for fault in self.faults if fault.id == fault_id))

    def _by_exception(self, call: Call, tests_cell: str) -> Diagnosis:
        if not isinstance(call.error, StudentError):
            return Diagnosis()
        for fault in self.faults:
            if fault.raises and _may_explain(fault, tests_cell) and re.search(fault.raises, str(call.error)):
                return Diagnosis((fault,))
        return Diagnosis()

    def _combinations(
        self,
        calls: Sequence[Call],
        right: Sequence[Call],
        relevant: Mapping[Fault, Sequence[Call]],
        tests_cell: str,
        named: Sequence[Fault],
    ) -> Iterator[tuple[Fault, ...]]:
        """Mistakes worth trying together: those found before, then pairs of these and of this cell's.

        relevant: what each mistake alone answers. Pairs whose effects add up to the student's come first.
        """
        before = [f for f in named if f in relevant]
        cells = {c.grade_id for n in self.assignment.notebooks for c in _solutions(n, tests_cell)}
        own = [f for f in relevant if f.cell in cells and f.pairs and f not in before]
        for size in range(len(before), 2, -1):
            yield from itertools.combinations(before, size)
        seen = effect(right, calls, calls)
        effects = {f: effect(right, calls, relevant[f]) for f in (*before, *own)}
        pairs = itertools.chain(
            itertools.combinations(before, 2), itertools.product(before, own), itertools.combinations(own, 2)
        )
        # Rounded: where two pairs add up equally well, the one with what was found before is the likelier.
        yield from sorted(pairs, key=lambda pair: round(unexplained(seen, [effects[f] for f in pair]), 3))

    def _replay(
        self,
        calls: Sequence[Call],
        faults: tuple[Fault, ...],
        memory: Memory | None = None,
        *,
        stop_at_difference: bool = False,
    ) -> list[Call] | None:
        names = self._variant(faults)
        if names is None:
            return None
        side = LocalSide(dict(names), memory)
        own: dict[int | bytes, Handle | bytes] = {}
        for call in calls:
            try:
                side.repeat(Call(call.source, call.name, _with_own(call.data, own)))
            except StudentError:
                pass
            except (StudentFault, KeyError):
                return None
            made = side.calls[-1]
            theirs, ours = handles_in(call.value), handles_in(made.value)
            own.update((their.number, our) for their, our in zip(theirs, ours, strict=False))
            own.update(zip(files_in(call.value), files_in(made.value), strict=False))
            if stop_at_difference and not answered_alike(call, made):
                return None
        return side.calls

    def _variant(self, faults: tuple[Fault, ...]) -> dict[str, Any] | None:
        key = tuple(f.id for f in faults)
        if key not in self._names:
            try:
                self._names[key] = reference_names(self.assignment, edited_source(self.assignment, faults))
            except BadAssignment:
                if len(faults) < 2:
                    raise
                self._names[key] = None  # two edits of the same place cannot both be made
        return self._names[key]


def _may_explain(fault: Fault, tests_cell: str) -> bool:
    return not fault.tests or tests_cell in fault.tests


def _solutions(notebook: Notebook, tests_cell: str) -> tuple[Cell, ...]:
    known = any(c.grade_id == tests_cell for c in notebook.cells)
    return notebook.solutions_of(tests_cell) if known else ()


def _alike(some: Sequence[Call], others: Sequence[Call]) -> bool:
    return all(answered_alike(a, b) for a, b in zip(some, others, strict=True))


def _bare(calls: Sequence[Call], right: Sequence[Call]) -> bool:
    """Whether all wrong answers are NaN, or arrays of zeros or of ones."""
    wrong = [(c, r) for c, r in zip(calls, right, strict=True) if not answered_alike(c, r)]
    return all(c.error is None and _says_nothing(c.value, r.value) for c, r in wrong)


def _says_nothing(mine: Any, right: Any) -> bool:
    """Whether what is wrong in an answer says nothing about what made it.

    Of single numbers only NaN does, and 0 where all is wrong: an epoch that is 0 beside weights that are right tells.
    """
    parts = list(_wrong_parts(mine, right))
    return all(map(_is_bare, parts)) and (len(parts) == _leaves(right) or any(_numbers(p).size > 1 for p in parts))


def _leaves(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(_leaves, value)) if isinstance(value, (tuple, list)) else 1


def _numbers(value: Any) -> np.ndarray[Any, Any]:
    """A value as an array; of no kind of number where it is a list of parts of different shapes."""
    try:
        return np.asarray(value.array if isinstance(value, Tensor) else value)
    except ValueError:
        return np.empty(0, dtype=object)


def _wrong_parts(mine: Any, right: Any) -> Iterator[Any]:
    """The parts of an answer that differ from the right ones; all of it where its form does."""
    if isinstance(mine, dict) and isinstance(right, dict) and mine.keys() == right.keys():
        mine, right = list(mine.values()), list(right.values())
    if isinstance(mine, (tuple, list)) and isinstance(right, (tuple, list)) and len(mine) == len(right):
        for m, r in zip(mine, right, strict=True):
            yield from _wrong_parts(m, r)
    elif not agree(mine, right, max(_coarsest(mine), _coarsest(right))):
        yield mine


def _is_bare(value: Any) -> bool:
    """Whether a value is NaN or zeros, or an array of ones."""
    numbers = _numbers(value)
    if numbers.dtype.kind not in "fciub" or not numbers.size:
        return False
    of_one_value = any(np.all(numbers == value) for value in ((0,) if numbers.size == 1 else (0, 1, -1)))
    return bool(of_one_value or np.all(numbers != numbers))


def _apart(right: Sequence[Call], variant: Sequence[Call]) -> bool:
    """Whether a variant can be told from the right answer on these calls."""
    return any(not answered_alike(r, v, APART) for r, v in zip(right, variant, strict=True))


def _with_own(value: Any, own: Mapping[int | bytes, Handle | bytes]) -> Any:
    """Data of a call with the objects and files of an earlier one replaced by those that this side has made."""
    if isinstance(value, Handle):
        return own[value.number]
    if isinstance(value, bytes):
        return own.get(value, value)
    if isinstance(value, dict):
        return {k: _with_own(v, own) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_with_own(v, own) for v in value)
    return value


def answered_alike(a: Call, b: Call, factor: float = 1.0) -> bool:
    """Whether two sides answered alike: the same exception, or values and arguments within `factor` tolerances."""
    if isinstance(a.error, StudentError) or isinstance(b.error, StudentError):
        return str(a.error) == str(b.error)
    rtol = factor * max(_coarsest(a.value), _coarsest(b.value))
    return agree(a.value, b.value, rtol) and agree(a.after, b.after, rtol)


def _coarsest(value: Any) -> float:
    if isinstance(value, Tensor):
        return SAME.get(value.dtype, SAME["float64"])
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return max((_coarsest(v) for v in value), default=SAME["float64"])
    return SAME.get(getattr(getattr(value, "dtype", None), "name", ""), SAME["float64"])
