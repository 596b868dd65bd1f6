"""How long grading takes: stock `nbgrader autograde`, nbclient and `autograder grade`, in one run on the same classes.

Five classes. `imports`: notebooks that import torch and TensorFlow and whose own cells take almost no time, so that
what is measured is the grader. `a1` and `a6`: all known submissions of two assignments but the attacks, as students
would write them; a6 trains, on virtual CUDA. `a1 right` and `a6 right`: the right ones alone. The others run the
visible checks only: what they leave out is the point of ours.

Then a term: N students hand in a1, and the same command is given again with nothing changed, and with one student's
work changed; likewise for a small class of a6.

    python benchmarks/throughput.py [--out FILE] [--submissions N] [--baseline N] [--students N] [--only PART]

The others get fewer submissions (they are slow, and linear); every figure is per submission. Figures of a shared
machine wander: read the ratios, which come from one run.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import nbformat
import psutil
from rich.console import Console
from rich.table import Table

from autograder.assignment import load_assignment
from autograder.bank import load_bank, notebook_of

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent

IMPORTS_CELLS = {
    "imports": "import torch\nimport tensorflow as tf",
    "double": (
        "def double(x):\n    ### BEGIN SOLUTION\n"
        "    return (torch.tensor(x) + tf.constant(x).numpy()).tolist()\n    ### END SOLUTION"
    ),
    "test_double": "assert double([1.0, 2.0]) == [2.0, 4.0]",
}
IMPORTS_CHECKS = '''import pytest


@pytest.mark.cell("test_double")
@pytest.mark.parametrize("n", [1, 2, 5])
def test_doubles(student, reference, draw, expect, n):
    """Every number is doubled."""
    x = [float(v) for v in draw.normal(n, dtype="float32")]
    expect.close(student.double(x), reference.double(x))
'''


@dataclass(frozen=True)
class Timing:
    """One grader on one class."""

    grader: str
    submissions: int
    total_s: float
    """the whole command, from start to exit"""
    each_s: float
    """per submission in the long run: what one more costs"""
    each_cpu_s: float
    """the same in CPU seconds of all processes"""


@dataclass(frozen=True)
class Term:
    """One assignment graded for a class, and graded again."""

    assignment: str
    students: int
    first_s: float
    main_mib: float
    """the most memory that the command's own process held"""
    run_kb: float
    """the run folder, per student"""
    unchanged_s: float
    one_again_s: float


@dataclass(frozen=True)
class Cost:
    """One command."""

    wall_s: float
    cpu_s: float
    """of the command and everything it started"""
    main_mib: float


CLASSES = {
    "imports": ("", False),
    "a1": ("a1_numpy_backprop", False),
    "a1 right": ("a1_numpy_backprop", True),
    "a6": ("a6_cuda_training", False),
    "a6 right": ("a6_cuda_training", True),
}
"""the assignment, and whether its right answers alone are handed in"""
TERMS = {"a1_numpy_backprop": 1.0, "a6_cuda_training": 0.02}
"""and how many of the students take part"""


def main() -> None:
    """Measure each class and print a table for it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--submissions", type=int, default=60, help="for autograder")
    parser.add_argument("--baseline", type=int, default=5, help="for nbgrader and nbclient")
    parser.add_argument("--students", type=int, default=1000, help="who hand in a1, for the term")
    parser.add_argument("--only", choices=[*CLASSES, "term"], action="append", help="this part of all; repeatable")
    options = parser.parse_args()
    found: dict[str, list[Timing]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        for name, (assignment, right_alone) in CLASSES.items():
            if options.only and name not in options.only:
                continue
            place = Path(scratch) / name.replace(" ", "_")
            folder, notebooks = _bank_of(assignment, right_alone=right_alone) if assignment else _imports_class(place)
            found[name] = _measure(folder, notebooks, place, options.submissions, options.baseline)
            _print(name, found[name])
        terms = []
        for name, share in TERMS.items() if not options.only or "term" in options.only else ():
            terms.append(_term(name, max(2, round(share * options.students)), Path(scratch) / f"term-{name}"))
        if terms:
            _print_terms(terms)
    if options.out:
        facts = {"cores": os.cpu_count(), "python": platform.python_version(), "machine": platform.machine()}
        figures = {name: [asdict(t) for t in timings] for name, timings in found.items()}
        facts = {"host": facts, "classes": figures, "terms": [asdict(term) for term in terms]}
        options.out.write_text(json.dumps(facts, indent=1) + "\n")


# -- the classes -------------------------------------------------------------------------------------------------


def _imports_class(scratch: Path) -> tuple[Path, list[bytes]]:
    """An assignment folder and one submission."""
    folder = scratch / "imports_both"
    folder.mkdir(parents=True)
    roles = {
        "imports": {"locked": True, "solution": False, "grade": False},
        "double": {"locked": False, "solution": True, "grade": False},
        "test_double": {"locked": True, "solution": False, "grade": True, "points": 1},
    }
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    for grade_id, source in IMPORTS_CELLS.items():
        meta = {"grade_id": grade_id, "schema_version": 3, "task": False, **roles[grade_id]}
        cell = nbformat.v4.new_code_cell(source, metadata={"nbgrader": meta})
        cell["id"] = grade_id.replace("_", "-")
        notebook.cells.append(cell)
    nbformat.write(notebook, folder / "imports_both.ipynb")
    (folder / "checks.py").write_text(IMPORTS_CHECKS)
    return folder, [notebook_of(load_assignment(folder, ROOT), {})]


def _bank_of(name: str, *, right_alone: bool = False) -> tuple[Path, list[bytes]]:
    """An assignment and what its bank knows: all but the attacks, or the right answers."""
    folder = ROOT / "notebooks" / "assignments" / name
    assignment = load_assignment(folder, ROOT)
    # nbgrader has no limit per submission worth the name: leave out what would only measure a time-out.
    left_out = {"attack", "fault"} if right_alone else {"attack"}
    entries = [e for e in load_bank(assignment) if e.kind not in left_out]
    return folder, [notebook_of(assignment, e.cells, e.extra) for e in entries]


# -- the graders -------------------------------------------------------------------------------------------------


def _measure(folder: Path, notebooks: Sequence[bytes], scratch: Path, many: int, few: int) -> list[Timing]:
    few_ones = list(itertools.islice(itertools.cycle(notebooks), few))
    many_ones = list(itertools.islice(itertools.cycle(notebooks), many))
    return [
        _timing("nbgrader autograde", _nbgrader, folder, few_ones, scratch / "nbgrader"),
        _timing("nbclient", _nbclient, folder, few_ones, scratch / "nbclient"),
        _timing("autograder, 1 worker", _autograder(1), folder, many_ones, scratch / "one"),
        _timing("autograder, 2 workers", _autograder(2), folder, many_ones, scratch / "two"),
    ]


Grader = Callable[[Path, Sequence[bytes], Path], Cost]


def _timing(name: str, grader: Grader, folder: Path, notebooks: Sequence[bytes], scratch: Path) -> Timing:
    """Time the whole class and its first submission; the difference is what the others cost."""
    one = grader(folder, notebooks[:1], scratch / "first")
    whole = grader(folder, notebooks, scratch / "whole")
    more = len(notebooks) - 1
    each, each_cpu = (whole.wall_s - one.wall_s) / more, (whole.cpu_s - one.cpu_s) / more
    return Timing(name, len(notebooks), whole.wall_s, each, each_cpu)


def _nbgrader(folder: Path, notebooks: Sequence[bytes], scratch: Path) -> Cost:
    name = folder.name
    source = scratch / "source" / name
    source.mkdir(parents=True)
    shutil.copy(folder / f"{name}.ipynb", source)
    (scratch / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.root = {str(scratch)!r}\n")
    _run([BIN / "nbgrader", "generate_assignment", name, "--force"], scratch)
    for number, content in enumerate(notebooks):
        target = scratch / "submitted" / f"s{number:03}" / name
        target.mkdir(parents=True)
        (target / f"{name}.ipynb").write_bytes(content)
    return _run([BIN / "nbgrader", "autograde", name], scratch)


def _nbclient(folder: Path, notebooks: Sequence[bytes], scratch: Path) -> Cost:
    scratch.mkdir(parents=True)
    for number, content in enumerate(notebooks):
        (scratch / f"s{number:03}.ipynb").write_bytes(content)
    names = [f"s{number:03}.ipynb" for number in range(len(notebooks))]
    return _run([BIN / "jupyter", "execute", "--allow-errors", *names], scratch)


def _autograder(workers: int) -> Grader:
    def grade(folder: Path, notebooks: Sequence[bytes], scratch: Path) -> Cost:
        _hand_in(notebooks, scratch)
        return _grade(folder, scratch, workers)

    return grade


def _hand_in(notebooks: Sequence[bytes], scratch: Path) -> None:
    handed = scratch / "class"
    handed.mkdir(parents=True)
    for number, content in enumerate(notebooks):
        (handed / f"s{number:04}.ipynb").write_bytes(content)


def _grade(folder: Path, scratch: Path, workers: int) -> Cost:
    options = ["--out", scratch / "run", "--workers", str(workers)]
    return _run([BIN / "autograder", "grade", folder, scratch / "class", *options], ROOT)


def _run(command: Sequence[str | Path], folder: Path) -> Cost:
    start, cpu = time.perf_counter(), _children_cpu_s()
    # nbgrader calls alembic by its bare name.
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    most = 0
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [str(c) for c in command], cwd=folder, stdout=subprocess.DEVNULL, stderr=said, env=environment
        )
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            with contextlib.suppress(psutil.Error):
                most = max(most, watched.memory_info().rss)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
        cost = Cost(time.perf_counter() - start, _children_cpu_s() - cpu, most / (1 << 20))
        if process.returncode != 0:
            said.seek(0)
            raise SystemExit(f"{command[0]} ended with {process.returncode}:\n{said.read()[-3000:].decode()}")
    return cost


def _children_cpu_s() -> float:
    """Of all processes that have ended and were waited for, theirs included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# -- a term ------------------------------------------------------------------------------------------------------


def _term(name: str, students: int, scratch: Path) -> Term:
    """A class graded three times on two workers: all of it, nothing, and one student who handed in other work."""
    folder, known = _bank_of(name)
    _hand_in(list(itertools.islice(itertools.cycle(known), students)), scratch)
    first = _grade(folder, scratch, 2)
    size = sum(path.stat().st_size for path in (scratch / "run").rglob("*") if path.is_file())
    unchanged = _grade(folder, scratch, 2)
    shutil.copy(scratch / "class" / "s0001.ipynb", scratch / "class" / "s0000.ipynb")
    again = _grade(folder, scratch, 2)
    kb = size / 1000 / students
    return Term(name, students, first.wall_s, first.main_mib, kb, unchanged.wall_s, again.wall_s)


def _print(name: str, timings: Sequence[Timing]) -> None:
    table = Table(
        *("grader", "submissions", "whole command, s", "each more, s", "CPU s", "nbgrader / this"),
        title=f"class: {name}",
    )
    slowest = timings[0].each_s
    for t in timings:
        figures = (f"{t.total_s:.1f}", f"{t.each_s:.2f}", f"{t.each_cpu_s:.2f}", f"{slowest / t.each_s:.1f}")
        table.add_row(t.grader, str(t.submissions), *figures)
    Console().print(table)


def _print_terms(terms: Sequence[Term]) -> None:
    head = ("assignment", "students", "all, s", "main, MiB", "run, KB each", "nothing new, s", "one new, s")
    table = Table(*head, title="a term, two workers")
    for t in terms:
        sizes = (f"{t.first_s:.0f}", f"{t.main_mib:.0f}", f"{t.run_kb:.0f}")
        table.add_row(t.assignment, str(t.students), *sizes, f"{t.unchanged_s:.1f}", f"{t.one_again_s:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
