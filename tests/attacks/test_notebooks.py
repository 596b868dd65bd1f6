"""Every hostile notebook of `notebooks/` gets the verdict it deserves, every innocent full marks, and no neighbour is touched.

All files that share a set of limits are graded as one class by two workers, with honest submissions between them, into
a whole run folder: pages, gradebook and report too. What is asked afterwards is asked of that run. The files say what they
expect; `corpus.py` says how.
"""

from __future__ import annotations

import contextlib
import importlib.util
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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import filelock
import psutil
import pytest

from autograder.records import Report, Verdict, from_data, to_data
from autograder.sandbox import probe
from autograder.sandbox.tier import Tier


def beside(name: str) -> Any:
    """The module `name` of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(f"attacks_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


corpus = beside("corpus")
ATTACKS = corpus.entries("notebooks")
INNOCENTS = corpus.entries("innocents")
MEMBERS = {entry.name: entry for entry in (*ATTACKS, *INNOCENTS)}
PROMISED = {*range(1, 16), 19, *range(21, 53), *range(66, 76)}
"""entries of the catalogue that this folder covers; 16 to 18, 20 and 53 to 65 are files, see `test_files.py`"""
ALARMS = {
    "changed-metadata",
    "edited-locked-cell",
    "forbidden-import",
    "forbidden-operations",
    "grader-error",
    "shadow-module",
    "skip-tag",
}
"""flags that accuse somebody"""
EVERY = 8
"""so many attacks stand between two honest neighbours"""
MAX_RECORD = 10_000_000
"""characters of one submission's record: what hundreds of printing cells may come to"""
BOX_UIDS = 0x6000_0000
UNPRIVILEGED = ("09_forged_display", "14_os_exit_in_cell", "33_course_files", "39_network", "42_ignored_interrupt")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.xdist_group("attacks")]


# -- one run for each set of limits --------------------------------------------------------------------------------


@dataclass
class Graded:
    """What all the runs left."""

    reports: dict[str, Report] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    """the run folder that an entry is in"""
    left: list[str] = field(default_factory=list)
    """what stayed on the host"""
    heard: list[str] = field(default_factory=list)
    """what reached the sockets that the host listens on"""

    @property
    def neighbours(self) -> list[Report]:
        return [report for name, report in self.reports.items() if name.startswith("honest_")]


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Graded:
    """All chosen files graded, with their neighbours: once, however many processes share the tests."""
    items = request.session.items
    chosen = {item.callspec.params.get("name") for item in items if hasattr(item, "callspec")}
    place = tmp_path_factory.getbasetemp()
    place = (place.parent if "PYTEST_XDIST_WORKER" in os.environ else place) / "attacks-graded"
    with filelock.FileLock(f"{place}.lock"):
        if not (place / "graded.json").exists():
            shutil.rmtree(place, ignore_errors=True)
            found = grade([MEMBERS[n] for n in sorted(MEMBERS.keys() & chosen)], place)
            (place / "graded.json").write_text(json.dumps(to_data(found)))
    data = json.loads((place / "graded.json").read_text())
    return Graded(
        {name: from_data(Report, report) for name, report in data["reports"].items()},
        {name: Path(folder) for name, folder in data["folders"].items()},
        data["left"],
        data["heard"],
    )


def grade(members: list[Any], place: Path) -> Graded:
    """One class for each assignment and set of limits."""
    found = Graded()
    with listening() as (places, found.heard), watching() as ours:
        for number, (limits, some) in enumerate(classes(members)):
            scratch = place / str(number)
            scratch.mkdir(parents=True)
            for name, report in corpus.grade_all(with_neighbours(some, number), limits, scratch, places).items():
                found.reports[name], found.folders[name] = report, scratch / "run"
    found.left = sorted(ours.left())
    return found


def classes(members: list[Any]) -> list[tuple[Mapping[str, Any], list[Any]]]:
    groups: dict[tuple[str, str], list[Any]] = {}
    for member in members:
        groups.setdefault((member.assignment, json.dumps(member.all_limits, sort_keys=True)), []).append(member)
    return [(json.loads(limits), group) for (_, limits), group in groups.items()]


def with_neighbours(members: list[Any], group: int = 0) -> list[Any]:
    """Honest submissions before, between and after; `group` keeps their names apart."""
    mixed = [corpus.honest(f"{group}_0", members[0].assignment)]
    for number, member in enumerate(members, 1):
        mixed.append(member)
        if number % EVERY == 0 or number == len(members):
            mixed.append(corpus.honest(f"{group}_{number}", member.assignment))
    return mixed


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


# -- what is left behind -------------------------------------------------------------------------------------------


class watching(threading.Thread):
    """Notes every process below this one while it lasts, to know afterwards what on this host is ours.

    Others may grade here at the same time. A box's user and control group are numbered after its supervisor, and a
    zygote's folder is in its command, so our processes tell what would be our litter.
    """

    def __enter__(self) -> watching:
        self.born: dict[int, float] = {}
        # Kernels of other tests in this process, which end with their own fixtures.
        self.others = {(p.pid, p.create_time()) for p in psutil.Process().children(recursive=True)}
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
            for process in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if (process.pid, process.create_time()) in self.others:
                        continue
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
                found |= {str(path)} if path.stat().st_uid - BOX_UIDS in self.born else set()
        for folder, _, _ in os.walk("/sys/fs/cgroup"):
            mark, _, rest = Path(folder).name.partition("autograder-")
            found |= {folder} if rest and not mark and int(rest.split("-")[0]) in self.born else set()
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                ours = self.born.get(process.pid) == process.create_time()
                if (ours or process.uids().real - BOX_UIDS in self.born) and process.status() != psutil.STATUS_ZOMBIE:
                    found.add(f"process {process.pid}: {process.cmdline()[:8]}")
        return found | (mounts() - self.mounts)


def mounts() -> set[str]:
    return {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}


# -- the verdicts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [entry.name for entry in ATTACKS])
def test_an_attack_gets_the_verdict_it_deserves(name: str, graded: Graded) -> None:
    entry, report = MEMBERS[name], graded.reports[name]
    require(Tier[entry.tier.upper()])
    assert corpus.surprises(entry, report) == {}
    assert set(entry.flags) <= {flag.kind for flag in report.flags}
    record = one_record(graded, name)
    assert [text for text in entry.silent if text in record] == [], re.findall("STOLEN.{0,100}", record)
    assert not entry.at_most_s or report.seconds < entry.at_most_s
    assert len(record) < MAX_RECORD


@pytest.mark.parametrize("name", [entry.name for entry in INNOCENTS])
def test_an_innocent_has_full_marks_and_raises_no_alarm(name: str, graded: Graded) -> None:
    entry, report = MEMBERS[name], graded.reports[name]
    assert corpus.surprises(entry, report) == {}
    assert report.score == report.max_score
    assert {flag.kind for flag in report.flags} & ALARMS == set(entry.flags)
    extra = [run for run in report.runs if run.status not in (Verdict.PASSED, Verdict.FAILED)]
    assert extra == [], "a cell of an innocent met a limit"


def test_no_attack_touches_the_neighbours(graded: Graded) -> None:
    assert graded.neighbours
    for report in graded.neighbours:
        assert report.score == report.max_score, report.items
        assert {flag.kind for flag in report.flags} <= {"identical"}
        assert all(run.status is Verdict.PASSED for run in report.runs)


def test_no_process_folder_group_or_mount_stays_behind(graded: Graded) -> None:
    assert graded.left == []
    for folder in {corpus.ASSIGNMENTS / entry.assignment for entry in ATTACKS}:
        beside = {path for path in folder.iterdir() if path.name not in ("__pycache__", "bank")}
        assert {path.name for path in beside if path.suffix not in (".py", ".ipynb", ".toml")} == set()


def test_nobody_reaches_the_hosts_sockets(graded: Graded) -> None:
    assert graded.heard == []


def test_no_hidden_input_is_in_anything_that_a_student_reads(graded: Graded) -> None:
    name = "39_inputs_in_feedback"
    if name not in graded.reports:
        pytest.skip(f"{name} was not selected")
    student = graded.reports[name].student
    texts = [one_record(graded, name)]
    pages = [path for path in graded.folders[name].rglob("*") if path.is_file() and student in str(path)]
    assert any(path.suffix == ".html" for path in pages)
    texts += [path.read_text(encoding="utf-8", errors="replace") for path in pages]
    marks = [mark for text in texts for mark in re.findall(r"INPUT(?:<|&lt;)([-+.e\d ]+)", text)]
    assert marks, "the attack reached no page at all: it tests nothing"
    for number in " ".join(marks).split():
        value = float(number)
        # Demonstration inputs are rounded to one decimal; sums and steps of such are too.
        assert abs(value - round(value, 1)) < 1e-9, f"{number} is no demonstration input"


def test_every_report_says_the_tier(graded: Graded) -> None:
    tier = probe().tier.name.lower()
    for name, report in graded.reports.items():
        assert report.sandbox.startswith(f"tier {tier}"), (name, report.sandbox)
    require(Tier[os.environ.get("AUTOGRADER_CI_TIER", "full").upper()])


def test_every_promised_entry_has_a_file_and_every_file_says_what_it_is() -> None:
    assert {entry.entry for entry in ATTACKS} >= PROMISED
    assert len(INNOCENTS) >= 10
    for entry in ATTACKS:
        assert entry.name.startswith(f"{entry.entry:02d}_")
        ends = {30: "A", 40: "B", 52: "C", 75: "E"}
        family = next(family for last, family in ends.items() if entry.entry <= last)
        assert entry.family == family or entry.entry in (14, 24, 29)
        assert entry.title.endswith(".")
        assert entry.cells or entry.extra or entry.build


def require(tier: Tier) -> None:
    """Skip below `tier`; fail where the host has promised more."""
    reached = probe().tier
    if reached >= tier:
        return
    reason = f"needs tier {tier.name.lower()}, this host reaches {reached.name.lower()}"
    if os.environ.get("CI") and Tier[os.environ.get("AUTOGRADER_CI_TIER", "full").upper()] >= tier:
        pytest.fail(reason)
    pytest.skip(reason)


def one_record(graded: Graded, name: str) -> str:
    """The entry of results.json of one submission, as text."""
    data = json.loads((graded.folders[name] / "results.json").read_text(encoding="utf-8"))
    record = next(s for s in data["submissions"] if s["student"] == graded.reports[name].student)
    return json.dumps(record, ensure_ascii=False)


# -- by somebody without privileges ----------------------------------------------------------------------------------


def test_an_unprivileged_user_grades_with_the_same_verdicts(tmp_path: Path) -> None:
    """The whole command as user 65534. What that user may not enter (a Python below /root) is shown to it by binds."""
    members = with_neighbours([MEMBERS[name] for name in UNPRIVILEGED])
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
