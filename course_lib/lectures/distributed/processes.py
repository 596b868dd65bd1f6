"""Run one function in several new processes that talk over wires which count their bytes, and end every one of them.

A new ("spawned") process imports what it runs, by name. It cannot import a notebook, so functions that were defined in
one are sent as code, by `cloudpickle`. Spawning is safe beside the threads of PyTorch and TensorFlow; forking is not.

No process is left behind: `run` returns after the last has ended, whatever happens in it, and each process ends itself
if the one that started it is gone. What they write goes to a file and comes back with an error, never to the screen.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["Outcome", "Wire", "Wires", "WorkerError", "run"]

START_LIMIT_S = 120.0
"""for a process to come up and import its function, on a busy machine"""
AFTER_A_FAILURE_S = 2.0
"""for the others to fail of the same cause, so that the first of them is named"""


@dataclass
class Wire:
    """One end of a connection between two processes. It carries arrays and counts their bytes."""

    connection: Connection
    sent: int = 0
    received: int = 0

    def send(self, array: NDArray[Any]) -> None:
        """Returns when the operating system has taken all bytes, which for a large array needs a reader."""
        message = np.asarray(array).tobytes()
        self.connection.send_bytes(message)
        self.sent += len(message)

    def receive(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """The next array, one-dimensional; `dtype` must be the sender's. Waits for it."""
        message = self.connection.recv_bytes()
        self.received += len(message)
        return np.frombuffer(message, dtype).copy()


Wires = dict[int, Wire]
"""number of another process -> the wire to it"""


@dataclass(frozen=True)
class Outcome:
    """What one process returned, and the bytes of arrays that it sent and received."""

    value: Any
    sent: int
    received: int


class WorkerError(RuntimeError):
    """A process raised an error. Its traceback, and what it wrote, are attached as a note."""


def run(worker: Callable[..., Any], count: int, *arguments: object, timeout: float = 60.0) -> list[Outcome]:
    """Call `worker(rank, wires, *arguments)` in `count` new processes, ranks 0 to count - 1, and wait for all of them.

    `wires` leads to each of the others, by rank. Arguments and results travel by pickle. The processes begin together,
    when all are ready; `timeout` (seconds) counts from there.

    Raises WorkerError if one of them fails (the rest are ended), and TimeoutError if they do not finish in time.
    """
    if count < 1:
        raise ValueError(f"run: count is {count}; at least one process is needed")
    context: Any = multiprocessing.get_context("spawn")
    call = cloudpickle.dumps((worker, arguments))
    wires: list[Wires] = [{} for _ in range(count)]
    for low in range(count):
        for high in range(low + 1, count):
            one, other = context.Pipe()
            wires[low][high], wires[high][low] = Wire(one), Wire(other)
    crew = _Crew()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            for rank in range(count):
                ours, theirs = context.Pipe()
                log = Path(folder, f"{rank}.txt")
                process = context.Process(target=_child, args=(call, rank, wires[rank], theirs, str(log)), daemon=True)
                with _one_thread_each():
                    process.start()
                theirs.close()
                crew.add(process, ours, log)
            # The processes have copies; without ours, whoever waits for one that has ended learns of it.
            for ends in wires:
                for wire in ends.values():
                    wire.connection.close()
            crew.gather("ready", START_LIMIT_S)
            for report in crew.reports:
                report.send("go")
            return crew.gather("done", timeout)
        finally:
            crew.end()


@dataclass
class _Crew:
    """The processes of one call, each with the connection that it reports by and the file that it writes to."""

    processes: list[Any] = field(default_factory=list)
    reports: list[Connection] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)

    def add(self, process: Any, report: Connection, log: Path) -> None:
        self.processes.append(process)
        self.reports.append(report)
        self.logs.append(log)

    def gather(self, what: str, limit: float) -> list[Any]:
        """What each reports under the name `what`, by rank."""
        found: dict[int, Any] = {}
        failed: dict[int, tuple[str, str, str]] = {}
        until = time.monotonic() + limit
        while len(found) + len(failed) < len(self.reports):
            waiting = {r: rank for rank, r in enumerate(self.reports) if rank not in found and rank not in failed}
            heard: Any = wait(list(waiting), max(0.0, until - time.monotonic()))
            if not heard and failed:
                break
            if not heard:
                late = ", ".join(str(rank) for rank in sorted(waiting.values()))
                raise TimeoutError(f"process {late}: not {what} within {limit:g} s, and ended")
            for report in heard:
                rank = waiting[report]
                said, value = self._receive_report(rank)
                if said == what:
                    found[rank] = value
                else:
                    failed[rank] = value
                    until = min(until, time.monotonic() + AFTER_A_FAILURE_S)
        if failed:
            # Whoever lost the connection to another is not the one to blame.
            lost = (EOFError.__name__, BrokenPipeError.__name__, ConnectionResetError.__name__)
            rank = min(failed, key=lambda rank: (failed[rank][0] in lost, rank))
            name, message, story = failed[rank]
            error = WorkerError(f"process {rank} raised {name}: {message}")
            error.add_note(story + self._log_of(rank))
            raise error
        return [found[rank] for rank in range(len(self.reports))]

    def _receive_report(self, rank: int) -> tuple[str, Any]:
        try:
            said: tuple[str, Any] = self.reports[rank].recv()
        except (EOFError, ConnectionResetError):
            self.processes[rank].join(5)
            code = self.processes[rank].exitcode
            return "failed", ("SystemExit", f"it ended by itself, exit code {code}", "")
        return said

    def _log_of(self, rank: int) -> str:
        text = self.logs[rank].read_text(errors="replace") if self.logs[rank].exists() else ""
        return f"\nIt wrote:\n{text[-2000:]}" if text.strip() else ""

    def end(self) -> None:
        """No process is left when this returns."""
        for process in self.processes:
            if process.exitcode is None and sys.exc_info()[0] is not None:
                process.kill()
        for process in self.processes:
            process.join(10)
            if process.exitcode is None:
                process.kill()
                process.join()
            process.close()
        for report in self.reports:
            report.close()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """A process that starts here does its sums in one thread, so that several share the cores fairly."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _child(call: bytes, rank: int, wires: Wires, report: Connection, log: str) -> None:
    """What a new process does."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process decides when it ends
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        worker, arguments = pickle.loads(call)
        report.send(("ready", None))
        report.recv()
        value = worker(rank, wires, *arguments)
        sent, received = (sum(getattr(wire, name) for wire in wires.values()) for name in ("sent", "received"))
        report.send(("done", Outcome(value, sent, received)))
    except BaseException as error:
        report.send(("failed", (type(error).__name__, str(error), traceback.format_exc())))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
