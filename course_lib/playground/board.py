"""One experiment: settings, data, a network and the losses so far. It knows nothing of pictures and widgets."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from course_lib.playground.data import FEATURES, PATTERNS, Data, features, make_data
from course_lib.playground.network import ACTIVATIONS, PENALTIES, STARTS, Network, loss

MOST_LAYERS, MOST_UNITS = 4, 8
"""of hidden layers, and of units in each: what there is room for in the picture"""

OF_THE_DATA = {"data", "noise", "share", "points", "seed"}
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
    rate: float = 0.1
    penalty: str = "none"
    penalty_rate: float = 0.01
    batch: int = 10
    seed: int = 0

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
        if not (self.rate > 0 and self.penalty_rate >= 0 and self.batch >= 1):
            raise ValueError("Playground: rate and batch must be above 0, penalty_rate must not be below 0")


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
        self._note_losses()

    def step(self) -> None:
        """Train for one epoch: every training point once, in random order, in batches."""
        chosen = self.settings
        order = self._rng.permutation(len(self._inputs))
        with np.errstate(all="ignore"):  # too large a rate may overflow, and that is a thing to see
            for start in range(0, len(order), chosen.batch):
                part = order[start : start + chosen.batch]
                gradients = self.network.gradients(self._inputs[part], self.data.train_labels[part])
                self.network.step(gradients, chosen.rate, chosen.penalty, chosen.penalty_rate)
            self._note_losses()

    def run(self, epochs: int, seconds: float | None = None) -> Self:
        """Train for `epochs` epochs, or until `seconds` are over; at least one. Returns the board, to be shown."""
        started = time.perf_counter()
        for _ in range(epochs):
            self.step()
            if seconds is not None and time.perf_counter() - started >= seconds:
                break
        return self

    def change(self, **changes: Any) -> None:
        """Take other settings. Data and network are made anew only where they must be; else training goes on."""
        before, self.settings = self.settings, replace(self.settings, **changes)
        changed = {each.name for each in fields(Settings)}
        changed = {name for name in changed if getattr(before, name) != getattr(self.settings, name)}
        if changed & OF_THE_DATA:
            self._draw_data()
        if changed & (OF_THE_DATA | OF_THE_NETWORK):
            self.reset()

    # Reading off

    @property
    def epoch(self) -> int:
        """Epochs trained."""
        return len(self.history.train) - 1

    @property
    def train_loss(self) -> float:
        """Mean cross-entropy over the training points, now."""
        return self.history.train[-1]

    @property
    def test_loss(self) -> float:
        """Mean cross-entropy over the test points, now."""
        return self.history.test[-1]

    @property
    def accuracy(self) -> float:
        """The part of the test points on the right side of the boundary."""
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
        return (
            f"epoch {self.epoch}, training loss {self.train_loss:.3f}, test loss {self.test_loss:.3f}, "
            f"{self.accuracy:.1%} of the test points right"
        )

    def _draw_data(self) -> None:
        chosen = self.settings
        self.data = make_data(
            chosen.data, points=chosen.points, noise=chosen.noise, share=chosen.share, seed=chosen.seed
        )

    def _note_losses(self) -> None:
        for inputs, labels, losses in (
            (self._inputs, self.data.train_labels, self.history.train),
            (self._test_inputs, self.data.test_labels, self.history.test),
        ):
            losses.append(loss(self.network.forward(inputs)[-1], labels))
