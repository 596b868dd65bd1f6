"""Follow every branch that chance can take in a small program, and know the probability of each outcome exactly.

Counting runs tells a share up to noise. A program that makes few random choices can instead be run once for each way in
which they can fall out; the probabilities are fractions, and a test needs no tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["Branching", "every_outcome"]

LARGEST_DENOMINATOR = 10**6
"""a chance that comes as a float is read as the fraction that it was computed from, if its denominator is smaller"""


class Branching:
    """Stands in for a NumPy generator: takes the choices of `path`, and the first way at each new fork."""

    def __init__(self, path: list[tuple[int, int]]) -> None:
        self.path = path
        """for each fork the way taken and the number of ways"""
        self.taken = 0
        self.probability = Fraction(1)

    def integers(self, high: int) -> int:
        """A whole number from 0 to `high` - 1: one way for each."""
        return self._fork([Fraction(1, int(high))] * int(high))

    def random(self) -> _Uniform:
        """A number from 0 to 1 that is good for one thing: `rng.random() < chance`, two ways."""
        return _Uniform(self)

    def _fork(self, chances: Sequence[Fraction]) -> int:
        if self.taken == len(self.path):
            self.path.append((0, len(chances)))
        way = self.path[self.taken][0]
        self.taken += 1
        self.probability *= chances[way]
        return way


class _Uniform:
    def __init__(self, rng: Branching) -> None:
        self.rng = rng

    def __lt__(self, chance: Any) -> bool:
        exact = min(max(Fraction(chance).limit_denominator(LARGEST_DENOMINATOR), Fraction(0)), Fraction(1))
        if exact in (0, 1):
            return bool(exact == 1)
        return self.rng._fork([exact, 1 - exact]) == 0

    def __le__(self, chance: Any) -> bool:
        """Equality has probability 0."""
        return bool(self < chance)


def every_outcome(program: Callable[[Any], Any]) -> Iterator[tuple[Fraction, Any]]:
    """Run `program(rng)` once for each way its choices can fall out: pairs of probability and what it returns.

    The program may ask `rng.integers(high)` and `rng.random() < chance`, and must depend on no other chance. The
    number of runs is the product of the ways, so keep it small.
    """
    path: list[tuple[int, int]] = []
    while True:
        rng = Branching(path)
        result = program(rng)
        yield rng.probability, result
        while path and path[-1][0] + 1 == path[-1][1]:
            path.pop()
        if not path:
            return
        way, ways = path.pop()
        path.append((way + 1, ways))
