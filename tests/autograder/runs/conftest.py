"""A class that handed in one small assignment, and pools that need not import torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

CHECK = '''
@pytest.mark.cell("test_square")
@pytest.mark.parametrize("shape", [(1,), (2, 3)])
def test_squares(student, reference, draw, expect, shape):
    """Each element is squared."""
    x = draw.normal(shape)
    expect.close(student.square(x), reference.square(x), "square")

@pytest.mark.cell("test_square")
def test_not_in_place(student, draw, expect):
    """The argument stays as it was."""
    student.square(draw.normal(2))
    expect.unchanged(student)

@pytest.mark.cell("test_total")
def test_totals(student, reference, draw, expect):
    """The total is the sum."""
    x = draw.normal(5)
    expect.close(student.total(x), reference.total(x), "total")
'''
FAULTS = 'FAULTS = [Fault("doubled", "square", {"x ** 2": "x * 2"}, "You double where you should square.")]'
SOLUTIONS = {"square": "def square(x):\n    return x ** 2", "total": "def total(x):\n    return x.sum()"}


@pytest.fixture
def squares(judged: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The assignment `squares`: two cells of 2 points, limits that are quickly met."""
    monkeypatch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))
    settings = "[limits]\ncell_s = 1\nnotebook_s = 30\nmemory_bytes = 536870912\n"
    return judged(SOLUTIONS, CHECK, FAULTS, name="squares", **{"assignment.toml": settings})
