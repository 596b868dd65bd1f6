"""Find a box's processes from outside, count what they hold, and end them: the way for hosts without control groups."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from autograder.sandbox.namespaces import TCP_BUFFER_BYTES

_ROUNDS = 200
_PAUSE_S = 0.005
_UNIX_BUFFER_BYTES = 212_992
"""Linux's default; `seccomp` keeps it"""


def descendants(pid: int) -> list[int]:
    """All processes below `pid`, which is not among them. Those it adopted (as pid 1 or subreaper) are."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    folder = Path("/proc", str(pid), "task")
    with contextlib.suppress(OSError):
        threads = os.listdir(folder)
        return [int(c) for t in threads for c in (folder / t / "children").read_text().split()]
    return _children_by_search(pid)


def _children_by_search(pid: int) -> list[int]:
    """The slow way, for kernels that do not list children."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name in parentheses may hold anything; the parent is the second field after it.
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


def held_bytes(pid: int) -> int:
    """Anonymous and shared memory mapped by `pid`, pages that it shares with others included: cheap, never too low."""
    return _sum_of("status", pid, ("RssAnon", "RssShmem"))


def private_bytes(pids: Iterable[int], inherited_bytes: int) -> int:
    """Bytes that the processes `pids` hold beyond the `inherited_bytes` that the first of them was forked with.

    Pages that are one process's alone count fully; pages that they share count once together, and of those the ones
    inherited are taken off. Between forks of one another the figure can be too low by at most `inherited_bytes`.
    """
    alone = shares = 0
    for pid in pids:
        alone += _sum_of("smaps_rollup", pid, ("Private_Dirty",))
        shares += _sum_of("smaps_rollup", pid, ("Pss_Anon", "Pss_Shmem"))
    return max(alone, shares - inherited_bytes)


def socket_bytes(pid: int) -> int:
    """Bytes that the sockets in the network namespace of `pid` can hold in their buffers, wherever the sockets are.

    One that was sent through another and closed is nobody's descriptor any more, but still counted here. Of TCP's
    numbers only `inuse` is the namespace's: `alloc`, beside it, counts every socket of the host. While `pid` has no
    namespace of its own yet, this process's sockets would be taken for its.
    """
    folder = Path("/proc", str(pid), "net")
    with contextlib.suppress(OSError, AttributeError):
        if os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            return 0
        text = (folder / "sockstat").read_text()
        used = int(re.search(r"used (\d+)", text)[1])  # type: ignore[index]
        with contextlib.suppress(FileNotFoundError):  # a kernel without IPv6
            text += (folder / "sockstat6").read_text()
        tcp = sum(map(int, re.findall(r"^TCP6?: inuse (\d+)", text, re.MULTILINE)))
        return used * _UNIX_BUFFER_BYTES + tcp * 2 * TCP_BUFFER_BYTES
    return 0


def _sum_of(file: str, pid: int, names: tuple[str, ...]) -> int:
    with contextlib.suppress(OSError):
        text = Path("/proc", str(pid), file).read_text()
        return sum(int(n) << 10 for n in re.findall(rf"^(?:{'|'.join(names)}):\s+(\d+) kB", text, re.MULTILINE))
    return 0  # gone since it was listed


def end_children() -> None:
    """Kill and reap everything below this process until nothing is left: stopped first, lest it forks faster.

    This process must adopt orphans (be a subreaper), so that detached processes are among its descendants.
    """
    for _ in range(_ROUNDS):
        alive = [p for p in descendants(os.getpid()) if not _is_zombie(p)]
        for sign in (signal.SIGSTOP, signal.SIGKILL):
            for victim in alive:
                with contextlib.suppress(OSError):
                    os.kill(victim, sign)
        if not _reap_children() and not alive:
            return
        time.sleep(_PAUSE_S)


def _reap_children() -> bool:
    """Reap the children that have ended; whether there are others."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                return True
        except ChildProcessError:
            return False


def _is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError, IndexError):
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def end_user(uid: int) -> None:
    """Kill every process of the user `uid` at once: a forked child becomes that user and kills all that it may."""
    child = os.fork()
    if child == 0:
        try:
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        except OSError:
            pass
        finally:
            os._exit(0)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
