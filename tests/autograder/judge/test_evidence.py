"""What a check rests on is found from where its values come from, and not from what its author says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder import selftest
from autograder.assignment import load_assignment, on_device
from autograder.judge.judge import NO_CHECKS
from autograder.judge.run import Checks
from autograder.records import Evidence, Role
from tests.apart import on_its_back_end
from tests.sampling import sample

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "notebooks" / "assignments"
ASSIGNMENTS = sorted(p.parent.name for p in FOLDER.glob("*/checks.py"))
SQUARE = {"square": "def square(x):\n    return x ** 2\n\ndef count(x):\n    return len(x)"}
OBSERVED, RECOMPUTED = Evidence.OBSERVED, Evidence.RECOMPUTED
CHECK = '''
from probes import look

@pytest.mark.cell("test_square")
@pytest.mark.parametrize("n", [3, 5])
def test_it(student, reference, draw, expect, n):
    """Squares are right."""
    x = draw.away_from_zero((n,))
    {}
'''
PROBE = "def look(ns, x):\n    import numpy as np\n\n    y = ns.square(x)\n    return {}\n"
AGAIN = "expect.close(student.run(look, x=x), reference.run(look, x=x))"


@pytest.mark.parametrize(
    ("returned", "evidence"),
    [
        ("y", RECOMPUTED),
        ("{'squares': [y, float(y[0])], 'sum': np.float32(y.sum())}", RECOMPUTED),
        ("np.argsort(y)", RECOMPUTED),
        ("{'squares': y, 'device': 'cuda:0'}", OBSERVED),
        ("[y, True]", OBSERVED),
        ("(y, 3)", OBSERVED),
        ("{'squares': y, 'gradient': None}", OBSERVED),
        ("[y, ValueError('raised')]", OBSERVED),
        ("[y, {1: [{'deep': 'cpu'}]}]", OBSERVED),
        ("(y, x)", OBSERVED),
        ("(y, x if len(x) == 3 else x + 1)", RECOMPUTED),
    ],
)
def test_words_flags_counts_and_what_was_sent_are_claims_and_numbers_are_not(
    judged: Callable[..., Any], returned: str, evidence: Evidence
) -> None:
    small = judged(SQUARE, CHECK.format(AGAIN), probes=PROBE.format(returned))
    assert small.results()["test_it"].evidence is evidence


@pytest.mark.parametrize(
    ("demands", "evidence"),
    [
        ("expect.equal(student.count(x), len(x))", RECOMPUTED),
        ("student.square(x)\n    expect.unchanged(student)", OBSERVED),
        ("expect.form(student.square(x), x)", RECOMPUTED),
        ("expect.close(student.square(x), reference.square(x))", RECOMPUTED),
    ],
)
def test_an_answer_is_no_claim_whatever_its_type_and_an_argument_afterwards_is_one(
    judged: Callable[..., Any], demands: str, evidence: Evidence
) -> None:
    small = judged(SQUARE, CHECK.format(demands), probes=PROBE.format("y"))
    assert small.results()["test_it"].evidence is evidence


def test_the_label_is_that_of_the_reference_for_the_whole_class(judged: Callable[..., Any]) -> None:
    small = judged(SQUARE, CHECK.format(AGAIN), probes=PROBE.format("[y, ns.count(x)]"))
    small.checks.warm_up()
    silent = {"square": "def square(x):\n    return x ** 2\n\ndef count(x):\n    return np.float64(len(x))"}
    assert small.results(silent)["test_it"].evidence is OBSERVED, "a student cannot make a claim look recomputed"
    other = judged(SQUARE, CHECK.format(AGAIN), probes=PROBE.format("[y, float(ns.count(x))]"), name="other")
    other.checks.warm_up()
    assert other.results(SQUARE)["test_it"].evidence is RECOMPUTED


@pytest.mark.slow
@pytest.mark.parametrize("name", sample("claims", ASSIGNMENTS, 2, lambda name: FOLDER.glob(f"{name}/*.*")))
def test_the_points_that_rest_on_claims_are_those_that_the_documentation_states(name: str) -> None:
    points, claimed = on_its_back_end(points_and_claims, name)
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    stated = re.search(rf"^\| `{name}` \| (\d+) \| ([\d.]+) \|", text, re.MULTILINE)
    assert stated is not None, f"docs/security.md has no row for {name}"
    assert (int(stated[1]), float(stated[2])) == (points, round(claimed, 1))
    if name.startswith("a6"):
        assert claimed < 0.1 * points


def points_and_claims(name: str) -> tuple[float, float]:
    """All points of an assignment, and those of them that rest on claims."""
    assignment = on_device(load_assignment(name, ROOT))
    with selftest.its_device(assignment):
        results = Checks(assignment).warm_up(demonstrate=NO_CHECKS)
    points = {c.grade_id: c.points for n in assignment.notebooks for c in n.cells if c.role is Role.TESTS}
    claimed = [
        points[grade_id] * np.average([c.evidence is OBSERVED for c in checks], weights=[c.weight for c in checks])
        for grade_id, checks in results.items()
    ]
    return float(sum(points.values())), float(sum(claimed))
