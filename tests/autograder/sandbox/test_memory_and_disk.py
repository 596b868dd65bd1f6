"""Memory and disk are bounded in sum, whatever they are taken through, and memory is told apart from a crash."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from autograder.records import Limits
from autograder.sandbox import processes
from autograder.sandbox.host import MEMORY_GROUP

TIGHT = Limits(memory_bytes=128 << 20, disk_bytes=16 << 20, processes=48, notebook_s=60)


@pytest.fixture(params=["bounded by the kernel", "watched"])
def memory_kept(request: pytest.FixtureRequest, this_host: Any) -> tuple[str, ...]:
    """Both ways of keeping memory; `without` for the box."""
    if request.param == "watched":
        return (MEMORY_GROUP,)
    if not this_host.has(MEMORY_GROUP):
        pytest.skip("no memory control group for this user on this host")
    return ()


def take_at_once(size: int) -> int:
    block = bytearray(size)
    block[::4096] = b"x" * len(block[::4096])
    return len(block)


def take_slowly(size: int) -> int:
    kept = []
    while sum(map(len, kept)) < size:
        kept.append(b"x" * (4 << 20))
        time.sleep(0.005)
    return sum(map(len, kept))


def take_through_children(size: int) -> int:
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            block = b"x" * (size // 4)
            os.read(os.pipe()[0], len(block[:1]))
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return size


def take_shared(size: int) -> int:
    import mmap

    shared = mmap.mmap(-1, size)
    shared[:] = b"x" * size
    return len(shared)


def take_in_sockets(size: int) -> int:
    """In the buffers of sockets it is no process's memory."""
    import contextlib
    import socket

    for _ in range(4):
        if os.fork() == 0:
            kept = [end for _ in range(200) for end in socket.socketpair()]
            for end in kept:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
                end.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        end.send(b"x" * 65536)
            time.sleep(60)
    time.sleep(20)
    return size


def take_in_tcp(size: int) -> int:
    """In connections to itself, of both families, that nobody reads."""
    kept = []
    for number in range(150):
        family, address = (socket.AF_INET, "127.0.0.1") if number % 2 else (socket.AF_INET6, "::1")
        with socket.create_server((address, 0), family=family) as server:
            kept += [socket.create_connection(server.getsockname()[:2]), server.accept()[0]]
        for end in kept[-2:]:
            end.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    end.send(b"x" * 65536)
    time.sleep(20)
    return size


@pytest.mark.parametrize("take", [take_at_once, take_slowly, take_through_children, take_shared, take_in_sockets])
def test_a_program_that_takes_too_much_memory_is_ended_for_memory(boxed: Any, memory_kept: Any, take: Any) -> None:
    outcome = boxed(take, limits=TIGHT, without=memory_kept, size=TIGHT.memory_bytes * 4)
    assert outcome.over_memory, outcome
    assert outcome.result is None
    assert outcome.left == []


def test_what_lies_in_connections_is_counted_where_memory_is_watched(boxed: Any) -> None:
    outcome = boxed(take_in_tcp, limits=TIGHT, without=(MEMORY_GROUP,), size=0)
    assert (outcome.over_memory, outcome.result) == (True, None), outcome


def test_memory_hidden_in_files_without_names_is_counted_or_refused(boxed: Any, memory_kept: Any) -> None:
    def hide(size: int) -> str:
        try:
            files = []
            for _ in range(64):
                files.append(os.memfd_create("hidden"))
                for _ in range(8):
                    os.write(files[-1], b"x" * (size // 64))
        except OSError as error:
            return type(error).__name__
        return "hidden"

    outcome = boxed(hide, limits=TIGHT, without=memory_kept, size=TIGHT.memory_bytes)
    assert outcome.over_memory or outcome.result == "OSError", outcome


def test_a_crash_is_not_taken_for_memory(boxed: Any, memory_kept: Any) -> None:
    def crash() -> None:
        ctypes.string_at(0)

    outcome = boxed(crash, limits=TIGHT, without=memory_kept)
    assert (outcome.result, outcome.raised, outcome.ended_by, outcome.over_memory) == (None, "", "itself", False)
    assert outcome.written == {}, "no core dump"


def test_an_honest_program_may_use_most_of_its_memory(boxed: Any, memory_kept: Any) -> None:
    wanted = TIGHT.memory_bytes * 3 // 4

    def take(size: int) -> int:
        global kept
        kept = b"x" * size
        return len(kept)

    with contextlib.ExitStack() as others:  # connections of the host's, as on a server of notebooks, are not the box's
        server = others.enter_context(socket.create_server(("127.0.0.1", 0), backlog=500))
        for _ in range(400):
            others.enter_context(socket.create_connection(server.getsockname()))
        outcome = boxed(take, limits=TIGHT, without=memory_kept, size=wanted)
    assert outcome.result == wanted
    assert not outcome.over_memory
    assert wanted <= outcome.memory < wanted + (24 << 20)


def test_a_box_that_has_not_left_the_hosts_network_yet_is_not_charged_with_its_sockets() -> None:
    with socket.create_server(("127.0.0.1", 0)):
        assert processes.socket_bytes(os.getpid()) == 0


@pytest.mark.slow
def test_what_a_warm_kernel_shares_with_its_zygote_costs_the_student_nothing(warm_box: Any, memory_kept: Any) -> None:
    def use() -> float:
        import torch

        return float(torch.ones(10).sum())

    outcome = warm_box(use, limits=TIGHT, without=memory_kept)
    assert outcome.result == 10.0
    assert outcome.memory < 64 << 20, "importing torch and TensorFlow takes many times that"


def test_tmp_shared_memory_and_the_private_folder_fill_one_limit(boxed: Any) -> None:
    def fill() -> list[Any]:
        found: dict[str, Any] = {}
        for folder in ("/tmp", "/dev/shm", str(Path.cwd()), str(Path.home())):
            written = 0
            try:
                for number in range(100):
                    Path(folder, f"fill{number}").write_bytes(b"x" * (1 << 20))
                    written += 1 << 20
            except OSError as error:
                found[folder] = [written, error.errno]
        return [found, shutil.disk_usage(".").free]

    outcome = boxed(fill, limits=TIGHT)
    found, free = outcome.result
    assert free == 0
    assert {code for _, code in found.values()} == {28}  # ENOSPC
    total = sum(written for written, _ in found.values())
    assert TIGHT.disk_bytes // 2 < total <= TIGHT.disk_bytes
    assert outcome.disk < 1 << 20, "nothing of it reached the real disk"
    assert not outcome.over_memory


def test_sockets_in_the_private_folder_are_files_of_the_host_and_too_many_are_seen(boxed: Any) -> None:
    def bind() -> int:
        import socket

        for number in range(12_000):
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(f"../{number}")
        return number

    outcome = boxed(bind, limits=TIGHT)
    assert outcome.result == 11_999, "which the supervisor sees the next time it looks"
    assert outcome.over_disk


def test_sparse_files_and_a_million_empty_ones_are_refused(boxed: Any) -> None:
    def waste() -> list[Any]:
        def refused(make: Any) -> list[int]:
            made = 0
            try:
                for made in range(1_000_000):
                    make(made)
            except OSError as error:
                return [made, error.errno]
            return [made, 0]

        with open("sparse", "wb") as stream:
            sparse = refused(lambda number: stream.truncate(1 << 40))
        return [sparse, refused(lambda n: os.mknod(f"empty{n}")), refused(lambda n: Path("..", f"beside{n}").touch())]

    sparse, (made, why), beside = boxed(waste, limits=TIGHT).result
    assert sparse == [0, 27] and beside == [0, 13]
    assert made < 10_000 and why == 28


def test_an_abort_leaves_no_core_dump(boxed: Any) -> None:
    def abort() -> int:
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
            os.abort()
        _, status = os.waitpid(child, 0)
        assert not os.WCOREDUMP(status)
        return len([p for p in Path().iterdir() if "core" in p.name])

    outcome = boxed(abort)
    assert outcome.result == 0, outcome.traceback
    assert [p for p in Path(".").glob("core*")] == []
