"""The corpus of hostile and innocent notebooks: what a file says, how it becomes a notebook, how a class of them is graded.

One file is one submission: the reference solution with some cells replaced, as in an assignment's bank.

    '''What it does, in one line.'''
    ENTRY = 9                                   number in the catalogue of attacks
    FAMILY = "A"                                A forges the verdict, B steals the answer, C denies service, E is about
                                                training code and devices
    ASSIGNMENT = "a6_cuda_training"             optional: what it answers; else `a1_numpy_backprop`
    EXPECTED = {"test_small_graph": "failed"}   verdict per tests cell; DEFAULT for those not named
    TIER = "none"                               the sandbox tier without which the verdict is not promised
    CELLS, EXTRA                                as in the bank; EXTRA goes before every answer if its grade_id is ""
    build(notebook) -> notebook                 optional: for what cells cannot say
    FLAGS                                       optional: kinds of flags that must be raised
    SILENT                                      optional: texts that may appear nowhere in what the run writes
    AT_MOST_S                                   optional: how long grading it may take
    LIMITS                                      optional: fields of `records.Limits`, where the small ones do not show it
    NBGRADER                                    optional: what stock nbgrader 0.9.6 does, for the reader
    UNSAFE_FOR_NBGRADER                         optional: it would harm the host without a sandbox

A verdict may name the fault (`failed:fault-id`) or leave it open. `STOLEN` may appear nowhere: attacks print it with
what they stole.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.assignment import load_assignment, on_device
from autograder.records import Assignment, Report, from_data
from autograder.run import Options, grade_class
from autograder.selftest import notebook_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ASSIGNMENTS = ROOT / "notebooks" / "assignments"
FIRST = "a1_numpy_backprop"
"""what a file answers that does not say"""

SMALL = {
    "cell_s": 2.0,
    "notebook_s": 20.0,
    "memory_bytes": 384 << 20,
    "disk_bytes": 48 << 20,
    "reply_bytes": 8 << 20,
}
"""limits under which an attack that runs into one is over soon"""
REAL = {"cell_s": 20.0, "notebook_s": 120.0}
"""those of the assignment itself, for the innocents"""


@dataclass(frozen=True)
class Entry:
    """One submission of the corpus."""

    name: str
    title: str
    entry: int
    family: str
    expected: Mapping[str, str]
    default: str = "passed"
    flags: tuple[str, ...] = ()
    silent: tuple[str, ...] = ("STOLEN",)
    tier: str = "none"
    limits: Mapping[str, Any] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)
    extra: Sequence[tuple[str, str]] = ()
    build: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    nbgrader: str = ""
    at_most_s: float = 0.0
    """how long grading it may take; 0: not asked"""
    unsafe: bool = False
    assignment: str = FIRST

    @property
    def all_limits(self) -> dict[str, Any]:
        """The limits it is graded under: those of an assignment that trains are its own."""
        small = {} if self.assignment != FIRST else REAL if self.family == "innocent" else SMALL
        return {**small, **self.limits}

    def wanted(self, grade_id: str) -> str:
        """The verdict expected of a tests cell."""
        return self.expected.get(grade_id, self.default)

    def notebook(self, assignment: Assignment, places: Mapping[str, str] | None = None) -> bytes:
        """The submission's file; `places` fills in what is known only at run time."""
        before = [source for after, source in self.extra if not after]
        after = [(grade_id, source) for grade_id, source in self.extra if grade_id]
        notebook = json.loads(notebook_of(assignment, self.cells, after))
        for number, source in enumerate(before):
            notebook["cells"].insert(number, code_cell(source, f"before-{number}"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.setdefault("outputs", [])
        if self.build is not None:
            notebook = self.build(notebook)
        text = json.dumps(notebook)
        for word, value in (places or {}).items():
            text = text.replace(word, value)
        return text.encode()


def code_cell(source: str, name: str) -> dict[str, Any]:
    """A cell that a student added."""
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def loaded(path: Path) -> ModuleType:
    """A file of the corpus as a module of its own."""
    spec = importlib.util.spec_from_file_location(f"corpus_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entry_of(path: Path) -> Entry:
    """What a file says."""
    module = loaded(path)
    said = vars(module)
    return Entry(
        name=path.stem,
        title=(module.__doc__ or "").strip().splitlines()[0],
        entry=said["ENTRY"],
        family=said["FAMILY"],
        expected=said["EXPECTED"],
        default=said.get("DEFAULT", "passed"),
        flags=tuple(said.get("FLAGS", ())),
        silent=("STOLEN", *said.get("SILENT", ())),
        tier=said.get("TIER", "none"),
        limits=said.get("LIMITS", {}),
        cells=said.get("CELLS", {}),
        extra=tuple(said.get("EXTRA", ())),
        build=said.get("build"),
        nbgrader=said.get("NBGRADER", ""),
        at_most_s=said.get("AT_MOST_S", 0.0),
        unsafe=said.get("UNSAFE_FOR_NBGRADER", False),
        assignment=said.get("ASSIGNMENT", FIRST),
    )


def entries(folder: str) -> list[Entry]:
    """The entries of `notebooks` or `innocents`, in the order of their names."""
    return [entry_of(path) for path in sorted((HERE / folder).glob("*.py"))]


def assignment_with(limits: Mapping[str, Any], into: Path, name: str = FIRST) -> Assignment:
    """A copy of an assignment below `into` with other limits, if any: judges load it from its folder."""
    folder = into / name
    shutil.copytree(ASSIGNMENTS / name, folder, ignore=shutil.ignore_patterns("bank", "__pycache__"))
    if not limits:
        return on_device(load_assignment(folder, ROOT))
    settings = folder / "assignment.toml"
    kept = settings.read_text(encoding="utf-8").partition("[limits]")[0]
    lines = [f"{name} = {value!r}" for name, value in limits.items()]
    settings.write_text(kept + "[limits]\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assignment = load_assignment(folder, ROOT)
    assert {f: getattr(assignment.limits, f) for f in limits} == dict(limits)
    return on_device(assignment)


def grade_all(
    members: Sequence[Entry],
    limits: Mapping[str, Any],
    scratch: Path,
    places: Mapping[str, str] | None = None,
    workers: int = 2,
) -> dict[str, Report]:
    """Grade these submissions, all to one assignment, as one class into `scratch/run`, in the order given."""
    (name,) = {member.assignment for member in members}
    assignment = assignment_with(limits, scratch, name)
    handed = scratch / "handed"
    handed.mkdir(parents=True)
    for number, member in enumerate(members):
        (handed / f"{number:03d}-{member.name}.ipynb").write_bytes(member.notebook(assignment, places))
    outcome = grade_class(assignment, ROOT, handed, Options(scratch / "run", workers), lambda *_: None)
    return {members[int(r.student[:3])].name: r for r in outcome.reports}


def verdicts(report: Report) -> dict[str, str]:
    """What a report says of each tests cell, with the fault where one is named."""
    return {i.grade_id: f"{i.verdict}:{i.fault}" if i.fault else str(i.verdict) for i in report.items}


def surprises(member: Entry, report: Report) -> dict[str, tuple[str, str]]:
    """Tests cells whose verdict is not the expected one: (expected, got).

    `output|time` expects one of the two: which limit is met first is for the machine's speed to say.
    """
    found = {}
    for grade_id, got in verdicts(report).items():
        wanted = member.wanted(grade_id)
        if not any(one == (got if ":" in one else got.partition(":")[0]) for one in wanted.split("|")):
            found[grade_id] = (wanted, got)
    return found


def read_results(path: Path) -> list[Report]:
    """The reports of a results.json."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return [from_data(Report, s) for s in data["submissions"]]


HONEST = Entry("honest", "The reference solution.", 80, "honest", {})


def honest(number: str, assignment: str = FIRST) -> Entry:
    """A neighbour whose full marks nobody may touch."""
    return dataclasses.replace(HONEST, name=f"honest_{number}", assignment=assignment)
