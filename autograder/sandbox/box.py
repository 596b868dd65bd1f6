"""One box for one program: entered in two steps by two processes, watched and emptied from outside.

The supervisor calls `enter_namespaces`, forks, and calls `adopt` with the child's process id; the child calls `confine`
first of all, and is from then on a stranger. The supervisor keeps the host's files and network, reads the counters, and
ends the box with `clean`. What the host lacks is left out as the probe found it; what the probe found and fails here
ends the child with an error, never with a weaker box.

    supervisor   enter_namespaces()   fork    adopt(pid)   over_memory() ...   clean()
    child                                     confine(): files, network, user, Landlock, seccomp; then a stranger

Two steps, because a process namespace holds only what is forked after it was made, and because whoever entered the rest
could no longer watch from the host's side.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import SandboxUnavailable
from autograder.records import Limits
from autograder.sandbox import (
    cgroups,
    environment,
    host,
    landlock,
    mounts,
    namespaces,
    privileges,
    processes,
    rlimits,
    seccomp,
    syscalls,
)
from autograder.sandbox.host import Host
from autograder.sandbox.tier import ReachedTier, Tier
from autograder.sandbox.view import View, require_absolute

_DATA_SLACK = 1 << 30
MAX_ENTRIES = 10_000
"""in the real private folder"""
_SUBFOLDERS = ("work", "home", "tmp")


@dataclass(frozen=True)
class _Plan:
    """What will be done on this host."""

    user_namespace: bool
    process_namespace: bool
    mount_namespace: bool
    own_proc: bool
    network_namespace: bool
    ipc_namespace: bool
    own_user: bool
    landlock: bool
    seccomp: bool

    @classmethod
    def on(cls, found: Host) -> _Plan:
        can = found.privileged or found.has(host.USER_NAMESPACE)
        return cls(
            user_namespace=can and not found.privileged,
            process_namespace=can and found.has(host.PROCESS_NAMESPACE),
            mount_namespace=can and found.has(host.MOUNT_NAMESPACE),
            own_proc=found.has(host.OWN_PROC) and found.has(host.PROCESS_NAMESPACE),
            network_namespace=can and found.has(host.NETWORK_NAMESPACE),
            ipc_namespace=can and found.has(host.IPC_NAMESPACE),
            own_user=found.root and found.has(host.OWN_USER),
            landlock=found.has(host.LANDLOCK),
            seccomp=found.has(host.SECCOMP),
        )


def _can_open(path: Path) -> bool:
    """Whether a file's content is there to be read. A folder may be there by name: what lies below it is shown."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return stat.S_ISREG(os.fstat(opened).st_mode)
    finally:
        os.close(opened)


class Box:
    """The confinement of one program, from the first namespace to the last killed process."""

    def __init__(self, view: View, limits: Limits, found: Host) -> None:
        """Nothing happens yet. Raises ValueError where a path of `view` would not mean the same inside."""
        require_absolute(view)
        self.view = view
        self.limits = limits
        self.host = found
        self._plan = _Plan.on(found)
        self._group: cgroups.Group | None = None
        self._uid, self._gid = os.geteuid(), os.getegid()
        self._pid: int | None = None
        self._handle: int | None = None
        self._inherited = 0
        self._over_memory = False
        self._present: list[Path] = []
        self._life: tuple[int, int] | None = None

    @property
    def reached(self) -> ReachedTier:
        """The tier of a box in which `confine` returned, and the sentence for the report."""
        tier = min(self.host.tier, Tier.GPU) if self.view.devices else self.host.tier
        return ReachedTier(tier, self.host.sentence_for(tier))

    # The supervisor, before it forks

    def enter_namespaces(self) -> None:
        """Make what must exist before the box's first process: folders, control group, process namespace.

        Called once, in a process with one thread that will fork once; afterwards it can start no thread of its own.
        Raises SandboxUnavailable.
        """
        if self._plan.own_user:
            self._uid = self._gid = privileges.box_uid(os.getpid())
        self._make_folders()
        self._present = [path for path in self.view.read if os.path.exists(path)]
        if self.host.system != "Linux":
            return
        try:
            self._make_group()
            self._life = os.pipe()
            self._leave_shared_processes()
        except SandboxUnavailable:
            self.clean()
            raise

    def _make_group(self) -> None:
        with self._explain_failure("control group"):
            if self.host.groups.version:
                cgroups.sweep(self.host.groups)
                self._group = cgroups.Group(self.host.groups, self._memory_and_disk(), self.limits.processes)

    def _leave_shared_processes(self) -> None:
        with self._explain_failure("namespaces"):
            # Orphans come to the supervisor where no process namespace gathers them.
            syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
            flags = syscalls.CLONE_NEWPID if self._plan.process_namespace else 0
            if self._plan.user_namespace:
                namespaces.enter_user_namespace(flags)
            elif flags:
                syscalls.unshare(flags)

    def _make_folders(self) -> None:
        for folder in (self.view.private, *(self.view.private / name for name in _SUBFOLDERS)):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _memory_and_disk(self) -> int:
        """The group counts the tmpfs behind the box's folders as memory, and both may be used up."""
        return self.limits.memory_bytes + (self.limits.disk_bytes if self._plan.mount_namespace else 0)

    def adopt(self, pid: int) -> None:
        """Tell the box which process is its first: the child that was just forked and calls `confine`."""
        self._pid = pid
        with contextlib.suppress(OSError, AttributeError):  # Linux before 5.3
            self._handle = os.pidfd_open(pid)
        self._inherited = processes.held_bytes(os.getpid())
        if self._life is not None:
            os.close(self._life[0])
            self._life = (-1, self._life[1])

    # The box's first process

    def confine(self, *, keep_fds: Iterable[int] = (), variables: Mapping[str, str] | None = None) -> None:
        """Turn the calling process into the box's first: returns inside, in the working folder, with nothing left over.

        `keep_fds`: descriptors that stay open; of the standard streams those not named lead to /dev/null.
        `variables`: environment variables on top of `environment.clean`.
        Raises SandboxUnavailable; the caller must then exit.
        """
        life = self._life[0] if self._life is not None else -1
        environment.detach([*keep_fds, life])
        environment.replace(environment.clean(self.view, variables or {}))
        if self.host.system == "Linux":
            self._join_group()
            self._enter_own_namespaces()
            self._give_up_privileges(life)
            self._restrict_system_calls()
            self._refuse_leaks()
        else:
            rlimits.apply(self.limits, processes=self._processes(), data_bytes=None)
        os.chdir(self.view.work)

    def _join_group(self) -> None:
        with contextlib.suppress(OSError):  # a hint to the kernel, nothing rests on it
            Path("/proc/self/oom_score_adj").write_text("1000")
        with self._explain_failure("control group"):
            if self._group is not None:
                self._group.join()

    def _enter_own_namespaces(self) -> None:
        plan = self._plan
        flags = (
            syscalls.CLONE_NEWNS * plan.mount_namespace
            | syscalls.CLONE_NEWNET * plan.network_namespace
            | (syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS) * plan.ipc_namespace
        )
        if self._plan.own_user:
            with self._explain_failure("private folder"):
                mounts.give_folder(self.view.private, self._uid, self._gid)
        with self._explain_failure("namespaces"):
            if flags:
                namespaces.enter(flags)
        with self._explain_failure("file system"):
            if plan.mount_namespace:
                mounts.enter(mounts.Tree(self.view, self._uid, self._gid, self.limits.disk_bytes, plan.own_proc))

    def _give_up_privileges(self, life: int) -> None:
        with self._explain_failure("limits"):
            rlimits.apply(self.limits, processes=self._processes(), data_bytes=self._data_bytes())
        with self._explain_failure("own user"):
            if self._plan.own_user:
                privileges.become_user(self._uid)
            privileges.drop_capabilities()
            privileges.no_new_privileges()
            privileges.stay_visible_to_itself()
        # After the change of user, which resets it.
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        if select.select([life], [], [], 0)[0]:
            os._exit(1)  # the supervisor died before the kernel was told to watch it
        os.close(life)
        for path in (*self._present, self.view.work):
            if not os.access(path, os.R_OK):
                raise SandboxUnavailable(
                    f"{path} cannot be read by the box's user {self._uid}; allow it and the folders above it to others "
                    f"(chmod o+rX), or install Python where every user can read it"
                )

    def _processes(self) -> int:
        """RLIMIT_NPROC counts by user, and without a user or a namespace of its own the box shares the count."""
        if self._plan.own_user or (self._plan.user_namespace and rlimits.counts_per_namespace()):
            return self.limits.processes
        return self.limits.processes + rlimits.threads_of(self._uid)

    def _data_bytes(self) -> int | None:
        """Where memory is only watched, a backstop for one huge allocation; generous, since mapped is not used."""
        if self.host.has(host.MEMORY_GROUP):
            return None
        return rlimits.mapped_data() + 2 * self.limits.memory_bytes + _DATA_SLACK

    def _restrict_system_calls(self) -> None:
        plan = self._plan
        with self._explain_failure("Landlock"):
            if plan.landlock:
                landlock.restrict(self._landlock_rules(), tcp=plan.network_namespace)
        with self._explain_failure("seccomp"):
            if plan.seccomp:
                policy = seccomp.Policy(
                    internet=plan.network_namespace,
                    connect=plan.mount_namespace or plan.own_user,
                    own_ipc=plan.ipc_namespace,
                    hidden_memory=self.host.has(host.MEMORY_GROUP),
                )
                seccomp.install(policy)

    def _refuse_leaks(self) -> None:
        """The promise of the tier, tried: whatever the view was made of, what must be hidden cannot be opened."""
        for path in self.view.hidden if self.host.tier >= Tier.FILES else ():
            shown = next((r for r in self._present if path.is_relative_to(r) or path.is_relative_to(r.resolve())), None)
            if shown is None and not _can_open(path):
                continue
            raise SandboxUnavailable(
                f"{path} can be read from inside the box{f', which shows all of {shown}' if shown else ''}. "
                "Move submissions, run folder and assignment elsewhere, or install Python elsewhere"
            )

    def _landlock_rules(self) -> list[landlock.Rule]:
        private = self.view.private
        nodes = [Path("/dev", node) for node in mounts.NODES if node != "tty"]
        devices = [landlock.Rule(path, landlock.DEVICE) for path in (*nodes, *self.view.devices)]
        if self._plan.mount_namespace:
            writable = [Path("/tmp"), Path("/dev/shm"), *(private / name for name in _SUBFOLDERS)]
            return [
                landlock.Rule(Path("/"), landlock.READ),
                landlock.Rule(private, landlock.MEET),
                *(landlock.Rule(path, landlock.WRITE) for path in writable),
                landlock.Rule(Path("/dev/pts"), landlock.READ | landlock.DEVICE),
                landlock.Rule(Path("/dev/tty"), landlock.DEVICE),
                *devices,
            ]
        return [
            *(landlock.Rule(path, landlock.READ) for path in (*self.view.read, Path("/proc"))),
            # Not /dev/shm: what one box leaves there the next would find.
            landlock.Rule(private, landlock.WRITE),
            *devices,
        ]

    # The supervisor, while the box runs and afterwards

    def _living_processes(self) -> list[int]:
        """The box's processes, its first one first."""
        if self._pid is None:
            return []
        below = processes.descendants(self._pid)
        if self._plan.process_namespace:
            return [self._pid, *below]
        orphans = [p for p in processes.descendants(os.getpid()) if p != self._pid and p not in below]
        return [self._pid, *below, *orphans]

    def memory(self) -> int:
        """Bytes of memory that the box holds now, beyond the pages it shares with the process it was forked from."""
        if self._group is not None and self._group.memory_folder is not None:
            return self._group.memory()
        return processes.private_bytes(self._living_processes(), self._inherited)

    def over_memory(self) -> bool:
        """Whether the box ran into its memory limit, now or before: what tells `memory` from `crash`.

        With a control group the kernel has then killed a process of it. Without one nobody has: the supervisor asks
        often (every 50 ms or so) and ends the box when the answer is yes. Ask before `clean`.
        """
        if self._group is not None and self._group.memory_folder is not None:
            self._over_memory = self._over_memory or self._group.out_of_memory()
        elif not self._over_memory and self.host.system == "Linux":
            alive, limit = self._living_processes(), self._memory_and_disk()
            in_sockets = processes.socket_bytes(alive[0]) if alive and self._plan.network_namespace else 0
            if in_sockets + sum(map(processes.held_bytes, alive)) > limit + self._inherited:
                self._over_memory = in_sockets + processes.private_bytes(alive, self._inherited) > limit
        return self._over_memory

    def disk(self) -> int:
        """Bytes on disk in the real private folder; the box's own tmpfs, which the kernel bounds, is not among them."""
        return self._used_disk()[0]

    def _used_disk(self) -> tuple[int, int]:
        """Bytes, and how many files, folders and sockets, in the real private folder."""
        total = entries = 0

        def add(path: str) -> None:
            nonlocal total, entries
            entries += 1
            with contextlib.suppress(OSError):
                total += os.lstat(path).st_blocks * 512

        mounts.walk(self.view.private, add)
        return total, entries

    def over_disk(self) -> bool:
        """Whether the private folder holds more than the limit; to be asked now and then, and the box ended if so.

        It can only where the host has no disk limit, or where the private folder lies below /tmp (`new_private`): but
        sockets can be bound in it everywhere, each of them a file of the host's.
        """
        used, entries = self._used_disk()
        return used > self.limits.disk_bytes + (1 << 20) or entries > MAX_ENTRIES

    def clean(self) -> None:
        """Kill everything in the box, reap its first process, remove the control group. May be called twice.

        Without a process namespace everything below the supervisor is killed: it must have no other children.
        """
        if self.host.system == "Linux":
            self._kill_processes()
        if self._group is not None:
            self._over_memory = self.over_memory()
            self._group.remove()
            self._group = None
        if self._life is not None:
            for end in self._life:
                if end >= 0:
                    os.close(end)
            self._life = None

    def _kill_processes(self) -> None:
        if self._pid is None:
            return
        if self._group is not None:
            self._group.kill()
        self._kill_first_process(self._pid)
        if not self._plan.process_namespace:
            if self._plan.own_user:
                processes.end_user(self._uid)
            processes.end_children()
        with contextlib.suppress(ChildProcessError):
            # The first process of a process namespace can be reaped only when all others are gone.
            os.waitpid(self._pid, 0)
        self._pid = None

    def _kill_first_process(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self._handle is None:
                os.kill(pid, signal.SIGKILL)
            else:
                # The supervisor may have reaped it, and its number be another's by now; a handle stays its own.
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @staticmethod
    @contextlib.contextmanager
    def _explain_failure(step: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise SandboxUnavailable(
                f"the sandbox's step '{step}' failed although the probe passed: {error}; run `autograder doctor`"
            ) from error
