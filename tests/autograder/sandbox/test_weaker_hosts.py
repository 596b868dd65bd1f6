"""What still holds where namespaces and control groups are missing, and what the report then says."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.records import Limits
from autograder.sandbox import Tier, rlimits
from autograder.sandbox.host import LANDLOCK, NO_NAMESPACES, SECCOMP
from tests.autograder.sandbox.zygote import outcomes, running

TIGHT = Limits(memory_bytes=128 << 20, disk_bytes=16 << 20, processes=24, notebook_s=60)
ONLY_LIMITS = (*NO_NAMESPACES, LANDLOCK, SECCOMP)


def test_files_outside_the_view_cannot_be_read_or_written(weaker: Any, course: Path) -> None:
    def attack(folder: str) -> dict[str, str]:
        os.symlink(f"{folder}/gradebook.db", "gradebook")
        return outcomes(
            {
                "read": lambda: Path(folder, "gradebook.db").read_text(),
                "link": lambda: Path("gradebook").read_text(),
                "list": lambda: os.listdir(f"{folder}/submitted"),
                "write": lambda: Path(folder, "gradebook.db").write_text("100"),
                "make": lambda: Path(folder, "new").touch(),
                "remove": lambda: Path(folder, "gradebook.db").unlink(),
                "root": lambda: os.listdir("/root"),
                "tmp": lambda: Path("/tmp/new").touch(),
                "shadow": lambda: Path("/etc/passwd").read_text(),
            }
        )

    found = weaker(attack, without=NO_NAMESPACES, folder=str(course)).result
    assert set(found.values()) == {"PermissionError"}, found
    assert (course / "gradebook.db").read_text() == "hidden\n"


def test_the_working_folder_home_and_tmp_can_be_used_and_shared_memory_where_the_next_box_would_find_it_not(
    weaker: Any,
) -> None:
    def use() -> list[str]:
        from multiprocessing import shared_memory

        Path("result.txt").write_text("x")
        Path.home().joinpath("settings").write_text("x")
        with tempfile.NamedTemporaryFile() as file:
            below = file.name.startswith(os.environ["TMPDIR"])
        try:
            shared_memory.SharedMemory(create=True, size=4096)
            shared = "open"
        except PermissionError:
            shared = "closed"
        return [os.getcwd(), str(below), shared]

    outcome = weaker(use, without=NO_NAMESPACES)
    assert outcome.tier is Tier.FILES
    assert outcome.result == [f"{outcome.private}/work", "True", "closed"], outcome.traceback
    assert set(outcome.written) >= {"work/result.txt", "home/settings"}


def test_without_a_network_namespace_internet_sockets_are_refused(weaker: Any) -> None:
    def call(uid_of_grader: int) -> list[Any]:
        def made(family: int, kind: int) -> None:
            socket.socket(family, kind).close()

        def connected() -> None:
            with socket.socket(socket.AF_UNIX) as bus:
                bus.connect(f"/run/user/{uid_of_grader}/bus")

        found = outcomes(
            {
                "tcp": lambda: made(socket.AF_INET, socket.SOCK_STREAM),
                "udp": lambda: made(socket.AF_INET, socket.SOCK_DGRAM),
                "tcp6": lambda: made(socket.AF_INET6, socket.SOCK_STREAM),
                "unix": lambda: made(socket.AF_UNIX, socket.SOCK_STREAM),
                "datagram": lambda: made(socket.AF_UNIX, socket.SOCK_DGRAM),
                "bus": connected,
            }
        )
        left, right = socket.socketpair()
        left.sendall(b"x")
        return [found, right.recv(1).decode(), os.getuid() == uid_of_grader]

    uid = os.geteuid() if weaker.who == "as_root" else 65534 if os.geteuid() == 0 else os.geteuid()
    found, pair, same_user = weaker(call, without=NO_NAMESPACES, uid_of_grader=uid).result
    assert [found[name] for name in ("tcp", "udp", "tcp6")] == ["PermissionError"] * 3
    assert found["unix"] == "done" and pair == "x"
    # With the grader's own user id, the session's D-Bus would run any command for the program: no connecting at all.
    if same_user:
        assert found["bus"] == found["datagram"] == "PermissionError"
    else:
        assert found["bus"] in ("FileNotFoundError", "PermissionError")


def test_the_grader_cannot_be_killed_or_read(weaker: Any) -> None:
    def attack(pids: dict[str, int]) -> dict[str, str]:
        ways: dict[str, Any] = {"kill everybody": lambda: os.kill(-1, 9)}
        for name, pid in pids.items():
            ways |= {
                f"kill {name}": lambda pid=pid: os.kill(pid, 9),
                f"environ {name}": lambda pid=pid: Path(f"/proc/{pid}/environ").read_bytes(),
                f"mem {name}": lambda pid=pid: os.open(f"/proc/{pid}/mem", os.O_RDONLY),
                f"fd {name}": lambda pid=pid: os.readlink(f"/proc/{pid}/fd/0"),
            }
        return outcomes(ways)

    if weaker.who == "unprivileged" and weaker.host.landlock_abi < 6:
        pytest.skip(f"Landlock ABI {weaker.host.landlock_abi} does not bound signals (6 does)")
    found = weaker(attack, without=NO_NAMESPACES, wants_pids=True).result
    assert set(found.values()) == {"PermissionError"}, found


@pytest.mark.parametrize("without", [NO_NAMESPACES, ONLY_LIMITS], ids=["files", "limits"])
def test_detached_children_and_fork_bombs_end_with_the_box(weaker: Any, without: tuple[str, ...]) -> None:
    def bomb(marker: str) -> None:
        code = "import os, time; os.setsid(); os.fork(); os.setsid if os.fork() else None; time.sleep(60)"
        subprocess.Popen([sys.executable, "-S", "-c", code, marker])
        for _ in range(1000):
            try:
                if os.fork() == 0:
                    os.setsid()
            except OSError:
                continue

    marker = f"weaker-{os.getpid()}"
    outcome = weaker(bomb, without=without, limits=TIGHT, wait_s=1.0, marker=marker)
    assert outcome.tier is (Tier.LIMITS if without == ONLY_LIMITS else Tier.FILES)
    assert outcome.alive > 2
    assert outcome.left == running(marker) == []


@pytest.mark.parametrize("without", [NO_NAMESPACES, ONLY_LIMITS], ids=["files", "limits"])
def test_too_much_memory_is_seen_and_told_and_a_huge_file_refused(weaker: Any, without: tuple[str, ...]) -> None:
    def take(size: int) -> Any:
        with open("large", "wb") as stream:
            try:
                stream.truncate(1 << 40)
            except OSError as error:
                assert error.errno == 27
        kept = []
        while sum(map(len, kept)) < size:
            kept.append(b"x" * (4 << 20))
            time.sleep(0.005)
        return "taken"

    outcome = weaker(take, without=without, limits=TIGHT, size=TIGHT.memory_bytes * 4)
    assert (outcome.ended_by, outcome.over_memory, outcome.result) == ("memory", True, None)


def test_a_full_private_folder_is_seen_where_it_cannot_be_bounded(weaker: Any) -> None:
    def fill(size: int) -> None:
        for number in range(4):
            with open(f"part{number}", "wb") as stream:
                stream.write(b"x" * (size // 2))

    outcome = weaker(fill, without=NO_NAMESPACES, limits=replace(TIGHT, disk_bytes=4 << 20), size=4 << 20)
    assert outcome.disk >= 8 << 20


@pytest.mark.parametrize("proc", [True, False], ids=["proc", "no-proc"])
def test_what_the_user_runs_already_is_counted_on_any_system(monkeypatch: pytest.MonkeyPatch, proc: bool) -> None:
    monkeypatch.setattr(rlimits.os.path, "isdir", lambda path: proc)
    found = []
    for _ in range(5):  # others start and end beside it
        before, done = rlimits.threads_of(os.geteuid()), threading.Event()
        threads = [threading.Thread(target=done.wait) for _ in range(200)]
        for thread in threads:
            thread.start()
        found.append(rlimits.threads_of(os.geteuid()) - before)
        done.set()
        for thread in threads:
            thread.join()
        if 100 < found[-1] < 300:
            return
    raise AssertionError(found)
