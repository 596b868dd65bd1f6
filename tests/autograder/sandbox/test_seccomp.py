"""The filter, run on every call it names by a small interpreter, for both processor families."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox.seccomp import DENIED, EXAMINED, HIDDEN_MEMORY, MACHINES, PERSISTENT_IPC, Policy, program

TABLES = (DENIED, HIDDEN_MEMORY, PERSISTENT_IPC, EXAMINED)
OPEN = Policy(internet=True)
CLOSED = Policy(internet=False, connect=False, own_ipc=False, hidden_memory=False)
HEADERS = {
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}
ALLOWED, KILLED = "allowed", "killed"


def run(policy: Policy, machine: str, number: int, *arguments: int, audit: int | None = None) -> str | int:
    """What the kernel would do with a call: `allowed`, `killed`, or the error number."""
    words = [number, MACHINES[machine].audit if audit is None else audit, 0, 0]
    for argument in (*arguments, *[0] * (6 - len(arguments))):
        words += [argument & 0xFFFFFFFF, argument >> 32 & 0xFFFFFFFF]
    accumulator, place = 0, 0
    steps = program(policy, MACHINES[machine])
    while True:
        step = steps[place]
        place += 1
        if step.code == 0x20:
            accumulator = words[step.k // 4]
        elif step.code == 0x54:
            accumulator &= step.k
        elif step.code == 0x15:
            place += step.jt if accumulator == step.k else step.jf
        elif step.code == 0x35:
            place += step.jt if accumulator >= step.k else step.jf
        elif step.code == 0x45:
            place += step.jt if accumulator & step.k else step.jf
        elif step.code == 0x06:
            action = step.k & 0xFFFF0000
            return {0x7FFF0000: ALLOWED, 0x80000000: KILLED}.get(action, step.k & 0xFFFF)
        else:
            raise AssertionError(f"unknown instruction {step.code:#x}")


def numbered(machine: str, *tables: Any) -> dict[str, int]:
    """The calls of these tables by name; not all are there on every machine."""
    column = MACHINES[machine].column
    return {name: n[column] for table in tables for name, n in table.items() if n[column] is not None}


@pytest.fixture(params=list(MACHINES))
def machine(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_the_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    header = next((Path(p) for p in HEADERS[machine] if Path(p).exists()), None)
    if header is None:
        pytest.skip(f"the kernel's headers for {machine} are not installed")
    pairs = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text(), re.MULTILINE)
    official = {name: int(number) for name, number in pairs}
    for table in TABLES:
        for name, numbers in table.items():
            if name in official:  # the newest calls are missing from older headers
                assert numbers[MACHINES[machine].column] == official[name], name


# Numbers of x86_64 and of aarch64; written out, because what is missing from the table would be missing from its test.
WORST = {
    **{"mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268)},
    **{"unshare": (272, 97), "ptrace": (101, 117), "bpf": (321, 280), "keyctl": (250, 219), "kexec_load": (246, 104)},
    **{"perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425)},
}


def test_denied_calls_fail_with_eperm_under_every_policy(machine: str) -> None:
    for policy in (OPEN, CLOSED):
        for name, numbers in WORST.items():
            assert run(policy, machine, numbers[MACHINES[machine].column]) == errno.EPERM, name
        for name, number in numbered(machine, DENIED).items():
            assert run(policy, machine, number) == errno.EPERM, name


def test_everything_else_is_allowed(machine: str) -> None:
    for number in set(range(460)) - set(numbered(machine, *TABLES).values()):
        assert run(CLOSED, machine, number) == ALLOWED, number


def test_a_call_by_the_numbers_of_another_architecture_kills_or_does_not_exist(machine: str) -> None:
    i386, x32 = 0x40000003, 0x40000000
    assert run(OPEN, machine, 0, audit=i386) == KILLED
    assert run(OPEN, "x86_64", x32 + 101) == errno.ENOSYS


def test_threads_and_forks_are_allowed_and_new_namespaces_are_not(machine: str) -> None:
    clone, clone3 = (numbered(machine, EXAMINED)[name] for name in ("clone", "clone3"))
    fork, thread = 0x01200011, 0x003D0F00
    assert run(OPEN, machine, clone, fork) == run(OPEN, machine, clone, thread) == ALLOWED
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert run(OPEN, machine, clone, fork | flag) == errno.EPERM
    assert run(OPEN, machine, clone3) == errno.ENOSYS


@pytest.mark.parametrize(
    ("family", "kind", "protocol", "when_open", "when_closed"),
    [
        (1, 1, 0, ALLOWED, ALLOWED),  # unix stream
        (1, 2, 0, ALLOWED, errno.EPERM),  # unix datagram
        (1, 2 | 0o2000000, 0, ALLOWED, errno.EPERM),  # the same with SOCK_CLOEXEC
        (2, 1, 0, ALLOWED, errno.EPERM),  # internet
        (10, 2, 0, ALLOWED, errno.EPERM),
        (16, 3, 0, ALLOWED, ALLOWED),  # netlink: routes and interfaces
        (16, 3, 9, errno.EAFNOSUPPORT, errno.EAFNOSUPPORT),  # netlink: audit
        (17, 3, 0, errno.EAFNOSUPPORT, errno.EAFNOSUPPORT),  # packets
        (38, 5, 0, errno.EAFNOSUPPORT, errno.EAFNOSUPPORT),  # kernel crypto
        (40, 1, 0, errno.EAFNOSUPPORT, errno.EAFNOSUPPORT),  # vsock
    ],
)
def test_sockets_are_allowed_by_family(
    machine: str, family: int, kind: int, protocol: int, when_open: Any, when_closed: Any
) -> None:
    number = numbered(machine, EXAMINED)["socket"]
    assert run(OPEN, machine, number, family, kind, protocol) == when_open
    assert run(CLOSED, machine, number, family, kind, protocol) == when_closed


def test_arguments_decide_about_the_other_examined_calls(machine: str) -> None:
    def call(name: str, *arguments: int, policy: Policy = OPEN) -> str | int:
        return run(policy, machine, numbered(machine, EXAMINED)[name], *arguments)

    assert call("personality", 0) == call("personality", 0xFFFFFFFF) == ALLOWED
    assert call("personality", 0x0040000) == errno.EPERM
    assert call("ioctl", 0, 0x5412) == call("ioctl", 0, 0x541C) == errno.EPERM
    assert call("ioctl", 0, 0x5401) == ALLOWED
    assert call("kill", (1 << 64) - 1, 9) == errno.EPERM
    assert call("kill", 17, 9) == ALLOWED
    assert call("prctl", 1, 0) == 0, "answered as done, not done"
    assert call("prctl", 38, 1) == ALLOWED
    assert call("connect", 3) == ALLOWED
    assert call("connect", 3, policy=CLOSED) == errno.EPERM
    assert call("socketpair", 1, 1) == ALLOWED
    assert call("socketpair", 16, 1) == errno.EPERM


def test_memory_that_a_watchdog_cannot_see_does_not_exist_beside_one(machine: str) -> None:
    hidden = numbered(machine, HIDDEN_MEMORY, PERSISTENT_IPC)
    assert hidden.keys() == HIDDEN_MEMORY.keys() | PERSISTENT_IPC.keys()
    for name, number in hidden.items():
        assert run(OPEN, machine, number) == ALLOWED, name
        assert run(CLOSED, machine, number) == errno.ENOSYS, name


def test_the_program_is_one_the_kernel_takes(machine: str) -> None:
    steps = program(CLOSED, MACHINES[machine])
    assert len(steps) <= 4096
    for place, step in enumerate(steps):
        assert 0 <= step.jt <= 255 and 0 <= step.jf <= 255
        if step.code in (0x15, 0x35, 0x45):
            assert place + 1 + max(step.jt, step.jf) < len(steps)
