"""Compare where training arrived: the distance between two sets of parameters, measured by how far training went.

Training is right or wrong as a whole: a gradient that is 16 times too large, a bias that never moves and a step that
is taken twice all end elsewhere. So parameters after k steps are compared by one number,

    ||got - wanted|| / ||wanted - start||      (Euclidean, over all entries of all arrays together)

which does not depend on how large the parameters are or how small the steps. 0 is the right end, 1 is as far off as
if training had not happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from course_lib.compare.values import Difference, compare_form

__all__ = ["TOLERANCE", "compare_trajectory", "distance", "tolerance"]

Arrays = Mapping[str, np.ndarray]

TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 5e-2, "float16": 1e-2}
"""distance allowed for each step, by the least precise dtype of the arrays

Other spellings of the right algorithm stay within 4e-7 a step in float32 and 1e-15 in float64 (no normalization layer
under Adam, which turns rounding into whole steps); known mistakes are beyond 1e-3.
"""
_NEAR = 1e-3
"""how near a displacement must be to a multiple of the right one for the factor to be told"""


def distance(got: Arrays, wanted: Arrays, start: Arrays) -> float:
    """How far `got` is from `wanted`, as a share of the way from `start` to `wanted`; the three have the same keys.

    Where nothing was to move, the size of `wanted` is the measure.
    """
    off = _norm({name: _real(got[name]) - _real(wanted[name]) for name in wanted})
    way = _norm({name: _real(wanted[name]) - _real(start[name]) for name in wanted})
    measure = way or _norm({name: _real(wanted[name]) for name in wanted}) or 1.0
    return off / measure


def tolerance(wanted: Arrays, steps: int) -> float:
    """The distance allowed after `steps` steps. Raises KeyError for arrays that do not hold floating-point numbers."""
    return max(TOLERANCE[str(np.asarray(value).dtype)] for value in wanted.values()) * max(steps, 1)


def compare_trajectory(
    name: str, got: object, wanted: Arrays, start: Arrays, steps: int
) -> tuple[Difference | None, float]:
    """The difference between two ends of training, or None if there is none that matters; and their distance.

    got, wanted, start: dicts of arrays with the same keys; `got` is looked over for keys, shapes, dtypes and finite
    values first (its distance is inf if they are wrong). steps: how many steps lead from start to wanted.
    """
    wrong = compare_form(name, got, dict(wanted))
    if wrong is not None:
        return wrong, np.inf
    assert isinstance(got, Mapping)
    arrays = {key: np.asarray(got[key]) for key in wanted}
    far = distance(arrays, wanted, start)
    if far <= tolerance(wanted, steps):
        return None, far
    return _explained(name, arrays, wanted, start, steps, far), far


def _explained(name: str, got: Arrays, wanted: Arrays, start: Arrays, steps: int, far: float) -> Difference:
    after = f"After {steps} step{'s' * (steps != 1)}"
    ours = {key: _real(wanted[key]) - _real(start[key]) for key in wanted}
    theirs = {key: _real(got[key]) - _real(start[key]) for key in wanted}
    way = _norm(ours)
    moving = [key for key in wanted if _norm({key: ours[key]}) > _NEAR * way]
    still = [key for key in moving if not _norm({key: theirs[key]})]
    if moving and len(still) == len(moving):
        return Difference(name, "unmoved", f"{after} {name} are where they started: nothing has moved.")
    if still:
        sentence = f"{after} these have not moved at all: {', '.join(still)}."
        return Difference(name, "unmoved", sentence)
    factor = _factor(theirs, ours)
    if factor is not None:
        along = "in the opposite direction" if factor < 0 else "in the right direction"
        sentence = f"{after} {name} have moved {along}, but {abs(factor):.4g} times as far as they should."
        return Difference(name, "sign" if np.isclose(factor, -1) else "factor", sentence)
    worst = max(wanted, key=lambda key: _norm({key: theirs[key] - ours[key]}))
    at = tuple(int(i) for i in np.unravel_index(np.argmax(np.abs(theirs[worst] - ours[worst])), ours[worst].shape))
    sentence = (
        f"{after} {name} are not where they should be: they are off by {far:.2g} times the way that training should "
        f"have gone, most of all in {worst}."
    )
    mine, right = _real(got[worst])[at], _real(wanted[worst])[at]
    return Difference(f"{name}: {worst}", "trajectory", sentence, at, f"{mine:.6g}", f"{right:.6g}")


def _factor(theirs: Arrays, ours: Arrays) -> float | None:
    """The number c with theirs = c * ours, if there is one."""
    mine, right = (np.concatenate([side[key].ravel() for key in ours]) for side in (theirs, ours))
    square = float(right @ right)
    if not square:
        return None
    factor = float(mine @ right) / square
    near = np.linalg.norm(mine - factor * right) <= _NEAR * np.linalg.norm(mine)
    return factor if near and abs(factor - 1) > _NEAR else None


def _norm(arrays: Arrays) -> float:
    return float(np.sqrt(sum(float(np.sum(np.abs(value) ** 2)) for value in arrays.values())))


def _real(value: Any) -> np.ndarray:
    return np.asarray(value, dtype=np.float64)
