"""Every branch of chance is taken once, and the probabilities are exact."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from course_lib.lectures.exact_probability import every_outcome


def _distribution(program: Any) -> dict[Any, Fraction]:
    found: Counter[Any] = Counter()
    for probability, result in every_outcome(program):
        found[result] += probability  # type: ignore[assignment]
    return dict(found)


def test_two_dice() -> None:
    sums = _distribution(lambda rng: 2 + rng.integers(6) + rng.integers(6))
    assert sums == {total: Fraction(6 - abs(total - 7), 36) for total in range(2, 13)}


@pytest.mark.parametrize(
    ("threshold", "chance"), [(np.int64(2) / np.int64(7), Fraction(2, 7)), (1 / 3, Fraction(1, 3))]
)
def test_a_chance_in_floating_point_is_read_as_the_fraction_that_it_is(threshold: float, chance: Fraction) -> None:
    assert _distribution(lambda rng: rng.random() < threshold) == {True: chance, False: 1 - chance}
    assert _distribution(lambda rng: rng.random() <= threshold) == {True: chance, False: 1 - chance}


def test_what_is_certain_or_impossible_is_no_fork() -> None:
    assert list(every_outcome(lambda rng: "same")) == [(1, "same")]
    assert list(every_outcome(lambda rng: (rng.random() < 0, rng.random() < 1.5))) == [(1, (False, True))]


def test_later_forks_may_depend_on_earlier_ones() -> None:
    def walk(rng: Any) -> str:
        return "a" if rng.random() < 0.5 else "bcd"[rng.integers(np.int64(3))]

    assert _distribution(walk) == {"a": Fraction(1, 2), **dict.fromkeys("bcd", Fraction(1, 6))}
