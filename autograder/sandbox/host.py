"""Find out what this host offers for confinement by trying each mechanism for real, in a process that is thrown away.

Documentation and version numbers do not tell: a container's filter, a distribution's patch or an administrator's
setting may take any of it away. What is missing is told with what it means and what to do about it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.records import from_data, to_data
from autograder.sandbox import cgroups, landlock, mounts, namespaces, privileges, seccomp, syscalls
from autograder.sandbox.tier import Tier

PROBE_S = 20.0
"""more than any probe takes; a host on which one hangs has it not"""

USER_NAMESPACE = "user namespace"
PROCESS_NAMESPACE = "process namespace"
MOUNT_NAMESPACE = "mount namespace"
OWN_PROC = "own /proc"
NETWORK_NAMESPACE = "network namespace"
IPC_NAMESPACE = "IPC namespace"
LANDLOCK = "Landlock"
SECCOMP = "seccomp"
OWN_USER = "own user"
MEMORY_GROUP = "memory control group"
PROCESS_GROUP = "process control group"
DISK_LIMIT = "disk limit"

NO_NAMESPACES = (
    USER_NAMESPACE,
    PROCESS_NAMESPACE,
    MOUNT_NAMESPACE,
    OWN_PROC,
    NETWORK_NAMESPACE,
    IPC_NAMESPACE,
    MEMORY_GROUP,
    PROCESS_GROUP,
    DISK_LIMIT,
)
"""what an ordinary user in a container or on a hardened desktop mostly lacks; for `Host.without`"""

_ALLOW_NAMESPACES = (
    "Run the grader as root, or let ordinary users make user namespaces: `sysctl user.max_user_namespaces` must not be "
    "0; on Ubuntu 24.04 and later `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`; in Docker `--cap-add "
    "SYS_ADMIN --cap-add NET_ADMIN --security-opt systempaths=unconfined --security-opt apparmor=unconfined`, or an "
    "ordinary user with `--security-opt seccomp=unconfined`."
)
_ALLOW_GROUPS = "Run the grader as root, or under `systemd-run --user --scope -p Delegate=yes`."

_WHEN_MISSING = {
    # what its absence means, and the next step
    USER_NAMESPACE: ("No other namespace can be made.", _ALLOW_NAMESPACES),
    PROCESS_NAMESPACE: (
        "The host's processes can be listed, and detached ones have to be searched for.",
        _ALLOW_NAMESPACES,
    ),
    MOUNT_NAMESPACE: (
        "The names and sizes of hidden files can be seen; their content only where Landlock is missing too.",
        _ALLOW_NAMESPACES,
    ),
    OWN_PROC: ("The command lines of the host's processes can be read.", _ALLOW_NAMESPACES),
    NETWORK_NAMESPACE: (
        "Internet sockets are refused altogether: what talks over loopback (gloo, torch.distributed) fails.",
        _ALLOW_NAMESPACES,
    ),
    IPC_NAMESPACE: ("System V semaphores and message queues are refused.", _ALLOW_NAMESPACES),
    LANDLOCK: (
        "Only the mount namespace, if there is one, keeps files out of reach.",
        "Landlock comes with Linux 5.13 or later; the boot parameter `lsm=`, if given, must name it.",
    ),
    SECCOMP: (
        "Dangerous system calls stay open.",
        "seccomp needs a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or aarch64.",
    ),
    OWN_USER: (
        "Programs run under the user id of whoever grades; what bounds them is everything else in this list.",
        "Running the grader as root gives each program a user id of its own.",
    ),
    MEMORY_GROUP: (
        "Memory is watched instead of bounded by the kernel: a fast allocation can pass the limit for a moment.",
        _ALLOW_GROUPS,
    ),
    PROCESS_GROUP: ("The number of processes is bounded by RLIMIT_NPROC alone.", _ALLOW_GROUPS),
    DISK_LIMIT: (
        "The size of one file is bounded, the sum in the private folder only watched, and /dev/shm is closed.",
        _ALLOW_NAMESPACES,
    ),
}


@dataclass(frozen=True)
class Mechanism:
    """One means of confinement on this host."""

    name: str
    available: bool
    finding: str
    """what happened when it was tried"""
    means: str = ""
    """what its absence means; empty where it is there"""
    step: str = ""
    """what to do to have it"""


def _missing(name: str, finding: str) -> Mechanism:
    return Mechanism(name, False, finding, *_WHEN_MISSING[name])


@dataclass(frozen=True)
class Host:
    """What this host offers."""

    system: str
    """`Linux`, `Darwin` or `Windows`"""
    root: bool
    """whether the grader runs as root"""
    privileged: bool
    """whether namespaces can be made without a user namespace"""
    mechanisms: tuple[Mechanism, ...]
    landlock_abi: int = 0
    groups: cgroups.Base = cgroups.NOWHERE

    def has(self, name: str) -> bool:
        """Whether the mechanism `name` (the constants of this module) can be used."""
        return any(m.name == name and m.available for m in self.mechanisms)

    def without(self, *names: str) -> Host:
        """The same host as if the mechanisms `names` were missing: how a weaker host is tried on a strong one."""
        left_out = "left out on purpose"
        mechanisms = tuple(_missing(m.name, left_out) if m.name in names else m for m in self.mechanisms)
        groups = self.groups
        if MEMORY_GROUP in names:
            groups = replace(groups, memory="")
        if PROCESS_GROUP in names:
            groups = replace(groups, pids="")
        return replace(self, mechanisms=mechanisms, groups=groups)

    @property
    def tier(self) -> Tier:
        """The tier that a box on this host reaches."""
        if self.system != "Linux":
            return Tier.NONE
        if not (
            (self.has(MOUNT_NAMESPACE) or self.has(LANDLOCK)) and (self.has(NETWORK_NAMESPACE) or self.has(SECCOMP))
        ):
            return Tier.LIMITS
        needed = (PROCESS_NAMESPACE, MOUNT_NAMESPACE, OWN_PROC, NETWORK_NAMESPACE, IPC_NAMESPACE, SECCOMP)
        return Tier.FULL if all(map(self.has, needed)) and (self.has(OWN_USER) or not self.root) else Tier.FILES

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(m.name for m in self.mechanisms if not m.available)

    @property
    def sentence(self) -> str:
        """The tier and what it promises, for a report."""
        return self.sentence_for(self.tier)

    def sentence_for(self, tier: Tier) -> str:
        """The same for a box that reaches less than the host could give."""
        watched = tier >= Tier.GPU and not self.has(MEMORY_GROUP)
        return f"{tier.sentence}{' (memory is watched, not bounded by the kernel)' if watched else ''}"


_KILLED = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
"""what somebody sends who has nothing to do with the mechanism that is tried"""


@functools.cache
def probe() -> Host:
    """Try everything once, in about a tenth of a second and in another process; later calls repeat the answer."""
    if platform.system() != "Linux":
        return nothing(platform.system())
    root = Path(__file__).resolve().parents[2]
    code = "import sys; sys.path.insert(0, sys.argv[1]); from autograder.sandbox import host; host.main()"
    command = [sys.executable, "-I", "-S", "-c", code, str(root)]
    for _ in range(2):
        finished = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_S)
        if -finished.returncode not in _KILLED:
            break  # else somebody killed it: a whole class would be graded in weaker boxes
    if finished.returncode != 0:
        return nothing("Linux", f"the probe ended with {finished.returncode}: {finished.stderr.strip()[-200:]}")
    return from_data(Host, json.loads(finished.stdout))


def nothing(system: str, finding: str = "") -> Host:
    """A host that offers nothing: anything but Linux, or one where even the probe fails."""
    finding = finding or f"{system} has no such thing"
    return Host(system, False, False, tuple(_missing(name, finding) for name in _WHEN_MISSING))


def main() -> None:
    """Probe this host from a fresh process with a single thread, and print what was found as JSON."""
    print(json.dumps(to_data(_examine())))


def _examine() -> Host:
    root = os.geteuid() == 0
    findings: dict[str, str] = {}
    privileged = root and not _attempt(lambda: syscalls.unshare(syscalls.CLONE_NEWPID))
    if privileged:
        findings[USER_NAMESPACE] = ""
    elif root:
        # A user namespace maps one user: root's box would be root in all but its capabilities.
        findings[USER_NAMESPACE] = "root without CAP_SYS_ADMIN; an ordinary user may be allowed more here"
    else:
        findings[USER_NAMESPACE] = _attempt(namespaces.enter_user_namespace)
    if not findings[USER_NAMESPACE]:
        findings |= _attempt_namespaces(privileged=privileged)
    findings[LANDLOCK] = _attempt(_try_landlock)
    findings[SECCOMP] = _attempt(_try_seccomp)
    findings[OWN_USER] = _attempt(_try_own_user) if root else "the grader does not run as root"
    groups, group_findings = _find_groups()
    findings |= group_findings
    findings[DISK_LIMIT] = findings.get(MOUNT_NAMESPACE, _MISSING_NAMESPACE)
    abi = landlock.version()
    found = {
        LANDLOCK: f"ABI {abi}",
        MEMORY_GROUP: f"version {groups.version}",
        PROCESS_GROUP: f"version {groups.version}",
    }
    if privileged:
        found[USER_NAMESPACE] = "not needed by root"
    mechanisms = []
    for name in _WHEN_MISSING:
        failure = findings.get(name, _MISSING_NAMESPACE)
        works = Mechanism(name, True, found.get(name, "works"))
        mechanisms.append(_missing(name, failure) if failure else works)
    return Host("Linux", root, privileged, tuple(mechanisms), abi, groups)


_MISSING_NAMESPACE = "not tried: no namespace can be made"


def _attempt(act: Callable[[], object]) -> str:
    """Run `act` in a forked process; return why it failed, or nothing."""
    return _in_child(lambda report: act()).get("failure", "")


def _in_child(act: Callable[[dict[str, str]], object], tries: int = 2) -> dict[str, str]:
    """Run `act` in a forked process; return what it reported, and `failure` if it raised or died.

    That somebody killed it says nothing about this host: then it is tried again, and `killed` if there is no try left.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        report: dict[str, str] = {}
        try:
            act(report)
        except Exception as error:
            report["failure"] = str(error) or type(error).__name__
        finally:
            os.write(writer, json.dumps(report).encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if not text:
        code = os.waitstatus_to_exitcode(status)
        if -code in _KILLED and tries > 1:
            return _in_child(act, tries - 1)
        killed = {"killed": "yes"} if -code in _KILLED else {}
        return {"failure": f"the process that tried it ended with {code}", **killed}
    return dict(json.loads(text))


def _attempt_namespaces(*, privileged: bool) -> dict[str, str]:
    """Enter every namespace as a box would and report, for each, why it failed or nothing."""

    def supervisor(report: dict[str, str]) -> None:
        if privileged:
            syscalls.unshare(syscalls.CLONE_NEWPID)
        else:
            namespaces.enter_user_namespace()
            with _reported(report, PROCESS_NAMESPACE):
                syscalls.unshare(syscalls.CLONE_NEWPID)
        report |= _in_child(box, tries=1)
        if "killed" in report:
            # A namespace whose first process has gone takes no other: all of it is tried again.
            os.kill(os.getpid(), signal.SIGKILL)

    def box(report: dict[str, str]) -> None:
        with _reported(report, PROCESS_NAMESPACE):
            if os.getpid() != 1:
                raise OSError("the forked process did not become the first of its namespace")
        with _reported(report, NETWORK_NAMESPACE):
            namespaces.enter(syscalls.CLONE_NEWNET)
        with _reported(report, IPC_NAMESPACE):
            namespaces.enter(syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS)
        with _reported(report, MOUNT_NAMESPACE):
            syscalls.unshare(syscalls.CLONE_NEWNS)
            mounts.mount("", "/", "", mounts.MS_REC | mounts.MS_PRIVATE)
            mounts.mount("tmpfs", "/tmp", "tmpfs", 0, "size=1m")
        with _reported(report, OWN_PROC):
            os.mkdir("/tmp/proc")
            flags = mounts.MS_NOSUID | mounts.MS_NODEV | mounts.MS_NOEXEC | mounts.MS_RDONLY
            mounts.mount("proc", "/tmp/proc", "proc", flags)

    report = _in_child(supervisor)
    failure = report.pop("failure", "")
    names = (PROCESS_NAMESPACE, NETWORK_NAMESPACE, IPC_NAMESPACE, MOUNT_NAMESPACE, OWN_PROC)
    return {name: report.get(name, failure or _MISSING_NAMESPACE) for name in names}


@contextlib.contextmanager
def _reported(report: dict[str, str], name: str) -> Iterator[None]:
    try:
        yield
        report.setdefault(name, "")
    except OSError as error:
        report[name] = str(error)


def _try_landlock() -> None:
    privileges.no_new_privileges()
    landlock.restrict([landlock.Rule(Path("/"), landlock.READ)], tcp=False)
    with contextlib.suppress(PermissionError):
        os.close(os.open("/tmp", os.O_TMPFILE | os.O_WRONLY))
        raise OSError("a file could be made in spite of it")


def _try_seccomp() -> None:
    privileges.no_new_privileges()
    seccomp.install(seccomp.Policy(internet=False))
    with contextlib.suppress(PermissionError):
        syscalls.unshare(0)
        raise OSError("a refused call went through")


def _try_own_user() -> None:
    privileges.become_user(privileges.box_uid(os.getpid()))


def _find_groups() -> tuple[cgroups.Base, dict[str, str]]:
    """The first place where a group can be made and joined that limits memory; else one that limits processes."""
    best, failure = cgroups.NOWHERE, "no control group of this process can be divided"
    for base in cgroups.candidates():
        cgroups.sweep(base)
        partial = failure = _attempt(lambda base=base: _try_group(base))  # type: ignore[misc]
        if partial and base.version == 1:  # the two hierarchies of version 1 are separate: one may do without the other
            for part in (replace(base, pids=""), replace(base, memory="")):
                if (part.memory or part.pids) and not _attempt(lambda part=part: _try_group(part)):  # type: ignore[misc]
                    base, partial = part, ""
                    break
        if not partial and (not best.version or (base.memory and not best.memory)):
            best = base
    return best, {MEMORY_GROUP: "" if best.memory else failure, PROCESS_GROUP: "" if best.pids else failure}


def _try_group(base: cgroups.Base) -> None:
    group = cgroups.Group(base, 64 << 20, 16)
    try:
        failure = _attempt(group.join)
        if failure:
            raise OSError(failure)
        group.memory()
    finally:
        group.remove()
