"""One experiment: settings, data, a network and the losses so far. It knows nothing of pictures and widgets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from course_lib.playground.data import FEATURES, PATTERNS, REGRESSION, Array, Data, features, make_data
from course_lib.playground.network import ACTIVATIONS, PENALTIES, STARTS, Network, Update, loss, updated

MOST_LAYERS, MOST_UNITS = 6, 8
"""of hidden layers, and of units in each: what there is room for in the picture"""

OF_THE_DATA = {"data", "noise", "share", "points", "seed", "data_seed"}
OF_THE_NETWORK = {"features", "hidden", "activation", "start"}
"""which settings need what to be made anew; the others take effect while training goes on"""


@dataclass(frozen=True)
class Settings:
    """Everything one can choose."""

    data: str = "circle"
    noise: float = 0.0
    share: float = 0.5
    """of the points for training; the rest are for the test"""
    points: int = 400
    features: tuple[str, ...] = ("x1", "x2")
    hidden: tuple[int, ...] = (4,)
    """units in each hidden layer; () for none"""
    activation: str = "tanh"
    start: str = "random"
    lr: float = 0.1
    penalty: str = "none"
    strength: float = 0.01
    batch: int = 10
    seed: int = 0
    """of the first weights and of the order of the batches, and of the points unless `data_seed` is given"""
    data_seed: int | None = None
    """of the points"""

    def __post_init__(self) -> None:
        """Refuse, in words, what cannot be built or drawn."""
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for name, known in (
            ("data", PATTERNS), ("activation", ACTIVATIONS), ("start", STARTS), ("penalty", PENALTIES)
        ):  # fmt: skip
            if getattr(self, name) not in known:
                raise ValueError(f"Playground: {name} is {getattr(self, name)!r}; choose from {', '.join(known)}")
        if not self.features or len(set(self.features)) < len(self.features) or set(self.features) - set(FEATURES):
            raise ValueError(f"Playground: features are {self.features}; choose from {', '.join(FEATURES)}, each once")
        if len(self.hidden) > MOST_LAYERS or not all(1 <= units <= MOST_UNITS for units in self.hidden):
            raise ValueError(
                f"Playground: hidden is {self.hidden}; at most {MOST_LAYERS} layers of 1 to {MOST_UNITS} units"
            )
        if self.seed < 0 or (self.data_seed is not None and self.data_seed < 0):
            raise ValueError("Playground: seed and data_seed must not be below 0")
        if not (self.lr > 0 and self.strength >= 0 and self.batch >= 1):
            raise ValueError("Playground: lr and batch must be above 0, strength must not be below 0")


@dataclass
class History:
    """Losses at the start and after each epoch, without the penalty."""

    train: list[float] = field(default_factory=list)
    test: list[float] = field(default_factory=list)


class Board:
    """One experiment that can be run, changed, looked at and taken over by hand."""

    settings: Settings
    data: Data
    network: Network
    history: History
    _begun_with: Settings
    _done: list[int | str]
    """since the last reset: how many epochs were trained, what was changed and edited, in order"""

    def __init__(self, **settings: Any) -> None:
        """Names and values as in `Settings`; what is not named keeps its default."""
        known = {each.name for each in fields(Settings)}
        if unknown := sorted(set(settings) - known):
            raise TypeError(f"{type(self).__name__}: no setting {unknown[0]!r}; there are {', '.join(sorted(known))}")
        self.settings = Settings(**settings)
        self._draw_data()
        self.reset()

    # Training

    def reset(self) -> None:
        """Back to the first weights: the same settings and the same seed give the same run."""
        chosen = self.settings
        self._inputs, self._test_inputs = (
            features(part, chosen.features) for part in (self.data.train, self.data.test)
        )
        self._rng = np.random.default_rng([chosen.seed, 1])
        sizes = (len(chosen.features), *chosen.hidden, 1)
        self.network = Network(sizes, chosen.activation, self._rng, chosen.start)
        self.history = History()
        self._begun_with, self._done = chosen, []
        self._note_losses()

    def step(self, update: Update = updated) -> None:
        """Train for one epoch: every training point once, in random order, in batches. `update` as in `Network`."""
        chosen = self.settings
        order = self._rng.permutation(len(self._inputs))
        with np.errstate(all="ignore"):  # too large a rate may overflow, and that is a thing to see
            for start in range(0, len(order), chosen.batch):
                part = order[start : start + chosen.batch]
                gradients = self.network.gradients(self._inputs[part], self.data.train_labels[part], self.regression)
                self.network.step(gradients, chosen.lr, chosen.penalty, chosen.strength, update)
            self._note_losses()
        if self._done and isinstance(self._done[-1], int):
            self._done[-1] += 1
        else:
            self._done.append(1)

    def run(self, epochs: int, seconds: float | None = None, update: Update = updated) -> Self:
        """Train for `epochs` epochs, or until `seconds` are over; at least one. Returns the board, to be shown.

        update: makes each step of the weights, in place of the board's own; `code` does not tell of it.
        """
        started = time.perf_counter()
        for _ in range(epochs):
            self.step(update)
            if seconds is not None and time.perf_counter() - started >= seconds:
                break
        return self

    def change(self, **changes: Any) -> Self:
        """Take other settings. Data and network are made anew only where they must be; else training goes on."""
        before, self.settings = self.settings, replace(self.settings, **changes)
        changed = {each.name for each in fields(Settings)}
        changed = {name for name in changed if getattr(before, name) != getattr(self.settings, name)}
        if changed & OF_THE_DATA:
            self._draw_data()
        if changed & (OF_THE_DATA | OF_THE_NETWORK):
            self.reset()
        elif not self._done:
            self._begun_with = self.settings
        elif changed:
            chosen = ", ".join(f"{name}={getattr(self.settings, name)!r}" for name in changes if name in changed)
            self._done.append(f"change({chosen})")
        return self

    def edit(self, unit: tuple[int, int], source: int | None, value: float) -> Self:
        """Set one parameter by hand; training goes on from there.

        unit: its layer, where 1 is the first hidden one and the last the output, and its place in it, from 1.
        source: the place, from 1, of the feature or unit that the weight comes from; None for the bias.
        """
        weights, biases = self.parameters_of(unit)
        if source is None:
            biases[...] = value
        elif 1 <= source <= len(weights):
            weights[source - 1] = value
        else:
            raise ValueError(f"Playground: source is {source}; it goes from 1 to {len(weights)}, or is None")
        self._note_losses_anew()
        self._done.append(f"edit({unit}, {source}, {float(value)!r})")
        return self

    def set_parameters(self, weights: Sequence[Any], biases: Sequence[Any]) -> Self:
        """Set all weights and biases, an array for each layer in the shapes that `network` has; training goes on."""
        given = [[np.array(array, dtype=float) for array in arrays] for arrays in (weights, biases)]
        there = [[array.shape for array in arrays] for arrays in (self.network.weights, self.network.biases)]
        if (shapes := [[array.shape for array in arrays] for arrays in given]) != there:
            raise ValueError(f"Playground: weights and biases have the shapes {shapes}; the network's are {there}")
        self.network.weights, self.network.biases = given
        self._note_losses_anew()
        self._done.append("set_parameters({}, {})".format(*([array.tolist() for array in arrays] for arrays in given)))
        return self

    # Reading off

    def parameters_of(self, unit: tuple[int, int]) -> tuple[Array, Array]:
        """Views of a unit's weights `(units of the layer before,)` and of its bias `()`; `unit` as in `edit`."""
        layer, place = unit
        if not (1 <= layer <= len(self.network.weights) and 1 <= place <= self.network.biases[layer - 1].size):
            sizes = [biases.size for biases in self.network.biases]
            raise ValueError(f"Playground: there is no unit {unit}; layers 1 to {len(sizes)} have {sizes} units")
        return self.network.weights[layer - 1][:, place - 1], self.network.biases[layer - 1][place - 1, ...]

    def code(self) -> str:
        """The line of code that makes this board anew, with all that was trained, changed and edited since its start.

        Only `board.network` changed by other means is left out.
        """
        defaults = Settings()
        chosen = [
            f"{each.name}={value!r}"
            for each in fields(Settings)
            if (value := getattr(self._begun_with, each.name)) != getattr(defaults, each.name)
        ]
        done = [f"run({each})" if isinstance(each, int) else each for each in self._done]
        return ".".join([f"Playground({', '.join(chosen)})", *done])

    def link(self) -> str:
        """The address of the TensorFlow Playground with these settings: the same kind of run, from other weights.

        It has no seeds for points alone, and scales features and initial weights differently.
        """
        chosen = self.settings
        kind = {"circle": "circle", "XOR": "xor", "Gaussians": "gauss", "spiral": "spiral"}
        state: dict[str, Any] = {
            "activation": chosen.activation.lower(),
            "batchSize": min(chosen.batch, 30),
            "learningRate": chosen.lr,
            "noise": round(100 * chosen.noise),
            "networkShape": ",".join(map(str, chosen.hidden)),
            "percTrainData": round(100 * chosen.share),
            "seed": chosen.seed,
        }
        if self.regression:
            state |= {"problem": "regression", "regDataset": {"plane": "reg-plane", "hills": "reg-gauss"}[chosen.data]}
        else:
            state |= {"problem": "classification", "dataset": kind[chosen.data]}
        if chosen.penalty != "none":
            state |= {"regularization": chosen.penalty, "regularizationRate": chosen.strength}
        if chosen.start == "zero":
            state["initZero"] = "true"
        names = ("x", "y", "xSquared", "ySquared", "xTimesY", "sinX", "sinY")
        state |= {name: str(feature in chosen.features).lower() for name, feature in zip(names, FEATURES, strict=True)}
        return "https://playground.tensorflow.org/#" + "&".join(f"{name}={value}" for name, value in state.items())

    @property
    def regression(self) -> bool:
        """Whether a number is predicted, and no class."""
        return self.settings.data in REGRESSION

    @property
    def epoch(self) -> int:
        """Epochs trained."""
        return len(self.history.train) - 1

    @property
    def train_loss(self) -> float:
        """Mean loss over the training points, now: cross-entropy, or in a regression the squared error."""
        return self.history.train[-1]

    @property
    def test_loss(self) -> float:
        """The same over the test points."""
        return self.history.test[-1]

    @property
    def accuracy(self) -> float:
        """The part of the test points on the right side of the boundary; NaN in a regression, which has none."""
        if self.regression:
            return float("nan")
        with np.errstate(all="ignore"):
            scores = self.network.forward(self._test_inputs)[-1][:, 0]
        return float(np.mean(scores * self.data.test_labels > 0))

    @property
    def units(self) -> int:
        """Hidden units, all layers together."""
        return sum(self.settings.hidden)

    def dead_units(self) -> list[tuple[int, int]]:
        """Layer and place, from 1, of each hidden ReLU unit that gives 0 for every training point: it cannot learn."""
        if self.settings.activation != "ReLU":
            return []
        with np.errstate(all="ignore"):
            hidden = self.network.forward(self._inputs)[1:-1]
        return [
            (layer, place + 1)
            for layer, outputs in enumerate(hidden, start=1)
            for place in np.flatnonzero((outputs == 0).all(axis=0)).tolist()
        ]

    def zero_weights(self, below: float = 0.0) -> tuple[int, int]:
        """How many weights are exactly zero (or of a size up to `below`), and how many there are."""
        sizes = np.concatenate([np.abs(weights).ravel() for weights in self.network.weights])
        return int((sizes <= below).sum()), sizes.size

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.summary()}"

    def summary(self) -> str:
        """One line: where training is."""
        right = "" if self.regression else f", {self.accuracy:.1%} of the test points right"
        return f"epoch {self.epoch}, training loss {self.train_loss:.3f}, test loss {self.test_loss:.3f}{right}"

    def _draw_data(self) -> None:
        chosen = self.settings
        seed = chosen.seed if chosen.data_seed is None else chosen.data_seed
        self.data = make_data(chosen.data, points=chosen.points, noise=chosen.noise, share=chosen.share, seed=seed)

    def _note_losses_anew(self) -> None:
        """The losses of this epoch, after a change by hand."""
        for losses in (self.history.train, self.history.test):
            losses.pop()
        with np.errstate(all="ignore"):
            self._note_losses()

    def _note_losses(self) -> None:
        for inputs, labels, losses in (
            (self._inputs, self.data.train_labels, self.history.train),
            (self._test_inputs, self.data.test_labels, self.history.test),
        ):
            losses.append(loss(self.network.forward(inputs)[-1], labels, self.regression))
