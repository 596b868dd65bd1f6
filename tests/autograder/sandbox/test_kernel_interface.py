"""The calls that no notebook needs and most exploits do are refused with EPERM, and the program goes on."""

from __future__ import annotations

from typing import Any


def attempt_calls(numbers: dict[str, int]) -> dict[str, int]:
    """The error number of each raw call, with arguments that the kernel would otherwise accept or fault on."""
    import ctypes

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
    assert len(numbers) > 50
    assert boxed(attempt_calls, numbers=numbers).result == dict.fromkeys(numbers, 1)


def test_no_new_namespace_and_no_mount_by_any_spelling(boxed: Any) -> None:
    def spell() -> dict[str, Any]:
        import ctypes
        import os
        import platform
        import subprocess

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
            done = subprocess.run(command, shell=True, capture_output=True)
            found[command] = done.returncode != 0
        found["no address randomness"] = libc.personality(ctypes.c_ulong(0x0040000))
        return found

    found = boxed(spell).result
    assert [found.pop(f"clone {name}") for name in ("user", "net", "both")] == [1, 1, 1]
    assert found.pop("clone3") == 38
    assert found.pop("no address randomness") == -1
    assert set(found.values()) == {True}


def test_processes_and_threads_still_start(boxed: Any) -> None:
    def start() -> list[Any]:
        import os
        import threading

        child = os.fork()
        if child == 0:
            os._exit(7)
        seen: list[int] = []
        thread = threading.Thread(target=seen.append, args=(1,))
        thread.start()
        thread.join()
        return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen]

    assert boxed(start).result == [7, [1]]


def test_privileges_are_gone_for_good(boxed: Any) -> None:
    def look() -> dict[str, Any]:
        import os
        from pathlib import Path

        lines = (line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines())
        status = {line[0]: line[1] for line in lines if len(line) == 2}
        names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")
        try:
            os.setuid(0)
            root = True
        except OSError:
            root = False
        return {
            **{name: int(status[name], 16) for name in names},
            "root": root,
            "same": os.getresuid()[0] == os.geteuid(),
        }

    found = boxed(look).result
    assert found == {
        "CapInh": 0,
        "CapPrm": 0,
        "CapEff": 0,
        "CapBnd": 0,
        "CapAmb": 0,
        "NoNewPrivs": 1,
        "Seccomp": 2,
        "root": False,
        "same": True,
    }
