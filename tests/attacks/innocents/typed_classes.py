"""Type hints, dataclasses, named tuples, decorators, closures and a class behind each function."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
CELLS = {
    "two_layer_forward": """
from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Cache:
    x: Array
    hidden: Array
    W2: Array


class Forward(NamedTuple):
    scores: Array
    cache: Cache


def counted(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        inner.calls += 1
        return function(*args, **kwargs)

    inner.calls = 0
    return inner


@counted
def two_layer_forward(x: Array, params: dict[str, Array]) -> Forward:
    hidden = np.maximum(0, x @ params["W1"] + params["b1"])
    return Forward(hidden @ params["W2"] + params["b2"], Cache(x, hidden, params["W2"]))
""",
    "two_layer_backward": """
from collections import OrderedDict


def two_layer_backward(dscores: Array, cache: Cache) -> OrderedDict[str, Array]:
    match cache:
        case Cache(x=x, hidden=hidden, W2=W2):
            d = (dscores @ W2.T) * (hidden > 0)
    return OrderedDict(W1=x.T @ d, b1=d.sum(0), W2=hidden.T @ dscores, b2=dscores.sum(0))
""",
}
