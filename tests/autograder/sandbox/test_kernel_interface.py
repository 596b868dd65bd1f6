"""The calls that no notebook needs and most exploits do are refused with EPERM, and the program goes on."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path
from typing import Any


def attempt_calls(numbers: dict[str, int]) -> dict[str, int]:
    """The error number of each raw call, with arguments that the kernel would otherwise accept or fault on."""
    libc = ctypes.CDLL(None, use_errno=True)
    found = {}
    for name, number in numbers.items():
        ctypes.set_errno(0)
        result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
        found[name] = ctypes.get_errno() if result == -1 else 0
    return found


def test_every_denied_call_fails_with_eperm(boxed: Any) -> None:
    from autograder.sandbox.seccomp import DENIED, machine

    here = machine()
    assert here is not None
    numbers = {name: n for name, columns in DENIED.items() if (n := columns[here.column]) is not None}
    assert boxed(attempt_calls, numbers=numbers).result == dict.fromkeys(numbers, 1)


def test_no_new_namespace_and_no_mount_by_any_spelling(boxed: Any) -> None:
    def spell() -> dict[str, Any]:
        import platform

        libc = ctypes.CDLL(None, use_errno=True)
        clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
        found: dict[str, Any] = {}
        new_user, new_net = 0x10000000, 0x40000000
        for name, flags in {"user": new_user, "net": new_net, "both": new_user | new_net}.items():
            pid = libc.syscall(ctypes.c_long(clone), *[ctypes.c_long(v) for v in (flags | 17, 0, 0, 0, 0)])
            if pid == 0:
                os._exit(0)
            found[f"clone {name}"] = ctypes.get_errno() if pid == -1 else 0
        found["clone3"] = ctypes.get_errno() if libc.syscall(ctypes.c_long(435), None, ctypes.c_long(0)) == -1 else 0
        for command in ("unshare -Ur true", "mount -t tmpfs none /tmp", "umount /tmp", "chroot / true"):
            found[command] = subprocess.run(command, shell=True, capture_output=True).returncode != 0
        found["no address randomness"] = libc.personality(ctypes.c_ulong(0x0040000))
        return found

    found = boxed(spell).result
    assert [found.pop(f"clone {name}") for name in ("user", "net", "both")] == [1, 1, 1]
    assert (found.pop("clone3"), found.pop("no address randomness")) == (38, -1)
    assert set(found.values()) == {True}


def test_privileges_are_gone_for_good(boxed: Any) -> None:
    def look() -> list[Any]:
        lines = (line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines())
        status = {line[0]: line[1] for line in lines if len(line) == 2}
        try:
            os.setuid(0)
            root = True
        except OSError:
            root = False
        capabilities = [int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
        return [capabilities, status["NoNewPrivs"], status["Seccomp"], root, os.getresuid()[0] == os.geteuid()]

    assert boxed(look).result == [[0] * 5, "1", "2", False, True]
