"""Inputs for hidden checks: random from the run's secret, or small and tidy from a public seed for showing.

A check draws everything it feeds the student's code from here. The first time it runs, the values come from the run
secret, so nobody can know them. If it fails, the judge runs it once more in demonstration mode: same sizes, a public
seed, values rounded to one decimal. Only those inputs are ever shown.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Shape = int | Sequence[int]

PUBLIC_SECRET = b"demonstration"


def seed_for(secret: bytes, *names: str) -> int:
    """The seed of one use: from the run secret and the names of assignment, check and case; equal for all students."""
    return int.from_bytes(hmac.new(secret, "\0".join(names).encode(), hashlib.sha256).digest()[:16])


class Draw:
    """Random inputs for one case of one check. Every method returns a fresh C-ordered array."""

    def __init__(self, seed: int, *, demonstration: bool = False) -> None:
        self.generator = np.random.default_rng(seed)
        self.demonstration = demonstration

    def _tidy(self, values: Array, dtype: Any, spread: float = 1.0) -> Array:
        """In a demonstration one decimal, or as many more as small values need to stay apart."""
        decimals = 1 if spread >= 0.5 else 1 - math.floor(math.log10(spread)) if spread > 0 else 15
        # Adding nothing turns -0.0, which would puzzle a reader, into 0.0.
        return np.asarray(np.round(values, decimals) + 0.0 if self.demonstration else values, dtype=dtype)

    def normal(self, shape: Shape, scale: float = 1.0, dtype: Any = np.float64) -> Array:
        """Gaussian values of mean 0 and standard deviation `scale`, of the given shape and dtype."""
        return self._tidy(self.generator.normal(0.0, scale, shape), dtype, scale)

    def uniform(self, shape: Shape, low: float = 0.0, high: float = 1.0, dtype: Any = np.float64) -> Array:
        """Values evenly from [low, high)."""
        # Rounding must not lead out of the range: a logarithm may wait for these values.
        tidy = self._tidy(self.generator.uniform(low, high, shape), dtype, high - low)
        ends = np.array([low, high], dtype=dtype)
        return np.asarray(np.clip(tidy, ends[0], np.nextafter(ends[1], ends[0])), dtype=dtype)

    def away_from_zero(self, shape: Shape, least: float = 0.1, dtype: Any = np.float64) -> Array:
        """Gaussian values with |value| >= `least`: for functions with a kink at 0, such as ReLU."""
        values = self.generator.normal(0.0, 1.0, shape)
        tidy = self._tidy(np.maximum(np.abs(values), least), np.float64)
        return np.asarray(np.where(values < 0, -1.0, 1.0) * np.maximum(tidy, least), dtype=dtype)

    def integers(self, low: int, high: int, shape: Shape) -> Array:
        """int64 values in [low, high)."""
        return self.generator.integers(low, high, shape, dtype=np.int64)

    def labels(self, n: int, classes: int) -> Array:
        """`n` int64 class labels; every class occurs where `n` allows."""
        labels = np.concatenate([self.generator.permutation(classes)] * (n // classes + 1))[:n]
        return self.generator.permutation(labels).astype(np.int64)

    def permutation(self, n: int) -> Array:
        """0..n-1 in random order, int64."""
        return self.generator.permutation(n).astype(np.int64)

    def choice(self, n: int, size: Shape) -> Array:
        """Indices in [0, n), int64; without repetition where `size` allows."""
        many = int(np.prod(size)) > n
        return self.generator.choice(n, size, replace=many).astype(np.int64)
