"""A check's marker is read strictly: what is misspelt is refused by name, file and line, before it can cost points."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from autograder.errors import BadAssignment
from autograder.records import Evidence, Verdict

SOLUTIONS = {"square": "def square(x):\n    return x ** 2"}
CHECK = """
@pytest.mark.cell({})
def test_it(student):
    assert student.square(3) == 9
"""


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        ('"test_square", weigth=3', "unknown option 'weigth'. Known: weight, evidence, shown, needs, search"),
        ('"test_square", evidence="observd"', "evidence='observd'. Accepted: 'observed'"),
        ('"test_square", needs="gpu"', "needs='gpu'. Accepted: 'cuda'"),
        ('"test_square", search="all"', "search='all'. Accepted: 'pairs', 'single', 'none'"),
        ('"test_square", shown="no"', "shown='no'. Accepted: True, False"),
        *((f'"test_square", weight={w}', "Accepted: a number from 0") for w in ("-1", "'3'", "True", "float('nan')")),
        ('"test_sqare"', "'test_sqare', which is not there. There are: test_square"),
        ('"square"', "'square', which is not there"),
        ("", "must name one tests cell"),
        ('"test_square", 3', "must name one tests cell"),
    ],
)
def test_a_misspelt_marker_costs_nobody_points_and_is_named_with_its_place(
    judged: Callable[..., Any], arguments: str, finding: str
) -> None:
    small = judged(SOLUTIONS, CHECK.format(arguments))
    outcome = small.run()
    assert all(r.verdict is Verdict.GRADER_ERROR for results in outcome.checks.values() for r in results)
    assert re.search(rf"checks\.py, line 4: the check test_it .*{re.escape(finding)}", outcome.problems[0])
    with pytest.raises(BadAssignment, match=re.escape(finding)):
        small.checks.warm_up()


def test_all_that_a_marker_can_say_is_kept(judged: Callable[..., Any]) -> None:
    said = '"test_square", weight=0.5, evidence="observed", shown=False, needs="cuda", search="none"'
    ((result,),) = judged(SOLUTIONS, CHECK.format(said)).run().checks.values()
    assert (result.weight, result.evidence, result.verdict) == (0.0, Evidence.OBSERVED, Verdict.NOT_RUN)
