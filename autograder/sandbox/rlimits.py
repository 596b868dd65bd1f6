"""Per-process limits: the oldest fence, there on every Unix, and the last one left where nothing else can be had."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import sys
from pathlib import Path

from autograder.records import Limits

if sys.platform != "win32":
    import resource


def apply(limits: Limits, *, processes: int, data_bytes: int | None) -> None:
    """Bind this process and its children. `data_bytes` bounds private mappings, None leaves them free.

    There is no limit on address space: a warm process maps about 5 GB before the student's first line.
    """
    # One byte, not zero: with a core_pattern that is a pipe the kernel ignores zero and feeds the whole process to
    # the host's crash handler, but one byte is its documented sign for "not at all".
    _bound(resource.RLIMIT_CORE, 1)
    _bound(resource.RLIMIT_FSIZE, limits.disk_bytes)
    _bound(resource.RLIMIT_NOFILE, limits.open_files)
    _bound(resource.RLIMIT_NPROC, processes)
    # The supervisor counts CPU time itself; this one ends what lives on after a supervisor that was killed.
    _bound(resource.RLIMIT_CPU, int(2 * limits.notebook_s) + 60)
    if sys.platform == "linux":
        _bound(resource.RLIMIT_MEMLOCK, 8 << 20)
        _bound(resource.RLIMIT_MSGQUEUE, 1 << 20)
        _bound(resource.RLIMIT_RTPRIO, 0)
    if data_bytes is not None:
        _bound(resource.RLIMIT_DATA, data_bytes)


def _bound(kind: int, wanted: int) -> None:
    """Lower soft and hard limit to `wanted`; a limit that is already lower stays."""
    _, hard = resource.getrlimit(kind)
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS knows the name of some limits and refuses to set them
        resource.setrlimit(kind, (value, value))


def counts_per_namespace() -> bool:
    """Whether RLIMIT_NPROC counts only the processes in the same user namespace: since Linux 5.14."""
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return found is not None and (int(found[1]), int(found[2])) >= (5, 14)


def threads_of(uid: int) -> int:
    """How many threads the user `uid` runs on this host now: what RLIMIT_NPROC counts on Linux, or more elsewhere."""
    if not os.path.isdir("/proc/self/task"):
        import psutil  # the probes, which run on Linux, do without any package

        running = psutil.process_iter(["uids", "num_threads"])
        mine = (p.info["num_threads"] for p in running if p.info["uids"] and p.info["uids"].real == uid)
        return sum(count or 1 for count in mine)  # what this user may not look at counts as one
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid == uid:
                total += len(os.listdir(folder / "task"))
    return total


def mapped_data() -> int:
    """Bytes of private writable mappings of this process, as RLIMIT_DATA counts them."""
    found = re.search(r"^VmData:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) << 10 if found else 0
