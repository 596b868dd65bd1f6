"""Grade many submissions at once: what every pool does, and the pool on this machine.

Each worker is a thread that talks to one judge process at a time. While a judge works, the next one gets ready with its
kernel, so that a submission never waits for a process to start. A judge that dies or hangs costs its own submission one
more try and nobody else anything. What took too long by the clock, but not by its CPU time, and what somebody killed or
interrupted is tried once more alone at the end: a busy machine is not the student's fault.
"""

from __future__ import annotations

import abc
import contextlib
import logging
import os
import queue
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from autograder import records
from autograder.errors import BadAssignment, KernelFailed
from autograder.grading import allowance_s, could_not_grade, why_reference_fails
from autograder.kernels.preload import ALWAYS, FRAMEWORKS
from autograder.kernels.zygote import Zygote, forking_works
from autograder.protocol.frames import receive, send
from autograder.records import CPU, CUDA, Assignment, Report, Submission, Verdict, to_data
from autograder.sandbox import gpu
from autograder.submissions.intake import StudentFiles
from autograder.submissions.plan import MAX_OWN_BYTES, MAX_SUBMISSION_BYTES
from autograder.submissions.python_text import program_facts

LOGGER = logging.getLogger(__name__)
KERNELS, JUDGES = "autograder.kernels.supervisor:kernel_child", "autograder.runs.judge_process:judge_child"
TRIES = 2
MARGIN_S = 120.0
"""what a judge may take beyond its kernel's limits before it is given up"""


@dataclass(frozen=True)
class GradedSubmission:
    """The outcome for one submission."""

    number: int
    """position in the list that was given"""
    submission: Submission
    report: Report


class Pool(abc.ABC):
    """Grades submissions, wherever that is done. Use as a context manager; leaving it ends everything."""

    assignment: Assignment

    def grade(
        self, student_files: Sequence[StudentFiles], meanwhile: Callable[[], None] = lambda: None
    ) -> Iterator[GradedSubmission]:
        """Grade all, yielding each as it is finished, in any order. meanwhile: done while the first are graded.

        Raises BadAssignment before the first if the reference itself fails a check.
        """
        if self.assignment.checks is None:
            self._try_reference()
        again: list[int] = []
        for graded in self._distribute(range(len(student_files)), student_files, meanwhile=meanwhile):
            if _stopped_from_outside(graded.report):
                LOGGER.info("%s was stopped by the clock or killed: tried again alone", graded.submission.student)
                again.append(graded.number)
            else:
                yield graded
        yield from self._distribute(again, student_files, alone=True)

    def _try_reference(self) -> None:
        """Raise BadAssignment if a foreign assignment's own answers fail its own tests: so would everybody."""
        folder, notebooks = self.assignment.folder, self.assignment.notebooks
        files = {name: (folder / name).read_bytes() for name in (f"{notebook.name}.ipynb" for notebook in notebooks)}
        for _ in range(TRIES):
            [graded] = self._distribute([0], [StudentFiles("the reference", files)])
            if not _stopped_from_outside(graded.report):
                break
        if problem := why_reference_fails(graded.report):
            raise BadAssignment(problem)

    @abc.abstractmethod
    def _distribute(
        self,
        numbers: Sequence[int],
        student_files: Sequence[StudentFiles],
        *,
        alone: bool = False,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Iterator[GradedSubmission]:
        """Grade some of the submissions. alone: with no other on the same machine at the time."""

    @abc.abstractmethod
    def __enter__(self) -> Self: ...

    @abc.abstractmethod
    def __exit__(self, *error: object) -> None: ...


class LocalPool(Pool):
    """Judges and kernels on this machine."""

    def __init__(
        self,
        assignment: Assignment,
        secret: bytes,
        workers: int,
        hidden: Sequence[Path] = (),
        kept: tuple[Path, str] | None = None,
    ) -> None:
        """`hidden`: files and folders that no kernel may be able to open; one that can does not start. `kept`: see
        `Checks.warm_up_apart`."""
        self.assignment = assignment
        self.workers = workers
        # TensorFlow imports Keras, so what Keras runs on is settled when a zygote preloads it, before any notebook.
        chosen = {"KERAS_BACKEND": assignment.keras_backend} if assignment.keras_backend else {}
        if assignment.device == CUDA:
            # A module that asks at import whether there is a GPU would initialize CUDA, and forks cannot use it then.
            chosen["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
        kernels = Zygote(KERNELS, preloaded(assignment), environment=chosen, tried=other_imports(assignment))
        self.kernels = kernels if forking_works() else None
        setup: dict[str, Any] = {"assignment": to_data(assignment), "secret": secret.hex()}
        setup |= {"hidden": [str(path) for path in hidden]}
        setup |= dict(zip(("kept", "kept_key"), (str(kept[0]), kept[1]) if kept else ("", ""), strict=True))
        self.judges = Zygote(JUDGES, setup=setup, environment=chosen)
        self.stopping = threading.Event()
        self._warm = threading.Event()
        """whether the warm processes have imported what they need; also where they never will"""
        self._ready: queue.SimpleQueue[_Judge] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        if self.kernels:
            self.kernels.start()
        self.judges.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopping.set()
        with contextlib.suppress(queue.Empty):
            while True:
                self._ready.get_nowait().close()
        self.judges.stop()
        if self.kernels:
            self.kernels.stop()

    def _distribute(
        self,
        numbers: Sequence[int],
        student_files: Sequence[StudentFiles],
        *,
        alone: bool = False,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Iterator[GradedSubmission]:
        workers = 1 if alone else self.workers
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in numbers:
            waiting.put(number)
        done: queue.SimpleQueue[GradedSubmission | BaseException] = queue.SimpleQueue()

        def work() -> None:
            try:
                for graded in self._grade_waiting(waiting, student_files):
                    done.put(graded)
            except BaseException as error:
                done.put(error)
            finally:
                self._warm.set()

        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(numbers)))]
        for thread in threads:
            thread.start()
        if threads:
            self._warm.wait()  # before, the warm processes need the cores
        meanwhile()
        for _ in numbers:
            result = done.get()
            if isinstance(result, BaseException):
                self.stopping.set()
                raise result
            yield result

    def warm_up(self) -> None:
        """Wait until a first submission could be graded. Raises BadAssignment or KernelFailed if none ever can."""
        judge = self._start_judge()
        judge.wait_until_ready(time.monotonic() + self._patience_s())
        self._ready.put(judge)

    def grade_one(self, student_files: StudentFiles) -> GradedSubmission:
        """Grade one submission of many, from any thread: the judge of the next one gets ready meanwhile."""
        try:
            judge = self._ready.get_nowait()
        except queue.Empty:
            judge = self._start_judge()
        self._ready.put(self._start_judge())
        return self._grade_one(judge, 0, student_files)

    def _grade_waiting(
        self, waiting: queue.SimpleQueue[int], student_files: Sequence[StudentFiles]
    ) -> Iterator[GradedSubmission]:
        """One worker: a ready judge for each submission, the next one warming up meanwhile."""
        judge: _Judge | None = None
        while not self.stopping.is_set():
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                if judge:
                    judge.close()
                return
            judge = judge or self._start_judge()
            self._warm.set()
            following = self._start_judge() if not waiting.empty() else None
            yield self._grade_one(judge, number, student_files[number])
            judge = following

    def _patience_s(self) -> float:
        return allowance_s(self.assignment)[1] + MARGIN_S

    def _start_judge(self, tries: int = TRIES) -> _Judge:
        self._revive()
        try:
            connection = self.judges.connect({"kernels": self.kernels.address if self.kernels else None})
        except KernelFailed:
            if tries == 1 or self.stopping.is_set():
                raise
            return self._start_judge(tries - 1)  # its zygote was killed just now
        return _Judge(connection, self.stopping, self._revive)

    def _revive(self) -> None:
        for warm in filter(None, (self.kernels, self.judges)):
            warm.revive()

    def _grade_one(self, judge: _Judge, number: int, student_files: StudentFiles) -> GradedSubmission:
        """Grade with `judge`, then with a fresh one if that failed on the grader's side."""
        patience_s = self._patience_s()
        problem: Exception = KernelFailed("the judge did not answer")
        graded = None
        for attempt in range(TRIES):
            if attempt:
                LOGGER.warning("%s: tried again with a fresh judge", student_files.student)
                judge = self._start_judge()
            try:
                graded = GradedSubmission(number, *judge.grade(student_files, patience_s))
                if not _grader_failed(graded.report):
                    return graded
            except (EOFError, OSError, ValueError, KernelFailed) as error:
                problem = error if str(error) else KernelFailed("the judge's process ended without an answer")
                LOGGER.error("%s: the judge failed: %s", student_files.student, type(error).__name__)
            finally:
                judge.close()
            if self.stopping.is_set():
                break
        if graded is not None:
            return graded
        return not_graded(number, student_files, self.assignment, problem)


class _Judge:
    """One judge process, seen from the run."""

    def __init__(self, connection: socket.socket, stopping: threading.Event, revive: Callable[[], None]) -> None:
        self.connection = connection
        self.stopping = stopping
        self.revive = revive
        self.pid = 0

    def grade(self, student_files: StudentFiles, patience_s: float) -> tuple[Submission, Report]:
        deadline = time.monotonic() + patience_s
        if not self.pid:
            self.wait_until_ready(deadline)
        _send_files(self.connection, student_files)
        self._wait_for_answer(deadline)
        answer, _ = receive(self.connection)
        if "report" not in answer:
            raise KernelFailed(str(answer.get("failed", "the judge gave no report")))
        return records.from_data(Submission, answer["submission"]), records.from_data(Report, answer["report"])

    def wait_until_ready(self, deadline: float) -> None:
        self._wait_for_answer(deadline)
        ready, _ = receive(self.connection)
        if "refused" in ready:
            raise BadAssignment(ready["refused"])
        if "ready" not in ready:
            raise KernelFailed(str(ready.get("failed", "the judge did not get ready")))
        self.pid = int(ready["pid"])

    def _wait_for_answer(self, deadline: float) -> None:
        """Wait for the first byte; looks up now and then, so that an interrupted run ends at once."""
        while not select.select([self.connection], [], [], 0.5)[0]:
            if self.stopping.is_set():
                raise EOFError("the run is being stopped")
            self.revive()  # a judge may be waiting for a kernel of a zygote that was killed: it is told that it is gone
            if time.monotonic() > deadline:
                if self.pid:
                    # It holds its end open, so the number is still its own. Closing ours would not end a busy process.
                    os.kill(self.pid, signal.SIGKILL)
                raise KernelFailed("the judge did not answer in time")

    def close(self) -> None:
        self.connection.close()


def _send_files(connection: socket.socket, student_files: StudentFiles) -> None:
    """A submission in pieces, so that this process, which serves all workers, never holds one: `judge_process` reads.

    Message for message: a file's name with a piece of it, and at the end who it is of.
    """
    rejected = student_files.rejected
    try:
        for name, piece in bounded_pieces(student_files):
            send(connection, {"file": name}, (piece,))
    except ConnectionError:
        raise
    except OSError as error:  # a file that could be listed and cannot be read
        rejected = str(error)
    last = {"student": student_files.student, "note": student_files.note, "rejected": rejected}
    send(connection, {**last, "flags": records.to_data(student_files.flags)})


def not_graded(
    number: int, student_files: StudentFiles, assignment: Assignment, problem: Exception
) -> GradedSubmission:
    """The outcome where every try has failed on the grader's side."""
    submission = Submission(student_files.student, assignment.name, flags=student_files.flags)
    return GradedSubmission(number, submission, could_not_grade(submission, assignment, problem))


def bounded_pieces(student_files: StudentFiles) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file, piece by piece; OSError with a sentence if one cannot be had or all are too much.

    A file begins with an empty piece, which says that it is there. A rejected submission has none.
    """
    total = 0
    for name in student_files.files if not student_files.rejected else ():
        yield name, b""
        for piece in student_files.pieces(name):
            total += len(piece)
            if total > MAX_SUBMISSION_BYTES + MAX_OWN_BYTES:
                raise OSError("Its files have grown beyond the limit since they were found")
            yield name, piece


def _grader_failed(report: Report) -> bool:
    """Whether something went wrong on the grader's side, with all of it or with one check."""
    return report.state is Verdict.GRADER_ERROR or any(flag.kind == "grader-error" for flag in report.flags)


def _stopped_from_outside(report: Report) -> bool:
    """Whether a clock, and not CPU time, or somebody else ended something."""
    flagged = any(flag.kind in ("wall-clock", "disturbed") for flag in report.flags)
    return flagged or any(run.by_wall_clock for run in report.runs)


def preloaded(assignment: Assignment) -> tuple[str, ...]:
    """The `FRAMEWORKS`, in their order, up to the last that the assignment's own cells or probes import.

    A student whose work imports another waits for it alone; a class that needs none waits for none.
    """
    needed = {module.partition(".")[0] for module in _imported(assignment)}
    needed |= {"numpy", "matplotlib", "matplotlib_inline"} | {_RUNS_ON[name] for name in needed & _RUNS_ON.keys()}
    if assignment.device != CPU:
        needed.add("torch")
    last = max(place for place, name in enumerate(FRAMEWORKS) if name.partition(".")[0] in needed)
    return FRAMEWORKS[: last + 1]


def first_imports(folder: Path) -> dict[str, tuple[str, ...]]:
    """What a pool's processes are sure to import, by a look at the notebooks of an assignment that is not read yet."""
    text = b""
    with contextlib.suppress(OSError):  # whoever reads the assignment says what is wrong
        text = b"".join(path.read_bytes() for path in folder.glob("*.ipynb"))
    torch = ("torch",) if b"import torch" in text or b"from torch" in text else ()
    return {JUDGES: ("numpy", *torch), KERNELS: (*ALWAYS, *torch)}


def other_imports(assignment: Assignment) -> list[str]:
    """What else the assignment's cells and probes import, in their order; no file of its own, no module of Python's."""
    own = {path.relative_to(assignment.folder).parts[0].partition(".")[0] for path in assignment.files}
    return [name for name in _imported(assignment) if name.partition(".")[0] not in own | sys.stdlib_module_names]


def _imported(assignment: Assignment) -> list[str]:
    texts = [cell.source for n in assignment.notebooks for cell in n.cells if cell.kind == "code"]
    probes = assignment.folder / "probes.py"
    texts += [probes.read_text(encoding="utf-8")] if probes.is_file() else []
    return list(dict.fromkeys(module for text in texts for module in sorted(program_facts(text).modules)))


_RUNS_ON = {"keras": "tensorflow", "torchvision": "torch", "lightning": "torch"}
"""`import tensorflow` is what imports Keras here, whatever its back end"""


def default_workers(device: str = CPU) -> int:
    """One for each core this process may use; for each GPU where that is the device: its memory is not shared out."""
    if device == CUDA:
        return max(1, gpu.count())
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
