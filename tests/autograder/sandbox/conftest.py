"""Run a function of a test in a box: as root, and as a user without any rights who has only user namespaces."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.records import Limits, from_data, to_data
from autograder.sandbox import Host, Tier, default_read, new_private, probe
from tests.autograder.sandbox.zygote import NOBODY

ZYGOTE = Path(__file__).with_name("zygote.py")
ROOT = Path(__file__).resolve().parents[3]

SMALL = Limits(memory_bytes=256 << 20, disk_bytes=32 << 20, processes=48, notebook_s=60)


@dataclass
class Zygote:
    """A running zygote script."""

    imports: tuple[str, ...] = ()
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.process is None:
            environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": os.environ.get("HOME", "/")}
            environment |= {"SECRET_TOKEN": "hunter2", "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
            command = [sys.executable, str(ZYGOTE), *self.imports]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
            assert self._line() == "ready\n"
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return dict(json.loads(self._line()))

    def _line(self) -> str:
        assert self.process is not None and self.process.stdout is not None
        return self.process.stdout.readline()

    def end(self) -> None:
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
            self.process.wait(20)
            self.process = None


UNUSED = ("without", "readable", "devices", "hidden")
OPTIONS = {"limits": SMALL, "private": "", "wants_pids": False, **dict.fromkeys(UNUSED, ())}


@dataclass(frozen=True)
class Boxed:
    """Call it with a function and `OPTIONS`: it runs in a box, its other keyword arguments are data, as is its value.

    It knows its arguments, what `zygote.KNOWN` holds, and else only what it imports. What became of it:
    `ended_by` (`itself`, `memory`, which the supervisor saw, or `time`), `result` or `raised` and `traceback`;
    `left`, processes that lived on after the box was cleaned, and `alive`, those just before; `written`, files in the
    private folder with their sizes; what else `zygote.supervise` measures.
    """

    zygote: Zygote
    who: str
    host: Host
    readable: tuple[Path, ...]

    def __call__(self, function: Callable[..., Any], *, wait_s: float = 30.0, **given: Any) -> SimpleNamespace:
        request = {name: given.pop(name, usual) for name, usual in OPTIONS.items()}
        without, limits = request.pop("without"), to_data(request.pop("limits"))
        source = textwrap.dedent(inspect.getsource(function)) + f"\nprogram = {function.__name__}\n"
        request |= {"source": source, "data": given, "limits": limits, "wait_s": wait_s, "open": bool(without)}
        request["host"] = to_data(self.host.without(*without))
        request["readable"] = [*map(str, self.readable), *request["readable"]]
        request["drop"] = self.who == "unprivileged" and os.geteuid() == 0
        answer = self.zygote.ask(request)
        assert "grader_error" not in answer, answer["grader_error"]
        none = {"result": None, "raised": "", "traceback": "", "confine_cpu_s": 0.0}
        return SimpleNamespace(**{**none, **answer, "tier": Tier(answer["tier"])})


def insist_or_skip(host: Host, needed: Tier, who: str) -> None:
    """Skip a test whose tier this host does not reach; fail where CI declared that it must."""
    if host.tier >= needed:
        return
    reason = f"{who}: this host reaches tier {host.tier.name.lower()} (missing: {', '.join(host.missing)})"
    declared = Tier[os.environ.get("AUTOGRADER_CI_TIER", "full").upper()]
    if os.environ.get("CI") == "true" and declared >= needed:
        pytest.fail(f"{reason}, CI declares {declared.name.lower()} (AUTOGRADER_CI_TIER)")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def bare() -> Iterator[Zygote]:
    zygote = Zygote()
    yield zygote
    zygote.end()


@pytest.fixture(scope="session")
def heavy() -> Iterator[Zygote]:
    """A zygote as warm as the kernels' one."""
    zygote = Zygote(("numpy", "torch", "tensorflow", "matplotlib.pyplot", "ipykernel.kernelapp"))
    yield zygote
    zygote.end()


@pytest.fixture(scope="session")
def unprivileged_host() -> Host:
    """This host as a user without rights finds it."""
    if os.geteuid() != 0:
        return probe()
    # The probe in a process of that user: Python itself may be out of that user's reach, so root starts it and drops.
    code = (
        "import os, sys; sys.path[:0] = [sys.argv[1], sys.argv[2]]; import zygote; "
        "zygote.become_nobody(); from autograder.sandbox import host; host.main()"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code, str(ROOT), str(ZYGOTE.parent)], capture_output=True, text=True, check=True
    )
    return from_data(Host, json.loads(finished.stdout))


@pytest.fixture(params=["as_root", "unprivileged"])
def who(request: pytest.FixtureRequest) -> str:
    if request.param == "as_root" and os.geteuid() != 0:
        pytest.skip("the tests do not run as root")
    return str(request.param)


@pytest.fixture
def this_host(who: str, unprivileged_host: Host) -> Host:
    return probe() if who == "as_root" else unprivileged_host


@pytest.fixture
def course(who: str) -> Iterator[Path]:
    """A course's folder with all that a student must not see, open to every user and owned by the one who grades."""
    folder = Path(tempfile.mkdtemp(prefix="course-", dir="/tmp"))
    for name in ("source/a1/a1.ipynb", "checks.py", "gradebook.db", "submitted/ada/a1/a1.ipynb", ".ssh/id_ed25519"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("hidden\n")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        if who == "unprivileged" and os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def private(who: str) -> Iterator[Path]:
    """A private folder that the test knows before the box does."""
    folder = new_private()
    if who == "unprivileged" and os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def box_of(needed: Tier, who: str, host: Host, zygote: Zygote) -> Boxed:
    insist_or_skip(host, needed, who)
    return Boxed(zygote, who, host, default_read())


@pytest.fixture
def weaker(who: str, this_host: Host, bare: Zygote) -> Boxed:
    """A box for which the test leaves mechanisms out."""
    return box_of(Tier.FILES, who, this_host, bare)


@pytest.fixture
def boxed(who: str, this_host: Host, bare: Zygote) -> Boxed:
    """A box of the full tier; the test is skipped where the host has none."""
    return box_of(Tier.FULL, who, this_host, bare)


@pytest.fixture
def warm_box(who: str, this_host: Host, heavy: Zygote) -> Boxed:
    return box_of(Tier.FULL, who, this_host, heavy)
