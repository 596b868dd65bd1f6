"""The planted bugs are what they are called, and the comparison with PyTorch finds an engine that is wrong.

What the checks say to right and wrong answers is asked in the facts of the lecture.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from course_lib.lectures import numpy_backprop
from tests.when_used import when_used

torch = when_used("torch")
FORWARD = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "relu": lambda a: np.maximum(a, 0), "sum": np.sum}


class Variable:
    def __init__(self, value: Any, tape: Tape) -> None:
        self.value, self.tape, self.grad = np.asarray(value), tape, None

    def sum(self) -> Variable:
        return self.tape.apply("sum", self)


class Tape:
    def __init__(self) -> None:
        self.records: list[Any] = []

    def apply(self, op: str, *inputs: Variable) -> Variable:
        output = Variable(FORWARD[op](*(variable.value for variable in inputs)), self)
        self.records.append(SimpleNamespace(op=op, inputs=list(inputs), output=output))
        return output


def _small_network() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    x, y, W1, W2 = (rng.standard_normal(shape) for shape in [(6, 3), (6, 2), (3, 5), (5, 2)])
    s = x @ W1
    h = np.maximum(s, 0)
    return x, y, W2, s, h, h @ W2


def test_each_bug_spoils_only_its_own_gradients() -> None:
    right = numpy_backprop.backward(*_small_network())

    def spoiled(bug: Any) -> list[bool]:
        return [not np.allclose(a, b) for a, b in zip(bug(*_small_network()), right, strict=True)]

    assert spoiled(numpy_backprop.no_relu_mask) == [True, True, False, False]
    assert spoiled(numpy_backprop.mean_bias_gradient) == [False, True, False, True]
    assert spoiled(numpy_backprop.wrong_sign) == [True, False, False, False]


@pytest.mark.slow
def test_the_comparison_with_pytorch_accepts_a_right_engine_and_finds_a_wrong_one() -> None:
    found = numpy_backprop.compare_with_pytorch(Tape, Variable, numpy_backprop.backpropagate, programs=30)
    assert found.compared > 40 and found.disagreements == 0 and found.largest_error < 1e-12

    def doubled(tape: Any, target: Any) -> None:
        numpy_backprop.backpropagate(tape, target)
        for record in tape.records:
            for variable in record.inputs:
                variable.grad = None if variable.grad is None else 2 * variable.grad

    assert numpy_backprop.compare_with_pytorch(Tape, Variable, doubled, programs=5).largest_error > 0.1

    def silent(tape: Any, target: Any) -> None:
        """Sets no gradient."""

    assert numpy_backprop.compare_with_pytorch(Tape, Variable, silent, programs=5).disagreements > 0
