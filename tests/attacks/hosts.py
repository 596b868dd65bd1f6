"""Grade part of the corpus as an unprivileged user, on this host or on a weaker one, and so at each tier.

What a weaker host lacks is taken away before the grader starts, and the grader finds out by itself:

    full     nothing is
    files    system calls that make namespaces fail, as under Docker's usual filter
    limits   Landlock's and seccomp's too, as before Linux 5.13
    none     the module that asks for the system's name hears of another system than Linux

Only root can do this safely. A weaker host is a throw-away one: processes, network and places to write of its own, and
bounds on memory and processes, so that what the tier does not hold back ends with it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.records import Report
from autograder.sandbox import Tier, cgroups, probe, seccomp, syscalls
from autograder.sandbox import host as host_module
from tests.attacks import corpus
from tests.attacks.corpus import Variant

NOBODY = 0x5000_0000 + os.getpid()
"""whom no list of users names, as in some containers, and of whom nothing else runs: the limit on processes counts it"""
CLASS_S = 5400
"""the longest that one class may take"""
BOUNDS = (6 << 30, 2000)
"""bytes and processes of a weaker host"""
WRITABLE = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock")
"""where anybody may write"""
LANDLOCK = {
    "landlock_create_ruleset": (syscalls.LANDLOCK_CREATE_RULESET,) * 2,
    "landlock_add_rule": (syscalls.LANDLOCK_ADD_RULE,) * 2,
    "landlock_restrict_self": (syscalls.LANDLOCK_RESTRICT_SELF,) * 2,
}
SECCOMP = {"seccomp": (317, 277)}


def left_out(member: Variant, tier: Tier) -> bool:
    """Whether it is not run at this tier: it would harm the host, and a tier with so few bounds does not promise it."""
    return member.unsafe and tier < min(member.promised, Tier.FILES)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder that the unprivileged user may enter; gone afterwards."""
    home = Path("/var/tmp") / f"unprivileged-{secrets.token_hex(4)}"
    home.mkdir(mode=0o755)
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def graded(
    members: Sequence[Variant], tier: Tier, home: Path, places: dict[str, str], workers: int = 2
) -> dict[str, Report]:
    """Grade these submissions, of one of the `corpus.classes`, into `home/run`."""
    assignment = corpus.assignment_with(members[0].all_limits, home, members[0].assignment)
    (home / "handed").mkdir()
    for member in members:
        (home / "handed" / f"{member.name}.ipynb").write_bytes(member.notebook(assignment, places))
    return run(assignment.folder, home / "handed", tier, home, workers)


def run(assignment: Path, handed: Path, tier: Tier, home: Path, workers: int = 2) -> dict[str, Report]:
    """The command `autograder grade` as an unprivileged user; what it wrote is in `home/run`."""
    command = [sys.executable, "-m", "autograder.cli", "grade", str(assignment), str(handed)]
    command += ["--out", str(home / "run"), "--workers", str(workers)]
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"PYTHONPATH": str(corpus.ROOT), "NUMBA_CACHE_DIR": str(home), "XDG_CACHE_HOME": str(home)}
    group = None
    if os.geteuid() == 0:
        for path in (home, home / "handed"):
            os.chown(path, NOBODY, NOBODY)
        command = [*weaker_host(tier, home), *command]
        if tier < Tier.FULL and probe().groups.version:
            group = cgroups.Group(probe().groups, *BOUNDS)
    elif tier < Tier.FULL:
        raise PermissionError("only root can make a weaker host that nothing can leave")
    try:
        done = subprocess.run(
            command,
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=CLASS_S,
            preexec_fn=group.join if group else None,
        )
    finally:
        if group:
            group.remove()
    if not (home / "run" / "results.json").exists():
        raise RuntimeError(f"status {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return {r.student: r for r in corpus.read_results(home / "run" / "results.json")}


def weaker_host(tier: Tier, home: Path) -> list[str]:
    """The beginning of a command that root gives: the rest of it runs as nobody on a host of this tier."""
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if tier is Tier.FULL:
        return ["unshare", "--mount", "sh", "-ec", f'{open_way(home)}\nexec "$@"', "sh", *drop]
    namespaces = ["--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    # Where the tier closes the network, this one's must be in reach, or nothing is asked.
    namespaces += ["--net"] if tier < Tier.FILES else []
    lines = [open_way(home), *own_places(home)]
    if tier is Tier.NONE:
        lines.append(other_system(home))
    if tier < Tier.FILES:
        lines.append("ip link set lo up || true")
    # The shell stays: as the first process it reaps what the grader leaves behind, deaf to what an attack sends.
    lines.append('"$@" || exit $?')
    weaken = [sys.executable, str(Path(__file__)), tier.name] if tier > Tier.NONE else []
    return ["unshare", *namespaces, "sh", "-ec", "\n".join(lines), "sh", *drop, *weaken]


def open_way(home: Path) -> str:
    """Shell lines for a new mount namespace: what that user may not enter (a Python below /root) is shown by binds."""
    needed = {Path(p).resolve() for p in (sys.prefix, sys.base_prefix, corpus.ROOT, corpus.ROOT / "autograder")}
    closed = {next((p for p in reversed(path.parents) if not p.stat().st_mode & 0o001), None) for path in needed}
    lines = ["mount --make-rprivate /"]
    for place in sorted(str(p) for p in closed if p is not None):
        below = sorted(str(p) for p in needed if p.is_relative_to(place))
        stage = home / "stage"
        lines += [f"mkdir -p {stage}", f"mount -t tmpfs -o mode=755 tmpfs {stage}"]
        for number, path in enumerate(below):
            lines += [f"mkdir {stage}/{number}", f"mount --bind {path} {stage}/{number}"]
        lines.append(f"mount -t tmpfs -o mode=755 tmpfs {place}")
        for number, path in enumerate(below):
            lines += [f"mkdir -p {path}", f"mount --bind {stage}/{number} {path}"]
    return "\n".join(lines)


def own_places(home: Path) -> list[str]:
    """Shell lines: of all places where anybody may write, only the scratch folder is the machine's own.

    And the tree and its Python, where somebody has cloned it to such a place.
    """
    there = [place for place in WRITABLE if Path(place).is_dir()]
    ours = {Path(path).resolve() for path in (corpus.ROOT, sys.prefix, sys.base_prefix)}
    kept = sorted(p for p in ours if any(p.is_relative_to(place) for place in there) and ours.isdisjoint(p.parents))
    stages = {path: home / "kept" / str(number) for number, path in enumerate(kept)}
    return [
        *(f"mkdir -p {stage}\nmount --bind {path} {stage}" for path, stage in stages.items()),
        f"mount --rbind {home} /mnt",
        *(f"mount -t tmpfs -o size=2g,mode=1777 tmpfs {place}" for place in there),
        f"mkdir -p {home}",
        f"mount --rbind /mnt {home}",
        *(f"mkdir -p {path}\nmount --bind {stage} {path}" for path, stage in stages.items()),
        "umount -l /mnt",
    ]


def other_system(home: Path) -> str:
    """A shell line: in the module that looks for a sandbox the system's name is another."""
    module = Path(host_module.__file__)
    text = module.read_text(encoding="utf-8")
    assert "platform.system()" in text
    changed = home / "host.py"
    changed.write_text(text.replace("platform.system()", '"Darwin"'), encoding="utf-8")
    return f"mount --bind {changed} {module}"


def take_away(tier: Tier) -> None:
    """Make system calls fail, in this process and all that it starts, until the host is of this tier."""
    machine = seccomp.machine()
    assert machine is not None
    missing = {} if tier is Tier.FILES else {**LANDLOCK, **SECCOMP}
    refused = {name: seccomp.DENIED[name] for name in ("unshare", "setns", "mount")}
    steps = [seccomp._load(seccomp._NUMBER_AT)]
    for table, code in ((missing, errno.ENOSYS), (refused, errno.EPERM)):
        for numbers in table.values():
            steps += seccomp._when_number(numbers[machine.column], [seccomp._return(seccomp._refuse(code))])
    no_clone3, refuse = seccomp._return(seccomp._refuse(errno.ENOSYS)), seccomp._return(seccomp._refuse(errno.EPERM))
    allow = seccomp._return(seccomp._ALLOW)
    steps += seccomp._when_number(seccomp.EXAMINED["clone3"][machine.column], [no_clone3])
    flags = [seccomp._load(seccomp._argument(0)), seccomp._Step(seccomp._JSET, seccomp._NEW_NAMESPACES, 0, 1)]
    steps += seccomp._when_number(seccomp.EXAMINED["clone"][machine.column], [*flags, refuse, allow])
    if tier < Tier.FILES:
        option = [seccomp._load(seccomp._argument(0)), seccomp._Step(seccomp._JEQ, syscalls.PR_SET_SECCOMP, 0, 1)]
        invalid = seccomp._return(seccomp._refuse(errno.EINVAL))
        steps += seccomp._when_number(seccomp.EXAMINED["prctl"][machine.column], [*option, invalid, allow])
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.load([*steps, allow])


if __name__ == "__main__":
    take_away(Tier[sys.argv[1]])
    os.execv(sys.argv[2], sys.argv[2:])
