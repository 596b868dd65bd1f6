"""Lecture 03: what its exercises ask for, and what checks an attempt.

The functions in the first part are the lecture's folded solutions, word for word; the lecture continues with them until
the reader's own are right. Not to be confused with `course_lib.playground`, which is the playground itself.
"""

# The solutions stand as the reader types them, without annotations.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from course_lib.exercises import attempt_or_solution
from course_lib.playground import FEATURES, Board, Network, Playground, Settings, features, make_data

Array = Any
"""an array of numbers"""


def unit_map(weights, bias, side=60):
    """The outputs of one tanh unit of the first hidden layer at side x side points of the plane.

    weights: two numbers, for the features x1 / 3 and x2 / 3. bias: a number.
    Returns (side, side): the first row is the upper edge (x2 = 6), the first column the left edge (x1 = -6).
    """
    x1 = np.linspace(-6, 6, side)[None, :]  # (1, side): a row, from left to right
    x2 = np.linspace(6, -6, side)[:, None]  # (side, 1): a column, from top to bottom
    z = weights[0] * x1 / 3 + weights[1] * x2 / 3 + bias
    return np.tanh(z)


def polygon(units, sharpness=6.0):
    """Weights of a network that is positive inside a regular polygon with `units` sides, 3 from the center.

    Returns W1 (2, units), b1 (units,), W2 (units, 1), b2 (1,).
    """
    angles = 2 * np.pi * np.arange(units) / units
    outward = np.stack([np.cos(angles), np.sin(angles)])
    W1 = -sharpness * outward  # falls toward the outside
    b1 = np.full(units, sharpness * 1.0)  # zero where the features, which are x / 3, have gone a distance of 1
    W2 = np.ones((units, 1))
    b2 = np.array([1.0 - units])  # between units, where all agree, and units - 2, where one does not
    return W1, b1, W2, b2


def mean_loss(network, x, y):
    """The mean loss of `network` on features `x` (n, k) with labels `y` (n,), each 1 or -1."""
    scores = network.forward(x)[-1][:, 0]
    return np.logaddexp(0, -y * scores).mean()


def train(network, x, y, lr, epochs, batch_size=10, seed=0):
    """Train `network` in place with mini-batch SGD.

    x: (n, k), the features. y: (n,), the labels, 1 or -1.
    Returns a list with the mean loss over all n examples after each epoch.
    """
    rng = np.random.default_rng(seed)
    losses = []
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), batch_size):
            batch = order[start : start + batch_size]
            gradients = network.gradients(x[batch], y[batch])
            for layer in range(len(network.weights)):
                network.weights[layer] -= lr * gradients.weights[layer]
                network.biases[layer] -= lr * gradients.biases[layer]
        losses.append(mean_loss(network, x, y))
    return losses


def spiral_feature(points):
    """One number for each point that tells the two arms of the spiral apart.

    points: (n, 2). Returns (n,): positive on one arm, negative on the other.
    """
    x1, x2 = points[:, 0], points[:, 1]
    r = np.hypot(x1, x2)
    t = (r - 0.3) / 4.7
    angle = np.arctan2(x1, x2)
    return np.cos(angle - 3.5 * np.pi * t)


def success_rate(settings, seeds, epochs=300, goal=0.1):
    """The fraction of `seeds` for which a playground with `settings`, a dict, reaches a test loss below `goal`."""
    solved = 0
    for seed in seeds:
        board = Playground(**settings, seed=seed).run(epochs)
        if board.test_loss < goal:
            solved += 1
    return solved / len(seeds)


def layer_speeds(network, x, y):
    """The mean absolute gradient of each layer's weights: a list of numbers, the first layer first.

    x: (n, k), the features. y: (n,), the labels, 1 or -1.
    """
    gradients = network.gradients(x, y)
    speeds = []
    for gradient in gradients.weights:
        speeds.append(np.abs(gradient).mean())
    return speeds


def update(w, gradient, lr, penalty, strength):
    """One step of gradient descent on the weights `w` with a penalty, "none", "L1" or "L2".

    w, gradient: arrays of the same shape. Returns the new weights; `w` itself stays as it is.
    """
    if penalty == "L2":
        gradient = gradient + strength * w
    w = w - lr * gradient
    if penalty == "L1":
        w = np.sign(w) * np.maximum(np.abs(w) - lr * strength, 0)
    return w


def remedy():
    """A board like C with one setting changed, after 300 epochs."""
    board = Playground(hidden=(8,), lr=0.05)  # ten times the learning rate of C
    return board.run(300)


def collapse(network):
    """One layer that computes what a network of linear layers computes.

    network: a Network with the activation "linear". Returns W (inputs, 1) and b (1,): the scores are x @ W + b.
    """
    W = network.weights[0]
    b = network.biases[0]
    for weights, biases in zip(network.weights[1:], network.biases[1:], strict=True):
        W = W @ weights
        b = b @ weights + biases
    return W, b


# What the lecture's diagnosis looks at


def faulty_boards() -> dict[str, Playground]:
    """Four boards, A to D, each with one fault, after 300 epochs."""
    boards = {
        "A": Playground(hidden=(2,)),
        "B": Playground(noise=0.4, share=0.2, features=tuple(FEATURES), hidden=(8, 8)),
        "C": Playground(hidden=(8,), lr=0.005),
        "D": Playground(hidden=(8,), lr=10),
    }
    return {name: board.run(300) for name, board in boards.items()}


# The checks


def check_unit_map(attempt: Callable[..., Array]) -> Callable[..., Array]:
    """The attempt if its maps are those of the board's own units, else the solution."""

    def given(*arguments: Any) -> Array:
        return np.asarray(attempt(*arguments))

    def agrees(weights: tuple[float, float], bias: float, side: int = 60, turned: Callable[..., Array] = np.asarray):
        wanted = unit_map(weights, bias, side)
        found = given(weights, bias, side)
        return found.shape == wanted.shape and np.allclose(turned(found), wanted)

    def like(other: Callable[[Any, Any, Any], Array]) -> bool:
        """Whether the attempt computes what `other` computes, of the two coordinates, by mistake."""
        x1, x2 = np.linspace(-6, 6, 60)[None, :], np.linspace(6, -6, 60)[:, None]
        return np.allclose(given((1.0, 0.5), 0.3), np.broadcast_to(other(x1, x2, 0.3), (60, 60)))

    def nearly() -> bool:
        """Whether only the points lie elsewhere, by no more than one pixel."""
        return float(np.abs(given((1.0, 0.5), 0.3) - unit_map((1.0, 0.5), 0.3)).max()) < 0.15

    all_right = functools.cache(
        lambda: all(agrees(w, b, side) for w, b, side in (((1.0, 0.5), 0.3, 60), ((-2.0, 3.0), -1.0, 31)))
    )
    return attempt_or_solution(
        "unit_map",
        attempt,
        unit_map,
        (
            lambda: attempt((1.0, 0.5), 0.3) is not None,
            "Your function returns None. Is there a `return`?",
        ),
        (
            lambda: given((1.0, 0.5), 0.3).shape == (60, 60),
            "The map has the shape (side, side), here (60, 60). A row of x1, (1, side), plus a column of x2, (side, "
            "1), broadcasts to it.",
        ),
        (
            lambda: given((1.0, 0.5), 0.3, 31).shape == (31, 31),
            "For side=31 the map has another shape than (31, 31). Is a number of points written into the body?",
        ),
        (
            lambda: all_right() or not like(lambda x1, x2, b: x1 / 3 + 0.5 * x2 / 3 + b),
            "This is the weighted sum z alone. What makes it the output of a tanh unit?",
        ),
        (
            lambda: all_right() or not like(lambda x1, x2, b: np.tanh(x1 + 0.5 * x2 + b)),
            "The features are the coordinates divided by 3; here the coordinates themselves go in.",
        ),
        (
            lambda: all_right() or not like(lambda x1, x2, b: np.tanh(x1 / 3 + 0.5 * x2 / 3)),
            "The bias is missing from the weighted sum.",
        ),
        (
            lambda: all_right() or not like(lambda x1, x2, b: np.tanh((x1 + 0.5 * x2 + b) / 3)),
            "The bias is divided by 3, too. Only the features are.",
        ),
        (
            lambda: all_right() or not like(lambda x1, x2, b: np.tanh(x1 / 3 + 0.5 * x2 / 3) + b),
            "The bias is added after tanh. It belongs to the weighted sum.",
        ),
        (
            lambda: all_right() or not agrees((1.0, 0.5), 0.3, turned=np.fliplr),
            "Left and right are exchanged: the first column is the left edge of the plane, where x1 = -6.",
        ),
        (
            lambda: all_right() or not agrees((1.0, 0.5), 0.3, turned=np.flipud),
            "The map stands on its head: its first row must be the upper edge of the plane, where x2 = 6.",
        ),
        (
            lambda: (
                all_right()
                or not (
                    agrees((1.0, 0.5), 0.3, turned=np.transpose)
                    or agrees((1.0, 0.5), 0.3, turned=lambda found: np.flipud(found.T))
                    or like(lambda x1, x2, b: np.tanh(0.5 * x1 / 3 + x2 / 3 + b))
                )
            ),
            "x1 and x2 are exchanged: x1 grows from column to column, and its weight is weights[0].",
        ),
        (
            lambda: all_right() or not nearly(),
            "The map is nearly right, but its points are a little off. They run from -6 to 6 with both ends included, "
            "as `np.linspace` gives them and `np.arange` does not.",
        ),
        (
            all_right,
            "The values differ from tanh(w1 * x1 / 3 + w2 * x2 / 3 + bias). Compute two corners by hand: x1 = -6 and "
            "x2 = 6 at the upper left, [0, 0]; x1 = 6 and x2 = 6 at the upper right, [0, -1].",
        ),
    )


def check_polygon(attempt: Callable[..., tuple[Array, ...]]) -> Callable[..., tuple[Array, ...]]:
    """The attempt if its networks separate the circle from the ring without training, else the solution."""

    def board(units: int, seed: int = 0) -> Playground:
        made = Playground(data="circle", hidden=(units,), seed=seed)
        W1, b1, W2, b2 = (np.array(part, dtype=float) for part in attempt(units))
        made.network.weights, made.network.biases = [W1, W2], [b1, b2]
        return made

    def shapes(units: int) -> bool:
        parts = attempt(units)
        if not isinstance(parts, (tuple, list)):
            return False
        return tuple(np.shape(part) for part in parts) == ((2, units), (units,), (units, 1), (1,))

    def hidden(units: int, points: Array) -> Array:
        return board(units).network.forward(features(points, ("x1", "x2")))[1]

    def score(units: int, points: Array) -> Array:
        return board(units).network.forward(features(points, ("x1", "x2")))[-1][:, 0]

    works = functools.cache(
        lambda: (
            all(board(units, seed).accuracy > 0.99 for units in (6, 8) for seed in range(3))
            and score(8, np.zeros((1, 2)))[0] > 0
        )
    )

    def edges(units: int) -> Array:
        """How far each unit's edge is from the center; where it has none, infinitely far."""
        W1, b1, *_ = (np.asarray(part, dtype=float) for part in attempt(units))
        length = np.hypot(*W1)
        return 3 * np.abs(b1) / np.where(length > 0, length, 1e-12)

    def mirrored(units: int) -> bool:
        """Whether each unit's edge lies on the side opposite to its angle; with an even number, another unit's does."""
        W1, b1, *_ = (np.asarray(part, dtype=float) for part in attempt(units))
        angles = 2 * np.pi * np.arange(units) / units
        toward = (np.stack([np.cos(angles), np.sin(angles)]) * -b1 * W1).sum(axis=0)
        return bool((toward < 0).all())

    def differ(units: int) -> bool:
        """Whether the first and the last unit have different weights, or all have the same."""
        W1 = np.asarray(attempt(units)[0], dtype=float)
        return not np.allclose(W1[:, 0], W1[:, -1]) or np.allclose(W1, W1[:, :1])

    center = np.zeros((1, 2))
    around = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = 4.5 * np.stack([np.cos(around), np.sin(around)], axis=1)
    return attempt_or_solution(
        "polygon",
        attempt,
        polygon,
        (
            lambda: all(shapes(units) for units in (6, 8)),
            "Return four arrays. The shapes must be W1 (2, units), b1 (units,), W2 (units, 1), b2 (1,).",
        ),
        (
            lambda: all(differ(units) for units in (3, 6)),
            "Two units face the same way, because the angles 0 and 2 pi are the same direction. The last angle lies "
            "one step before the full turn.",
        ),
        (
            lambda: works() or (np.ptp(hidden(6, center)) < 1e-6 and (hidden(6, center) > 0).all()),
            "At the center every unit should be positive. Its weighted sum there is the bias alone.",
        ),
        (
            lambda: works() or (np.abs(edges(6) - 3) < 0.5).all(),
            "The edge of each unit should be 3 away from the center, between disc and ring. There the features, which "
            "are x / 3, have gone a distance of 1, so the weights contribute `-sharpness`. The bias must cancel it.",
        ),
        (
            lambda: not mirrored(5),
            "Each edge lies on the opposite side: that of unit 0, whose angle is 0, should be on the right, where x1 "
            "is positive. A unit's weight vector points against (cos, sin), so it needs a minus.",
        ),
        (
            lambda: works() or (hidden(6, ring) < 0).any(axis=1).all(),
            "Some points of the ring lie inside all edges: the units do not face in six directions spread evenly "
            "over a full turn (in radians), with minus signs so that each falls toward the outside.",
        ),
        (
            lambda: works() or bool((hidden(6, center) > 0.9).all()),
            "At the center the units should be near 1, but they are below 0.9: the edges are too soft. Do weights "
            "and biases grow with `sharpness`?",
        ),
        (
            lambda: works() or score(6, center)[0] > 0,
            "The score at the center, where all units are near 1, is not positive: the output's bias is too "
            "negative, or W2 has the wrong sign.",
        ),
        (
            lambda: works() or (score(6, np.concatenate([ring, 0.8 * ring])) < 0).all(),
            "The units are right, but the output is positive where one of them disagrees. With weights 1 the sum is "
            "`units` inside and at most `units - 2` outside. b2 must be minus a threshold that lies halfway between "
            "the two.",
        ),
        (
            works,
            "With 6 and with 8 units, more than 99 % of the test points should be right. Does something hold for one "
            "number of units only?",
        ),
    )


def check_train(attempt: Callable[..., list[float]]) -> Callable[..., list[float]]:
    """The attempt if it is mini-batch SGD over shuffled examples, else the solution."""
    data = make_data("XOR", points=100)
    x, y = features(data.train[:47], ("x1", "x2")), data.train_labels[:47]

    class Watched(Network):
        """Remembers which examples each gradient was computed from, and what the weights were."""

        def __init__(self, sizes: tuple[int, ...] = (2, 3, 1)) -> None:
            super().__init__(sizes, "tanh", np.random.default_rng(0))
            self.batches: list[Array] = []
            self.labels: list[Array] = []
            self.states: list[Array] = []

        def gradients(self, inputs: Array, labels: Array, regression: bool = False) -> Any:
            self.batches.append(np.asarray(inputs))
            self.labels.append(np.asarray(labels))
            self.states.append(np.concatenate([weights.ravel() for weights in self.weights]))
            return super().gradients(inputs, labels, regression)

    @functools.cache
    def tried(
        batch_size: int = 10, epochs: int = 3, lr: float = 0.1, seed: int = 0, sizes: tuple[int, ...] = (2, 3, 1)
    ) -> tuple[Any, Any]:
        network = Watched(sizes)
        return network, attempt(network, x.copy(), y.copy(), lr, epochs, batch_size, seed)

    def repeated() -> bool:
        """Whether each batch comes several times in a row, for example once for each of the two layers."""
        batches = tried()[0].batches
        times, rest = divmod(len(batches), 3 * 5)
        return (
            times > 1
            and not rest
            and all(np.array_equal(each, batches[k - k % times]) for k, each in enumerate(batches))
        )

    def as_before(seed: int) -> bool:
        """Whether another run, with `seed`, takes the examples in the same order as the first one."""
        again = Watched()
        attempt(again, x.copy(), y.copy(), 0.1, 3, 10, seed)
        return np.array_equal(np.concatenate(again.batches), np.concatenate(tried()[0].batches))

    def epoch(number: int) -> Array:
        rows = np.concatenate(tried()[0].batches)
        return rows[47 * number : 47 * (number + 1)]

    def belong() -> bool:
        """Whether each example comes with its own label."""
        labels = np.concatenate(tried()[0].labels)[:47]
        return bool(np.array_equal(labels, y[np.abs(epoch(0)[:, None] - x).sum(axis=-1).argmin(axis=1)]))

    def moved(after: list[Array], before: list[Array]) -> list[bool]:
        return [not np.allclose(a, b) for a, b in zip(after, before, strict=True)]

    def one_step() -> tuple[Network, Network, Any]:
        """One update with all examples in one batch: after it, before it, and the gradient."""
        before = Watched()
        slopes = Network.gradients(before, x, y)
        return tried(47, 1)[0], before, slopes

    def follows(sign: float, scale: float = 1.0) -> bool:
        after, before, slopes = one_step()
        steps = [a - b for a, b in zip([*after.weights, *after.biases], [*before.weights, *before.biases], strict=True)]
        wanted = [sign * 0.1 * scale * g for g in [*slopes.weights, *slopes.biases]]
        return all(np.allclose(s, w, rtol=1e-6, atol=1e-12) for s, w in zip(steps, wanted, strict=True))

    return attempt_or_solution(
        "train",
        attempt,
        train,
        (
            lambda: isinstance(tried()[1], (list, tuple, np.ndarray)) and len(tried()[1]) == 3,
            "For 3 epochs the result must be a list of 3 losses, one for each epoch.",
        ),
        (
            lambda: {len(batch) for batch in tried()[0].batches} != {47},
            "Each gradient was computed from all examples. Take `batch_size` of them for each update.",
        ),
        (
            lambda: not repeated(),
            "`network.gradients` is called several times for each batch. Call it once, before the loop over the "
            "layers, and keep the result: it has the gradients of all layers, and every update changes the network.",
        ),
        (
            lambda: len(tried()[0].batches) != 3 * 4 or sum(map(len, tried()[0].batches)) == 3 * 47,
            "47 examples in batches of 10 are five batches, the last with 7 examples. Here the last one is left out.",
        ),
        (
            lambda: len(tried()[0].batches) == 3 * 5 and sum(map(len, tried()[0].batches)) == 3 * 47,
            "Each epoch should make 5 updates from 47 examples in batches of 10, each example once.",
        ),
        (
            lambda: len(np.unique(epoch(0), axis=0)) == 47,
            "Within an epoch some examples come twice and others never. Draw one permutation for the epoch and cut "
            "it up.",
        ),
        (
            belong,
            "The labels do not belong to their examples. Take `x` and `y` in the same order, with the same indices.",
        ),
        (
            lambda: not (np.allclose(epoch(0), x) and np.allclose(epoch(1), x)),
            "The examples come in the order of the data. Shuffle them: `rng.permutation(len(x))`.",
        ),
        (
            lambda: not np.allclose(epoch(0), epoch(1)),
            "Each epoch has the same order. Draw a new permutation inside the loop over the epochs, from one "
            "generator.",
        ),
        (
            lambda: len(tried(47, 1)[0].batches) == 1,
            "With `batch_size=47` an epoch of 47 examples should make a single update. Is a size written into the "
            "body?",
        ),
        (
            lambda: any(moved(one_step()[0].weights, one_step()[1].weights)),
            "The network's weights are the same after training as before it. `train` must change `network.weights` "
            "itself.",
        ),
        (
            lambda: not all(np.array_equal(tried()[0].states[0], state) for state in tried()[0].states[1:5]),
            "During an epoch the network does not change: the update comes only after the loop over the batches. It "
            "belongs inside, so that every batch updates the weights and biases.",
        ),
        (lambda: not follows(1.0), "The update goes uphill: subtract the gradient."),
        (
            lambda: all(moved(one_step()[0].weights, one_step()[1].weights)),
            "Only some layers are updated. `network.weights` has one array for each layer.",
        ),
        (lambda: all(moved(one_step()[0].biases, one_step()[1].biases)), "The biases are not updated."),
        (
            lambda: not follows(-1.0, 1 / 47),
            "The gradient is divided by the number of examples, but `network.gradients` has already taken the mean.",
        ),
        (lambda: follows(-1.0), "One update must be `-= lr * gradient` for each array of weights and of biases."),
        (
            lambda: abs(tried()[1][-1] - mean_loss(tried()[0], x, y)) < 1e-9,
            "The last loss must be `mean_loss(network, x, y)` over all examples, after the last update.",
        ),
        (
            lambda: any(moved(tried(47, 1)[0].weights, tried(47, 1, 0.2)[0].weights)),
            "The result does not depend on `lr`: multiply each gradient by it.",
        ),
        (
            lambda: all(moved(tried(47, 1, sizes=(2, 3, 3, 1))[0].weights, Watched((2, 3, 3, 1)).weights)),
            "With two hidden layers, one of them is not updated. Loop over `range(len(network.weights))`.",
        ),
        (
            lambda: as_before(0),
            "Two runs with the same seed take the examples in different orders. Make the generator from `seed`: "
            "`np.random.default_rng(seed)`.",
        ),
        (
            lambda: not as_before(1),
            "With another seed the examples come in the same order. Make the generator from the argument `seed`.",
        ),
    )


def check_spiral_feature(attempt: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The attempt if it tells the arms of the spiral apart, else the solution."""
    data = make_data("spiral", seed=5)
    points, labels = data.train, data.train_labels
    r, angle = np.hypot(*points.T), np.arctan2(points[:, 0], points[:, 1])
    t = (r - 0.3) / 4.7

    def given() -> Array:
        return np.asarray(attempt(points.copy()))

    def right() -> bool:
        signs = given() * labels
        return bool((signs > 0).all() or (signs < 0).all())

    def like(other: Array) -> bool:
        found = given()
        return bool(np.allclose(found, other) or np.allclose(found, -other))

    return attempt_or_solution(
        "spiral_feature",
        attempt,
        spiral_feature,
        (lambda: given().shape == (200,), "For points (200, 2) the result must have the shape (200,)."),
        (
            lambda: (
                right() or not any(like(f(angle - 3.5 * np.pi * t)) for f in (lambda v: v, np.abs, lambda v: v / np.pi))
            ),
            "The difference of the two angles is 0 or pi only up to full turns. Which function of an angle does not "
            "see full turns, and is 1 at 0 and -1 at pi?",
        ),
        (
            lambda: right() or not like(np.sin(angle - 3.5 * np.pi * t)),
            "sin is 0 at 0 and at pi, so it cannot tell the arms apart. Which function has two values there?",
        ),
        (
            lambda: right() or not like(np.cos(np.arctan2(points[:, 1], points[:, 0]) - 3.5 * np.pi * t)),
            "x1 is r times the *sine* of the angle, and `np.arctan2` takes the sine's part first.",
        ),
        (
            lambda: (
                right()
                or not any(
                    like(np.cos(angle - factor * np.pi * u)) for factor, u in ((3.5, r), (1.75, t), (3.5, r / 4.7))
                )
            ),
            "The angle of the arm at this radius is not right. Solve r = 0.3 + 4.7 t for t; the angle is 3.5 pi t.",
        ),
        (
            lambda: right() or not like(np.cos(np.arctan(points[:, 0] / points[:, 1]) - 3.5 * np.pi * t)),
            "`np.arctan` of a quotient gives the same angle on opposite sides of the center. `np.arctan2` takes the "
            "two coordinates and tells them apart.",
        ),
        (
            lambda: right() or not like(np.cos(3.5 * np.pi * t)),
            "This is the same for both arms: it depends on the radius alone. Compare it with the angle of the point.",
        ),
        (
            lambda: (
                right()
                or not any(
                    np.allclose((given() > 0) == flipped, np.abs(angle - 3.5 * np.pi * t) < np.pi / 2)
                    for flipped in (True, False)
                )
            ),
            "The difference of the two angles is 0 or pi only up to full turns, so do not compare it with a fixed "
            "bound. Which function of an angle does not see full turns?",
        ),
        (right, "The sign of the result must tell the two classes apart for every point."),
    )


def check_success_rate(attempt: Callable[..., float]) -> Callable[..., float]:
    """The attempt if it is the fraction of the seeds that reach the goal, else the solution."""
    easy = {"data": "circle", "hidden": (3,)}
    seeds, epochs = [0, 1, 2], 120

    @functools.cache
    def losses() -> Array:
        return np.array([Playground(**easy, seed=s).run(epochs).test_loss for s in seeds])

    goal = functools.cache(lambda: float(np.sort(losses())[1:].mean()))  # between the second and the third
    # Here the test loss is higher than the training loss.
    noisy = {"data": "XOR", "noise": 0.4, "share": 0.2, "hidden": (8,)}

    @functools.cache
    def between() -> float:
        board = Playground(**noisy, seed=0).run(60)
        return (board.train_loss + board.test_loss) / 2

    # With all settings of the lecture's calls, and others.
    full = {"data": "XOR", "hidden": (3,), "activation": "ReLU", "lr": 0.3, "data_seed": 7}

    def once() -> bool:
        """Whether no setting is given to the board a second time, besides `settings`."""
        try:
            attempt(dict(full), [0], 1, 100.0)
        except TypeError as error:
            return "multiple values for keyword" not in str(error)
        return True

    def agrees(settings: dict[str, Any]) -> bool:
        """Whether the loss is that of a board with these settings: it lies between two goals close to each other."""
        reached = Playground(**settings, seed=2).run(20).test_loss
        return [attempt(dict(settings), [2], 20, reached + by) for by in (1e-6, -1e-6)] == [1, 0]

    found = functools.cache(lambda: attempt(dict(easy), seeds, epochs, goal()))
    return attempt_or_solution(
        "success_rate",
        attempt,
        success_rate,
        (
            once,
            "Your call of `Playground` names a setting which `settings` may contain, too, and Python takes none twice. "
            "Name only the seed: `Playground(**settings, seed=seed)`.",
        ),
        (lambda: np.ndim(found()) == 0 and found() is not None, "Return one number, the fraction of the seeds."),
        (
            lambda: attempt(dict(easy), [0], 2, 100.0) != 0 or attempt(dict(easy), [0], 2, 0.0) != 0,
            "It finds no success even with a goal of 100. Compare with the argument `goal`.",
        ),
        (
            lambda: attempt(dict(easy), [0], 2, 100.0) != 100,
            "It gives 100 for a single seed that succeeds. The fraction is a number from 0 to 1, without percent.",
        ),
        (
            lambda: attempt(dict(easy), [0], 2, 100.0) in (0, 1),
            "It gives neither 0 nor 1 for a single seed. Count the successes, and divide by `len(seeds)`, not by a "
            "fixed number.",
        ),
        (
            lambda: attempt(dict(easy), [0, 1], 2, 100.0) != 0.5,
            "Of two seeds that succeed it counts only one. Does `return`, or `solved = 0`, stand inside the loop?",
        ),
        (lambda: found() != 2, "This is how many seeds succeed. Divide by the number of seeds."),
        (
            lambda: abs(found() - 1 / 3) > 1e-9,
            "This is the fraction that *fails*: count test losses below the goal.",
        ),
        (
            lambda: agrees(full) or not agrees(easy),
            "It is right for the circle with 3 units, but not for a board with other settings. Pass on all of "
            "`settings`, with `**settings`.",
        ),
        (
            lambda: attempt(dict(noisy), [0], 60, between()) != 1,
            "It compares something else with `goal`, perhaps the training loss. Whether a run succeeded is decided by "
            "the test loss.",
        ),
        (
            lambda: attempt(dict(easy), [0], 1, 0.3) == 0,
            "It trains for more than the one epoch that was asked for. Pass `epochs` on to `run`.",
        ),
        (
            lambda: found() != 0 or attempt(dict(easy), [0], 120, 0.4) != 0,
            "It counts no success although two of three runs reach the goal. Is each board trained, with "
            "`run(epochs)`?",
        ),
        (
            lambda: abs(found() - 2 / 3) < 1e-9,
            "It is wrong for the circle with 3 units and three seeds. Does each board get its own seed, and all "
            "`epochs`? Do you divide with `/`, not with `//`?",
        ),
        (
            lambda: attempt(dict(easy), [1], epochs, goal()) != attempt(dict(easy), [0], epochs, goal()),
            "It gives the same for seed 0 and seed 1, though one succeeds and the other does not. Use `seeds`.",
        ),
    )


def check_remedy(attempt: Callable[[], Board]) -> Callable[[], Board]:
    """The attempt if it is board C of `faulty_boards` with one setting changed that heals it, else the solution.

    Healed: with four seeds, since one run says little. What heals C but is not the cause is accepted, and told.
    """
    ill = Settings(hidden=(8,), lr=0.005)
    given = functools.cache(attempt)

    @functools.cache
    def losses() -> list[float]:
        """The test losses with this change and the seeds 0 to 3."""
        chosen = vars(given().settings)
        return [given().test_loss, *(Playground(**{**chosen, "seed": seed}).run(300).test_loss for seed in (1, 2, 3))]

    def changed(board: Board) -> list[str]:
        return [each.name for each in fields(ill) if getattr(board.settings, each.name) != getattr(ill, each.name)]

    def tests() -> list[tuple[Callable[[], object], str]]:
        """The hints name what was found, so they are made when it is known."""
        begun: list[tuple[Callable[[], object], str]] = [
            (lambda: given() is not None, "Your function returns None. Is there a `return`?"),
            (lambda: isinstance(given(), Board), "Return the board itself; `run` returns it."),
        ]
        try:
            board = given()
        except Exception:
            return begun  # the first of them raises it again, where it is told
        if not isinstance(board, Board):
            return begun
        names = changed(board)
        loss = board.test_loss
        others = losses()[1:] if loss < 0.1 and board.epoch == 300 and len(names) == 1 else []
        return [
            *begun,
            (
                lambda: board.epoch == 300,
                f"The board was trained for {board.epoch} epochs, not for 300. Make a new board, and `run` it once.",
            ),
            (lambda: names, "The board has exactly the settings of C. Change one."),
            (
                lambda: len(names) == 1,
                f"The board differs from C in {len(names)} settings: {', '.join(names)}. With more than one, you "
                "cannot tell which of them helped. (What you do not name has its default: 4 units, lr=0.1.)",
            ),
            (
                lambda: names[0] not in ("data", "noise", "share", "points", "seed", "data_seed"),
                "Other points or other initial weights are not a remedy: the fault would be back with the next ones.",
            ),
            (
                lambda: loss < 0.1 or names[0] != "hidden",
                f"With these units the test loss is {loss:.2f}. But C was not stuck, as A is: its loss was still "
                "falling, so its units may be enough. Which setting makes a slow fall faster?",
            ),
            (
                lambda: board.settings.lr >= ill.lr,
                "The learning rate is smaller than that of C, so the loss falls even more slowly.",
            ),
            (
                lambda: loss < 0.1 or board.settings.lr < 1,
                f"The test loss is {loss:.2f}: this learning rate is too large. Try a factor of 10.",
            ),
            (
                lambda: loss < 0.1 or names[0] != "lr",
                f"The test loss is {loss:.2f}, with a learning rate of {board.settings.lr:g}. Try ten times that of C, "
                "in a new board that trains with it from the start.",
            ),
            (
                lambda: loss < 0.1,
                f"With another value of {', '.join(names)}, the test loss is {loss:.2f}, not below 0.1. The learning "
                "rate is still that of C. Which setting makes each step larger?",
            ),
            (
                lambda: max(losses()) < 0.1,
                f"With seed 0 the test loss is {loss:.2f}, but one run says little: with the seeds 1 to 3 it is "
                f"{', '.join(f'{each:.2f}' for each in others)}. Try ten times the learning rate of C.",
            ),
        ]

    found = attempt_or_solution("remedy", attempt, remedy, *tests())
    if found is attempt and (names := changed(given())) != ["lr"]:
        print(
            f"It heals C with the seeds 0 to 3: the test losses are at most {max(losses()):.2f}.",
            f"{BESIDE.get(names[0], 'The steps are as small as before.')} The cause, the small `lr`, is still there.",
            sep="\n",
        )
    return found


BESIDE = {
    "batch": "The steps are as small as before, but an epoch makes more of them, so it takes longer.",
    "features": "The steps are as small as before, but with these features small steps are enough.",
    "hidden": "The steps are as small as before, but this network needs fewer of them.",
}
"""of what heals C: why, though it is not the cause"""


def check_layer_speeds(attempt: Callable[..., list[float]]) -> Callable[..., list[float]]:
    """The attempt if it gives the mean absolute gradient of each layer's weights, else the solution."""
    data = make_data("XOR", points=60)
    x, y = features(data.train, ("x1", "x2")), data.train_labels

    def network(activation: str = "tanh") -> Network:
        return Network((2, 5, 3, 1), activation, np.random.default_rng(3))

    slopes = network().gradients(x, y)

    def given(activation: str = "tanh") -> Array:
        return np.array([float(speed) for speed in attempt(network(activation), x.copy(), y.copy())])

    def listed() -> bool:
        """Whether the answer is one number for each of something, and not arrays or a single number."""
        found = attempt(network(), x.copy(), y.copy())
        return isinstance(found, (list, tuple, np.ndarray)) and all(np.ndim(speed) == 0 for speed in found)

    def like(*others: Callable[[Array], Any]) -> bool:
        return any(np.allclose(given(), [other(slope) for slope in slopes.weights]) for other in others)

    def untouched() -> bool:
        mine = network()
        attempt(mine, x.copy(), y.copy())
        return all(np.array_equal(a, b) for a, b in zip(mine.weights, network().weights, strict=True))

    return attempt_or_solution(
        "layer_speeds",
        attempt,
        layer_speeds,
        (
            lambda: attempt(network(), x.copy(), y.copy()) is not None,
            "Your function returns None. Is there a `return`?",
        ),
        (listed, "Return a list with one number for each layer."),
        (
            lambda: len(given()) == 3,
            "For a network with two hidden layers, the list has three numbers, one for each array of weights. The "
            "output layer has weights, too, and the list begins once, before the loop.",
        ),
        (lambda: not like(np.mean), "Positive and negative entries cancel here. Take absolute values before the mean."),
        (lambda: not like(lambda slope: abs(slope.mean())), "Take the absolute values before the mean, not after it."),
        (
            lambda: not like(lambda slope: np.abs(slope).sum()),
            "This is the sum, which is larger for a layer with more weights. Take the mean.",
        ),
        (
            lambda: not like(lambda slope: np.abs(slope).max()),
            "This is the largest entry of each layer. Take the mean.",
        ),
        (
            lambda: not np.allclose(given(), [np.abs(weights).mean() for weights in network().weights]),
            "These are the sizes of the weights themselves. Take the gradient: `network.gradients(x, y).weights`.",
        ),
        (
            lambda: not np.allclose(given(), [np.abs(slope).mean() for slope in slopes.biases]),
            "These are the gradients of the biases. Take those of the weights.",
        ),
        (
            lambda: not np.allclose(given()[::-1], [np.abs(slope).mean() for slope in slopes.weights]),
            "The order is reversed. The first layer comes first.",
        ),
        (
            lambda: like(lambda slope: np.abs(slope).mean()),
            "These are not the mean absolute gradients. For each layer: absolute values first, then the mean.",
        ),
        (
            lambda: np.allclose(given("sigmoid"), layer_speeds(network("sigmoid"), x, y)),
            "It is right for one network only. Do you use the arguments `network`, `x` and `y`?",
        ),
        (untouched, "The network's weights are changed by the call. Only measure here."),
    )


def check_update(attempt: Callable[..., Array]) -> Callable[..., Array]:
    """The attempt if it makes the playground's own steps, else the solution."""
    # The last column crosses 0 in the step with the data's gradient; that is allowed, only the penalty stops at 0.
    w = np.array([[0.8, -0.8, 0.003, 0.03], [-0.003, 0.0, 2.0, -0.03]])
    slope = np.array([[0.5, 0.2, 0.01, 0.9], [0.02, 0.0, -1.0, -0.9]])

    def given(penalty: str, start: Array = w, gradient: Array = slope) -> Array:
        return np.asarray(attempt(start.copy(), gradient.copy(), 0.1, penalty, 0.2))

    def right(penalty: str) -> bool:
        found = given(penalty)
        return found.shape == w.shape and np.allclose(found, update(w, slope, 0.1, penalty, 0.2), rtol=0, atol=1e-12)

    def untouched() -> bool:
        mine, gradient = w.copy(), slope.copy()
        for penalty in ("none", "L1", "L2"):
            attempt(mine, gradient, 0.1, penalty, 0.2)
        return np.array_equal(mine, w) and np.array_equal(gradient, slope)

    def like(penalty: str, other: Array) -> bool:
        return given(penalty).shape == w.shape and np.allclose(given(penalty), other, rtol=0, atol=1e-12)

    def shrunk(start: Array) -> Array:
        return np.sign(start) * np.maximum(np.abs(start) - 0.02, 0)

    plain = w - 0.1 * slope
    return attempt_or_solution(
        "update",
        attempt,
        update,
        (
            lambda: all(attempt(w.copy(), slope.copy(), 0.1, each, 0.2) is not None for each in ("none", "L1", "L2")),
            'For one of the penalties "none", "L1" and "L2" your function returns None. Does every case reach a '
            "`return`?",
        ),
        (lambda: given("none").shape == w.shape, "The new weights have the shape of the old ones."),
        (
            lambda: right("none"),
            'Without a penalty the step is w - lr * gradient. Is something added for "none" as well?',
        ),
        (
            lambda: not like("L2", plain - 0.2 * w),
            "L2: the penalty's gradient, strength * w, is multiplied by the learning rate like any other gradient.",
        ),
        (lambda: not like("L2", plain + 0.02 * w), "L2 makes the weights larger here: its gradient is subtracted."),
        (
            lambda: not like("L2", plain - 0.04 * w),
            "L2: the gradient of strength / 2 * w**2 is strength * w, without the factor 2.",
        ),
        (
            lambda: not like("L2", w - 0.1 * (slope + 0.1 * w**2)) and not like("L2", plain - 0.01 * plain**2),
            "L2: this subtracts the penalty itself, strength / 2 * w**2. The step needs its gradient, strength * w.",
        ),
        (
            lambda: not like("L2", plain),
            'With "L2" this makes the same step as without a penalty. Add its gradient, strength * w.',
        ),
        (
            lambda: right("L2") or like("L2", plain * (1 - 0.02)),
            "L2 adds strength * w to the gradient before the step.",
        ),
        (
            lambda: not like("L1", plain),
            'With "L1" this makes the same step as without a penalty. After it, move each weight toward 0.',
        ),
        (
            lambda: not like("L1", plain - 0.02),
            "L1 subtracts the amount from every weight. A negative weight must become *larger*: it moves toward 0.",
        ),
        (
            lambda: (
                not any(
                    like("L1", crossed)
                    for crossed in (
                        plain - 0.02 * np.sign(plain),
                        plain - 0.02 * np.sign(w),
                        np.where(plain > 0, plain - 0.02, plain + 0.02),
                    )
                )
            ),
            "L1: the small weights jump over 0 to the other side. What would cross 0 must stop at 0: the size of a "
            "weight cannot fall below 0.",
        ),
        (
            lambda: not like("L1", np.maximum(np.abs(plain) - 0.02, 0)),
            "L1: the sizes are right, but the signs are lost.",
        ),
        (
            lambda: not like("L1", np.sign(w) * np.maximum(np.abs(plain) - 0.02, 0)),
            "L1: the sizes are right, but the sign is that of the weight before the data's step, which may cross 0.",
        ),
        (
            lambda: not like("L1", np.maximum(plain - 0.02, 0)),
            "L1: every negative weight becomes 0. Let the *size* of a weight fall, and keep its sign.",
        ),
        (
            lambda: not like("L1", shrunk(w)),
            "L1: the weights move toward 0, but the step with the data's gradient is missing.",
        ),
        (
            lambda: not like("L1", shrunk(w) - 0.1 * slope),
            "L1: here the penalty acts before the step with the data's gradient. Take that step first.",
        ),
        (
            lambda: not like("L1", np.sign(plain) * np.maximum(np.abs(plain) - 0.2, 0)),
            "L1: the amount is lr * strength, not strength alone.",
        ),
        (
            lambda: right("L1"),
            "L1: after the step with the data's gradient, move each weight toward 0 by lr * strength, and stop at 0 "
            "(`np.maximum`, not `np.max`, compares each size with 0).",
        ),
        (untouched, "`w` or `gradient` is changed by the call. Return new arrays: `w = w - ...` and not `w -= ...`."),
    )


def check_collapse(attempt: Callable[[Network], tuple[Array, Array]]) -> Callable[[Network], tuple[Array, Array]]:
    """The attempt if its one layer gives the scores of the whole network, else the solution."""
    rng = np.random.default_rng(1)
    network = Network((2, 5, 3, 1), "linear", rng)
    network.biases = [rng.standard_normal(biases.shape) for biases in network.biases]
    points = rng.standard_normal((10, 2))
    scores = network.forward(points)[-1]

    def given() -> tuple[Array, Array]:
        W, b = attempt(network)
        return np.asarray(W), np.asarray(b)

    def apart() -> Array:
        return points @ given()[0] - scores

    return attempt_or_solution(
        "collapse",
        attempt,
        collapse,
        (
            lambda: given()[0].shape == (2, 1),
            "W has the shape (2, 1). Multiply the matrices in the order of the layers.",
        ),
        (lambda: bool(np.ptp(apart()) < 1e-9), "W is not the product of the weight matrices."),
        (lambda: given()[1].shape == (1,), "b has the shape of the last bias, (1,)."),
        (
            lambda: bool(np.abs(apart() + given()[1]).max() < 1e-9),
            "The bias of an early layer passes through all later weights, too.",
        ),
    )
