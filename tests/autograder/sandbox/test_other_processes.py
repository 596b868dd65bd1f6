"""A program in a box cannot touch processes outside, cannot multiply without end, and leaves none behind."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.kernels.zygote import sweep
from autograder.records import Limits
from tests.autograder.sandbox.zygote import NOBODY, outcomes, running

FEW = Limits(memory_bytes=256 << 20, disk_bytes=32 << 20, processes=24, notebook_s=60)


@pytest.fixture
def victim(who: str) -> Any:
    """A process outside that belongs to the same user as the one who grades."""
    user = {"user": NOBODY, "group": NOBODY} if who == "unprivileged" and os.geteuid() == 0 else {}
    environment = {"SECRET_TOKEN": "hunter2"}
    with subprocess.Popen(["/bin/sleep", "60"], env=environment, extra_groups=[] if user else None, **user) as process:
        yield process
        process.kill()


def test_the_grader_and_its_other_processes_cannot_be_killed_traced_or_read(boxed: Any, victim: Any) -> None:
    def attack(pids: dict[str, int], other: int) -> dict[str, str]:
        libc = ctypes.CDLL(None, use_errno=True)

        def called(name: str, *arguments: Any) -> None:
            if getattr(libc, name)(*arguments) == -1:
                raise OSError(ctypes.get_errno(), name)

        ways: dict[str, Any] = {}
        for name, pid in {**pids, "other": other, "parent": os.getppid()}.items():
            if pid == 0:  # no parent in sight
                continue
            ways |= {
                f"kill {name}": lambda pid=pid: os.kill(pid, signal.SIGKILL),
                f"environ {name}": lambda pid=pid: Path(f"/proc/{pid}/environ").read_bytes(),
                f"mem {name}": lambda pid=pid: os.open(f"/proc/{pid}/mem", os.O_RDONLY),
                f"ptrace {name}": lambda pid=pid: called("ptrace", 16, pid, None, None),
                f"limit {name}": lambda pid=pid: called("prlimit", pid, 7, None, ctypes.create_string_buffer(16)),
                f"pidfd {name}": lambda pid=pid: os.pidfd_open(pid),
            }
        return outcomes(ways)

    found = boxed(attack, wants_pids=True, other=victim.pid).result
    assert set(found.values()) <= {"ProcessLookupError", "FileNotFoundError", "PermissionError"}
    assert victim.poll() is None


def test_only_its_own_processes_are_listed_killing_everybody_is_refused_and_python_is_ours(boxed: Any) -> None:
    def look() -> list[Any]:
        listed = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
        killed = outcomes({"all": lambda: os.kill(-1, 9)})["all"]
        version = subprocess.check_output([sys.executable, "-c", "import sys; print(sys.version)"], text=True)
        return [listed, killed, version.strip()]

    assert boxed(look).result == [[1], "PermissionError", sys.version]


def test_processes_and_threads_are_counted_and_bounded(boxed: Any) -> None:
    def multiply() -> list[Any]:
        children: list[int] = []
        threads: list[threading.Thread] = []
        refused = no_thread = ""
        try:
            while len(children) < 200:
                child = os.fork()
                if child == 0:
                    time.sleep(60)
                    os._exit(0)
                children.append(child)
        except OSError as error:
            refused = type(error).__name__
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
        stop = threading.Event()
        try:
            while len(threads) < 200:
                threads.append(threading.Thread(target=stop.wait, daemon=True))
                threads[-1].start()
        except RuntimeError as error:
            no_thread = str(error)
        stop.set()
        return [refused, no_thread, len(children), len(threads) - 1]

    refused, no_thread, children, threads = boxed(multiply, limits=FEW).result
    assert (refused, no_thread) == ("BlockingIOError", "can't start new thread")
    assert FEW.processes - 5 <= children < FEW.processes
    assert FEW.processes - 5 <= threads < FEW.processes


def test_a_fork_bomb_ends_with_its_box(boxed: Any) -> None:
    def bomb() -> None:
        while True:
            try:
                os.fork()
            except OSError:
                continue

    outcome = boxed(bomb, limits=FEW, wait_s=1.0)
    assert outcome.ended_by == "time" and outcome.left == []
    assert outcome.alive > FEW.processes // 2


def test_a_child_that_detached_itself_twice_ends_with_its_box(boxed: Any) -> None:
    def detach(marker: str) -> int:
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for sign in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                    signal.signal(sign, signal.SIG_IGN)
                os.set_inheritable(writer, True)
                code = f"import os, time; os.write({writer}, b'x'); time.sleep(60)"
                os.execv(sys.executable, [sys.executable, "-S", "-c", code, marker])
            os._exit(0)
        os.read(reader, 1)
        os.wait()
        return len(os.listdir("/proc"))

    marker = f"detached-{os.getpid()}"
    outcome = boxed(detach, marker=marker)
    assert outcome.alive == 2, "the detached child was there before the box was cleaned"
    assert outcome.left == running(marker) == []


def until(wanted: bool, marker: str) -> bool:
    """Whether processes of this marker run, or none does, within ten seconds."""
    deadline = time.monotonic() + 10
    while bool(running(marker)) is not wanted and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(running(marker)) is wanted


def test_a_box_dies_with_its_supervisor(boxed: Any, private: Path) -> None:
    def ask_to_survive(marker: str) -> None:
        ctypes.CDLL(None).prctl(1, 0)  # PR_SET_PDEATHSIG: nothing
        subprocess.run([sys.executable, "-S", "-c", "import time; time.sleep(60)", marker])

    marker = f"orphan-{os.getpid()}"
    zygote = type(boxed.zygote)()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(replace(boxed, zygote=zygote), ask_to_survive, marker=marker, private=str(private))
        assert until(True, marker)
        supervisor = int(Path(f"/proc/{zygote.process.pid}/task/{zygote.process.pid}/children").read_text().split()[0])
        os.kill(supervisor, 9)
        with pytest.raises(ValueError):  # no answer: the supervisor is dead
            asked.result(timeout=20)
    zygote.end()
    assert until(False, marker)
    sweep()  # what a run does first of all
    for folder in filter(None, (boxed.host.groups.memory, boxed.host.groups.pids)):
        assert not list(Path(folder).glob(f"autograder-{supervisor}-*"))


def test_two_boxes_at_once_do_not_see_each_other(boxed: Any) -> None:
    def meet(mine: str) -> list[Any]:
        Path("/tmp/" + mine).touch()
        time.sleep(1)
        processes = [p for p in os.listdir("/proc") if p.isdigit()]
        return [[p for p in os.listdir("/tmp") if p.startswith("mine-")], processes]

    other = type(boxed.zygote)()
    try:
        with ThreadPoolExecutor(2) as pool:
            boxes = enumerate((boxed, replace(boxed, zygote=other)))
            results = [pool.submit(box, meet, mine=f"mine-{i}") for i, box in boxes]
            seen = [r.result(timeout=30).result for r in results]
    finally:
        other.end()
    assert seen == [[[f"mine-{i}"], ["1"]] for i in range(2)]
