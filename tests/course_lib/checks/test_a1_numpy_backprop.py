"""The visible checks of a1 on answers of the wrong form, and the numbers of its text."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.checks import a1_numpy_backprop as checks
from tests.course_lib.checks.visible import Visible, errors_of

ONE = Visible("a1_numpy_backprop")
pytestmark = pytest.mark.slow


def test_a_check_of_a_later_exercise_names_the_earlier_function_that_is_missing() -> None:
    stub = {"two_layer_backward": ONE.stubs()["two_layer_backward"]}
    [first, *_] = ONE.outcomes(stub)["test_train"]
    assert str(first).startswith("two_layer_backward is not written yet")


def test_no_hidden_unit_of_the_check_networks_is_near_the_kink_of_relu() -> None:
    """Finite differences move a parameter by up to 0.02, and no input is larger than 2 in size."""
    for params in (checks._network(), checks._square_network()):
        hidden_in = checks._rows() @ params["W1"] + params["b1"]
        assert np.abs(hidden_in).min() > 0.02 * np.abs(checks._rows()).max()
        assert (hidden_in > 0).any(axis=0).all() and (hidden_in < 0).any()


@pytest.mark.parametrize(("source", "words"), [
    ("small_graph = lambda x, y, z: (np.sum(x * y + z), y, x)", "returned 3 values; it should return the tuple (c, "),
    ("small_graph = lambda x, y, z: print(x)", "returned None"),
    ("def small_graph(x, y, z):\n    x += 1\n    return 0, y, x, z", "changed its argument x"),
])  # fmt: skip
def test_a_function_of_the_wrong_form_is_told_so(source: str, words: str) -> None:
    assert words in str(ONE.outcomes({"small_graph": source}, only=["test_small_graph"])["test_small_graph"][0])


@pytest.mark.parametrize(("difference", "words"), [
    ("(f(x + h * e) - f(x)) / h", "central"),
    ("(f(x) - f(x - h * e)) / h", "central"),
    ("(f(x + 1e-5 * e) - f(x - 1e-5 * e)) / 2e-5", "Does your step follow h?"),
])  # fmt: skip
def test_a_difference_that_is_not_central_or_not_of_h_is_refused(difference: str, words: str) -> None:
    source = f"""def numerical_gradient(f, x, h=1e-5):
    steps = np.eye(x.size).reshape(x.size, *x.shape)
    return np.reshape([{difference} for e in steps], x.shape)"""
    found = ONE.outcomes({"numerical_gradient": source}, only=["test_numerical_gradient"])
    assert words in str(errors_of(found))


def test_the_numbers_of_the_small_graph_are_right() -> None:
    ONE.stated("`c = 5.5`", "`c` becomes 5.503", "entry 0 of `grad_x` is 3")
    y, z = np.array([3.0, -1.0]), np.array([0.5, 4.0])
    c, grad_x, *_ = ONE.reference["small_graph"](np.array([1.0, 2.0]), y, z)
    raised, *_ = ONE.reference["small_graph"](np.array([1.001, 2.0]), y, z)
    assert (c, grad_x[0], round(raised, 10)) == (5.5, 3.0, 5.503)


def test_the_numbers_of_the_central_difference_are_right() -> None:
    ONE.stated("`[(16 - 4) / 2] = [6.0]`", "gives 7", "The derivative is 6")
    assert ONE.reference["numerical_gradient"](lambda x: x[0] ** 2, np.array([3.0]), h=1) == [6.0]
    assert ((3 + 1) ** 2 - 3**2) / 1 == 7


def test_the_numbers_of_the_two_layers_are_right() -> None:
    ONE.stated("`scores = [[6, 11, -2]]`", "`[1, 0, -1]`", "`[[6, 0, -6], [0, 0, 0]]`", "the one for `b1` is `[1, 0]`")
    ONE.stated("`W1 = [[1, -1], [2, 0]]`, `b1 = [1, 0.5]`", "`W2 = [[1, 2, 0], [3, 1, 1]]`, `b2 = [0, -1, -2]`")
    params = {"W1": [[1, -1], [2, 0]], "b1": [1, 0.5], "W2": [[1, 2, 0], [3, 1, 1]], "b2": [0, -1, -2]}
    arrays = {name: np.array(value, dtype=float) for name, value in params.items()}
    scores, cache = ONE.reference["two_layer_forward"](np.array([[1.0, 2.0]]), arrays)
    grads = ONE.reference["two_layer_backward"](np.array([[1.0, 0.0, -1.0]]), cache)
    assert scores.tolist() == [[6, 11, -2]]
    assert grads["b2"].tolist() == [1, 0, -1] and grads["b1"].tolist() == [1, 0]
    assert grads["W2"].tolist() == [[6, 0, -6], [0, 0, 0]]


def test_the_numbers_of_the_loss_are_right() -> None:
    ONE.stated("`[[0.881, 0.119], [0.5, 0.5]]`", "`(0.127 + 0.693) / 2 = 0.410`", "the loss grows by 0.0025", "is 0.25")
    scores, labels = np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([0, 1])
    loss, dscores = ONE.reference["softmax_cross_entropy"](scores, labels)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert np.round(p, 3).tolist() == [[0.881, 0.119], [0.5, 0.5]]
    assert [round(float(v), 3) for v in -np.log(p[[0, 1], labels])] == [0.127, 0.693] and round(loss, 3) == 0.41
    raised, _ = ONE.reference["softmax_cross_entropy"](scores + np.array([[0, 0], [0.01, 0]]), labels)
    assert round(raised - loss, 4) == 0.0025 and dscores[1, 0] == 0.25
    ONE.stated("`[1000, 0]` and label 0 adds nothing", "With label 1 that row costs 1000")
    large = np.array([[1000.0, 0.0]])
    assert [ONE.reference["softmax_cross_entropy"](large, np.array([label]))[0] for label in (0, 1)] == [0, 1000]
