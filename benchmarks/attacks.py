"""The corpus of attacks against two graders: stock `nbgrader autograde` and `autograder grade`, side by side.

Every variant of `tests/attacks/` is handed in to both, against the same assignment. For nbgrader the assignment is
released as it stands: its visible checks are the tests, as in any nbgrader course. Its column is one command for each
submission, with a limit on time; what would harm the host without a sandbox is not given to it.

    python benchmarks/attacks.py [--out FILE.json] [--only PATTERN ...] [--without-nbgrader]
    python benchmarks/attacks.py --tier full|files|limits|none|all ... [--workers N] [--out FILE.json] [--only ...]

With `--tier` autograder alone grades everything, as an unprivileged user on a host of that tier
(`tests/attacks/hosts.py`), and the table says for each family how many were right; below it stand those that were not.
There everything counts that a file says: flags, what may not be printed, and that innocents meet no limit.

Without it, right means: every tests cell has the points that the work deserves without the trick, and what cannot be
graded is said to be so. Flags for a person, which nbgrader does not have, are not counted.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import nbformat
import psutil
from rich.console import Console
from rich.progress import track
from rich.table import Table

from autograder.records import Assignment, Report, Role, Verdict
from autograder.runs.run import Options, grade_class
from autograder.sandbox import Tier
from autograder.selftest import notebook_of
from autograder.submissions.intake import find_submissions
from tests.attacks import corpus, hosts
from tests.attacks.handed_in import HostileFile, hostile_files

ROOT = Path(__file__).resolve().parents[1]
NBGRADER_S = 90.0
"""for one submission; a harmless one takes about ten"""
CELL_S = 20
FAMILIES = {
    "A": "A: forges the verdict",
    "B": "B: steals the answer",
    "C": "C: denies service",
    "D": "D: hostile files",
    "E": "E: training and devices",
    "innocent": "innocents",
}
TIERS = {tier.name.lower(): tier for tier in reversed(Tier)}
CONFIG = f"""
c = get_config()  # noqa: F821
c.ExecutePreprocessor.timeout = {CELL_S}
c.ExecutePreprocessor.interrupt_on_timeout = True
c.NbGraderConfig.logfile = ""
c.Exchange.root = "exchange"
"""


@dataclass(frozen=True)
class Work:
    """One submission and what it deserves."""

    name: str
    title: str
    entry: int
    family: str
    wanted: Mapping[str, str]
    """verdict per tests cell; empty where it cannot be graded at all"""
    unsafe: bool


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    title: str
    entry: int
    family: str
    wanted: str
    autograder: str
    autograder_right: bool
    nbgrader: str
    nbgrader_right: bool | None
    """None: it was not given to nbgrader"""


def main() -> None:
    """Run both graders and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the table as JSON, and as Markdown beside it")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="variants to run; repeatable")
    parser.add_argument("--without-nbgrader", action="store_true", help="the column of autograder alone")
    parser.add_argument(
        "--tier", action="append", default=[], choices=[*TIERS, "all"], help="at this tier, unprivileged; repeatable"
    )
    parser.add_argument("--workers", type=int, default=2, help="with --tier: how many grade at once")
    options = parser.parse_args()
    if options.tier:
        tiers = [TIERS[name] for name in TIERS if {name, "all"} & set(options.tier)]
        found = {tier: at_tier(tier, options.only or ["*"], options.workers) for tier in tiers}
        show_tiers(found)
        if options.out:
            write_tiers(found, options.out)
        return
    with tempfile.TemporaryDirectory(prefix="attacks-", dir="/var/tmp") as scratch:
        rows = compare(Path(scratch), options.only or ["*"], not options.without_nbgrader)
    show(rows)
    if options.out:
        write(rows, options.out)


def compare(scratch: Path, patterns: Sequence[str], with_nbgrader: bool) -> list[Row]:
    """The table for the variants that match."""
    # One table, one assignment: the attacks on training code (family E) answer others.
    known = [v for v in (*corpus.attacks(), *corpus.innocents()) if v.assignment == corpus.FIRST]
    members = [v for v in known if matches(v.name, patterns)]
    files = [file for file in hostile_files() if matches(file.name, patterns)]
    assignment = corpus.assignment_with(corpus.SMALL | corpus.ROOMY, scratch / "assignment")
    points = {c.grade_id: c.points for n in assignment.notebooks for c in n.cells if c.role is Role.TESTS}

    works = {m.name: work_of(m, list(points)) for m in members}
    submitted = scratch / "course" / "submitted"
    reports = graded_notebooks(members, scratch)
    for member in members:
        folder = submitted / member.name / assignment.name
        folder.mkdir(parents=True)
        (folder / f"{assignment.name}.ipynb").write_bytes(member.notebook(assignment, places()))
    works |= {w.name: w for w in built_files(files, submitted, assignment, list(points))}
    reports |= graded_files(works, assignment, submitted, scratch) if files else {}

    course = Course(scratch / "course", assignment.folder) if with_nbgrader else None
    rows = []
    for work in track(list(works.values()), "grading with nbgrader", disable=course is None, transient=True):
        theirs = course.grade(work.name) if course and not work.unsafe else None
        rows.append(row(work, reports.get(work.name), theirs, course is not None, points))
    return rows


# -- the corpus ------------------------------------------------------------------------------------------------------


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a variant is chosen."""
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def places() -> dict[str, str]:
    """Where nobody listens: the table asks for scores, the tests ask for what gets out."""
    return {"LISTENING_PORT": "9", "LISTENING_NAME": "nobody"}


def work_of(member: corpus.Variant, cells: Sequence[str]) -> Work:
    """What a notebook of the corpus deserves."""
    wanted = {cell: member.wanted(cell).partition(":")[0] for cell in cells}
    return Work(member.name, member.title, member.entry, member.family, wanted, member.unsafe)


def built_files(
    files: Sequence[HostileFile], submitted: Path, assignment: Assignment, cells: Sequence[str]
) -> list[Work]:
    """Write every hostile file (family D) as a student's submission. Those that need a whole class are left out."""
    # As Jupyter's own API hands notebooks around, each source one string: the files of the corpus edit them so.
    honest = json.dumps(nbformat.reads(notebook_of(assignment, {}), as_version=4), indent=1).encode()
    works = []
    for file in files:
        if file.build is None:
            continue
        folder = submitted / file.name / assignment.name
        folder.mkdir(parents=True)
        file.build(folder, honest)
        verdict = "" if file.rejected else "not attempted" if file.unanswered else "passed"
        wanted = dict.fromkeys(cells, verdict) if verdict else {}
        works.append(Work(file.name, file.title, file.entry, "D", wanted, unsafe=False))
    return works


def graded_notebooks(members: Sequence[corpus.Variant], scratch: Path) -> dict[str, Report]:
    """Families A to C and the innocents by autograder: a class for each set of limits."""
    found: dict[str, Report] = {}
    for number, some in enumerate(corpus.classes(members)):
        found |= corpus.grade_all(some, scratch / f"class-{number}", places())
    return found


def graded_files(
    works: Mapping[str, Work], assignment: Assignment, submitted: Path, scratch: Path
) -> dict[str, Report]:
    """Family D by autograder: one class, as it lies in the folder that nbgrader reads."""
    options = Options(scratch / "files-run", workers=2, only=_students(works, submitted, assignment))
    outcome = grade_class(assignment, submitted, options, lambda *_: None)
    return {r.student: r for r in outcome.reports}


def _students(works: Mapping[str, Work], submitted: Path, assignment: Assignment) -> tuple[str, ...]:
    handed = {h.student for h in find_submissions(submitted, assignment).students}
    return tuple(sorted(handed & {w.name for w in works.values() if w.family == "D"}))


# -- at a tier -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """One submission at one tier."""

    name: str
    family: str
    promised: Tier
    """the tier from which on all that is asked of it holds"""
    wrong: tuple[str, ...] = ()
    left_out: bool = False


def at_tier(tier: Tier, patterns: Sequence[str], workers: int) -> list[Outcome]:
    """All that match, graded as an unprivileged user on a host of this tier."""
    known = [v for v in (*corpus.attacks(), *corpus.innocents()) if matches(v.name, patterns)]
    members = [v for v in known if not hosts.left_out(v, tier)]
    outcomes = [Outcome(v.name, v.family, v.promised, left_out=True) for v in known if hosts.left_out(v, tier)]
    for some in track(corpus.classes(members), f"tier {tier.name.lower()}", transient=True):
        with hosts.scratch() as home:
            reports = hosts.graded(some, tier, home, places(), workers)
            for v in some:
                wrong = [*graded_at(tier, reports.get(v.name))] or [*corpus.wrongs(v, reports[v.name], home / "run")]
                outcomes.append(Outcome(v.name, v.family, v.promised, tuple(wrong)))
    if files := [file for file in hostile_files() if matches(file.name, patterns)]:
        with hosts.scratch() as home:
            outcomes += files_at_tier(files, tier, home, workers)
    return outcomes


def files_at_tier(files: Sequence[HostileFile], tier: Tier, home: Path, workers: int) -> list[Outcome]:
    """Family D, as one class."""
    assignment = corpus.assignment_with(corpus.SMALL | corpus.ROOMY, home)
    points = {c.grade_id: c.points for n in assignment.notebooks for c in n.cells if c.role is Role.TESTS}
    works = built_files(files, home / "handed", assignment, list(points))
    reports = hosts.run(assignment.folder, home / "handed", tier, home, workers)
    outcomes = []
    for work in works:
        got = row(work, reports.get(work.name), None, False, points)
        wrong = [] if got.autograder_right else [f"{got.autograder}, not {got.wanted}"]
        outcomes.append(Outcome(work.name, "D", Tier.NONE, tuple(wrong)))
    return outcomes


def graded_at(tier: Tier, report: Report | None) -> Iterator[str]:
    """Whether it was graded at all, and at that tier."""
    if report is None:
        yield "no report"
    elif Tier.of(report.sandbox) is not tier:
        yield f"graded at {report.sandbox or 'no tier'}: {report.reason}"


def tier_rows(found: Mapping[Tier, Sequence[Outcome]]) -> list[list[str]]:
    """Family, and right of all that ran at each tier."""
    rows = []
    for family, title in FAMILIES.items():
        cells = []
        for outcomes in found.values():
            ran = [o for o in outcomes if o.family == family and not o.left_out]
            cells.append(f"{sum(not o.wrong for o in ran)} of {len(ran)}" if ran else "")
        rows.append([title, *cells])
    return rows


def notes(tier: Tier, outcomes: Sequence[Outcome]) -> list[str]:
    """What is to be said below the table of one tier."""
    wrong = [o for o in outcomes if o.wrong]
    broken = [o for o in wrong if o.promised <= tier]
    missing = [o for o in wrong if o.promised > tier]
    out = [o.name for o in outcomes if o.left_out]
    lines = [f"tier {tier.name.lower()}: {len(broken)} wrong of what it promises"]
    lines += [f"  {o.name}: {'; '.join(o.wrong)[:300]}" for o in broken]
    lines.append(f"  {len(missing)} wrong of what only a higher tier promises")
    lines += [f"  {o.name} (tier {o.promised.name.lower()}): {'; '.join(o.wrong)[:300]}" for o in missing]
    if out:
        lines.append(f"  {len(out)} left out, whose harm only a higher tier bounds: {', '.join(out)}")
    return lines


def show_tiers(found: Mapping[Tier, Sequence[Outcome]]) -> None:
    """Print the table, and what was wrong."""
    table = Table("right", *(tier.name.lower() for tier in found))
    for one in tier_rows(found):
        table.add_row(*one)
    console = Console()
    console.print(table)
    for tier, outcomes in found.items():
        for line in notes(tier, outcomes):
            console.print(line, highlight=False, markup=False)


def write_tiers(found: Mapping[Tier, Sequence[Outcome]], out: Path) -> None:
    """The outcomes as JSON, and the table as Markdown beside it."""
    data = {tier.name.lower(): [asdict(o) | {"promised": o.promised.name.lower()} for o in some]
            for tier, some in found.items()}  # fmt: skip
    out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    lines = ["| right | " + " | ".join(data) + " |", "|---" * (len(data) + 1) + "|"]
    lines += ["| " + " | ".join(one) + " |" for one in tier_rows(found)]
    lines += ["", *(line for tier, some in found.items() for line in notes(tier, some))]
    out.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


# -- nbgrader --------------------------------------------------------------------------------------------------------


class Course:
    """A throw-away nbgrader course with one assignment."""

    def __init__(self, folder: Path, source: Path) -> None:
        """Release the assignment. Raises CalledProcessError if nbgrader cannot."""
        self.folder, self.assignment = folder, source.name
        target = folder / "source" / self.assignment
        target.mkdir(parents=True)
        shutil.copy2(source / f"{self.assignment}.ipynb", target)
        (folder / "home").mkdir()
        (folder / "nbgrader_config.py").write_text(CONFIG)
        self._run("generate_assignment", self.assignment, check=True)

    def _run(self, *arguments: str, check: bool = False) -> bool:
        """Run one command of nbgrader's, and end all that it leaves; whether it ended by itself and well."""
        command = [str(Path(sys.executable).parent / "nbgrader"), *arguments]
        environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(self.folder / "home")}
        environment |= {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        seen: set[psutil.Process] = set()
        waited = 0.0
        while process.poll() is None and waited < NBGRADER_S:
            # Kernels start sessions of their own: they are found while their parent lives.
            seen |= set(psutil.Process(process.pid).children(recursive=True))
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                waited += 0.5
        for one in seen:
            if one.is_running():
                one.kill()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if check and process.returncode:
            raise RuntimeError(f"nbgrader {' '.join(arguments)} failed: {(self.folder / 'log').read_text()[-2000:]}")
        return process.returncode == 0

    def grade(self, student: str) -> dict[str, float | None] | None:
        """Points per tests cell (None: needs a person), or None if nbgrader gave this submission no score."""
        if not self._run("autograde", self.assignment, "--student", student, "--create", "--force"):
            return None
        return self._points(student)

    def _points(self, student: str) -> dict[str, float | None] | None:
        from nbgrader.api import Gradebook, MissingEntry

        with Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}") as gradebook:
            try:
                submission = gradebook.find_submission(self.assignment, student)
            except MissingEntry:
                return None
            grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
            # What nbgrader scores by itself; where it does not, a person must.
            return {g.name: g.auto_score for g in grades if g.cell_type == "code"}


# -- the table -------------------------------------------------------------------------------------------------------


def row(
    work: Work,
    report: Report | None,
    theirs: Mapping[str, float | None] | None,
    asked: bool,
    points: Mapping[str, float],
) -> Row:
    """What both said of one submission."""
    ours = {i.grade_id: str(i.verdict) for i in report.items if i.grade_id in points} if report else {}
    rejected = report is not None and report.state is Verdict.REJECTED
    # `output|time`: whichever limit is met first.
    met = ours.keys() == work.wanted.keys() and all(v in work.wanted[c].split("|") for c, v in ours.items())
    right = met if work.wanted else rejected
    given = asked and not work.unsafe
    return Row(
        work.name,
        work.title,
        work.entry,
        work.family,
        wanted_score(work, points),
        f"{report.score:g} {report.state}" if report else "no report",
        right,
        nbgrader_says(theirs) if given else "not run: it would harm the host" if asked else "not run",
        nbgrader_right(work, theirs, points) if given else None,
    )


def wanted_score(work: Work, points: Mapping[str, float]) -> str:
    """The score that the work deserves."""
    if not work.wanted:
        return "rejected"
    sure = sum(points[c] for c, verdict in work.wanted.items() if verdict == "passed")
    may = {c for c, verdict in work.wanted.items() if {"partial", "passed"} & set(verdict.split("|"))}
    partial = sum(points[c] for c in may if work.wanted[c] != "passed")
    return f"{sure:g}" if not partial else f"{sure:g} to {sure + partial:g}"


def nbgrader_says(theirs: Mapping[str, float | None] | None) -> str:
    """nbgrader's score, as its gradebook has it."""
    if theirs is None:
        return "no score"
    person = sum(score is None for score in theirs.values())
    return f"{sum(s or 0 for s in theirs.values()):g}" + (f" ({person} by hand)" if person else "")


def nbgrader_right(work: Work, theirs: Mapping[str, float | None] | None, points: Mapping[str, float]) -> bool:
    """Whether every tests cell got what it deserves; no score at all is right only where nothing can be graded."""
    if theirs is None or not work.wanted:
        return theirs is None and not work.wanted
    deserved = {"passed": lambda s, full: s == full, "partial": lambda s, full: s is not None}
    return all(
        deserved.get(verdict, lambda s, full: s == 0)(theirs.get(cell), points[cell])
        for cell, verdict in work.wanted.items()
    )


def totals(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Right and wrong by family."""
    found: dict[str, dict[str, int]] = {}
    for one in rows:
        family = found.setdefault(one.family, dict.fromkeys(("files", "autograder", "nbgrader", "nbgrader_ran"), 0))
        family["files"] += 1
        family["autograder"] += one.autograder_right
        family["nbgrader"] += bool(one.nbgrader_right)
        family["nbgrader_ran"] += one.nbgrader_right is not None
    return found


def show(rows: Sequence[Row]) -> None:
    """Print the table and the totals."""
    table = Table("", "wanted", "autograder", "", "nbgrader", "")
    table.columns[0].no_wrap = True
    mark = {True: "right", False: "WRONG", None: ""}
    for one in rows:
        table.add_row(
            one.name,
            one.wanted,
            one.autograder,
            mark[one.autograder_right],
            one.nbgrader,
            mark[one.nbgrader_right],
        )
    console = Console()
    console.print(table)
    for family, count in totals(rows).items():
        theirs = f"nbgrader {count['nbgrader']} of {count['nbgrader_ran']} run" if count["nbgrader_ran"] else ""
        console.print(
            f"{family}: autograder right {count['autograder']} of {count['files']}   {theirs}", highlight=False
        )


def write(rows: Sequence[Row], out: Path) -> None:
    """The table as JSON, and as Markdown beside it."""
    facts = {"nbgrader": version("nbgrader"), "python": platform.python_version()}
    data = {"versions": facts, "totals": totals(rows), "rows": [asdict(r) for r in rows]}
    out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    lines = [
        "| attack | what it does | wanted | autograder | right | nbgrader | right |",
        "|---|---|---|---|---|---|---|",
    ]
    mark = {True: "yes", False: "**no**", None: ""}
    for one in rows:
        cells = (one.name, one.title, one.wanted, one.autograder, mark[one.autograder_right], one.nbgrader)
        lines.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + f" | {mark[one.nbgrader_right]} |")
    out.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
