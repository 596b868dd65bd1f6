"""The input that shows a failure is a cell that does again what the check did."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from autograder.judge.runnable import cell_of
from autograder.judge.student import LocalSide
from autograder.protocol.wire import Tensor
from tests.when_used import when_used

torch = when_used("torch")


class Model:
    def __init__(self, weight: Any) -> None:
        self.weight = weight


PROGRAM: dict[str, Any] = {
    "double": lambda x: 2 * x,
    "make": Model,
    "weigh": lambda model, x: model.weight * x,
    "__name__": "notebook",
}


def kept_model(ns, weight):
    """A probe that keeps an object."""
    return {"model": ns.keep(ns.make(weight)), "file": b"\x00\xff"}


def weighed(ns, model, x, file):
    return ns.weigh(model, x), file


def run(cell: str) -> Any:
    """What the last expression of a cell gives."""
    names = dict(PROGRAM)
    tree = ast.parse(cell)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


X = np.array([[0.1, -2.5e-7], [np.nan, np.inf]])
TENSOR = Tensor(np.array([1.5, -0.1], dtype=np.float32), "torch", "float32", requires_grad=True)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (X, "np.array("),
        (np.arange(6, dtype=np.float32).reshape(2, 3) / 7, "dtype='float32'"),
        (np.zeros((0, 3)), "np.zeros((0, 3)"),
        (np.array([True, False]), "np.array("),
        (np.linspace(0, 1, 300), "np.array("),
        (3, "double(3)"),
        (-0.1, "double(-0.1)"),
    ],
)
def test_a_call_is_written_with_all_its_values(value: Any, form: str) -> None:
    side = LocalSide(PROGRAM)
    got = side.double(value)
    cell = cell_of(side.calls)
    assert form in cell
    np.testing.assert_array_equal(run(cell), got)


@pytest.mark.slow
def test_tensors_are_written_in_their_frameworks_words() -> None:
    side = LocalSide(PROGRAM)
    side.double(TENSOR)
    made = run(cell_of(side.calls))
    assert made.dtype is torch.float32 and made.requires_grad
    torch.testing.assert_close(made.detach(), 2 * torch.tensor([1.5, -0.1]))


def test_a_later_call_reaches_what_an_earlier_one_has_made() -> None:
    side = LocalSide(PROGRAM)
    made = side.run(kept_model, weight=X)
    got = side.run(weighed, model=made["model"], x=[2.0, {"a": (1,)}][0], file=made["file"])
    cell = cell_of(side.calls)
    assert "weighed(notebook, model=result_1['model'], x=2.0, file=result_1['file'])" in cell
    value, file = run(cell)
    np.testing.assert_array_equal(value, got[0])
    assert file == got[1]


def test_what_cannot_be_written_or_is_too_long_is_none() -> None:
    side = LocalSide(PROGRAM)
    side.double(np.zeros(30_000))
    assert cell_of(side.calls) == ""
    made = side.run(kept_model, weight=1.0)
    side.run(weighed, model=made["model"], x=1.0, file=b"")
    assert cell_of(side.calls[-1:]) == ""  # without the call that made the object
