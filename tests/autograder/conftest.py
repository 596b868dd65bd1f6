"""Warm processes, kernels and small assignments: one zygote for all tests of the grader, a kernel for each."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from autograder import cli
from autograder.assignment import load_assignment
from autograder.judge.reference import reference_names
from autograder.judge.run import CheckOutcome, Checks
from autograder.judge.student import LocalSide
from autograder.kernels.preload import public_folders
from autograder.kernels.session import Kernel
from autograder.kernels.zygote import Zygote
from autograder.records import Assignment, CheckResult, Limits
from tests import notebook_builder as builder


@pytest.fixture(scope="session")
def still_alive() -> Callable[..., list[psutil.Process]]:
    """`still_alive(processes, within_s)`: those that have not ended after some seconds; zombies have."""

    def wait(processes: list[psutil.Process], within_s: float = 15) -> list[psutil.Process]:
        deadline = time.monotonic() + within_s
        while left := [p for p in processes if _runs(p)]:
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        return left

    return wait


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def run_command(*arguments: object) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command, each as one line; a traceback fails the test."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            status = cli.main([str(a) for a in arguments])
        except SystemExit as leaving:  # argparse
            status = leaving.code if isinstance(leaving.code, int) else 1
    assert "Traceback" not in out.getvalue() + err.getvalue()
    return status, " ".join(out.getvalue().split()), " ".join(err.getvalue().split())


QUICK = Limits(cell_s=20, notebook_s=120, memory_bytes=512 << 20)


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """Forks kernels that have imported NumPy only: ready in a tenth of a second."""
    with Zygote("autograder.kernels.supervisor:kernel_child", ("numpy", "numpy.random")) as started:
        yield started


@pytest.fixture(scope="session")
def torch_zygote() -> Iterator[Zygote]:
    """Forks kernels that have imported torch."""
    with Zygote("autograder.kernels.supervisor:kernel_child", ("numpy", "torch")) as started:
        yield started


@pytest.fixture
def make_kernel(zygote: Zygote) -> Iterator[Callable[..., Kernel]]:
    """`make_kernel(limits, **arguments)`: a confined kernel that is closed after the test."""
    made: list[Kernel] = []

    def make(limits: Limits = QUICK, launcher: Zygote = zygote, **arguments: object) -> Kernel:
        made.append(Kernel(launcher, limits, public_folders(), **arguments))  # type: ignore[arg-type]
        made[-1].wait_until_ready()
        return made[-1]

    yield make
    for kernel in made:
        kernel.close()


@pytest.fixture
def kernel(make_kernel: Callable[..., Kernel]) -> Kernel:
    """A confined kernel with limits that honest tests do not meet."""
    return make_kernel()


SECRET = b"a secret of the run"


@dataclass
class Judged:
    """An assignment and its checks."""

    assignment: Assignment
    checks: Checks

    def side(self, cells: Mapping[str, str] | None = None) -> LocalSide:
        """The reference with some solution cells replaced, as a student's side."""
        return LocalSide(reference_names(self.assignment, cells))

    def run(self, cells: Mapping[str, str] | None = None, secret: bytes = SECRET) -> CheckOutcome:
        return self.checks.run(self.side(cells), secret)

    def notebook(self, cells: Mapping[str, str] | None = None) -> bytes:
        """What a student hands in: the instructor's notebook with these answers, else the reference's."""
        path = self.assignment.folder / f"{self.assignment.name}.ipynb"
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
            if grade_id in (cells or {}):
                cell["source"] = (cells or {})[grade_id]
        return json.dumps(notebook).encode()

    def results(self, cells: Mapping[str, str] | None = None, secret: bytes = SECRET) -> dict[str, CheckResult]:
        """Check results by the name of the check."""
        return {r.name: r for results in self.run(cells, secret).checks.values() for r in results}


def make_judged(
    parent: Path,
    solutions: Mapping[str, str],
    checks: str,
    faults: str = "",
    probes: str = "",
    before: str = "import numpy as np",
    name: str = "small",
    **files: str,
) -> Judged:
    """An assignment in the folder `parent / name`: `solutions` by grade_id, tests cell after each.

    An empty solution stands for a further tests cell on the solution before it.
    """
    folder = parent / name
    folder.mkdir(parents=True)
    cells = [builder.code(before)]
    for grade_id, source in solutions.items():
        # Everything is the solution, so that the stub is empty.
        marked = f"### BEGIN SOLUTION\n{source}\n### END SOLUTION"
        if source:
            cells.append(builder.solution(marked, grade_id))
        cells.append(builder.tests("assert True", f"test_{grade_id}", 2))
    builder.write(folder / f"{name}.ipynb", *cells)
    (folder / "checks.py").write_text("import numpy as np\nimport pytest\n" + checks)
    if faults:
        (folder / "faults.py").write_text("from autograder.judge import Fault\n" + faults)
    if probes:
        (folder / "probes.py").write_text(probes)
    for file, text in files.items():
        (folder / file).write_text(text)
    assignment = load_assignment(folder, parent)
    return Judged(assignment, Checks(assignment))


@pytest.fixture
def judged(tmp_path: Path) -> Callable[..., Judged]:
    """`judged(solutions, checks, ...)`: `make_judged` in a folder of the test's own."""
    return functools.partial(make_judged, tmp_path)
