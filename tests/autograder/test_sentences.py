"""The sentences of a text that demand something, and the known submissions that break each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autograder.bank import load_bank
from autograder.errors import BadAssignment
from autograder.sentences import Demand, demands
from tests import notebook_builder as builder

RULES = """## How this works

**Checks.** They print. **Rules.** is a label at the beginning only.

**Rules.** Use NumPy. Do not
import torch (it computes gradients).
"""
TEXT = """## 1. Double

The title says it. Three is a number.

Write `double(x)`. It returns twice `x`, 4.0 for 2. Any number will do.

- `x` stays as it was.
- Who calls it is
  yours to choose.

*In numbers.* `double(2)` is 4.

> Hint. Think.
"""
WRONG = '''"""Wrong."""
EXPECTED = {"test_double": "failed"}
BREAKS = ["twice `x`", "import torch"]
CELLS = {"double": "double = None"}
'''


def found(make_little: Callable[..., Any], wrong: str = WRONG, nothing: str = "yours to choose") -> list[Demand]:
    cells = [
        builder.text(RULES),
        builder.text(TEXT),
        builder.solution("def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION", "double"),
        builder.tests("assert double(2) == 4", "test_double", 2),
        builder.text("- Nothing is asked behind the last exercise."),
    ]
    toml = f'asks_nothing = ["{nothing}"]\n'
    assignment = make_little(cells, **{"assignment.toml": toml, "bank/wrong_none.py": wrong}).load()
    return demands(assignment, load_bank(assignment))


def test_each_sentence_is_listed_once_with_what_breaks_it(make_little: Callable[..., Any]) -> None:
    assert [(d.tests_cell, d.text, d.broken_by, d.is_open) for d in found(make_little)] == [
        ("", "**Rules.** Use NumPy.", (), True),
        ("", "Do not import torch (it computes gradients).", ("wrong_none",), False),
        ("test_double", "It returns twice `x`, 4.0 for 2.", ("wrong_none",), False),
        ("test_double", "Any number will do.", (), True),
        ("test_double", "`x` stays as it was.", (), True),
        ("test_double", "Who calls it is yours to choose.", (), False),
    ]


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"wrong": WRONG.replace("twice `x`", "thrice")}, "wrong_none breaks 'thrice', which stands in no sentence"),
        ({"wrong": WRONG.replace("twice `x`", "`x`")}, "breaks '`x`', which stands in 2 sentences"),
        ({"nothing": "mine"}, "asks_nothing names 'mine', which stands in no sentence"),
    ],
)
def test_words_that_are_not_in_one_sentence_are_refused(
    make_little: Callable[..., Any], change: dict[str, str], finding: str
) -> None:
    with pytest.raises(BadAssignment, match=finding):
        found(make_little, **change)
