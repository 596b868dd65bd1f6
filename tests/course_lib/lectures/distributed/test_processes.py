"""Processes come back with results or with the error of the one to blame, leave nothing behind and say nothing."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from course_lib.lectures import distributed

WORKERS = """
import os, sys, time
from pathlib import Path
import numpy as np

def pass_on(rank, wires, numbers):
    count = len(wires) + 1
    wires[(rank + 1) % count].send(np.array(numbers, float))
    return rank, wires[(rank - 1) % count].receive().tolist()

def one_fails(rank, wires, guilty):
    print("said before the end", file=sys.stderr, flush=True)
    if rank == guilty:
        raise ValueError("my mistake")
    next(iter(wires.values())).receive()
    time.sleep(60)

def one_is_waited_for(rank, wires, guilty):
    if rank == guilty:
        raise ValueError("my mistake")
    wires[guilty].receive()

def sleep(rank, wires, folder=None):
    if folder:
        Path(folder, str(rank)).write_text(str(os.getpid()))
    time.sleep(60)

def vanish(rank, wires):
    if rank == 1:
        os._exit(3)
    time.sleep(60)

def chatter(rank, wires):
    os.write(1, b"to the screen")
    os.write(2, b"to the error stream")
    print("and again", file=sys.stderr)
    return os.environ["OMP_NUM_THREADS"]
"""


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Functions that a new process can import; afterwards no process of theirs may be left."""
    before = multiprocessing.active_children()
    (tmp_path / "some_workers.py").write_text(WORKERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("some_workers")
    del sys.modules["some_workers"]
    assert set(multiprocessing.active_children()) <= set(before)


def test_results_come_in_the_order_of_the_ranks_and_bytes_are_counted(workers: ModuleType) -> None:
    outcomes = distributed.run(workers.pass_on, 3, [1, 2, 3])
    assert [outcome.value for outcome in outcomes] == [(rank, [1.0, 2.0, 3.0]) for rank in range(3)]
    assert {(outcome.sent, outcome.received) for outcome in outcomes} == {(24, 24)}
    [alone] = distributed.run(workers.chatter, 1)
    assert (alone.value, alone.sent) == ("1", 0)
    with pytest.raises(ValueError, match="count is 0"):
        distributed.run(workers.sleep, 0)


def test_what_a_process_writes_does_not_reach_the_screen(
    workers: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    before = dict(os.environ)
    distributed.run(workers.chatter, 2)
    assert capfd.readouterr() == ("", "")
    assert dict(os.environ) == before


def test_an_error_ends_all_and_carries_what_was_written(workers: ModuleType) -> None:
    with pytest.raises(distributed.WorkerError, match="process 1 raised ValueError: my mistake") as caught:
        distributed.run(workers.one_fails, 2, 1)
    [note] = caught.value.__notes__
    assert "in one_fails" in note and "said before the end" in note


@pytest.mark.parametrize("guilty", [0, 2])
def test_the_one_that_failed_is_named_and_not_those_that_waited_for_it(workers: ModuleType, guilty: int) -> None:
    with pytest.raises(distributed.WorkerError, match=f"process {guilty} raised ValueError"):
        distributed.run(workers.one_is_waited_for, 3, guilty)


def test_a_process_that_vanishes_is_noticed(workers: ModuleType) -> None:
    with pytest.raises(distributed.WorkerError, match=r"process 1 raised SystemExit: .*exit code 3"):
        distributed.run(workers.vanish, 2)


def test_who_does_not_finish_in_time_is_ended(workers: ModuleType) -> None:
    with pytest.raises(TimeoutError, match=r"process 0, 1: not done within 0\.5 s, and ended"):
        distributed.run(workers.sleep, 2, timeout=0.5)


def test_a_function_that_no_module_has_is_reported(workers: ModuleType) -> None:
    elsewhere = ModuleType("nowhere_to_be_imported")
    exec("def f(rank, wires): pass", elsewhere.__dict__)
    elsewhere.f.__module__ = "nowhere_to_be_imported"
    sys.modules["nowhere_to_be_imported"] = elsewhere
    try:
        with pytest.raises(distributed.WorkerError, match="process 0 raised ModuleNotFoundError"):
            distributed.run(elsewhere.f, 2)
    finally:
        del sys.modules["nowhere_to_be_imported"]


@pytest.mark.skipif(sys.platform == "win32", reason="asks for processes by signal 0")
def test_processes_end_when_the_one_that_started_them_is_killed(workers: ModuleType, tmp_path: Path) -> None:
    code = "import some_workers; from course_lib.lectures import distributed; "
    code += f"distributed.run(some_workers.sleep, 2, {str(tmp_path)!r})"
    paths = os.pathsep.join([str(tmp_path), str(Path(distributed.__file__).parents[3])])
    parent = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths})
    try:
        files = [tmp_path / "0", tmp_path / "1"]
        _wait_until(lambda: all(file.exists() and file.read_text() for file in files))
        pids = [int(file.read_text()) for file in files]
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    _wait_until(lambda: not any(_alive(pid) for pid in pids))


def _wait_until(holds: object, limit: float = 90.0) -> None:
    until = time.monotonic() + limit
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < until
        time.sleep(0.1)


def _alive(pid: int) -> bool:
    """Whether it runs; a zombie that nobody has fetched yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


NOTEBOOK = """
import numpy as np

size = 3
lock = __import__("threading").Lock()  # cannot be pickled, and is not used

def factorial(k):
    return 1 if k < 2 else k * factorial(k - 1)

def worker(rank, wires, scale=2):
    return np.arange(size) * scale, factorial(4 + rank)
"""


def test_a_function_that_was_defined_in_a_notebook_can_be_run() -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(NOTEBOOK, "<cell>", "exec"), names)
    outcomes = distributed.run(names["worker"], 2, 3)  # type: ignore[arg-type]
    assert [outcome.value[1] for outcome in outcomes] == [24, 120]
    assert outcomes[0].value[0].tolist() == [0, 3, 6]
