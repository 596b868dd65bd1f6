"""What grading says, as frozen records: one set of words for the student, the gradebook, exports and the class report.

Nothing here computes or opens anything, and beside the standard library only the comparison's own `Difference` is
imported, so that every process of the grader, the one beside the student's code included, can speak in these records.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from course_lib.difference import Difference

RESULTS_VERSION = 1
"""Version of `results.json`; it grows only when a reader of the old form would misread the new one."""

CPU, CUDA, VIRTUAL_CUDA = "cpu", "cuda", "virtual cuda"
"""what code is run on; virtual CUDA is the CPU under CUDA's rules"""
VIRTUAL_DEVICES = 2
"""how many virtual CUDA devices a kernel has: with one alone, code that ignores the device it is given looks right"""


class Verdict(StrEnum):
    """How one graded item, or a whole submission, ended. "No output" is never `PASSED`."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    NOT_ATTEMPTED = "not attempted"
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    CRASH = "crash"
    REJECTED = "rejected"
    NEEDS_MANUAL = "needs manual"
    GRADER_ERROR = "grader error"
    NOT_RUN = "not run"


class Trust(StrEnum):
    """Where the verdict was reached."""

    JUDGED_APART = "judged apart"
    """in a process that never ran student code"""
    IN_KERNEL = "in the kernel"
    """by test cells beside the student's code: all that a foreign nbgrader assignment allows"""


class Evidence(StrEnum):
    """What a check rests on."""

    RECOMPUTED = "recomputed"
    """the judge derived it from returned arrays"""
    OBSERVED = "observed"
    """recorded beside student code; a determined cheat could forge it"""


class Role(StrEnum):
    """What nbgrader's metadata makes of a cell in the instructor's source."""

    SOLUTION = "solution"
    """the student writes it; tests elsewhere grade it"""
    TESTS = "tests"
    """locked, with points"""
    MANUAL = "manual"
    """the student writes it and a person grades it"""
    TASK = "task"
    """locked description; the answer is in cells the student adds; a person grades it"""
    LOCKED = "locked"
    """read-only, without points"""
    PLAIN = "plain"
    """no nbgrader metadata"""


@dataclass(frozen=True)
class Cell:
    """One cell of the instructor's source notebook."""

    kind: str
    """`code`, `markdown` or `raw`"""
    source: str
    role: Role = Role.PLAIN
    grade_id: str | None = None
    points: float = 0.0
    released: str = ""
    """what the student received in its place (the stub of a solution cell; else the source)"""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Notebook:
    """One notebook of the instructor's source: the only truth for ids, points, order and locked cells."""

    name: str
    """file name without `.ipynb`"""
    cells: tuple[Cell, ...]
    kernel_name: str = "python3"

    def graded(self) -> tuple[Cell, ...]:
        """The cells that carry points, in order."""
        return tuple(c for c in self.cells if c.role in (Role.TESTS, Role.MANUAL, Role.TASK))

    def solutions_of(self, grade_id: str) -> tuple[Cell, ...]:
        """The cells that `grade_id` grades: a tests cell the solution cells since the tests cell before it.

        A tests cell with no solution cell since the one before grades the same ones; any other cell grades itself.
        """
        found: list[Cell] = []
        tested = False
        for cell in self.cells:
            if cell.grade_id == grade_id:
                return tuple(found) if cell.role is Role.TESTS else (cell,)
            if cell.role is Role.TESTS:
                tested = True
            elif cell.role is Role.SOLUTION:
                found = [cell] if tested else [*found, cell]
                tested = False
        raise KeyError(grade_id)


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Times are seconds, sizes bytes."""

    cell_s: float = 60.0
    """CPU time of one cell or one call from the judge; the wall limit is `wall_factor` times this"""
    notebook_s: float = 600.0
    """CPU time of the whole notebook with all calls"""
    wall_factor: float = 3.0
    memory_bytes: int = 2 << 30
    """private memory, beyond what the warm process already held"""
    processes: int = 64
    """processes and threads at once"""
    disk_bytes: int = 256 << 20
    """the private folder, /tmp and /dev/shm together"""
    open_files: int = 512
    output_bytes: int = 1 << 20
    """printed and displayed, for each cell"""
    output_messages: int = 2000
    """messages from the kernel, for each cell"""
    reply_bytes: int = 256 << 20
    """one answer to the judge"""


@dataclass(frozen=True)
class Assignment:
    """The instructor's side of one assignment."""

    name: str
    folder: Path
    notebooks: tuple[Notebook, ...]
    checks: Path | None = None
    """`checks.py`; without it the assignment is foreign and graded by its own test cells"""
    probes: Path | None = None
    faults: Path | None = None
    limits: Limits = Limits()
    forbidden: tuple[str, ...] = ()
    """modules that a solution may not import (delegation): found, the submission is flagged"""
    forbidden_scores_zero: bool = False
    """whether the instructor lets such a flag cost the item its points"""
    skip: tuple[str, ...] = ()
    """grade ids of slow cells that are not executed while grading"""
    asks_nothing: tuple[str, ...] = ()
    """words of those sentences of the text that demand nothing of a student"""
    files: tuple[Path, ...] = ()
    """public files beside the notebook, put into the kernel's working folder"""
    device: str = CPU
    """what its kernels offer: `cpu` or `virtual cuda`; `cuda` as long as `on_device` has not decided which"""
    keras_backend: str = ""
    """what Keras runs on, in kernels and in the judge; empty for Keras's own choice"""


@dataclass(frozen=True)
class PlannedCell:
    """One code cell to run, in the order of running."""

    source: str
    origin: str
    """`student` (a solution cell), `extra` (added by the student) or `instructor` (locked or plain)"""
    grade_id: str | None = None


@dataclass(frozen=True)
class SubmittedNotebook:
    """One notebook of a submission after reading: what to run, and what the reader found."""

    name: str
    plan: tuple[PlannedCell, ...]
    attempted: tuple[str, ...] = ()
    """grade ids of solution, manual and task cells whose content is not the released one"""
    answers: tuple[tuple[str, str], ...] = ()
    """(grade id, the student's text) of every solution, manual and task cell, in order"""
    document: str = ""
    """the notebook as JSON, repaired, without outputs: what a person reads when grading by hand"""


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one assignment. Nothing of it has been executed."""

    student: str
    assignment: str
    notebooks: tuple[SubmittedNotebook, ...] = ()
    flags: tuple[Flag, ...] = ()
    """repairs and oddities, told to the instructor"""
    rejected: str = ""
    """why it cannot be graded at all; empty if it can"""
    digest: str = ""
    """SHA-256 over all bytes handed in, hexadecimal"""


@dataclass(frozen=True)
class Flag:
    """Something a person should look at. A flag alone never costs points."""

    kind: str
    """a short fixed word: `duplicate-cell`, `renamed`, `forbidden-import`, `skip-tag`, ..."""
    message: str
    """one sentence for the instructor"""
    grade_id: str | None = None


@dataclass(frozen=True)
class CheckResult:
    """One hidden check."""

    name: str
    verdict: Verdict
    sentence: str
    """what the check asks, as the student reads it"""
    weight: float = 1.0
    evidence: Evidence = Evidence.RECOMPUTED
    fault: str | None = None
    """id of the known mistake that reproduces the student's values"""
    message: str = ""
    """for the student: the known mistake in words, or that none fits"""
    difference: Difference | None = None
    given: tuple[str, ...] = ()
    """earlier solution cells, not all of them right, that it passes given: with the reference's in their place"""
    distance: float | None = None
    """where training was compared: how far its end was off, in tolerances (`course_lib.compare.trajectory`); above 1 is
    wrong
    """


@dataclass(frozen=True)
class Mark:
    """A person's decision about an item, made in formgrader. The item's points and verdict follow it."""

    points: float | None
    """in place of the grader's; None: the grader's stand, or a person has yet to decide about an answer that changed"""
    extra: float
    """extra credit, which the item's points include"""
    graded: tuple[float, Verdict, str]
    """points, verdict and message of the grader"""


@dataclass(frozen=True)
class Comment:
    """What a person wrote about a cell in formgrader."""

    notebook: str
    grade_id: str
    text: str


@dataclass(frozen=True)
class Item:
    """One graded cell."""

    notebook: str
    grade_id: str
    points: float
    max_points: float
    verdict: Verdict
    fault: str | None = None
    message: str = ""
    """for the student"""
    checks: tuple[CheckResult, ...] = ()
    mark: Mark | None = None
    """what a person decided"""


@dataclass(frozen=True)
class CellRun:
    """How one code cell of the submission ran."""

    notebook: str
    grade_id: str | None
    origin: str
    status: Verdict
    """`PASSED` (ran), `FAILED` (raised), or the limit it met"""
    output: str = ""
    """what it printed, plain text, cut to a size a page can hold"""
    error: str = ""
    """exception name and message, plain text"""
    seconds: float = 0.0
    by_wall_clock: bool = False
    """met the wall limit without having used its CPU time"""
    figures: tuple[str, ...] = ()
    """what it displayed as PNG, in base64, checked; `[figure 1]` in `output` says where"""


@dataclass(frozen=True)
class Lateness:
    """When a submission was handed in, and what being late costs."""

    handed_in: str = ""
    """ISO 8601; empty where nothing tells"""
    due: str = ""
    """of this student, with an extension; ISO 8601; empty where the course names no time"""
    days: int = 0
    """that count as late, each begun"""
    percent: float = 0.0
    """of the assignment's points that these days cost"""
    sentence: str = ""
    """for the student; empty for work in time"""

    def penalty(self, score: float, max_score: float) -> float:
        """What is taken off `score`: never more than there is."""
        return max(0.0, min(score, max_score * self.percent / 100))


@dataclass(frozen=True)
class Report:
    """One submission, graded: one entry of `results.json`."""

    student: str
    assignment: str
    score: float
    """what the work earned"""
    max_score: float
    state: Verdict
    trust: Trust
    device: str
    """`cuda`, `virtual cuda` or `cpu`"""
    items: tuple[Item, ...] = ()
    flags: tuple[Flag, ...] = ()
    seconds: float = 0.0
    runs: tuple[CellRun, ...] = ()
    reason: str = ""
    """why the submission was rejected or could not be graded; for the instructor"""
    digest: str = ""
    sandbox: str = ""
    """the tier of confinement that the kernel reached"""
    late: Lateness | None = None
    """None where the course has no due time for it and nobody marked it as late"""
    comments: tuple[Comment, ...] = ()
    """what people wrote about the answers"""
    penalty: float = field(init=False, default=0.0)
    """points that being late costs"""
    final_score: float = field(init=False, default=0.0)
    """`score` less `penalty`"""

    def __post_init__(self) -> None:
        penalty = self.late.penalty(self.score, self.max_score) if self.late else 0.0
        object.__setattr__(self, "penalty", penalty)
        object.__setattr__(self, "final_score", self.score - penalty)

    @functools.cached_property
    def entry(self) -> Mapping[str, Any]:
        """This report as results.json has it: plain data, without the figures of the notebooks."""
        return dict(to_data(replace(self, runs=tuple(replace(run, figures=()) for run in self.runs))))


def to_data(record: Any) -> Any:
    """A record as plain JSON data: dataclasses become dicts, tuples lists, paths and enums strings."""
    kind = type(record)
    if kind in _PLAIN:
        return record
    if kind is tuple or kind is list:
        return [to_data(v) for v in record]
    if issubclass(kind, (StrEnum, Path)):
        return str(record)
    if dataclasses.is_dataclass(kind):
        return {name: to_data(getattr(record, name)) for name in _names(kind)}
    if issubclass(kind, Mapping):
        return {str(k): to_data(v) for k, v in record.items()}
    return record


def from_data(kind: Any, data: Any) -> Any:
    """The inverse of `to_data` for a record type; raises TypeError, ValueError or KeyError where data does not fit."""
    return _reader(kind)(data)


_PLAIN = frozenset({str, int, float, bool, type(None)})


@functools.cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


@functools.cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """What makes a value of this type from data. Made once: a class of 1,000 has a million values."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        some = _reader(next(a for a in args if a is not type(None)))
        return (lambda data: None if data is None else some(data)) if type(None) in args else some
    if origin is tuple:
        return _tuple_reader(args)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _record_reader(kind)
    if isinstance(kind, type) and issubclass(kind, (StrEnum, Path)):
        return kind

    def read(data: Any) -> Any:
        if kind is float and isinstance(data, int):
            try:
                return float(data)
            except OverflowError as error:
                raise ValueError(str(error)) from None
        if kind is not Any and not isinstance(data, kind):
            raise TypeError(f"expected {kind.__name__}, got {type(data).__name__}")
        return data

    return read


def _tuple_reader(kinds: Sequence[Any]) -> Callable[[Any], Any]:
    readers = [_reader(kind) for kind in kinds if kind is not Ellipsis]

    def read(data: Any) -> Any:
        if not isinstance(data, (list, tuple)):
            raise TypeError(f"expected a list, got {type(data).__name__}")
        if Ellipsis in kinds:
            return tuple(map(readers[0], data))
        return tuple(one(value) for one, value in zip(readers, data, strict=True))

    return read


def _record_reader(kind: type) -> Callable[[Any], Any]:
    hints = typing.get_type_hints(kind)
    # What is computed from other fields is not read.
    readers = {f.name: _reader(hints[f.name]) if f.init else None for f in dataclasses.fields(kind)}

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise TypeError(f"expected an object for {kind.__name__}, got {type(data).__name__}")
        return kind(**{name: one(value) for name, value in data.items() if (one := readers[name])})

    return read
