"""A small fully connected network in NumPy: forward, gradients by hand, and one step of gradient descent.

The last layer has one unit, whose output is a *score*: positive for class +1, negative for class -1. The loss is the
mean of log(1 + exp(-label * score)), the cross-entropy of two classes. In a regression the output is the prediction
itself, and the loss is the mean squared error.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.playground.data import Array


@dataclass(frozen=True)
class Activation:
    """A function of the weighted sum, and its slope, written with what the function gave."""

    function: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    gain: float
    """variance of the weights at the start, times the units before, so that signals keep their size"""


ACTIVATIONS = {
    "tanh": Activation(np.tanh, lambda out: 1 - out**2, 1.0),
    "ReLU": Activation(lambda z: np.maximum(z, 0), lambda out: (out > 0).astype(out.dtype), 2.0),
    "sigmoid": Activation(lambda z: 0.5 + 0.5 * np.tanh(z / 2), lambda out: out * (1 - out), 1.0),
    "linear": Activation(lambda z: z, np.ones_like, 1.0),
}
STARTS = ("random", "all equal", "zero")
PENALTIES = ("none", "L1", "L2")


@dataclass(frozen=True)
class Gradients:
    """Slopes of the mean loss, without the penalty, in the shapes of the network's weights and biases."""

    weights: list[Array]
    biases: list[Array]


Update = Callable[[Array, Array, float, str, float], Array]
"""new weights from weights, their gradient, rate, penalty and strength"""


def updated(weights: Array, slope: Array, lr: float, penalty: str, strength: float) -> Array:
    """One step of an array of weights.

    L2, strength * w**2 / 2, adds to the slope. L1, strength * |w|, has no slope at 0: after the step it draws each
    weight toward 0 by lr * strength, and one that would cross 0 stays there.
    """
    if penalty == "L2":
        slope = slope + strength * weights
    moved = weights - lr * slope
    if penalty == "L1":
        moved = np.sign(moved) * np.maximum(np.abs(moved) - lr * strength, 0)
    return moved


class Network:
    """Layers of `sizes` units, the inputs first. `weights[k]` is `(sizes[k], sizes[k + 1])`, `biases[k]` its bias."""

    def __init__(self, sizes: Sequence[int], activation: str, rng: np.random.Generator, start: str = "random") -> None:
        """start: weights drawn at random, all one half, or all zero. Biases always start at zero."""
        if activation not in ACTIVATIONS:
            raise ValueError(f"Network: no activation {activation!r}; there are {', '.join(ACTIVATIONS)}")
        if start not in STARTS:
            raise ValueError(f"Network: no start {start!r}; there are {', '.join(STARTS)}")
        self.activation = ACTIVATIONS[activation]
        pairs = list(itertools.pairwise(sizes))
        drawn = [rng.standard_normal(pair) * np.sqrt(self.activation.gain / pair[0]) for pair in pairs]
        self.weights: list[Array] = {
            "random": drawn,
            "all equal": [np.full(pair, 0.5) for pair in pairs],
            "zero": [np.zeros(pair) for pair in pairs],
        }[start]
        self.biases: list[Array] = [np.zeros(size) for size in sizes[1:]]

    def forward(self, inputs: Array) -> list[Array]:
        """The inputs `(n, sizes[0])` and after them what each layer gives; the last are the scores `(n, 1)`.

        Computed in the inputs' dtype: pictures are drawn in float32, training is done in float64.
        """
        outputs = [inputs]
        for layer, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True), start=1):
            z = outputs[-1] @ weights.astype(inputs.dtype, copy=False) + biases.astype(inputs.dtype, copy=False)
            outputs.append(z if layer == len(self.weights) else self.activation.function(z))
        return outputs

    def gradients(self, inputs: Array, labels: Array, regression: bool = False) -> Gradients:
        """One forward and one backward pass over the examples; `labels` `(n,)`. The slopes of `loss`."""
        outputs = self.forward(inputs)
        wanted = labels[:, None]
        if regression:
            slope = 2 * (outputs[-1] - wanted) / len(labels)
        else:
            # The slope of log(1 + exp(-y s)) is -y * sigmoid(-y s); with tanh it cannot overflow.
            slope = -wanted * (0.5 - 0.5 * np.tanh(wanted * outputs[-1] / 2)) / len(labels)
        weights: list[Array] = []
        biases: list[Array] = []
        for layer in reversed(range(len(self.weights))):
            weights.append(outputs[layer].T @ slope)
            biases.append(slope.sum(axis=0))
            if layer:
                slope = (slope @ self.weights[layer].T) * self.activation.slope(outputs[layer])
        return Gradients(weights[::-1], biases[::-1])

    def step(
        self,
        gradients: Gradients,
        lr: float,
        penalty: str = "none",
        strength: float = 0.0,
        update: Update = updated,
    ) -> None:
        """Go downhill once. The penalty is on the weights, not on the biases: `update` makes their steps."""
        for layer in range(len(self.weights)):
            self.weights[layer] = update(self.weights[layer], gradients.weights[layer], lr, penalty, strength)
            self.biases[layer] = self.biases[layer] - lr * gradients.biases[layer]


def loss(scores: Array, labels: Array, regression: bool = False) -> float:
    """Mean cross-entropy of `scores` `(n, 1)` or `(n,)`, or in a regression their mean squared error."""
    if regression:
        return float(((scores.reshape(-1) - labels) ** 2).mean())
    return float(np.logaddexp(0, -labels * scores.reshape(-1)).mean())
