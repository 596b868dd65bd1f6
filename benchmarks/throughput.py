"""How long grading takes: stock `nbgrader autograde`, nbclient and `autograder grade`, in one run on one class.

Three classes. `imports`: notebooks that import torch and TensorFlow and whose own cells take almost no time, so that
what is measured is the grader. `a1` and `a6`: the known submissions of two assignments, as students would write them;
a6 trains, on virtual CUDA. The others run its visible checks only: what they leave out is the point of ours.

    python benchmarks/throughput.py [--out FILE] [--submissions N] [--baseline N]

The others get fewer submissions (they are slow, and linear); every figure is per submission. Figures of a shared
machine wander: read the ratios, which come from one run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import nbformat
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


def main() -> None:
    """Measure each class and print a table for it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--submissions", type=int, default=60, help="for autograder")
    parser.add_argument("--baseline", type=int, default=5, help="for nbgrader and nbclient")
    parser.add_argument("--only", choices=["imports", "a1", "a6"], help="one class instead of all")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        for name, assignment in (("imports", None), ("a1", "a1_numpy_backprop"), ("a6", "a6_cuda_training")):
            if options.only not in (None, name):
                continue
            folder, notebooks = _bank_of(assignment) if assignment else _imports_class(Path(scratch) / name)
            found[name] = _measure(folder, notebooks, Path(scratch) / name, options.submissions, options.baseline)
            _print(name, found[name])
    if options.out:
        facts = {"cores": os.cpu_count(), "python": platform.python_version(), "machine": platform.machine()}
        figures = {name: [asdict(t) for t in timings] for name, timings in found.items()}
        options.out.write_text(json.dumps({"host": facts, "classes": figures}, indent=1) + "\n")


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


def _bank_of(name: str) -> tuple[Path, list[bytes]]:
    """An assignment and what its bank knows, right and wrong."""
    folder = ROOT / "notebooks" / "assignments" / name
    assignment = load_assignment(folder, ROOT)
    # nbgrader has no limit per submission worth the name: leave out what would only measure a time-out.
    entries = [e for e in load_bank(assignment) if e.kind != "attack"]
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


Grader = Callable[[Path, Sequence[bytes], Path], float]


def _timing(name: str, grader: Grader, folder: Path, notebooks: Sequence[bytes], scratch: Path) -> Timing:
    """Time the whole class and its first submission; the difference is what the others cost."""
    one = grader(folder, notebooks[:1], scratch / "first")
    whole = grader(folder, notebooks, scratch / "whole")
    return Timing(name, len(notebooks), whole, (whole - one) / (len(notebooks) - 1))


def _nbgrader(folder: Path, notebooks: Sequence[bytes], scratch: Path) -> float:
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


def _nbclient(folder: Path, notebooks: Sequence[bytes], scratch: Path) -> float:
    scratch.mkdir(parents=True)
    for number, content in enumerate(notebooks):
        (scratch / f"s{number:03}.ipynb").write_bytes(content)
    names = [f"s{number:03}.ipynb" for number in range(len(notebooks))]
    return _run([BIN / "jupyter", "execute", "--allow-errors", *names], scratch)


def _autograder(workers: int) -> Grader:
    def grade(folder: Path, notebooks: Sequence[bytes], scratch: Path) -> float:
        handed = scratch / "class"
        handed.mkdir(parents=True)
        for number, content in enumerate(notebooks):
            (handed / f"s{number:03}.ipynb").write_bytes(content)
        command = [BIN / "autograder", "grade", folder, handed, "--out", scratch / "run", "--workers", str(workers)]
        return _run(command, ROOT)

    return grade


def _run(command: Sequence[str | Path], folder: Path) -> float:
    start = time.perf_counter()
    # nbgrader calls alembic by its bare name.
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, env=environment)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return seconds


def _print(name: str, timings: Sequence[Timing]) -> None:
    table = Table(
        "grader", "submissions", "whole command, s", "each more, s", "nbgrader / this", title=f"class: {name}"
    )
    slowest = timings[0].each_s
    for t in timings:
        table.add_row(t.grader, str(t.submissions), f"{t.total_s:.1f}", f"{t.each_s:.2f}", f"{slowest / t.each_s:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
