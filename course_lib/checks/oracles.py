"""Truths that need no reference solution: what a gradient must be, measured on the function itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

__all__ = ["slopes"]
_COURSE = Path(__file__).resolve().parents[1]


def slopes(f: Callable[[np.ndarray], float], x: np.ndarray, h: float = 1e-2) -> np.ndarray:
    """The gradient of `f` at `x`, measured with four values of `f` for each entry; an array with the shape of `x`.

    The error is of order h**4, about 1e-11 for smooth functions of moderate size. `f` must be smooth within 2h of x:
    keep ReLU's inputs that far from 0. Every call of `f` gets an array of its own.

    For checks: it would answer what some exercises ask for. Raises RuntimeError where anybody else calls it.
    """
    caller = Path(sys._getframe(1).f_code.co_filename)
    if not caller.is_relative_to(_COURSE) and caller.name not in ("checks.py", "test_oracles.py"):
        raise RuntimeError("slopes measures gradients for the checks of the course; in an answer, write your own.")
    x = np.array(x, dtype=np.float64)

    def at(index: tuple[int, ...], distance: float) -> float:
        moved = x.copy()
        moved[index] += distance
        return float(f(moved))

    found = np.empty(x.shape)
    for index in np.ndindex(x.shape):
        near, far = at(index, h) - at(index, -h), at(index, 2 * h) - at(index, -2 * h)
        found[index] = (8 * near - far) / (12 * h)
    return found
