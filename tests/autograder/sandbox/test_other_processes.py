"""A program in a box cannot touch processes outside, cannot multiply without end, and leaves none behind."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.records import Limits
from autograder.sandbox import cgroups

FEW = Limits(memory_bytes=256 << 20, disk_bytes=32 << 20, processes=24, notebook_s=60)
NOBODY = 65534


def running(marker: str) -> list[int]:
    """Processes of this host whose command line holds `marker`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


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
        import ctypes
        import os
        import signal
        from collections.abc import Callable
        from pathlib import Path

        libc = ctypes.CDLL(None, use_errno=True)

        def called(name: str, *arguments: Any) -> None:
            if getattr(libc, name)(*arguments) == -1:
                raise OSError(ctypes.get_errno(), name)

        found = {}
        targets = {**pids, "other": other, "parent": os.getppid()}
        for name, pid in targets.items():
            if pid == 0:
                found[name] = "no parent in sight"
                continue
            ways: dict[str, Callable[[], Any]] = {
                "kill": lambda pid=pid: os.kill(pid, signal.SIGKILL),
                "environ": lambda pid=pid: Path(f"/proc/{pid}/environ").read_bytes(),
                "mem": lambda pid=pid: os.open(f"/proc/{pid}/mem", os.O_RDONLY),
                "ptrace": lambda pid=pid: called("ptrace", 16, pid, None, None),
                "limit": lambda pid=pid: called("prlimit", pid, 7, None, ctypes.create_string_buffer(16)),
                "pidfd": lambda pid=pid: os.pidfd_open(pid),
            }
            for way, act in ways.items():
                try:
                    act()
                    found[f"{way} {name}"] = "done"
                except OSError as error:
                    found[f"{way} {name}"] = type(error).__name__
        return found

    found = boxed(attack, wants_pids=True, other=victim.pid).result
    assert set(found.values()) <= {"ProcessLookupError", "FileNotFoundError", "PermissionError", "no parent in sight"}
    assert victim.poll() is None


def test_only_its_own_processes_are_listed(boxed: Any) -> None:
    def list_all() -> list[int]:
        import os

        return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())

    assert boxed(list_all).result == [1]


def test_killing_everybody_is_refused(boxed: Any) -> None:
    def kill_all() -> str:
        import os

        try:
            os.kill(-1, 9)
        except OSError as error:
            return type(error).__name__
        return "done"

    assert boxed(kill_all).result == "PermissionError"


def test_processes_and_threads_are_counted_and_bounded(boxed: Any) -> None:
    def multiply() -> dict[str, Any]:
        import os
        import threading
        import time

        children, threads = [], []
        refused = ""
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
        no_thread = ""
        try:
            while len(threads) < 200:
                thread = threading.Thread(target=stop.wait, daemon=True)
                thread.start()
                threads.append(thread)
        except RuntimeError as error:
            no_thread = str(error)
        stop.set()
        return {"children": len(children), "refused": refused, "threads": len(threads), "no_thread": no_thread}

    found = boxed(multiply, limits=FEW).result
    assert found["refused"] == "BlockingIOError"
    assert found["no_thread"] == "can't start new thread"
    assert FEW.processes - 5 <= found["children"] < FEW.processes
    assert FEW.processes - 5 <= found["threads"] < FEW.processes


def test_a_fork_bomb_ends_with_its_box(boxed: Any) -> None:
    def bomb() -> None:
        import os

        while True:
            try:
                os.fork()
            except OSError:
                continue

    outcome = boxed(bomb, limits=FEW, wait_s=1.0)
    assert outcome.ended_by == "time"
    assert outcome.alive > FEW.processes // 2
    assert outcome.left == []


def test_a_child_that_detached_itself_twice_ends_with_its_box(boxed: Any) -> None:
    def detach(marker: str) -> int:
        import os
        import signal
        import sys
        import time

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
        time.sleep(0)
        return len(os.listdir("/proc"))

    marker = f"detached-{os.getpid()}"
    outcome = boxed(detach, marker=marker)
    assert outcome.alive == 2, "the detached child was there before the box was cleaned"
    assert outcome.left == []
    assert running(marker) == []


def test_a_box_dies_with_its_supervisor(boxed: Any, private: Path) -> None:
    def ask_to_survive(marker: str) -> None:
        import ctypes
        import subprocess
        import sys

        ctypes.CDLL(None).prctl(1, 0)  # PR_SET_PDEATHSIG: nothing
        subprocess.run([sys.executable, "-S", "-c", "import time; time.sleep(60)", marker])

    marker = f"orphan-{os.getpid()}"
    zygote = type(boxed.zygote)()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(replace(boxed, zygote=zygote), ask_to_survive, marker=marker, private=str(private))
        for _ in range(200):
            if running(marker):
                break
            subprocess.run(["sleep", "0.02"])
        assert running(marker)
        supervisor = int(Path(f"/proc/{zygote.process.pid}/task/{zygote.process.pid}/children").read_text().split()[0])
        os.kill(supervisor, 9)
        with pytest.raises(ValueError):  # no answer: the supervisor is dead
            asked.result(timeout=20)
    zygote.end()
    for _ in range(200):
        if not running(marker):
            break
        subprocess.run(["sleep", "0.02"])
    assert running(marker) == []
    cgroups.sweep(boxed.host.groups)  # what a probe does first of all
    for folder in filter(None, (boxed.host.groups.memory, boxed.host.groups.pids)):
        assert not list(Path(folder).glob(f"autograder-{supervisor}-*"))


def test_two_boxes_at_once_do_not_see_each_other(boxed: Any) -> None:
    def meet(mine: str) -> dict[str, Any]:
        import os
        import time
        from pathlib import Path

        Path("/tmp/" + mine).touch()
        time.sleep(1)
        return {
            "files": [p for p in os.listdir("/tmp") if p.startswith("mine-")],
            "processes": [p for p in os.listdir("/proc") if p.isdigit()],
        }

    other = type(boxed.zygote)()
    try:
        with ThreadPoolExecutor(2) as pool:
            results = [
                pool.submit(b, meet, mine=f"mine-{i}") for i, b in enumerate((boxed, replace(boxed, zygote=other)))
            ]
            seen = [r.result(timeout=30).result for r in results]
    finally:
        other.end()
    assert seen == [{"files": [f"mine-{i}"], "processes": ["1"]} for i in range(2)]


def test_python_is_the_one_that_runs_the_tests(boxed: Any) -> None:
    def executable() -> str:
        import subprocess
        import sys

        return subprocess.check_output([sys.executable, "-c", "import sys; print(sys.version)"], text=True).strip()

    assert boxed(executable).result == sys.version
