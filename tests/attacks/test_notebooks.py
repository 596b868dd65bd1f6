"""Every hostile notebook gets the verdict it deserves, every innocent full marks, and no neighbor is touched.

What answers one assignment under one set of limits is graded as one class, in shards, with honest submissions before,
between and after, into a whole run folder: pages, gradebook and report too. Everything is asked of that run. The files
say what they expect; `corpus.py` says how, and so how an attack is added.
"""

from __future__ import annotations

import ast
import contextlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.records import Report
from autograder.sandbox import probe
from autograder.sandbox.tier import Tier
from tests.attacks import corpus, hosts
from tests.attacks.corpus import Variant
from tests.sampling import sample

ATTACKS, INNOCENTS = corpus.attacks(), corpus.innocents()
PROMISED = {*range(1, 16), 19, *range(21, 53), *range(66, 76)}
"""entries of the catalog that this folder covers; 16 to 18, 20 and 53 to 65 are files, see `test_files.py`"""
EVERY = 8
"""so many attacks stand between two honest neighbors"""
BOX_UIDS = 0x6000_0000
HANDFULS = {
    Tier.FULL: ("09_forged_display", "14_os_exit_in_cell", "33_course_files", "39_network", "42_ignored_interrupt"),
    Tier.FILES: ("09_forged_display", "33_course_files", "39_network"),
    Tier.LIMITS: ("44_fork_bomb", "45_memory_by_steps", "09_forged_display"),
    Tier.NONE: ("09_forged_display", "14_os_exit_in_cell", "47_display_flood"),
}
"""what is asked as an unprivileged user, by `make test` on the full tier alone; `benchmarks/attacks.py --tier all` asks
everything"""

ONE_OF = 8
"""`make test` draws one of so many that answer NumPy's assignment; training costs too much for what a sample shows"""
HALF, THIRD = 2, 3
"""of NumPy's attacks `make test-all` asks one of two, of those that train one of three; `benchmarks/attacks.py` asks all"""
LARGEST = 24
"""members of a shard: its two zygotes cost as much as eight submissions"""


def shards() -> Iterator[list[Variant]]:
    for number, members in enumerate(corpus.classes([*ATTACKS, *INNOCENTS])):
        first = members[0].assignment == corpus.FIRST
        drawn = len(members) // ONE_OF if first else 0
        asked = sample(f"attacks {number}", members, drawn, lambda one: [one.source], thin=HALF if first else THIRD)
        yield from corpus.classes(asked, LARGEST)


SHARDS = [
    pytest.param(shard, id=f"{number}-{shard[0].assignment}", marks=pytest.mark.xdist_group(f"attacks-{number}"))
    for number, shard in enumerate(shards())
]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("members", SHARDS)
def test_everybody_of_a_class_gets_the_verdict_they_deserve(members: Sequence[Variant], tmp_path: Path) -> None:
    everybody = with_neighbors(members)
    with listening() as (places, heard), watching() as ours:
        reports = corpus.grade_all(everybody, tmp_path, places)
    wrong = {member.name: [*wrongs(member, reports[member.name], tmp_path / "run")] for member in everybody}
    wrong |= {"left on the host": sorted(ours.left()), "heard on the host's sockets": heard}
    assert {name: found for name, found in wrong.items() if found} == {}
    folder = corpus.ASSIGNMENTS / members[0].assignment
    beside = {path for path in folder.iterdir() if path.name not in ("__pycache__", "bank")}
    assert {path.name for path in beside if path.suffix not in (".py", ".ipynb", ".toml")} == set()
    require(max(member.promised for member in members))
    require(Tier[os.environ.get("AUTOGRADER_CI_TIER", "full").upper()])


def with_neighbors(members: Sequence[Variant]) -> list[Variant]:
    mixed = [corpus.honest(0, members[0])]
    for number, member in enumerate(members, 1):
        mixed.append(member)
        if number % EVERY == 0 or number == len(members):
            mixed.append(corpus.honest(number, member))
    return mixed


def wrongs(member: Variant, report: Report, run: Path) -> Iterator[str]:
    tier = probe().tier
    if not report.sandbox.startswith(f"tier {tier.name.lower()}"):
        yield f"graded at {report.sandbox}"
    if member.promised <= tier:
        yield from corpus.wrongs(member, report, run)


def require(tier: Tier) -> None:
    """Skip below `tier`; fail where the host has promised more."""
    if (reached := probe().tier) < tier:
        promised = os.environ.get("CI") and Tier[os.environ.get("AUTOGRADER_CI_TIER", "full").upper()] >= tier
        (pytest.fail if promised else pytest.skip)(f"needs tier {tier.name.lower()}, here is {reached.name.lower()}")


class listening:
    """Sockets of the host that a box must not reach, a secret in the environment, and what came in."""

    def __enter__(self) -> tuple[dict[str, str], list[str]]:
        self.heard: list[str] = []
        name = f"attack-{secrets.token_hex(8)}"
        self.sockets = [socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)]
        self.sockets[1].bind(f"\0{name}")
        self.sockets[1].listen()
        for server in self.sockets:
            threading.Thread(target=self.listen, args=(server,), daemon=True).start()
        os.environ["ATTACK_CANARY"] = f"ATTACK_CANARY_VALUE-{secrets.token_hex(16)}"
        port = self.sockets[0].getsockname()[1]
        return {"LISTENING_PORT": str(port), "LISTENING_NAME": name}, self.heard

    def listen(self, server: socket.socket) -> None:
        try:
            while True:
                connection, _ = server.accept()
                self.heard.append(str(server.getsockname()))
                connection.close()
        except OSError:
            return

    def __exit__(self, *error: object) -> None:
        del os.environ["ATTACK_CANARY"]
        for server in self.sockets:
            server.close()


class watching(threading.Thread):
    """Notes every process below this one while it lasts, to know afterwards what on this host is ours.

    Others may grade here at the same time. A box's user and control group are numbered after its supervisor, and a
    zygote's folder is in its command, so our processes tell what would be our litter.
    """

    def __enter__(self) -> watching:
        self.born: dict[int, float] = {}
        # Kernels and browsers of other tests in this process, which end with their own fixtures, and what they start.
        self.others = {(p.pid, p.create_time()) for p in psutil.Process().children()}
        self.folders: set[str] = set()
        self.done = threading.Event()
        self.mounts = mounts()
        # Process ids, and so the names made of them, come again.
        self.before = set(Path("/var/tmp").glob("box-*"))
        self.daemon = True
        self.start()
        return self

    def run(self) -> None:
        while not self.done.wait(0.2):
            children = [p for p in psutil.Process().children() if (p.pid, p.create_time()) not in self.others]
            for process in (process for child in children for process in descent(child)):
                with contextlib.suppress(psutil.Error):
                    self.born[process.pid] = process.create_time()
                    self.folders |= {str(Path(w).parent) for w in process.cmdline() if "/agz-" in w}

    def __exit__(self, *error: object) -> None:
        self.done.set()
        self.join()

    def left(self) -> set[str]:
        """What is still there, after a time to settle."""
        until = time.monotonic() + 20
        while (found := self.traces()) and time.monotonic() < until:
            time.sleep(0.5)
        return found

    def traces(self) -> set[str]:
        found = {folder for folder in self.folders if Path(folder).exists()}
        for path in set(Path("/var/tmp").glob("box-*")) - self.before:
            with contextlib.suppress(OSError):
                if self.is_ours(path.stat().st_uid - BOX_UIDS):
                    found.add(f"{path}: {sorted(os.listdir(path))}")
        for folder, _, _ in os.walk("/sys/fs/cgroup"):
            mark, _, rest = Path(folder).name.partition("autograder-")
            found |= {folder} if rest and not mark and self.is_ours(int(rest.split("-")[0])) else set()
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                ours = self.born.get(process.pid) == process.create_time()
                if (ours or self.is_ours(process.uids().real - BOX_UIDS)) and process.status() != psutil.STATUS_ZOMBIE:
                    found.add(f"process {process.pid}: {process.cmdline()[:8]}")
        return found | (mounts() - self.mounts)

    def is_ours(self, supervisor: int) -> bool:
        """Whether a box is numbered after a process of ours.

        Numbers come again: an hour of tests uses up all 32,768. One that lives and is not ours holds its number now.
        """
        try:
            return self.born.get(supervisor) == psutil.Process(supervisor).create_time()
        except (psutil.Error, ValueError):
            return supervisor in self.born


def descent(process: psutil.Process) -> list[psutil.Process]:
    """The process and all that descend from it."""
    try:
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def mounts() -> set[str]:
    return {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}


def test_every_promised_entry_has_a_file_and_every_text_is_python() -> None:
    assert {attack.entry for attack in ATTACKS} >= PROMISED
    names = [entry.name for entry in (*ATTACKS, *INNOCENTS)]
    assert len(names) == len(set(names)) and {n for some in HANDFULS.values() for n in some} <= set(names)
    for entry in (*ATTACKS, *INNOCENTS):
        texts = [*entry.cells.values(), *(text for _, text in entry.extra)]
        assert texts
        for text in texts:
            source = TransformerManager().transform_cell(text)
            compile(source, entry.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "tier",
    [Tier.FULL, *(pytest.param(t, marks=pytest.mark.exhaustive) for t in HANDFULS if t < Tier.FULL)],
    ids=lambda tier: tier.name.lower(),
)
def test_an_unprivileged_user_grades_with_the_verdicts_that_the_tier_promises(tier: Tier, tmp_path: Path) -> None:
    """The whole command, on this host or on one that was made weaker."""
    if tier < Tier.FULL and not probe().privileged:
        pytest.skip("only root can make a weaker host that nothing can leave")
    chosen = [replace(a, limits={"cell_s": 10.0, "notebook_s": 60.0}) for a in ATTACKS if a.name in HANDFULS[tier]]
    members = with_neighbors(chosen)
    with hosts.scratch() as home, listening() as (places, heard):
        # Below the full tier boxes may share one count of processes, which another box can use up.
        reports = hosts.graded(members, tier, home, places, workers=2 if tier is Tier.FULL else 1)
        told = {name: (report.sandbox, report.reason) for name, report in reports.items()}
        assert len({sandbox for sandbox, _ in told.values()}) == 1, told
        reached = Tier.of(reports[members[0].name].sandbox)
        assert reached is not None
        wrong = {m.name: [*corpus.wrongs(m, reports[m.name], home / "run")] for m in members if m.promised <= reached}
    assert {name: found for name, found in wrong.items() if found} == {}
    assert heard == []
    if tier < Tier.FULL:
        assert reached is tier
    elif os.environ.get("CI"):
        assert reached >= Tier.FILES
