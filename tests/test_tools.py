"""The lock, and what the test run itself promises."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_the_lock_pins_everything_and_names_no_host() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.lstrip().startswith("#")]
    assert all("==" in line for line in pins)
    assert not any("://" in line or line.startswith("--") for line in pins)
    assert {"torch==2.14.1", "torchvision==0.29.1"} <= {pin.split(" ;")[0] for pin in pins}


@pytest.mark.xdist_group("told")
def test_groups_of_tests_stay_in_one_worker(request: pytest.FixtureRequest) -> None:
    # pytest-xdist marks a group in the name; where it does not, every costly fixture is made by every worker.
    grouped = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@told") == bool(grouped)
