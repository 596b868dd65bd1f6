"""The picture of an autograd graph says what `grad_fn` says: no operation more, none less, no untracked data."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from course_lib import plots
from course_lib.plots.autograd import autograd_records, operation_name
from tests.when_used import when_used

torch = when_used("torch")
pytestmark = pytest.mark.slow


def _tracked(*shape: int) -> Any:
    return torch.ones(*shape, dtype=torch.float64, requires_grad=True)


def test_the_small_graph_has_its_three_operations_and_five_uses() -> None:
    x, y, z = _tracked(3, 4), _tracked(3, 4), _tracked(3, 4)
    c = (x * y + z).sum()
    figure = plots.autograd_graph(c, c=c, x=x, y=y, z=z)
    assert figure.description == (
        "Computational graph of 3 operations, from left to right: mul of x (3, 4) and y (3, 4) gives (3, 4); "
        "add of (3, 4) and z (3, 4) gives (3, 4); sum of (3, 4) gives c = 24."
    )
    kinds = [type(patch) for patch in figure.axes[0].patches]
    assert (kinds.count(Circle), kinds.count(FancyBboxPatch), kinds.count(FancyArrowPatch)) == (3, 3, 5)


def test_after_a_backward_pass_leaves_show_their_gradient_and_so_does_a_result_that_retains_it() -> None:
    w = _tracked(2)
    h = w * 3
    h.retain_grad()
    total = h.sum()
    total.backward()
    [mul, add] = autograd_records(total, w=w, h=h)
    assert mul.inputs[0].grad.shape == (2,) and mul.output.name == "h" and mul.output.grad.shape == (2,)
    assert add.output.grad is None


def test_a_value_used_twice_is_one_node_data_without_gradient_none_and_no_history_at_all_is_refused() -> None:
    v = _tracked(3)
    [square] = autograd_records(v * v)
    assert square.inputs[0] is square.inputs[1]
    data, w = torch.ones(5, 3, dtype=torch.float64), _tracked(3, 2)
    [product] = autograd_records(data @ w, data=data, w=w)
    assert product.op == "mm" and [value.name for value in product.inputs] == ["w"]
    for _ in range(5000):
        v = v + 1
    assert len(autograd_records(v)) == 5000, "without recursion"
    with pytest.raises(ValueError, match="requires_grad=True"):
        plots.autograd_graph(torch.ones(3))


def test_inputs_stand_before_their_uses_in_any_graph() -> None:
    torch.manual_seed(0)
    values = [_tracked(2) for _ in range(3)]
    for _ in range(30):
        a, b = torch.randint(len(values), (2,)).tolist()
        values.append(values[a] * values[b])
    known: set[int] = set()
    records = autograd_records(torch.stack(values).sum())
    outputs = {id(record.output) for record in records}
    for record in records:
        assert {id(value) for value in record.inputs} & outputs <= known
        known.add(id(record.output))


def test_a_number_inside_the_graph_is_shown_only_where_it_is_known() -> None:
    w = _tracked(2)
    middle = w.sum()
    assert "sum of w (2,) gives ();" in plots.autograd_graph(middle * middle, w=w).description
    assert "sum of w (2,) gives result = 2;" in plots.autograd_graph(middle * middle, w=w, result=middle).description


@pytest.mark.parametrize(("node", "name"), [
    ("MulBackward0", "mul"), ("LogSoftmaxBackward0", "log_softmax"), ("MmBackward0", "mm"),
    ("MyReLUBackward", "MyReLU"), ("CopyBackwards", "Copy"),
])  # fmt: skip
def test_an_operation_is_called_what_it_is_called_in_torch(node: str, name: str) -> None:
    assert operation_name(node) == name


def test_a_function_of_ones_own_is_drawn_under_its_own_name() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return grads[0] * 2

    [record] = autograd_records(Twice.apply(_tracked(3)))
    assert record.op == "Twice" and record.output.value.shape == (3,)


def test_drawing_leaves_the_gradients_and_the_graph_as_they_were() -> None:
    w = _tracked(2)
    loss = (w * w).sum()
    plots.autograd_graph(loss, w=w, loss=loss)
    assert w.grad is None
    loss.backward()
    assert w.grad.tolist() == [2.0, 2.0]


def test_numbers_stand_on_the_arrows_if_asked_for_and_agree_with_a_backward_pass() -> None:
    x, y, z = (torch.tensor(value, requires_grad=True) for value in (-2.0, 5.0, -4.0))
    q = x + y
    f = q * z
    figure = plots.autograd_graph(f, backward=True, f=f, q=q, x=x, y=y, z=z)
    assert figure.description == plots.circuit(["q = x + y", "f = q * z"], x=-2, y=5, z=-4, backward=True).description
    assert x.grad is None
    f.backward()
    assert [leaf.grad.item() for leaf in (x, y, z)] == [-4, -4, 3]


def test_what_flows_back_adds_up_where_a_number_is_used_twice() -> None:
    u = torch.tensor(0.0, requires_grad=True)
    a = 2 * u
    e, s = a.exp(), a.sin()
    b = e + s
    figure = plots.autograd_graph(b, backward=True, b=b, e=e, s=s, a=a, u=u)
    assert "gradients: b 1, s 1, e 1, a 2, u 4." in figure.description
    with pytest.raises(ValueError, match="given by name"):
        plots.autograd_graph(b, backward=True, b=b, u=u)
