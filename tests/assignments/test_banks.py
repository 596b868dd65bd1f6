"""Every known submission of every assignment gets its expected verdict: no right answer fails, no wrong one passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment import known_assignments, load_assignment
from autograder.selftest import Selftest, selftest

ROOT = Path(__file__).resolve().parents[2]
NAMES = known_assignments(ROOT)
MINIMUM = {"correct": 12, "fault": 25}

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("banks")]


@pytest.fixture(scope="module", params=NAMES)
def found(request: pytest.FixtureRequest) -> Selftest:
    """The bank of one assignment, graded."""
    return selftest(load_assignment(request.param, ROOT), ROOT, 2, lambda done, total: None)


def test_there_are_assignments() -> None:
    assert "a1_numpy_backprop" in NAMES


def test_every_verdict_is_the_expected_one(found: Selftest) -> None:
    assert [f"{r.entry}, {r.cell}: expected {r.expected}, got {r.got}" for r in found.wrong] == []


def test_no_correct_submission_is_expected_to_fail_and_no_fault_to_pass(found: Selftest) -> None:
    for entry in found.entries:
        spoilt = [cell for cell, verdict in entry.expected.items() if verdict != "passed"]
        assert bool(spoilt) == (entry.kind != "correct"), entry.name


def test_every_fault_is_planted_somewhere(found: Selftest) -> None:
    assert found.unnamed == ()


def test_the_bank_is_large_enough(found: Selftest) -> None:
    for kind, least in MINIMUM.items():
        assert sum(e.kind == kind for e in found.entries) >= least


def test_everything_ran_at_the_full_tier(found: Selftest) -> None:
    assert {r.sandbox.split(":")[0] for r in found.reports.values()} == {"tier full"}
