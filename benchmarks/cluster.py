"""How grading grows with the workers of a Dask cluster: tasks of fixed length, and what the scheduler costs.

A stand-in for the warm pool sleeps and answers, so that what is measured is the engine: the command, Dask's scheduler
and what they send, each a process of its own, as on a cluster. Tasks of two seconds give the throughput at 1, 2, 4 and
8 workers. Tasks of no length give the processor time that the scheduler and the command spend on each, which bounds the
throughput of any number of workers.

    python benchmarks/cluster.py [--out FILE] [--figure FILE] [--seconds S] [--tasks N]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from autograder.assignment import load_assignment
from autograder.records import Report, Submission, Trust, Verdict
from autograder.runs.cluster import Cluster, DaskPool
from autograder.runs.pool import GradedSubmission
from autograder.submissions.intake import StudentFiles

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENT = "a1_numpy_backprop"
WORKERS = (1, 2, 4, 8)
EACH = 20
"""tasks of fixed length for each worker"""
SUBMISSION_BYTES, REPORT_BYTES = 30_000, 20_000
"""what a1 hands in, and what its report has"""
CLASS, MACHINES = 100_000, 1_000
"""what the curve is drawn for"""


class Sleeper:
    """In place of the warm pool: a submission takes as long as its student's name says."""

    def __init__(self, assignment: Any, *_: Any) -> None:
        self.assignment = assignment

    def __enter__(self) -> Sleeper:
        return self

    def __exit__(self, *error: object) -> None: ...

    def warm_up(self) -> None: ...

    def grade_one(self, handed: StudentFiles) -> GradedSubmission:
        """As `LocalPool.grade_one`."""
        seconds = float(handed.student)
        time.sleep(seconds)
        name, words = self.assignment.name, "x" * REPORT_BYTES
        report = Report(handed.student, name, 0.0, 0.0, Verdict.PASSED, Trust.JUDGED_APART, "cpu", reason=words)
        return GradedSubmission(0, Submission(handed.student, name), report)


class SleepingPool(DaskPool):
    """The engine as it is, on workers that sleep."""

    pool = Sleeper  # type: ignore[assignment]


@dataclass(frozen=True)
class Measured:
    """One number of workers."""

    workers: int
    per_s: float
    """tasks of fixed length done in a second, from the first answer to the last"""
    efficiency: float
    """of what these workers could do if nothing but the tasks took time"""


@dataclass(frozen=True)
class Cost:
    """What each task takes from those who serve all workers, in seconds of processor time."""

    scheduler_s: float
    command_s: float

    @property
    def most_per_s(self) -> float:
        """The throughput that more workers cannot raise."""
        return 1 / max(self.scheduler_s, self.command_s)


def main() -> None:
    """Measure, print, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--figure", type=Path, help="draw the curve as an SVG file")
    parser.add_argument("--seconds", type=float, default=2.0, help="the length of a task")
    parser.add_argument("--tasks", type=int, default=2000, help="of no length, for the cost of each")
    options = parser.parse_args()
    found = [measure(workers, options.seconds) for workers in WORKERS]
    cost = measure_cost(options.tasks)
    show(found, cost, options.seconds)
    if options.out:
        facts = {"cores": os.cpu_count(), "python": platform.python_version(), "machine": platform.machine()}
        figures = {"task_s": options.seconds, "workers": [asdict(one) for one in found], "cost": asdict(cost)}
        options.out.write_text(json.dumps({"host": facts, **figures}, indent=1) + "\n")
    if options.figure:
        draw(found, cost, options.seconds, options.figure)


def measure(workers: int, seconds: float) -> Measured:
    """The throughput of tasks of fixed length."""
    with cluster_of(workers) as (address, _), pool_on(address) as pool:
        times = answer_times(pool, [seconds] * (workers * (EACH + 1)))
    # The first task of each worker waits for it to open; what comes after is the steady state.
    steady = times[workers:]
    per_s = len(steady) / (steady[-1] - times[workers - 1])
    return Measured(workers, per_s, per_s * seconds / workers)


def measure_cost(tasks: int) -> Cost:
    """Processor time for each task, once a first hundred has gone through."""
    with cluster_of(max(WORKERS)) as (address, scheduler), pool_on(address) as pool:
        answer_times(pool, [0.0] * 100)
        processes = psutil.Process(scheduler.pid), psutil.Process()
        before = [sum(process.cpu_times()[:2]) for process in processes]
        answer_times(pool, [0.0] * tasks)
        spent = [sum(process.cpu_times()[:2]) - start for process, start in zip(processes, before, strict=True)]
    return Cost(spent[0] / tasks, spent[1] / tasks)


def answer_times(pool: DaskPool, lengths: Sequence[float]) -> list[float]:
    """When each answer came."""
    content = {f"{ASSIGNMENT}.ipynb": b"x" * SUBMISSION_BYTES}
    handed = [StudentFiles(str(seconds), content) for seconds in lengths]
    return [time.perf_counter() for _ in pool.grade(handed)]


def pool_on(address: str) -> SleepingPool:
    """The engine for a cluster that is there."""
    return SleepingPool(load_assignment(ASSIGNMENT, ROOT), b"benchmark", Cluster(address))


@contextmanager
def cluster_of(workers: int) -> Iterator[tuple[str, psutil.Popen]]:
    """A scheduler and workers of one thread, each a process; yields the address and the scheduler."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        file = Path(scratch) / "scheduler.json"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}

        def start(program: str, *words: str) -> psutil.Popen:
            command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *words, "--scheduler-file", str(file)]
            return psutil.Popen(command, env=environment, cwd=scratch, stderr=subprocess.DEVNULL)

        started = [start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]
        try:
            while not file.exists():
                time.sleep(0.1)
            options = ("--nthreads", "1", "--memory-limit", "0", "--no-nanny", "--no-dashboard")
            started += [start("worker", *options, "--local-directory", scratch) for _ in range(workers)]
            yield json.loads(file.read_text())["address"], started[0]
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def finished_after(workers: int, seconds: float, cost: Cost) -> float:
    """Seconds until the class is graded: as fast as the workers, or as those who serve them."""
    return CLASS / min(workers / seconds, cost.most_per_s)


def show(found: Sequence[Measured], cost: Cost, seconds: float) -> None:
    """Tables for a person."""
    table = Table("workers", "tasks in a second", "of what is possible", title=f"tasks of {seconds:g} s")
    for one in found:
        table.add_row(str(one.workers), f"{one.per_s:.2f}", f"{one.efficiency:.1%}")
    Console().print(table)
    minutes, days = finished_after(MACHINES, seconds, cost) / 60, finished_after(1, seconds, cost) / 86400
    print(
        f"each task: {cost.scheduler_s * 1e3:.2f} ms of processor time in the scheduler, "
        f"{cost.command_s * 1e3:.2f} ms in the command;\n"
        f"so at most {cost.most_per_s:.0f} tasks in a second, whatever the number of workers\n"
        f"{CLASS:,} submissions of {seconds:g} s on {MACHINES:,} workers: {minutes:.1f} min ({days:.1f} days on one)"
    )


def draw(found: Sequence[Measured], cost: Cost, seconds: float, path: Path) -> None:
    """Throughput over workers: measured, and what follows for a class of submissions that take longer."""
    import matplotlib.pyplot as plt
    import numpy as np

    plt.rcParams["svg.fonttype"] = "none"  # text as text: a tenth of the size
    workers = np.geomspace(1, 3 * MACHINES, 200)
    bound = np.minimum(workers / seconds, cost.most_per_s)
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    axes.loglog(workers, bound, label=f"derived: at most {cost.most_per_s:.0f} in a second")
    measured = [one.workers for one in found], [one.per_s for one in found]
    axes.plot(*measured, "o", label="measured")
    at = min(MACHINES / seconds, cost.most_per_s)
    words = f"{CLASS:,} submissions on\n{MACHINES:,} workers: {finished_after(MACHINES, seconds, cost) / 60:.1f} min"
    axes.plot([MACHINES], [at], "s", color="C3")
    axes.annotate(words, (MACHINES, at), xytext=(0, -75), textcoords="offset points", ha="center")
    axes.set(
        xlabel="workers, one submission at a time each",
        ylabel="submissions in a second",
        title=f"tasks of {seconds:g} s",
    )
    axes.grid(which="both", alpha=0.25)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
