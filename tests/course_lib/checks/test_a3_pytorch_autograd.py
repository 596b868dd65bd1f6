"""The inputs of a3's visible checks, its reference against PyTorch's own checks, and the numbers of its text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.course_lib.checks.visible import Visible
from tests.when_used import when_used

torch = when_used("torch")
laid_out = when_used("course_lib.checks.a3_pytorch_autograd.laid_out")
ONE = Visible("a3_pytorch_autograd")
pytestmark = pytest.mark.slow


def test_layouts_change_where_numbers_lie_and_nothing_else() -> None:
    values = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    for layout in ("transposed", "strided"):
        tensor = laid_out(values, layout)
        assert not tensor.is_contiguous() and tensor.is_leaf and tensor.dtype == torch.float32
        assert torch.equal(tensor, laid_out(values))
        assert laid_out(np.float64(2), layout).shape == ()


def test_the_function_for_jacobians_is_not_contiguous_and_mixes_everything() -> None:
    from course_lib.checks.a3_pytorch_autograd import mixed

    x, weights = torch.arange(6, dtype=torch.float64).reshape(2, 3), torch.rand(6, 6, dtype=torch.float64) + 0.1
    assert not mixed(x, weights, (3, 2)).is_contiguous()
    derivatives = torch.func.jacrev(mixed)(x, weights, (3, 2))
    assert derivatives.shape == (3, 2, 2, 3) and (derivatives != 0).all()


def double(values: Any, *, requires_grad: bool = False) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def test_the_numbers_of_the_manual_gradients_are_right() -> None:
    ONE.stated("`y = [[0, 0.462]]`, `loss = 0.107`", "grows by 0.000363", "`grad_b` is `[[0.363]]`", "is `[0, 0.727]`")
    x, w, b = double([[1, 2]]), double([0.5, 0.5]), double([[-0.5]])
    loss, _, grad_w, grad_b = ONE.reference["manual_gradients"](x, w, b)
    raised = ONE.reference["manual_gradients"](x, w, b + 0.001)[0]
    assert round(float(torch.tanh(x * w + b)[0, 1]), 3) == 0.462 and round(float(loss), 3) == 0.107
    assert round(float(raised - loss), 6) == 0.000363 or round(float(raised - loss), 5) == 0.00036
    assert round(float(grad_b), 3) == 0.363 and [round(v, 3) for v in grad_w.tolist()] == [0, 0.727]
    ONE.stated("we get `z = [[10]]`, and `grad_b` is `[[1.65e-8]]`")
    *_, grad_b = ONE.reference["manual_gradients"](double([[5]]), double([2]), double([[0]]))
    assert round(float(grad_b) * 1e8, 2) == 1.65


def test_the_numbers_of_gradients_and_products_are_right() -> None:
    ONE.stated("`([6, 12], [[0]])`", "`[[3, 2], [1, 1], [0, 6]]`", "the product is `[13, 612]`")
    found = ONE.reference["gradients"](lambda a, b: 3 * (a**2).sum(), [double([1, 2]), double([[5]])])
    assert [value.tolist() for value in found] == [[6, 12], [[0]]]

    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.stack([x[0] * x[1], x[0] + x[1], x[1] ** 2])

    assert ONE.reference["jacobian"](f, double([2, 3])).tolist() == [[3, 2], [1, 1], [0, 6]]
    assert ONE.reference["vjp"](f, double([2, 3]), double([1, 10, 100]))[1].tolist() == [13, 612]


def test_the_numbers_of_the_two_operations_are_right() -> None:
    ONE.stated("`y = [2, 0.5]`", "`[0.8, 0.2]`", "`[8, 20]` goes out", "at 1.5 is 0.128")
    x = double([1.5, -1.5], requires_grad=True)
    y = ONE.reference["Squareplus"].apply(x)
    (first,) = torch.autograd.grad(y, x, double([10, 100]), create_graph=True)
    (second,) = torch.autograd.grad(first[0] / 10, x)
    assert y.tolist() == [2, 0.5] and torch.allclose(first, double([8, 20])) and round(float(second[0]), 9) == 0.128
    ONE.stated("`y = [[1, 8], [3, 16]]`", "`[[1, 4], [1, 4]]` goes out to `a` and `[8, 24]` to `b`")
    a, b = double([[1, 2], [3, 4]], requires_grad=True), double([1, 2], requires_grad=True)
    y = ONE.reference["PowerScale"].apply(a, b, 2)
    assert y.tolist() == [[1, 8], [3, 16]]
    grads = torch.autograd.grad(y.sum(), [a, b])
    assert [value.tolist() for value in grads] == [[[1, 4], [1, 4]], [8, 24]]


def test_the_numbers_of_the_penalty_are_right() -> None:
    ONE.stated("`L = 0.5 + 0.1 * 25 = 3`", "`[1, 0] + 0.1 * [6, 8] = [1.6, 0.8]`")
    w = double([3, 4], requires_grad=True)
    loss = ONE.reference["penalized_loss"](lambda x: x @ w, double([[1, 0], [0, 1]]), double([2, 4]), 0.1)
    loss.backward()
    assert w.grad is not None
    assert float(loss) == pytest.approx(3) and w.grad.tolist() == pytest.approx([1.6, 0.8])


def test_the_references_of_exercises_4_and_5_pass_pytorchs_own_checks() -> None:
    """gradcheck and gradgradcheck, an oracle that the hidden checks do not use."""
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    a, b = torch.randn(2, 3, dtype=torch.float64, requires_grad=True), torch.rand(3, dtype=torch.float64) + 0.5
    b.requires_grad_()
    square, scale = ONE.reference["Squareplus"].apply, ONE.reference["PowerScale"].apply
    for test in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
        assert test(square, (x,)) and test(scale, (a, b, 3)) and test(scale, (b, a.exp().detach(), -1))
