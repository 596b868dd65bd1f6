"""Let the kernel count a box's memory and processes, and end it when it takes too much: control groups, version 2 or 1.

A group charges what its processes allocate after they joined, so the pages that a forked kernel shares with its zygote
are nobody's debt here.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PREFIX = "autograder-"
_REMOVAL_TRIES = 200
_REMOVAL_PAUSE_S = 0.005
_numbers = itertools.count()


@dataclass(frozen=True)
class Base:
    """Where this process may make groups. In version 2 both folders are one; empty where there is no such control."""

    version: int
    memory: str = ""
    pids: str = ""


NOWHERE = Base(0)


def candidates() -> list[Base]:
    """Places worth trying, closest to this process's own group first."""
    with contextlib.suppress(OSError):
        groups = Path("/proc/self/cgroup").read_text()
        mounts = Path("/proc/self/mountinfo").read_text()
        return [*_version_2(groups, mounts), *_version_1(groups, mounts)]
    return []


def _version_2(groups: str, mounts: str) -> Iterable[Base]:
    own = next((line[3:] for line in groups.splitlines() if line.startswith("0::")), None)
    for root, point, _ in _mounted(mounts, "cgroup2"):
        folder = _folder(own, root, point)
        # A group that holds processes cannot share its controls among children, so it is mostly the parent that can.
        for place in [folder, *folder.parents][:3]:
            if not place.is_relative_to(point):
                return
            with contextlib.suppress(OSError):
                shared = (place / "cgroup.subtree_control").read_text().split()
                if "memory" in shared:
                    yield Base(2, str(place), str(place) if "pids" in shared else "")


def _version_1(groups: str, mounts: str) -> Iterable[Base]:
    own: dict[str, str] = {}
    for line in groups.splitlines():
        _, names, path = line.split(":", 2)
        own.update(dict.fromkeys(names.split(","), path))
    found: dict[str, str] = {}
    for root, point, options in _mounted(mounts, "cgroup"):
        for name in ("memory", "pids"):
            if name in options.split(","):
                found[name] = str(_folder(own.get(name), root, point))
    if found:
        yield Base(1, found.get("memory", ""), found.get("pids", ""))


def _mounted(mounts: str, kind: str) -> Iterable[tuple[str, str, str]]:
    """(root, mount point, options) of each mount of file system `kind`."""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        if after.split()[0] == kind:
            fields = before.split()
            yield fields[3], fields[4], after.split()[2]


def _folder(own: str | None, root: str, point: str) -> Path:
    """This process's group as a folder; a container may see only a part of the hierarchy, whose top is `root`."""
    inside = os.path.relpath(own or "/", root)
    return Path(point) if inside.startswith("..") else Path(point, inside)


class Group:
    """One box's control group: made by the supervisor, joined by the box, removed by the supervisor."""

    def __init__(self, base: Base, memory_bytes: int, processes: int) -> None:
        """Make it. Raises OSError where the host does not allow it."""
        self._version = base.version
        name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        self.memory_folder = Path(base.memory, name) if base.memory else None
        self.pids_folder = Path(base.pids, name) if base.pids else None
        try:
            for folder in self._folders():
                folder.mkdir()
            self._limit(memory_bytes, processes)
        except OSError:
            self.remove()
            raise

    def _folders(self) -> list[Path]:
        return list(dict.fromkeys(f for f in (self.memory_folder, self.pids_folder) if f is not None))

    def _limit(self, memory_bytes: int, processes: int) -> None:
        memory, pids = self.memory_folder, self.pids_folder
        if memory is not None and self._version == 2:
            (memory / "memory.max").write_text(str(memory_bytes))
            with contextlib.suppress(OSError):  # no swap on this host
                (memory / "memory.swap.max").write_text("0")
        elif memory is not None:
            (memory / "memory.limit_in_bytes").write_text(str(memory_bytes))
            with contextlib.suppress(OSError):  # swap is not counted on this host
                (memory / "memory.memsw.limit_in_bytes").write_text(str(memory_bytes))
        if pids is not None:
            (pids / "pids.max").write_text(str(processes))

    def join(self) -> None:
        """Move the calling process in, with what it will start."""
        for folder in self._folders():
            (folder / "cgroup.procs").write_text("0")

    def memory(self) -> int:
        """Bytes that its processes allocated and still hold; file cache, which the kernel takes back, left out."""
        if self.memory_folder is None:
            return 0
        stat = (self.memory_folder / "memory.stat").read_text()
        names = ("anon", "shmem") if self._version == 2 else ("rss", "shmem")
        return sum(int(n) for n in re.findall(rf"^(?:{'|'.join(names)}) (\d+)$", stat, re.MULTILINE))

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of it because the group was full."""
        if self.memory_folder is None:
            return False
        name = "memory.events" if self._version == 2 else "memory.oom_control"
        with contextlib.suppress(OSError):
            found = re.search(r"^oom_kill (\d+)$", (self.memory_folder / name).read_text(), re.MULTILINE)
            return found is not None and int(found[1]) > 0
        return False

    def kill(self) -> None:
        """Send SIGKILL to every process in it."""
        for folder in self._folders():
            with contextlib.suppress(OSError):
                if (folder / "cgroup.kill").exists():
                    (folder / "cgroup.kill").write_text("1")
                    continue
                for pid in (folder / "cgroup.procs").read_text().split():
                    with contextlib.suppress(OSError):
                        os.kill(int(pid), signal.SIGKILL)

    def remove(self) -> None:
        """Kill what is in it and remove it; the last process may take some milliseconds to be gone."""
        for folder in self._folders():
            for _ in range(_REMOVAL_TRIES):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    self.kill()
                    time.sleep(_REMOVAL_PAUSE_S)


def sweep(base: Base) -> None:
    """Remove empty groups that supervisors left which no longer live (they were killed before they could)."""
    for folder in {base.memory, base.pids} - {""}:
        for stale in Path(folder).glob(f"{_PREFIX}*"):
            owner = stale.name.removeprefix(_PREFIX).partition("-")[0]
            if owner.isdigit() and not Path("/proc", owner).exists():
                with contextlib.suppress(OSError):
                    stale.rmdir()
