"""Points on a square, in four patterns of two classes and two of a number to predict, and seven features of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]

EDGE = 6.0
"""the square reaches from -EDGE to EDGE in both directions"""


@dataclass(frozen=True)
class Data:
    """Points `(n, 2)` with labels `(n,)`, in two parts: +1 or -1, or for a regression a number from -1 to 1."""

    train: Array
    train_labels: Array
    test: Array
    test_labels: Array


def _circle(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """A disc of radius 2.5 inside a ring from 3.5 to 5."""
    labels = np.where(np.arange(n) % 2, 1.0, -1.0)
    radius = np.where(labels > 0, 2.5 * np.sqrt(rng.random(n)), np.sqrt(rng.uniform(3.5**2, 5**2, n)))
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), labels


def _xor(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Four squares, 0.3 away from the axes: +1 where both coordinates have the same sign."""
    signs = np.stack([np.where(np.arange(n) & bit, 1.0, -1.0) for bit in (1, 2)], axis=1)
    return signs * rng.uniform(0.3, 5, (n, 2)), signs.prod(axis=1)


def _gaussians(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Two clouds with centers (2, 2) and (-2, -2) and standard deviation 1."""
    labels = np.where(np.arange(n) % 2, 1.0, -1.0)
    return 2 * labels[:, None] + rng.standard_normal((n, 2)), labels


def _spiral(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Two arms, half a turn apart, that go round one and three quarter times."""
    labels = np.where(np.arange(n) % 2, 1.0, -1.0)
    along = rng.random(n)
    angle = 1.75 * 2 * np.pi * along + np.where(labels > 0, 0, np.pi)
    radius = 0.3 + 4.7 * along
    return np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1), labels


def _plane(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """A plane that rises from -1 in the lower left corner to 1 in the upper right one."""
    where = rng.uniform(-5, 5, (n, 2))
    return where, where.sum(axis=1) / 10


HILLS = np.array([[-3.5, 2.5, 1], [0, 2.5, -1], [3.5, 2.5, 1], [-3.5, -2.5, -1], [0, -2.5, 1], [3.5, -2.5, -1]])
"""centers of three hills and three hollows, and which of the two it is"""


def _hills(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Six Gaussian bumps of height 1 or -1 and width 1.2, neighbors of opposite signs."""
    where = rng.uniform(-5, 5, (n, 2))
    squared = ((where[:, None] - HILLS[:, :2]) ** 2).sum(axis=2)
    return where, np.exp(-squared / (2 * 1.2**2)) @ HILLS[:, 2]


PATTERNS: dict[str, Callable[[int, np.random.Generator], tuple[Array, Array]]] = {
    "circle": _circle,
    "XOR": _xor,
    "Gaussians": _gaussians,
    "spiral": _spiral,
    "plane": _plane,
    "hills": _hills,
}
REGRESSION = frozenset({"plane", "hills"})
"""patterns whose label is a number to predict, and no class"""

FEATURES: dict[str, Callable[[Array, Array], Array]] = {
    "x1": lambda x1, x2: x1 / 3,
    "x2": lambda x1, x2: x2 / 3,
    "x1^2": lambda x1, x2: x1**2 / 9,
    "x2^2": lambda x1, x2: x2**2 / 9,
    "x1*x2": lambda x1, x2: x1 * x2 / 9,
    "sin x1": lambda x1, x2: np.sin(x1),
    "sin x2": lambda x1, x2: np.sin(x2),
}
"""each divided by a constant, so that all are of the same size; one learning rate then suits all"""


def make_data(pattern: str, *, points: int = 400, noise: float = 0.0, share: float = 0.5, seed: int = 0) -> Data:
    """Draw `points` points, half of each class where there are classes.

    noise: from 0 to 1; each point is moved in both directions by a normal step of standard deviation 3 * noise, and
    keeps its label. share: the part of the points that is for training.
    """
    if pattern not in PATTERNS:
        raise ValueError(f"make_data: no pattern {pattern!r}; there are {', '.join(PATTERNS)}")
    if not 0 <= noise <= 1:
        raise ValueError(f"make_data: noise is {noise}; it goes from 0 to 1")
    count = round(points * share)
    if not 0 < count < points:
        raise ValueError(f"make_data: {count} of {points} points for training; both parts need one at least")
    rng = np.random.default_rng(seed)
    where, labels = PATTERNS[pattern](points, rng)
    where = where + 3 * noise * rng.standard_normal(where.shape)
    order = rng.permutation(points)
    train, test = order[:count], order[count:]
    return Data(where[train], labels[train], where[test], labels[test])


def features(points: Array, names: Sequence[str]) -> Array:
    """What the network sees of `points` `(n, 2)`: one column for each name, `(n, k)`, of the points' dtype."""
    if unknown := [name for name in names if name not in FEATURES]:
        raise ValueError(f"features: no feature {unknown[0]!r}; there are {', '.join(FEATURES)}")
    if not names:
        raise ValueError("features: no feature chosen; a network needs one at least")
    return np.stack([FEATURES[name](points[:, 0], points[:, 1]) for name in names], axis=1)
