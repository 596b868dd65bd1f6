"""Grade many submissions at once on this machine.

Each worker is a thread that talks to one judge process at a time. While a judge works, the next one gets ready with its
kernel, so that a submission never waits for a process to start. A judge that dies or hangs costs its own submission one
more try and nobody else anything. What took too long by the clock, but not by its CPU time, is tried once
more alone at the end: on a busy machine the clock is not the student's fault.
"""

from __future__ import annotations

import os
import queue
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import records
from autograder.errors import KernelFailed
from autograder.grading import could_not_grade
from autograder.intake import Handed
from autograder.kernels.preload import FRAMEWORKS
from autograder.kernels.replay import MAX_RESTARTS
from autograder.kernels.zygote import Zygote, forking_works
from autograder.records import Assignment, Report, Submission, Verdict
from autograder.scale.messages import receive, send

TRIES = 2
MARGIN_S = 120.0
"""what a judge may take beyond its kernel's limits before it is given up"""


@dataclass(frozen=True)
class Graded:
    """The outcome for one submission."""

    number: int
    """position in the list that was given"""
    submission: Submission
    report: Report


class LocalPool:
    """Judges and kernels on this machine. Use as a context manager; leaving it ends every process."""

    def __init__(self, assignment: Assignment, root: Path, secret: bytes, workers: int) -> None:
        self.assignment = assignment
        self.workers = workers
        self.kernels = Zygote("autograder.kernels.supervisor:kernel_child", FRAMEWORKS) if forking_works() else None
        setup = {"folder": str(assignment.folder), "root": str(root), "device": assignment.device}
        setup |= {"secret": secret.hex()}
        self.judges = Zygote("autograder.scale.worker:judge_child", setup=setup)
        self.stopping = threading.Event()

    def __enter__(self) -> LocalPool:
        if self.kernels:
            self.kernels.start()
        self.judges.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopping.set()
        self.judges.stop()
        if self.kernels:
            self.kernels.stop()

    def grade(self, handed: Sequence[Handed]) -> Iterator[Graded]:
        """Grade all, yielding each as it is finished, in any order."""
        again: list[int] = []
        for graded in self._spread(range(len(handed)), handed, self.workers):
            if _hurried(graded.report):
                again.append(graded.number)
            else:
                yield graded
        yield from self._spread(again, handed, 1)

    def _spread(self, numbers: Sequence[int], handed: Sequence[Handed], workers: int) -> Iterator[Graded]:
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in numbers:
            waiting.put(number)
        done: queue.SimpleQueue[Graded | BaseException] = queue.SimpleQueue()

        def work() -> None:
            try:
                for graded in self._work(waiting, handed):
                    done.put(graded)
            except BaseException as error:
                done.put(error)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(numbers)))]
        for thread in threads:
            thread.start()
        for _ in numbers:
            result = done.get()
            if isinstance(result, BaseException):
                self.stopping.set()
                raise result
            yield result

    def _work(self, waiting: queue.SimpleQueue[int], handed: Sequence[Handed]) -> Iterator[Graded]:
        """One worker: a ready judge for each submission, the next one warming up meanwhile."""
        judge: _Judge | None = None
        while not self.stopping.is_set():
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                if judge:
                    judge.close()
                return
            judge = judge or self._judge()
            following = self._judge() if not waiting.empty() else None
            yield self._grade_one(judge, number, handed[number])
            judge = following

    def _judge(self) -> _Judge:
        for warm in filter(None, (self.kernels, self.judges)):
            warm.revive()
        return _Judge(self.judges.connect({"kernels": self.kernels.address if self.kernels else None}), self.stopping)

    def _grade_one(self, judge: _Judge, number: int, handed: Handed) -> Graded:
        """Grade with `judge`, then with a fresh one if that failed on the grader's side."""
        job, blobs = _job(handed)
        limits = self.assignment.limits
        # All that `kernels.replay` allows: the notebook's time, replays, and the same again to show what was wrong.
        kernels = 2 * (MAX_RESTARTS + 1) * max(1, len(self.assignment.notebooks))
        patience_s = limits.notebook_s * limits.wall_factor * kernels + MARGIN_S
        problem: Exception = KernelFailed("the judge did not answer")
        graded = None
        for attempt in range(TRIES):
            if attempt:
                judge = self._judge()
            try:
                graded = Graded(number, *judge.grade(job, blobs, patience_s))
                if not _failed_on(graded.report):
                    return graded
            except (EOFError, OSError, ValueError, KernelFailed) as error:
                problem = error if str(error) else KernelFailed("the judge's process ended without an answer")
            finally:
                judge.close()
            if self.stopping.is_set():
                break
        if graded is not None:
            return graded
        submission = Submission(handed.student, self.assignment.name, flags=handed.flags)
        return Graded(number, submission, could_not_grade(submission, self.assignment, problem))


class _Judge:
    """One judge process, seen from the run."""

    def __init__(self, connection: socket.socket, stopping: threading.Event) -> None:
        self.connection = connection
        self.stopping = stopping
        self.pid = 0

    def grade(self, job: dict[str, Any], blobs: tuple[bytes, ...], patience_s: float) -> tuple[Submission, Report]:
        deadline = time.monotonic() + patience_s
        self._expect(deadline)
        ready, _ = receive(self.connection)
        if "ready" not in ready:
            raise KernelFailed(str(ready.get("failed", "the judge did not get ready")))
        self.pid = int(ready["pid"])
        send(self.connection, job, blobs)
        self._expect(deadline)
        answer, _ = receive(self.connection)
        if "report" not in answer:
            raise KernelFailed(str(answer.get("failed", "the judge gave no report")))
        return records.from_data(Submission, answer["submission"]), records.from_data(Report, answer["report"])

    def _expect(self, deadline: float) -> None:
        """Wait for the first byte; looks up now and then, so that an interrupted run ends at once."""
        while not select.select([self.connection], [], [], 0.5)[0]:
            if self.stopping.is_set():
                raise EOFError("the run is being stopped")
            if time.monotonic() > deadline:
                if self.pid:
                    # It holds its end open, so the number is still its own. Closing ours would not end a busy process.
                    os.kill(self.pid, signal.SIGKILL)
                raise KernelFailed("the judge did not answer in time")

    def close(self) -> None:
        self.connection.close()


def _job(handed: Handed) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    names, blobs, rejected = [], [], handed.rejected
    if not rejected:
        try:
            for name, content in handed.files.items():
                names.append(name)
                blobs.append(content)
        except OSError as error:
            rejected = str(error)
    job = {
        "student": handed.student,
        "names": names[: len(blobs)],
        "note": handed.note,
        "rejected": rejected,
        "flags": records.to_data(handed.flags),
    }
    return job, tuple(blobs)


def _failed_on(report: Report) -> bool:
    """Whether something went wrong on the grader's side, with all of it or with one check."""
    return report.state is Verdict.GRADER_ERROR or any(flag.kind == "grader-error" for flag in report.flags)


def _hurried(report: Report) -> bool:
    """Whether a clock, and not CPU time, ended something."""
    return any(run.by_wall_clock for run in report.runs) or any(flag.kind == "wall-clock" for flag in report.flags)


def default_workers() -> int:
    """One for each core this process may use."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
