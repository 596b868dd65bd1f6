"""The bank of an assignment: known submissions, right and wrong, each with the verdicts expected of it.

A file of `bank/` is one of two things. `right_loops.py` is one whole submission: a docstring, `CELLS`, and if need be
`EXTRA`, `EXPECTED`, `BREAKS` and `KIND`, as in BankEntry. A file named after a solution cell, `train_epoch.py`, holds
wrong answers to it as edits of right ones:

    BASES = {"in_lists": '''def train_epoch(...'''}           right answers, known submissions themselves

    WRONG = [
        Wrong("wrong_step_missing", "No step.")
        .expect(test_train_epoch="failed:step-missing")
        .edit("optimizer.step()", "pass"),
    ]

An edit is a text that occurs exactly once in the base, and what replaces it. The base is the first of `BASES`, or the
right submission that `BASE` names, or what `.base(...)` says: another of `BASES`, a right submission, or "stub".
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.edits import BadEdit, edited
from autograder.errors import BadAssignment
from autograder.records import Assignment, Role, Verdict

KINDS = ("correct", "fault", "attack")
STUB = "stub"
"""the base that every solution cell has: as students receive it"""


@dataclass(frozen=True)
class BankEntry:
    """One known submission."""

    name: str
    title: str
    kind: str
    """`correct`, `fault` or `attack`"""
    expected: Mapping[str, str]
    """tests cell -> verdict, with `:fault-id` where a mistake must be named; cells not named must pass"""
    cells: Mapping[str, str]
    """solution cells that replace the reference's"""
    extra: Sequence[tuple[str, str]] = ()
    """(grade_id, source): cells added after the cell of that id"""
    breaks: Sequence[str] = ()
    """words of the sentences of the text that it breaks"""
    file: Path = Path()
    """where it is written"""


@dataclass(frozen=True)
class Answer:
    """What a wrong submission holds in one cell: edits of a base, or a whole text."""

    cell: str = ""
    """empty: the cell that the file is named after"""
    base: str = ""
    """a name in `BASES` of that cell's file, a right submission, or STUB; empty: that file's `BASE`, or first base"""
    edits: tuple[tuple[str, str], ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Wrong:
    """One wrong submission, as it is written in a bank file; each method returns it with something added.

    A method that names a `cell` begins the answer to that cell; one that names none goes on with the last.
    """

    name: str
    title: str
    expected: Mapping[str, str] = dataclasses.field(default_factory=dict)
    answers: tuple[Answer, ...] = ()
    broken: tuple[str, ...] = ()

    def breaks(self, *words: str) -> Wrong:
        """Words of the sentences of the text that it breaks, each from one sentence alone."""
        return dataclasses.replace(self, broken=(*self.broken, *words))

    def expect(self, **verdicts: str) -> Wrong:
        """The verdicts by tests cell, `failed:fault-id` or `partial:fault-id`; cells not named must pass."""
        return dataclasses.replace(self, expected={**self.expected, **verdicts})

    def base(self, name: str, cell: str = "") -> Wrong:
        """What follows are edits of this base."""
        return dataclasses.replace(self, answers=(*self.answers, Answer(cell, name)))

    def edit(self, old: str, new: str, cell: str = "") -> Wrong:
        """In the base, `new` takes the place of `old`."""
        goes_on = bool(self.answers) and not cell
        *before, last = self.answers if goes_on else (*self.answers, Answer(cell))
        return dataclasses.replace(self, answers=(*before, dataclasses.replace(last, edits=(*last.edits, (old, new)))))

    def whole(self, text: str, cell: str = "") -> Wrong:
        """A program that is like no base, in full."""
        return dataclasses.replace(self, answers=(*self.answers, Answer(cell, text=text)))


def load_bank(assignment: Assignment) -> list[BankEntry]:
    """The entries of `bank/`, sorted by name. Raises BadAssignment naming the file, the entry and the finding."""
    files = {path: _read(path) for path in sorted((assignment.folder / "bank").glob("*.py"))}
    of_exercises = {path: said for path, said in files.items() if "WRONG" in said or "BASES" in said}
    entries = [_whole_submission(path, said) for path, said in files.items() if path not in of_exercises]
    bases = _bases(assignment, of_exercises, entries)
    for path, said in of_exercises.items():
        entries += _bases_as_entries(path, said.get("BASES", {}))
        for wrong in said.get("WRONG", ()):
            if not isinstance(wrong, Wrong):
                raise BadAssignment(f"{path}: WRONG holds {wrong!r}, which is no `Wrong(name, title)`.")
            cells = dict(_cells(path, wrong, bases))
            entries.append(BankEntry(wrong.name, wrong.title, "fault", wrong.expected, cells, (), wrong.broken, path))
    return _checked(assignment, sorted(entries, key=lambda entry: entry.name))


def _read(path: Path) -> dict[str, Any]:
    names: dict[str, Any] = {}
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    except Exception as error:
        raise BadAssignment(f"{path}: the bank entry cannot be read: {type(error).__name__}: {error}") from error
    return names


def _whole_submission(path: Path, said: Mapping[str, Any]) -> BankEntry:
    expected, cells, extra = said.get("EXPECTED", {}), said.get("CELLS", {}), tuple(said.get("EXTRA", ()))
    kind = said.get("KIND") or ("fault" if expected else "correct")
    breaks = said.get("BREAKS", ())
    return BankEntry(path.stem, said.get("__doc__") or "", kind, expected, cells, extra, breaks, path)


def _bases_as_entries(path: Path, bases: Mapping[str, str]) -> Iterator[BankEntry]:
    """A base must be right, so it is graded as a submission of its own."""
    for name, text in bases.items():
        title = f"The base {name} of the wrong answers to {path.stem}."
        yield BankEntry(f"right_{path.stem}_{name}", title, "correct", {}, {path.stem: text}, file=path)


def _bases(
    assignment: Assignment, of_exercises: Mapping[Path, Mapping[str, Any]], entries: Sequence[BankEntry]
) -> dict[str, dict[str, str]]:
    """For each solution cell what can be edited, by name; under the name "" what is meant where none is named."""
    bases: dict[str, dict[str, str]] = {}
    for cell in (c for n in assignment.notebooks for c in n.cells if c.role is Role.SOLUTION and c.grade_id):
        bases[cell.grade_id or ""] = {STUB: cell.released}
    for entry in entries:
        if entry.kind == "correct":
            for cell_id, text in entry.cells.items():
                bases.setdefault(cell_id, {})[entry.name] = text
    for path, said in of_exercises.items():
        own = bases.setdefault(path.stem, {})
        own.update(said.get("BASES", {}))
        first = said.get("BASE") or next(iter(said.get("BASES", {})), "")
        if first in own:
            own[""] = own[first]
        elif first:
            raise BadAssignment(f"{path}: BASE names {first!r}; there are: {_listed(own)}.")
    return bases


def _listed(bases: Mapping[str, str]) -> str:
    return ", ".join(filter(None, bases)) or "none"


def _cells(path: Path, wrong: Wrong, bases: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """The cells of a wrong submission, (grade_id, source), with its edits made."""
    where = f"{path}: {wrong.name}"
    seen = set()
    for answer in wrong.answers:
        cell = answer.cell or path.stem
        if cell in seen:
            raise BadAssignment(f"{where}: answers the cell {cell!r} twice.")
        seen.add(cell)
        if answer.text:
            yield cell, answer.text
            continue
        known = bases.get(cell, {})
        if answer.base not in known:
            finding = f"no base {answer.base!r}" if answer.base else "no base of its own, so name one"
            raise BadAssignment(f"{where}: the cell {cell!r} has {finding}; there are: {_listed(known)}.")
        base, shown = known[answer.base], f"{answer.base!r} of {cell!r}" if answer.base else f"of {cell!r}"
        try:
            text = edited(base, answer.edits)
        except BadEdit as error:
            raise BadAssignment(f"{where}: {error} in the base {shown}.") from error
        if text == base and answer.base != STUB:
            raise BadAssignment(f"{where}: is the same as the base {shown}; give it an edit.")
        yield cell, text


def _checked(assignment: Assignment, entries: Sequence[BankEntry]) -> list[BankEntry]:
    tests = {c.grade_id for n in assignment.notebooks for c in n.cells if c.role is Role.TESTS}
    solutions = {c.grade_id for n in assignment.notebooks for c in n.cells if c.role is Role.SOLUTION}
    seen: dict[str, Path] = {}
    checked = []
    for entry in entries:
        where = f"{entry.file}: {entry.name}"
        entry = dataclasses.replace(entry, title=" ".join(entry.title.split()))
        if entry.name in seen:
            raise BadAssignment(f"{where}: is in the bank twice; the other one is in {seen[entry.name].name}.")
        seen[entry.name] = entry.file
        if strange := (set(entry.expected) - tests) | (set(entry.cells) - solutions):
            raise BadAssignment(f"{where}: names unknown cells: {', '.join(sorted(strange))}.")
        if not entry.title:
            raise BadAssignment(f"{where}: needs a title; a whole submission has it as its docstring.")
        if entry.kind not in KINDS:
            raise BadAssignment(f"{where}: has the KIND {entry.kind!r}; there are: {', '.join(KINDS)}.")
        right = all(verdict == Verdict.PASSED for verdict in entry.expected.values())
        if entry.kind == "correct" and not right:
            raise BadAssignment(f"{where}: is said to be correct and expected to fail.")
        if entry.kind == "fault" and right:
            raise BadAssignment(f"{where}: plants a mistake and is expected to pass; say what is expected of it.")
        checked.append(entry)
    return checked


def notebook_of(assignment: Assignment, cells: Mapping[str, str], extra: Sequence[tuple[str, str]] = ()) -> bytes:
    """A submission as bytes: the instructor's notebook with solution cells replaced and cells added."""
    source = json.loads((assignment.folder / f"{assignment.notebooks[0].name}.ipynb").read_text(encoding="utf-8"))
    made = []
    for cell in source["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in cells:
            cell = {**cell, "source": cells[grade_id]}
        made.append(cell)
        for number, (after, text) in enumerate(extra):
            if after == grade_id:
                made.append(
                    {"cell_type": "code", "id": f"extra-{number}", "metadata": {}, "source": text}
                    | {"outputs": [], "execution_count": None}
                )
    return json.dumps({**source, "cells": made}).encode()
