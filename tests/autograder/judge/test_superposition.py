"""Effects of mistakes add up where they touch different results, and to first order where they touch the same one."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from autograder.errors import StudentError
from autograder.judge.student import Call
from autograder.judge.superposition import effect, unexplained
from autograder.protocol.wire import Tensor

RIGHT: dict[str, Any] = {"weights": np.array([1.0, 2.0, 3.0]), "loss": 0.5, "steps": 3, "name": "cpu"}


def answered(**changed: Any) -> list[Call]:
    return [Call("", "probe", {}, RIGHT | changed)]


def left(student: list[Call], *others: list[Call]) -> float:
    right = answered()
    return unexplained(effect(right, student, student), [effect(right, student, other) for other in others])


def test_effects_on_different_results_add_up() -> None:
    weights, loss = answered(weights=RIGHT["weights"] * 1.1), answered(loss=0.7)
    both = answered(weights=RIGHT["weights"] * 1.1, loss=0.7)
    assert left(both, weights, loss) == pytest.approx(0, abs=1e-12)
    assert left(both, weights) == pytest.approx(1) and left(both, loss) == pytest.approx(1)


def test_effects_on_one_result_add_up_to_first_order() -> None:
    def moved(rate: float, decay: float) -> list[Call]:
        w = RIGHT["weights"].copy()
        for _ in range(3):
            w = w - rate * (np.sin(w) + decay * w)
        return answered(weights=w)

    known = {"right": (0.1, 0.0), "rate": (0.13, 0.0), "decay": (0.1, 0.2), "backwards": (-0.1, 0.0), "still": (0, 0)}
    right, both = moved(*known.pop("right")), moved(0.13, 0.2)
    effects = {name: effect(right, both, moved(*of)) for name, of in known.items()}
    seen = effect(right, both, both)
    best = min(combinations(effects, 2), key=lambda pair: unexplained(seen, [effects[name] for name in pair]))
    assert best == ("rate", "decay")


def test_what_breaks_a_right_result_counts_against_it() -> None:
    assert left(answered(loss=0.7), answered(loss=0.7), answered(steps=4)) == pytest.approx(1)


@pytest.mark.parametrize(
    "value", ["cuda", None, 7, [1.0], {"a": 1}, np.zeros(5), Tensor(np.ones(2), "torch", "float32"), float("nan")]
)
def test_answers_that_are_not_comparable_are_told_as_wholes(value: Any) -> None:
    for key in RIGHT:
        student = answered(**{key: value})
        assert left(student, student) == pytest.approx(0), key
        assert left(student, answered()) >= 1, key
    assert left(answered(weights=RIGHT["weights"] * 2), answered(weights=value)) >= 1


def test_exceptions_are_told_by_their_text() -> None:
    raised = [Call("", "probe", {}, error=StudentError("ValueError", "no"))]
    other = [Call("", "probe", {}, error=StudentError("ValueError", "never"))]
    assert left(raised, raised) == 0 and left(raised, other) >= 1 and left(raised, answered()) >= 1
