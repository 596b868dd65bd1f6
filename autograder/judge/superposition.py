"""Which mistakes may have been made together: those whose effects, added up, come nearest to what was seen.

To first order two small changes of a computation add up: what both do is what one does and what the other does. Where
they touch different results that is exact. So of all pairs those that add up best are replayed first, and a name does
not depend on how many mistakes are known.

    the right dx, dw are 4, 6; the student's 8, 3: an effect of (1, 1), each result in units of the student's own
    mistake A alone gives 8, 6: (1, 0); B alone 4, 3: (0, 1); C alone 6, 6: (0.5, 0)
    A and B leave nothing of (1, 1) unexplained, A and C 1.1, B and C 0.5: A and B are replayed together first
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.judge.expect import agree
from autograder.judge.student import Call
from autograder.protocol.wire import Tensor

SAME = 1e-4
FAR = 10.0
"""an effect ten times that of the student's code, in the scale of that: as good as any larger one"""
Effect = NDArray[np.float64]


def effect(right: Sequence[Call], student: Sequence[Call], other: Sequence[Call]) -> Effect:
    """How the answers of `other` differ from the right ones, in units of how far the student's differ.

    Each result weighs the same, whatever its size. Where the student's is right, another one that is not counts 1.
    """
    parts = [np.zeros(0)]
    for r, s, o in zip(right, student, other, strict=True):
        parts += _differences(_answer(r), _answer(s), _answer(o))
    return np.concatenate(parts)


def unexplained(student: Effect, several: Sequence[Effect]) -> float:
    """What is left of the student's effect when those of several mistakes are taken off; 0 if they add up."""
    return float(np.linalg.norm(student - np.sum(several, axis=0)))


def _answer(call: Call) -> Any:
    return {"error": str(call.error)} if call.error else {"value": call.value, "after": call.after}


def _differences(right: Any, student: Any, other: Any) -> Iterator[Effect]:
    right, student, other = (v.array if isinstance(v, Tensor) else v for v in (right, student, other))
    if isinstance(right, dict) and isinstance(student, dict) and right.keys() == student.keys():
        for key in right:
            yield from _differences(right[key], student[key], other.get(key) if isinstance(other, dict) else None)
    elif isinstance(right, (tuple, list)) and isinstance(student, (tuple, list)) and len(right) == len(student):
        alike = isinstance(other, (tuple, list)) and len(other) == len(right)
        for i, (r, s) in enumerate(zip(right, student, strict=True)):
            yield from _differences(r, s, other[i] if alike else None)
    elif agree(student, right, SAME):
        yield np.full(1, 0.0 if agree(other, right, SAME) else 1.0)
    elif (way := _distance(student, right)) is None or not (length := np.linalg.norm(way)):
        # Not a matter of more or less: the student's answer, the right one, or a third.
        yield np.full(1, 1.0 if agree(other, student, SAME) else 0.0 if agree(other, right, SAME) else -1.0)
    elif (others := _distance(other, right)) is None:
        yield np.full(way.shape, FAR)
    else:
        yield np.clip(others / length, -FAR, FAR)


def _distance(one: Any, other: Any) -> Effect | None:
    """`one` - `other` as a vector; None if they are no numbers of one shape."""
    try:
        if np.shape(one) != np.shape(other):
            return None
        with np.errstate(all="ignore"):
            away = np.asarray(one, dtype=np.complex128) - np.asarray(other, dtype=np.complex128)
    except (TypeError, ValueError):
        return None
    parts = away.ravel().view(np.float64)
    return parts if np.isfinite(parts).all() else None
