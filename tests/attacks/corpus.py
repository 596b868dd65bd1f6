"""The corpus of hostile and innocent notebooks: what a file says, how it becomes a notebook, how a class of them is graded.

A file of `notebooks/` holds the variants of one number of the catalog of attacks; `innocents.py` holds honest work that
looks odd. A variant is the reference solution with some cells replaced, as in an assignment's bank:

    forged_display = variant(                            its name; with the file's number, `09_forged_display`
        "What it does, in one line.",
        small_graph="...",                               the text of a solution cell
        with_wrong="...",                                the cell small_graph: a wrong function, and then this text
        after_train=["...", "..."], first="...",         added cells: after the cell of this grade_id, before all others
        expected="time small_graph, partial train",      verdicts of tests cells; one without names is that of all others,
    )                                                    else they pass. Unsaid: the tests of each replaced cell fail

The other arguments are described at `Variant`. A verdict may name the fault (`failed:fault-id`) or leave it open;
`output|time` expects one of the two. `STOLEN` may appear nowhere: attacks print it with what they stole.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.assignment import load_assignment, on_device
from autograder.bank import notebook_of
from autograder.records import Assignment, Report, Verdict, from_data
from autograder.runs.run import Options, grade_class
from autograder.sandbox import Tier

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ASSIGNMENTS = ROOT / "notebooks" / "assignments"
LAST = {"A": 30, "B": 40, "C": 52, "E": 76}
"""the last number of each family of attacks"""
FIRST, TRAINING = "a1_numpy_backprop", "a6_cuda_training"
"""what a variant answers that does not say: below number 66, and from there on"""

WRONG = "def small_graph(x, y, z):\n    return 0.0, x, y, z\n"
SMALL = {"cell_s": 2.0, "notebook_s": 20.0, "memory_bytes": 384 << 20, "disk_bytes": 48 << 20, "reply_bytes": 8 << 20}
"""limits under which an attack that runs into one is over soon"""
ACCUSATIONS = ("changed-metadata", "edited-locked-cell", "forbidden-import", "forbidden-operations", "skip-tag")
ALARMS = {*ACCUSATIONS, "grader-error", "shadow-module"}
MAX_RECORD = 10_000_000
"""characters of one submission's record: what hundreds of printing cells may come to"""
ROOMY = {"cell_s": 15.0, "notebook_s": 100.0, "memory_bytes": 1 << 30}
"""what differs for the innocents, and for attacks that need time or memory to do their worst"""


@dataclass(frozen=True)
class Variant:
    """One submission of the corpus."""

    title: str
    expected: Mapping[str, str]
    """verdict per tests cell"""
    default: str = "passed"
    """that of the tests cells not named"""
    cells: Mapping[str, str] = field(default_factory=dict)
    extra: Sequence[tuple[str, str]] = ()
    """(grade_id of the cell before it, text); no grade_id: before all others"""
    flags: Sequence[str] = ()
    """kinds of flags that must be raised"""
    silent: Sequence[str] = ()
    """texts that may appear nowhere in what the run writes"""
    tier: str = "none"
    """the sandbox tier without which the verdict is not promised"""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """fields of `records.Limits`, where the small ones do not show it"""
    at_most_s: float = 0.0
    """how long grading it may take; 0: not asked"""
    assignment: str = ""
    unsafe: bool = False
    """it would harm the host without a sandbox, as under nbgrader"""
    name: str = ""
    entry: int = 80
    """number in the catalog; 80 are the innocents"""
    source: Path | None = None

    @property
    def family(self) -> str:
        """A forges the verdict, B steals the answer, C denies service, E is about training code and devices."""
        odd = {14: "C", 24: "B", 29: "C", 80: "innocent"}
        return odd.get(self.entry) or next(f for f, last in LAST.items() if self.entry <= last)

    @property
    def promised(self) -> Tier:
        """The tier from which on everything said here holds."""
        return Tier[self.tier.upper()]

    @property
    def all_limits(self) -> dict[str, Any]:
        """The limits it is graded under: those of an assignment that trains are its own."""
        small = SMALL if self.assignment == FIRST else {}
        return {**small, **(ROOMY if self.family == "innocent" else {}), **self.limits}

    def wanted(self, grade_id: str) -> str:
        """The verdict expected of a tests cell."""
        return self.expected.get(grade_id, self.default)

    def notebook(self, assignment: Assignment, places: Mapping[str, str] | None = None) -> bytes:
        """The submission's file; `places` fills in what is known only at run time."""
        notebook = json.loads(
            notebook_of(assignment, self.cells, [(after, text) for after, text in self.extra if after])
        )
        first = [text for after, text in self.extra if not after]
        notebook["cells"][:0] = [code_cell(text, f"first-{number}") for number, text in enumerate(first)]
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.setdefault("outputs", [])
        text = json.dumps(notebook)
        for word, value in (places or {}).items():
            text = text.replace(word, value)
        return text.encode()


def variant(
    title: str, *, with_wrong: str = "", first: str | Sequence[str] = (), expected: str | None = None, **more: Any
) -> Variant:
    """A variant as its file writes it: see above."""
    more = ({"small_graph": WRONG + with_wrong} if with_wrong else {}) | more
    fields = {name: more.pop(name) for name in Variant.__dataclass_fields__ if name in more}
    added = {"": first} | {name.removeprefix("after_"): more.pop(name) for name in list(more) if name[:6] == "after_"}
    extra = [(after, t) for after, texts in added.items() for t in ([texts] if isinstance(texts, str) else texts)]
    if expected is None:
        expected = ", ".join(f"failed {cell}" for cell in more)
    verdicts, default = {}, "passed"
    for verdict, *names in map(str.split, filter(None, expected.split(","))):
        verdicts |= {f"test_{name}": verdict for name in names}
        default = default if names else verdict
    fields["silent"] = ("STOLEN", *fields.get("silent", ()))
    return Variant(title, verdicts, default, cells=more, extra=extra, **fields)


def code_cell(source: str, name: str) -> dict[str, Any]:
    """A cell that a student added."""
    cell = {"cell_type": "code", "id": name, "metadata": {}, "source": source}
    return cell | {"outputs": [], "execution_count": None}


def loaded(path: Path) -> ModuleType:
    """A file of the corpus as a module of its own."""
    spec = importlib.util.spec_from_file_location(f"corpus_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def attacks() -> list[Variant]:
    """The hostile notebooks, by number."""
    found = []
    for path in sorted((HERE / "notebooks").glob("*.py")):
        number = path.name[:2]
        for name, one in vars(loaded(path)).items():
            if isinstance(one, Variant):
                answers = one.assignment or (FIRST if int(number) < 66 else TRAINING)
                found.append(replace(one, name=f"{number}_{name}", entry=int(number), assignment=answers, source=path))
    return found


def innocents() -> list[Variant]:
    """The honest notebooks that look odd."""
    path = HERE / "innocents.py"
    found = {name: one for name, one in vars(loaded(path)).items() if isinstance(one, Variant)}
    return [replace(one, name=name, expected={}, assignment=FIRST, source=path) for name, one in found.items()]


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


def classes(members: Sequence[Variant], largest: int = 1000) -> list[list[Variant]]:
    """Those that can be graded as one class: to one assignment under the same limits, `largest` at most."""
    groups: dict[str, list[Variant]] = {}
    for member in members:
        key = json.dumps([member.assignment, member.all_limits], sort_keys=True)
        groups.setdefault(key, []).append(member)
    parts = {key: -(-len(group) // largest) for key, group in groups.items()}
    return [group[part :: parts[key]] for key, group in groups.items() for part in range(parts[key])]


def grade_all(
    members: Sequence[Variant], scratch: Path, places: Mapping[str, str] | None = None, workers: int = 2
) -> dict[str, Report]:
    """Grade these submissions, of one of the `classes`, into `scratch/run`, in the order given."""
    assignment = assignment_with(members[0].all_limits, scratch, members[0].assignment)
    handed = scratch / "handed"
    handed.mkdir(parents=True)
    for number, member in enumerate(members):
        (handed / f"{number:03d}-{member.name}.ipynb").write_bytes(member.notebook(assignment, places))
    outcome = grade_class(assignment, handed, Options(scratch / "run", workers), lambda *_: None)
    return {members[int(r.student[:3])].name: r for r in outcome.reports}


def verdicts(report: Report) -> dict[str, str]:
    """What a report says of each tests cell, with the fault where one is named."""
    return {i.grade_id: f"{i.verdict}:{i.fault}" if i.fault else str(i.verdict) for i in report.items}


def surprises(member: Variant, report: Report) -> dict[str, tuple[str, str]]:
    """Tests cells whose verdict is not the expected one: (expected, got)."""
    found = {}
    for grade_id, got in verdicts(report).items():
        wanted = member.wanted(grade_id)
        if not any(one == (got if ":" in one else got.partition(":")[0]) for one in wanted.split("|")):
            found[grade_id] = (wanted, got)
    return found


def wrongs(member: Variant, report: Report, run: Path) -> Iterator[str]:
    """What is not as the file says of one submission, in a run folder where it was graded."""
    for cell, (wanted, got) in surprises(member, report).items():
        yield f"{cell} is {got}, not {wanted}"
    kinds = {flag.kind for flag in report.flags}
    if missing := set(member.flags) - kinds:
        yield f"not flagged: {missing}"
    if member.at_most_s and report.seconds >= member.at_most_s:
        yield f"took {report.seconds:.0f} s"
    data = json.loads((run / "results.json").read_text(encoding="utf-8"))
    record = json.dumps(next(s for s in data["submissions"] if s["student"] == report.student), ensure_ascii=False)
    if told := [text for text in member.silent if text in record]:
        yield f"says {told}: {re.findall('STOLEN.{0,100}', record)}"
    if len(record) >= MAX_RECORD:
        yield f"a record of {len(record)} characters"
    yield from carried_out(member, record, report, run)
    if member.family == "innocent":
        neighbor = member.name.startswith("honest_")
        if report.score != report.max_score:
            yield f"{report.score} of {report.max_score} points"
        if kinds - {"identical"} if neighbor else kinds & ALARMS != set(member.flags):
            yield f"flagged: {kinds}"
        legal = (Verdict.PASSED,) if neighbor else (Verdict.PASSED, Verdict.FAILED)
        if met := [run.status for run in report.runs if run.status not in legal]:
            yield f"cells met a limit: {met}"


def carried_out(member: Variant, record: str, report: Report, run: Path) -> Iterator[str]:
    """Hidden inputs in anything that a student reads. An attack that carries inputs out marks them `INPUT<1.0 2.0>`."""
    if not any("INPUT<" in text for text in member.cells.values()):
        return
    pages = [path for path in run.rglob("*") if path.is_file() and report.student in str(path)]
    texts = [record, *(path.read_text(encoding="utf-8", errors="replace") for path in pages)]
    marks = [mark for text in texts for mark in re.findall(r"INPUT(?:<|&lt;)([-+.e\d ]+)", text)]
    # Below the full tier feedback shows nothing of the student's at all.
    if (not marks and Tier.of(report.sandbox) is Tier.FULL) or not any(path.suffix == ".html" for path in pages):
        yield "the attack reached no page at all: it tests nothing"
    for number in " ".join(marks).split():
        # Demonstration inputs are rounded to one decimal; sums and steps of such are too.
        if abs(float(number) - round(float(number), 1)) >= 1e-9:
            yield f"{number} is no demonstration input"


def read_results(path: Path) -> list[Report]:
    """The reports of a results.json."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return [from_data(Report, s) for s in data["submissions"]]


def honest(number: int, beside: Variant) -> Variant:
    """A neighbor, who hands in the reference solution and whose full marks nobody may touch."""
    return Variant(
        "The reference solution.", {}, limits=beside.all_limits, assignment=beside.assignment, name=f"honest_{number}"
    )
