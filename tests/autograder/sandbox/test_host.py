"""What the probe says about this host, and what is said about others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.records import from_data, to_data
from autograder.sandbox import Host, Tier, describe_host, probe
from autograder.sandbox import host as names
from autograder.sandbox.host import LANDLOCK, MEMORY_GROUP, NETWORK_NAMESPACE, NO_NAMESPACES, SECCOMP, nothing

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.skipif(sys.platform != "linux", reason="there is nothing to probe but on Linux")
def test_the_probe_is_quick_and_leaves_this_process_alone() -> None:
    def namespaces() -> list[str]:
        return [os.readlink(f"/proc/self/ns/{n}") for n in sorted(os.listdir("/proc/self/ns"))]

    before = namespaces()
    probe.cache_clear()
    begun = time.perf_counter()
    found = probe()
    assert time.perf_counter() - begun < 2.0, "a tenth of a second on an idle machine"
    assert namespaces() == before
    assert found is probe() and found.system == "Linux"


@pytest.mark.skipif(sys.platform != "linux", reason="there is nothing to probe but on Linux")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_that_somebody_kills_what_tries_a_mechanism_says_nothing_about_the_host(
    tmp_path: Path, number: signal.Signals
) -> None:
    def killed(times: int) -> None:
        mark = tmp_path / f"{times}-{len(list(tmp_path.glob(f'{times}-*')))}"
        if not mark.name.endswith(f"-{times}"):
            mark.touch()
            os.kill(os.getpid(), number)

    assert names._attempt(lambda: killed(1)) == ""
    assert names._attempt(lambda: killed(2)) == f"the process that tried it ended with {-number}"


@pytest.mark.skipif(sys.platform != "linux", reason="there is nothing to probe but on Linux")
def test_that_somebody_kills_the_probe_makes_no_box_weaker(monkeypatch: pytest.MonkeyPatch) -> None:
    real, run = probe(), subprocess.run
    commands = iter([["sh", "-c", "kill -9 $$"], None])
    monkeypatch.setattr(subprocess, "run", lambda command, **options: run(next(commands) or command, **options))
    assert probe.__wrapped__() == real


def test_ci_reaches_the_tier_it_declares(this_host: Host, who: str) -> None:
    if os.environ.get("CI") == "true":
        declared = Tier[os.environ.get("AUTOGRADER_CI_TIER", "full").upper()]
        assert this_host.tier >= declared, f"{who}: {describe_host(this_host)}"


def test_a_host_travels_as_json(this_host: Host) -> None:
    assert from_data(Host, json.loads(json.dumps(to_data(this_host)))) == this_host


@pytest.mark.parametrize(
    ("without", "tier"),
    [
        ((), Tier.FULL),
        ((MEMORY_GROUP,), Tier.FULL),
        ((LANDLOCK,), Tier.FULL),
        ((names.MOUNT_NAMESPACE,), Tier.FILES),
        ((SECCOMP,), Tier.FILES),
        ((names.OWN_USER,), Tier.FILES),
        ((names.MOUNT_NAMESPACE, LANDLOCK), Tier.LIMITS),
        ((NETWORK_NAMESPACE, SECCOMP), Tier.LIMITS),
        (NO_NAMESPACES, Tier.FILES),
        ((*NO_NAMESPACES, LANDLOCK), Tier.LIMITS),
    ],
)
def test_each_missing_mechanism_costs_the_tier_it_carries(without: tuple[str, ...], tier: Tier) -> None:
    everything = nothing("Linux")
    mechanisms = tuple(from_data(type(m), {**to_data(m), "available": True}) for m in everything.mechanisms)
    strong = Host("Linux", True, True, mechanisms, 7)
    assert strong.without(*without).tier is tier
    assert strong.without(*without).missing == tuple(m.name for m in mechanisms if m.name in without)


@pytest.mark.parametrize("system", ["Darwin", "Windows"])
def test_other_systems_offer_nothing_and_say_so(system: str) -> None:
    text = describe_host(nothing(system))
    assert nothing(system).tier is Tier.NONE
    assert "tier none" in text and f"{system} has no such thing" in text


def test_what_is_missing_is_told_with_what_it_means_and_what_to_do(this_host: Host) -> None:
    text = describe_host(this_host.without(LANDLOCK, MEMORY_GROUP))
    assert "Linux 5.13" in text
    assert "systemd-run" in text
    for mechanism in this_host.mechanisms:
        assert mechanism.name in text
        assert mechanism.available or mechanism.means, mechanism


def test_everything_can_be_imported_where_there_is_no_linux() -> None:
    """The modules' imports and first steps, with the names of another system."""
    code = (
        "import sys, platform; sys.platform = 'darwin'; platform.system = lambda: 'Darwin'\n"
        "from autograder.sandbox import probe, describe_host, default_read, Tier\n"
        "from autograder.sandbox import box, cgroups, environment, landlock, mounts, processes, seccomp\n"
        "assert probe().tier is Tier.NONE; assert landlock.version() == 0\n"
        "print(describe_host(probe()).splitlines()[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Sandbox tier none")
