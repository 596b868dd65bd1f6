"""Every hostile notebook gets the verdict it deserves, every innocent full marks, and no neighbor is touched.

What answers one assignment under one set of limits is graded as one class, in shards, with honest submissions before,
between and after, into a whole run folder: pages, gradebook and report too. Everything is asked of that run. The files
say what they expect; `corpus.py` says how, and so how an attack is added.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.records import Report, Verdict
from autograder.sandbox import probe
from autograder.sandbox.tier import Tier
from tests.attacks import corpus
from tests.attacks.corpus import Variant
from tests.sampling import sample

ATTACKS, INNOCENTS = corpus.attacks(), corpus.innocents()
PROMISED = {*range(1, 16), 19, *range(21, 53), *range(66, 76)}
"""entries of the catalog that this folder covers; 16 to 18, 20 and 53 to 65 are files, see `test_files.py`"""
ACCUSATIONS = ("changed-metadata", "edited-locked-cell", "forbidden-import", "forbidden-operations", "skip-tag")
ALARMS = {*ACCUSATIONS, "grader-error", "shadow-module"}
EVERY = 8
"""so many attacks stand between two honest neighbors"""
MAX_RECORD = 10_000_000
"""characters of one submission's record: what hundreds of printing cells may come to"""
BOX_UIDS = 0x6000_0000
UNPRIVILEGED = ("09_forged_display", "14_os_exit_in_cell", "33_course_files", "39_network", "42_ignored_interrupt")

ONE_OF = 8
"""`make test` draws one of so many that answer NumPy's assignment; training costs too much for what a sample shows"""
LARGEST = 24
"""members of a shard: its two zygotes cost as much as eight submissions"""


def shards() -> Iterator[list[Variant]]:
    for number, members in enumerate(corpus.classes([*ATTACKS, *INNOCENTS])):
        drawn = len(members) // ONE_OF if members[0].assignment == corpus.FIRST else 0
        yield from corpus.classes(sample(f"attacks {number}", members, drawn, lambda one: [one.source]), LARGEST)


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
    require(max(Tier[member.tier.upper()] for member in members))
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
    if Tier[member.tier.upper()] > tier:
        return
    for cell, (wanted, got) in corpus.surprises(member, report).items():
        yield f"{cell} is {got}, not {wanted}"
    kinds = {flag.kind for flag in report.flags}
    if missing := set(member.flags) - kinds:
        yield f"not flagged: {missing}"
    if member.at_most_s and report.seconds >= member.at_most_s:
        yield f"took {report.seconds:.0f} s"
    data = json.loads((run / "results.json").read_text(encoding="utf-8"))
    record = json.dumps(next(s for s in data["submissions"] if s["student"] == report.student), ensure_ascii=False)
    if told := [text for text in member.silent if text in record]:
        yield f"says {told}: {re.findall('STOLEN.{0,100}', record)}"
    if len(record) >= MAX_RECORD:
        yield f"a record of {len(record)} characters"
    yield from carried_out(member, record, report.student, run)
    if member.family == "innocent":
        neighbor = member.name.startswith("honest_")
        if report.score != report.max_score:
            yield f"{report.score} of {report.max_score} points"
        if kinds - {"identical"} if neighbor else kinds & ALARMS != set(member.flags):
            yield f"flagged: {kinds}"
        legal = (Verdict.PASSED,) if neighbor else (Verdict.PASSED, Verdict.FAILED)
        if met := [run.status for run in report.runs if run.status not in legal]:
            yield f"cells met a limit: {met}"


def carried_out(member: Variant, record: str, student: str, run: Path) -> Iterator[str]:
    """Hidden inputs in anything that a student reads. An attack that carries inputs out marks them `INPUT<1.0 2.0>`."""
    if not any("INPUT<" in text for text in member.cells.values()):
        return
    pages = [path for path in run.rglob("*") if path.is_file() and student in str(path)]
    texts = [record, *(path.read_text(encoding="utf-8", errors="replace") for path in pages)]
    marks = [mark for text in texts for mark in re.findall(r"INPUT(?:<|&lt;)([-+.e\d ]+)", text)]
    if not marks or not any(path.suffix == ".html" for path in pages):
        yield "the attack reached no page at all: it tests nothing"
    for number in " ".join(marks).split():
        # Demonstration inputs are rounded to one decimal; sums and steps of such are too.
        if abs(float(number) - round(float(number), 1)) >= 1e-9:
            yield f"{number} is no demonstration input"


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
    assert len(names) == len(set(names)) and set(UNPRIVILEGED) <= set(names)
    for entry in (*ATTACKS, *INNOCENTS):
        texts = [*entry.cells.values(), *(text for _, text in entry.extra)]
        assert texts
        for text in texts:
            source = TransformerManager().transform_cell(text)
            compile(source, entry.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.exhaustive  # the sandbox's own tests ask everything as an unprivileged user too
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_unprivileged_user_grades_with_the_same_verdicts(tmp_path: Path) -> None:
    """The whole command as user 65534. What that user may not enter (a Python below /root) is shown to it by binds."""
    members = with_neighbors([attack for attack in ATTACKS if attack.name in UNPRIVILEGED])
    home = Path("/var/tmp") / f"unprivileged-{secrets.token_hex(4)}"
    home.mkdir(mode=0o755)
    try:
        assignment = corpus.assignment_with({**corpus.SMALL, "cell_s": 10.0, "notebook_s": 60.0}, home)
        (home / "handed").mkdir()
        with listening() as (places, heard):
            for member in members:
                (home / "handed" / f"{member.name}.ipynb").write_bytes(member.notebook(assignment, places))
            owner = 65534 if os.geteuid() == 0 else os.geteuid()
            for path in (home, *home.rglob("*")):
                if os.geteuid() == 0:
                    os.chown(path, owner, owner)
            command = [sys.executable, "-m", "autograder.cli", "grade", str(assignment.folder), str(home / "handed")]
            command += ["--out", str(home / "run"), "--workers", "2"]
            environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
            environment |= {"PYTHONPATH": str(corpus.ROOT), "NUMBA_CACHE_DIR": str(home), "XDG_CACHE_HOME": str(home)}
            if os.geteuid() == 0:
                command = ["unshare", "--mount", "sh", "-ec", as_nobody(home), "sh", *command]
            done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        reports = {r.student: r for r in corpus.read_results(home / "run" / "results.json")}
        tiers = {r.sandbox.split(":")[0] for r in reports.values()}
        assert len(tiers) == 1
        reached = Tier[tiers.pop().removeprefix("tier ").split()[0].upper()]
        for member in members:
            if Tier[member.tier.upper()] <= reached:
                assert corpus.surprises(member, reports[member.name]) == {}, member.name
                assert "STOLEN" not in json.dumps([run.output for run in reports[member.name].runs])
        assert heard == []
        if os.environ.get("CI"):
            assert reached >= Tier.FILES
    finally:
        shutil.rmtree(home, ignore_errors=True)


def as_nobody(scratch: Path) -> str:
    """Shell lines for a new mount namespace: open the way to our Python, then become user 65534 and run the rest."""
    needed = {Path(p).resolve() for p in (sys.prefix, sys.base_prefix, corpus.ROOT, corpus.ROOT / "autograder")}
    closed = {next((p for p in reversed(path.parents) if not p.stat().st_mode & 0o001), None) for path in needed}
    lines = ["mount --make-rprivate /"]
    for place in sorted(str(p) for p in closed if p is not None):
        below = sorted(str(p) for p in needed if p.is_relative_to(place))
        stage = scratch / "stage"
        lines += [f"mkdir -p {stage}", f"mount -t tmpfs -o mode=755 tmpfs {stage}"]
        for number, path in enumerate(below):
            lines += [f"mkdir {stage}/{number}", f"mount --bind {path} {stage}/{number}"]
        lines.append(f"mount -t tmpfs -o mode=755 tmpfs {place}")
        for number, path in enumerate(below):
            lines += [f"mkdir -p {path}", f"mount --bind {stage}/{number} {path}"]
    lines.append('exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"')
    return "\n".join(lines)
