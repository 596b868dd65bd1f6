"""Ends of training are told apart by their distance, whatever the size of parameters and steps; a sentence says how."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.compare.trajectory import compare_trajectory, distance, tolerance
from tests.when_used import when_used

torch = when_used("torch")

START = {"weight": np.array([[1.0, 2.0], [3.0, 4.0]]), "bias": np.array([0.5, -0.5])}
END = {"weight": np.array([[1.1, 2.0], [2.9, 4.3]]), "bias": np.array([0.4, -0.5])}


def moved(factor: float, **replaced: np.ndarray) -> dict[str, np.ndarray]:
    return {name: START[name] + factor * (END[name] - START[name]) for name in START} | replaced


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_distance_is_the_share_of_the_way_whatever_the_size_of_parameters(scale: float) -> None:
    def scaled(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: scale * array for name, array in arrays.items()}

    for got, share in ((END, 0.0), (START, 1.0), (moved(3), 2.0), (moved(1.5), 0.5)):
        assert distance(scaled(got), scaled(END), scaled(START)) == pytest.approx(share)


def test_where_nothing_was_to_move_the_size_of_the_parameters_is_the_measure() -> None:
    size = np.sqrt(sum((v**2).sum() for v in START.values()))
    off = START | {"bias": np.array([0.5, 0.5])}
    assert distance(off, START, START) == pytest.approx(1 / size)


@pytest.mark.parametrize(("got", "kind", "words"), [
    (START, "unmoved", "nothing has moved"), (moved(1, bias=START["bias"]), "unmoved", "not moved at all: bias"),
    (moved(16), "factor", "16 times as far"), (moved(-1), "sign", "opposite direction"),
    (moved(1, bias=np.array([0.6, -0.5])), "trajectory", "most of all in bias"),
    ({"weight": END["weight"]}, "keys", "bias"), (moved(1, bias=np.zeros(3)), "shape", "shape"),
    (moved(1, bias=np.array([np.nan, 0.0])), "not finite", "nan"), (None, "none", "None"),
])  # fmt: skip
def test_what_went_wrong_is_said(got: object, kind: str, words: str) -> None:
    found, far = compare_trajectory("the parameters", got, END, START, 3)
    assert found is not None and found.kind == kind and words in found.sentence
    assert far > 1e-3


def test_a_value_is_shown_where_the_difference_is_largest() -> None:
    found, _ = compare_trajectory("the parameters", moved(1, bias=np.array([0.6, -0.5])), END, START, 1)
    assert found is not None and found.what == "the parameters: bias" and found.index == (0,)
    assert (found.yours, found.expected) == ("0.6", "0.4")


def test_the_tolerance_grows_with_the_steps_and_follows_the_least_precise_array() -> None:
    mixed = {"a": np.zeros(2, np.float32), "b": np.zeros(2)}
    assert tolerance(mixed, 3) == pytest.approx(3 * tolerance(mixed, 1))
    assert tolerance(mixed, 1) > 1000 * tolerance({"b": np.zeros(2)}, 1)
    with pytest.raises(KeyError, match="int64"):
        tolerance({"n": np.zeros(2, np.int64)}, 1)


def spelled(way: str, precision: str) -> dict[str, np.ndarray]:
    """Five SGD steps of the same network, spelled in another way each time."""
    dtype = getattr(torch, precision)
    torch.manual_seed(3)
    net = torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.Tanh(), torch.nn.Linear(9, 4)).to(dtype)
    x, y = torch.randn(5, 16, 6, dtype=dtype), torch.randint(4, (5, 16))
    parameters = list(net.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.3, foreach=way == "foreach")
    for step in range(5 if way != "start" else 0):
        if way == "accumulated":
            for half in (slice(0, 8), slice(8, 16)):
                (torch.nn.functional.cross_entropy(net(x[step, half]), y[step, half]) / 2).backward()
            optimizer.step()
            optimizer.zero_grad()
        elif way == "by hand":
            loss = -torch.log_softmax(net(x[step]), 1)[torch.arange(16), y[step]].mean()
            gradients = torch.autograd.grad(loss, parameters)
            with torch.no_grad():
                for parameter, gradient in zip(parameters, gradients, strict=True):
                    parameter -= 0.3 * gradient
        else:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x[step]), y[step]).backward()
            optimizer.step()
    return {name: value.detach().numpy().copy() for name, value in net.state_dict().items()}


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("way", ["foreach", "accumulated", "by hand"])
def test_spellings_of_the_right_algorithm_stay_far_below_the_tolerance(way: str, precision: str) -> None:
    start, right = spelled("start", precision), spelled("plain", precision)
    assert distance(spelled(way, precision), right, start) < tolerance(right, 5) / 50
