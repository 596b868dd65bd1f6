"""The network's gradients are those of calculus and of PyTorch, and a penalty does what its name says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from course_lib.playground.network import ACTIVATIONS, Gradients, Network, loss

SHAPES = ((2, 1), (2, 4, 1), (7, 8, 3, 1), (1, 2, 2, 2, 2, 1))


def _problem(sizes: tuple[int, ...], activation: str) -> tuple[Network, Any, Any]:
    rng = np.random.default_rng(len(sizes))
    net = Network(sizes, activation, rng)
    net.biases = [0.3 * rng.standard_normal(biases.shape) for biases in net.biases]
    return net, rng.standard_normal((12, sizes[0])), np.where(rng.random(12) < 0.5, 1.0, -1.0)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("sizes", SHAPES, ids=str)
@pytest.mark.parametrize("regression", [False, True])
def test_the_gradients_agree_with_nudging_every_parameter(
    regression: bool, sizes: tuple[int, ...], activation: str
) -> None:
    net, x, y = _problem(sizes, activation)
    given = net.gradients(x, y, regression)
    for parameters, slopes in zip([*net.weights, *net.biases], [*given.weights, *given.biases], strict=True):
        assert parameters.shape == slopes.shape
        for place in np.ndindex(parameters.shape):
            kept, around = parameters[place], []
            for step in (1e-5, -1e-5):
                parameters[place] = kept + step
                around.append(loss(net.forward(x)[-1], y, regression))
            parameters[place] = kept
            assert abs((around[0] - around[1]) / 2e-5 - slopes[place]) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("sizes", SHAPES, ids=str)
def test_loss_and_gradients_agree_with_pytorch(sizes: tuple[int, ...], activation: str) -> None:
    torch = pytest.importorskip("torch")
    net, x, y = _problem(sizes, activation)
    weights = [torch.tensor(w, requires_grad=True) for w in net.weights]
    biases = [torch.tensor(b, requires_grad=True) for b in net.biases]
    function = {"tanh": torch.tanh, "ReLU": torch.relu, "sigmoid": torch.sigmoid, "linear": lambda z: z}[activation]
    value = torch.tensor(x)
    for layer, (w, b) in enumerate(zip(weights, biases, strict=True), start=1):
        value = value @ w + b
        value = value if layer == len(weights) else function(value)
    theirs = torch.nn.functional.binary_cross_entropy_with_logits(value[:, 0], torch.tensor((y + 1) / 2))
    theirs.backward()
    given = net.gradients(x, y)
    assert abs(theirs.item() - loss(net.forward(x)[-1], y)) < 1e-12
    for mine, torchs in zip([*given.weights, *given.biases], [*weights, *biases], strict=True):
        np.testing.assert_allclose(mine, torchs.grad.numpy(), rtol=1e-10, atol=1e-14)


@pytest.mark.slow
def test_training_with_l2_is_what_pytorch_calls_weight_decay() -> None:
    torch = pytest.importorskip("torch")
    net, x, y = _problem((2, 4, 1), "tanh")
    weights = [torch.tensor(w, requires_grad=True) for w in net.weights]
    biases = [torch.tensor(b, requires_grad=True) for b in net.biases]
    groups = [{"params": weights, "weight_decay": 0.05}, {"params": biases, "weight_decay": 0.0}]
    optimizer = torch.optim.SGD(groups, lr=0.3)
    for _ in range(20):
        net.step(net.gradients(x, y), 0.3, "L2", 0.05)
        optimizer.zero_grad()
        scores = torch.tanh(torch.tensor(x) @ weights[0] + biases[0]) @ weights[1] + biases[1]
        torch.nn.functional.softplus(-torch.tensor(y) * scores[:, 0]).mean().backward()
        optimizer.step()
    for mine, torchs in zip([*net.weights, *net.biases], [*weights, *biases], strict=True):
        np.testing.assert_allclose(mine, torchs.detach().numpy(), rtol=1e-10)


@pytest.mark.parametrize(("penalty", "wanted"), [("L1", [0.48, -0.48, 0.0]), ("L2", [0.49, -0.49, 0.0098])])
def test_l1_takes_the_same_amount_from_each_weight_and_stops_at_zero_l2_a_share_and_neither_touches_a_bias(
    penalty: str, wanted: list[float]
) -> None:
    net = Network((3, 1), "tanh", np.random.default_rng(0))
    net.weights, net.biases = [np.array([[0.5], [-0.5], [0.01]])], [np.ones(1)]
    net.step(Gradients([np.zeros((3, 1))], [np.zeros(1)]), lr=0.1, penalty=penalty, strength=0.2)
    np.testing.assert_allclose(net.weights[0][:, 0], wanted, rtol=0, atol=1e-15)
    assert net.biases[0].tolist() == [1] and (penalty == "L2" or net.weights[0][2, 0] == 0)


def test_the_loss_is_log_two_for_a_score_of_zero_and_does_not_overflow() -> None:
    labels = np.array([1.0, -1.0])
    assert loss(np.zeros((2, 1)), labels) == pytest.approx(np.log(2), rel=1e-15)
    assert loss(np.array([-1e4, 1e4]), labels) == 1e4
    net, x, y = _problem((2, 1), "tanh")
    net.weights[0] *= 1e5
    assert np.isfinite(net.gradients(x, y).weights[0]).all()


@pytest.mark.parametrize("activation", ["tanh", "ReLU"])
def test_random_weights_keep_the_size_of_the_signal_and_inputs_decide_the_dtype(activation: str) -> None:
    rng = np.random.default_rng(0)
    net = Network((400, 400, 400, 1), activation, rng)
    layers = net.forward(rng.standard_normal((50, 400)))[:-1]
    assert all(0.2 < float((layer**2).mean()) < 2 for layer in layers)
    assert {layer.dtype for layer in net.forward(np.ones((2, 400), np.float32))} == {np.dtype(np.float32)}


def test_weights_start_as_told_and_what_there_is_not_is_refused_in_words() -> None:
    rng = np.random.default_rng(0)
    for start, value in (("all equal", 0.5), ("zero", 0.0)):
        assert {float(v) for w in Network((2, 3, 1), "tanh", rng, start).weights for v in w.ravel()} == {value}
    for activation, start, words in (("step", "random", "no activation"), ("tanh", "ones", "no start")):
        with pytest.raises(ValueError, match=words):
            Network((2, 1), activation, rng, start)
