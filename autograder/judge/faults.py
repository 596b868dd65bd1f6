"""The known mistakes of an assignment, as data: a fault is a small edit of the instructor's solution, and its words."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.edits import BadEdit, edited
from autograder.errors import BadAssignment
from autograder.records import Assignment


@dataclass(frozen=True, eq=False)
class Fault:
    """One known mistake."""

    id: str
    """short, unique, hyphenated: `relu-derivative-missing`"""
    cell: str
    """grade_id of the solution cell whose reference source is edited"""
    edits: Mapping[str, str] = field(default_factory=dict)
    """old text -> new text; each old text occurs exactly once in that cell. Empty: the mistake is not replayed"""
    words: str = ""
    """what the student reads: what was seen, why it matters, where to look; not the solution"""
    raises: str = ""
    """regular expression for `Type: text` of the exception that tells it, where no replay answers alike"""
    family: str = ""
    """the fault's number in the field's catalog, e.g. `NP03`"""
    pairs: bool = True
    """whether it is tried together with others"""
    tests: tuple[str, ...] = ()
    """tests cells it may explain; empty: all"""
    bare: bool = False
    """whether its words hold for any program that gives NaN, zeros or ones where this one does"""
    minor: bool = False
    """beside the point of its exercise: only such a mistake may cost less than a quarter of it"""


def load_faults(assignment: Assignment) -> Sequence[Fault]:
    """The known mistakes of `faults.py`, or none. Raises BadAssignment if the file does not define FAULTS."""
    if assignment.faults is None:
        return ()
    names: dict[str, Any] = {"__name__": f"faults_of_{assignment.name}"}
    with modules_of(assignment.folder):
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


def edited_source(assignment: Assignment, faults: Sequence[Fault]) -> dict[str, str]:
    """Solution sources by grade_id with the edits of `faults` made at once.

    Raises BadAssignment where an old text is not there exactly once, or two edits touch the same place.
    """
    cells = {c.grade_id: c.source for n in assignment.notebooks for c in n.cells if c.grade_id}
    edits: dict[str, list[tuple[str, str]]] = {}
    for fault in faults:
        if fault.cell not in cells:
            raise BadAssignment(
                f"{assignment.name}: fault {fault.id!r} edits the cell {fault.cell!r}, which is not there"
            )
        for edit in fault.edits.items():
            edits.setdefault(fault.cell, []).append(edit)
    sources = {}
    for cell, made in edits.items():
        try:
            sources[cell] = edited(cells[cell], made)
        except BadEdit as error:
            ids = "+".join(fault.id for fault in faults if fault.cell == cell)
            raise BadAssignment(f"{assignment.name}: fault {ids!r}: {error} in {cell!r}") from error
    return sources


@contextlib.contextmanager
def modules_of(folder: Path) -> Iterator[None]:
    """Let `from probes import ...` find this assignment's probes, and no other's that was loaded before."""
    sys.path.insert(0, str(folder))
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    _forget_modules_of_others(folder)
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = before


def _forget_modules_of_others(folder: Path) -> None:
    """Every assignment has modules `checks`, `probes` and `faults`, and Python keeps one of each name."""
    for name in ("checks", "probes", "faults"):
        module = sys.modules.get(name)
        if module is not None and Path(module.__file__ or "").parent != folder:
            del sys.modules[name]
    importlib.invalidate_caches()
