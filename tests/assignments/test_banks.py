"""Every known submission of every assignment gets its expected verdict: no right answer fails, no wrong one passes.

Right ones, and every tenth of the wrong ones, are graded as a student's would be: read, run in a confined kernel,
judged. The other wrong ones are graded in this process, by the tests cells that they spoil. `autograder selftest`
grades all of them the long way, and on other inputs each time; here the inputs are the same in every run, so that a
failure comes from the change that was made.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment import known_assignments, load_assignment, on_device
from autograder.selftest import BankEntry, Selftest, load_bank, needs_kernel, selftest, selftest_here

ROOT = Path(__file__).resolve().parents[2]
NAMES = known_assignments(ROOT)
MINIMUM = {
    "a1_numpy_backprop": {"correct": 12, "fault": 25},
    "a3_pytorch_autograd": {"correct": 15, "fault": 18},
    "a4_modules_and_optimisers": {"correct": 15, "fault": 25},
    "a6_cuda_training": {"correct": 15, "fault": 45},
}
EVERY = 10
SECRET = b"the same hidden inputs in every run of the tests"
WORST_RIGHT, NEAREST_WRONG = 0.5, 2.0
"""in tolerances: how near the limit right training may end, and wrong training"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def long_way(name: str) -> set[str]:
    """The entries that are graded through kernels."""
    bank = load_bank(load_assignment(name, ROOT))
    simple = [e.name for e in bank if e.kind == "fault" and not needs_kernel(e)]
    return {e.name for e in bank} - set(simple) | set(simple[::EVERY])


@pytest.fixture(scope="module", params=NAMES)
def found(request: pytest.FixtureRequest) -> Selftest:
    """The entries of one bank that take the long way."""
    chosen = long_way(request.param)
    return selftest(
        load_assignment(request.param, ROOT),
        ROOT,
        2,
        lambda done, total: None,
        lambda entry: entry.name in chosen,
        secret=SECRET,
    )


@pytest.fixture(scope="module", params=NAMES)
def others(request: pytest.FixtureRequest) -> Selftest:
    """The other entries of one bank, graded in this process."""
    chosen = long_way(request.param)

    def choose(entry: BankEntry) -> bool:
        return entry.name not in chosen

    assignment = on_device(load_assignment(request.param, ROOT))
    return selftest_here(assignment, lambda done, total: None, choose, spoilt_alone=True, secret=SECRET)


def not_as_expected(found: Selftest) -> list[str]:
    misnamed = [f"{p.planted} is called {', '.join(p.others)}" for p in found.confusion() if p.others]
    return misnamed + [f"{r.entry}, {r.cell}: expected {r.expected}, got {r.got}" for r in found.wrong]


def test_there_are_assignments() -> None:
    assert set(NAMES) == set(MINIMUM)


@pytest.mark.xdist_group("banks")
def test_every_verdict_is_the_expected_one(found: Selftest) -> None:
    assert not_as_expected(found) == []


@pytest.mark.xdist_group("banks")
def test_everything_ran_at_the_full_tier(found: Selftest) -> None:
    assert {r.sandbox.split(":")[0] for r in found.reports.values()} == {"tier full"}


@pytest.mark.xdist_group("banks")
def test_right_and_wrong_training_lie_apart(found: Selftest) -> None:
    margins = found.margins()
    trains = next(iter(found.reports.values())).assignment != "a1_numpy_backprop"  # which compares value by value
    assert bool(margins) == trains
    for margin in margins:
        assert margin.worst_right < WORST_RIGHT, margin
        assert margin.nearest_wrong is None or margin.nearest_wrong > NEAREST_WRONG, margin


@pytest.mark.xdist_group("other entries of banks")
def test_every_other_verdict_is_the_expected_one(others: Selftest) -> None:
    assert not_as_expected(others) == []
    name = next(iter(others.reports.values())).assignment
    assert len(others.entries) + len(long_way(name)) == len(load_bank(load_assignment(name, ROOT)))


@pytest.mark.parametrize("name", NAMES)
def test_no_correct_submission_is_expected_to_fail_and_no_fault_to_pass(name: str) -> None:
    for entry in load_bank(load_assignment(name, ROOT)):
        spoilt = [cell for cell, verdict in entry.expected.items() if verdict != "passed"]
        assert bool(spoilt) == (entry.kind != "correct"), entry.name


@pytest.mark.parametrize("name", NAMES)
def test_every_fault_is_planted_somewhere(name: str) -> None:
    from autograder.judge.run import load_faults

    assignment = load_assignment(name, ROOT)
    expected = [v for e in load_bank(assignment) for v in e.expected.values()]
    named = {part for verdict in expected for part in verdict.partition(":")[2].split("+")}
    assert {fault.id for fault in load_faults(assignment)} - named == set()


@pytest.mark.parametrize("name", NAMES)
def test_the_bank_is_large_enough(name: str) -> None:
    bank = load_bank(load_assignment(name, ROOT))
    for kind, least in MINIMUM[name].items():
        assert sum(e.kind == kind for e in bank) >= least
