"""The visible checks of assignment a1: what a right answer must satisfy, told without the answer.

Three kinds of truth are used: the numbers worked out in the notebook, finite differences of the student's own
functions, and laws (rows do not mix, equal scores cost log C, a step goes against the gradient). All inputs are fixed,
so that a student who runs a check twice reads the same sentence twice.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from course_lib.checks.compare import compare, compare_form
from course_lib.checks.oracles import slopes
from course_lib.checks.outcome import check, fail, require
from course_lib.data import load_digits

Function = Callable[..., Any]
Params = dict[str, np.ndarray]

_X = np.array([[0.5, -1.0, 2.0], [1.5, 0.0, -0.5]])
_Y = np.array([[2.0, 3.0, -1.0], [0.5, -2.0, 4.0]])
_Z = np.array([[1.0, 0.5, -0.5], [-2.0, 3.0, 0.25]])


# --- 1. small_graph -------------------------------------------------------------------------------------------------


@check("c is the sum of x * y + z")
def small_graph_value(small_graph: Function) -> None:
    hints = {
        "shape": "c is one number: the sum over all entries.",
        "none": "The last line returns four values: `return c, grad_x, grad_y, grad_z`.",
        "type": "The last line returns four values: `return c, grad_x, grad_y, grad_z`.",
        "length": "The order is c, grad_x, grad_y, grad_z.",
        "": "Follow the worked example on paper: a, then b, then c.",
    }
    example = np.array([1.0, 2.0]), np.array([3.0, -1.0]), np.array([0.5, 4.0])
    c, *_ = _four(_call(small_graph, *example), hints)
    require(compare("c", c, 5.5), hints, source="the worked example gives")
    c, *_ = _four(_call(small_graph, _X, _Y, _Z), hints)
    require(compare("c", c, _total(_X, _Y, _Z)), hints)


@check("gradients of x, y and z agree with finite differences")
def small_graph_gradients(small_graph: Function) -> None:
    inputs = {"x": _X, "y": _Y, "z": _Z}
    got = dict(zip(("c", "grad_x", "grad_y", "grad_z"), _four(_call(small_graph, **inputs)), strict=True))
    hints = {
        "shape": "A gradient has the shape of the array that it belongs to: one slope for each entry.",
        "grad_z": "Raise one entry of z by 0.001. By how much does c grow?",
        "sign": "Raise one entry by 0.001. Does c grow or fall?",
        "": "Raise one entry by 0.001 and look at what happens to a, to b and to c.",
    }
    for name in inputs:
        # c comes from the sum itself: a wrong c has been told by the check before this one.
        wanted = slopes(lambda moved, name=name: _total(**{**inputs, name: moved}), inputs[name])  # type: ignore[misc]
        require(compare(f"grad_{name}", got[f"grad_{name}"], wanted), hints, source="finite differences give")


def _total(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> float:
    return float(np.sum(x * y + z))


def _four(got: object, hints: Mapping[str, str] | None = None) -> tuple[Any, Any, Any, Any]:
    names = ("c", "grad_x", "grad_y", "grad_z")
    _require_parts("small_graph(x, y, z)", got, names, hints)
    return tuple(got)  # type: ignore[arg-type, return-value]


# --- 2. numerical_gradient ------------------------------------------------------------------------------------------


@check("central differences of the sum of squares are exact, even for h = 0.5")
def numerical_gradient_of_a_square(numerical_gradient: Function) -> None:
    x = np.array([3.0, -2.0])
    got = _call(numerical_gradient, lambda v: float(np.sum(v**2)), x, h=0.5)
    hints = {
        "zero": "Does f see the moved entry? Print what you pass to f. An array of integers cannot hold x + h.",
        "dtype": "Collect the slopes in an array of floats: `np.zeros(x.shape)`.",
        "factor": "How far apart are the two points at which you call f? Divide by that distance.",
        "sign": "Which of the two values of f comes first?",
        "offset": "A central difference calls f on both sides of x, at x + h and at x - h.",
        "shape": "The result has the shape of x.",
        "": "Only one entry of x may be away from its place when f is called. Put it back before you move the next "
        "one.",
    }
    require(compare("gradient", got, 2 * x), hints)


@check("arrays of one, two and three axes work")
def numerical_gradient_of_any_shape(numerical_gradient: Function) -> None:
    for shape in ((3,), (2, 3), (2, 1, 2)):
        x = (np.arange(np.prod(shape)) - 1.5).reshape(shape) / 2
        got = _call(numerical_gradient, _smooth, x)
        wanted = slopes(_smooth, x)
        hints = {
            "shape": "The result has the shape of x, whatever that is.",
            "transposed": "Entry [i, j] of the result belongs to entry [i, j] of x.",
            "zero": "Does f see the moved entry? Print what you pass to f.",
            "": "Only one entry of x may be away from its place when f is called. Put it back before you move the "
            "next one.",
        }
        found = compare(f"gradient for x of shape {shape}", got, wanted, rtol=1e-6, atol=1e-7)
        require(found, hints, source="it should be near")


@check("x holds the same numbers afterwards")
def numerical_gradient_leaves_x(numerical_gradient: Function) -> None:
    x = np.array([[0.25, -1.5], [3.0, 0.125]])
    before = x.copy()
    _require_value("gradient", numerical_gradient(_smooth, x))
    hint = "Work on a copy, or put each entry back after its two calls of f: keep the old value in a variable."
    # Adding h, taking 2h away and adding h again rounds: the last digit may differ, and that is all right.
    if not np.allclose(x, before, rtol=0, atol=1e-12):
        index = tuple(int(i) for i in np.argwhere(~np.isclose(x, before, rtol=0, atol=1e-12))[0])
        fail(f"x{list(index)} was {before[index]} before the call and is {x[index]} after it.", hint)


def _smooth(v: np.ndarray) -> float:
    """A function in which every slope depends on every entry."""
    return float(np.sin(v).sum() * (1 + (v * np.arange(1, v.size + 1).reshape(v.shape)).sum()))


# --- 3. two_layer_forward -------------------------------------------------------------------------------------------

_EXAMPLE_X = np.array([[1.0, 2.0]])
_EXAMPLE = {
    "W1": np.array([[1.0, -1.0], [2.0, 0.0]]),
    "b1": np.array([0.0, 0.5]),
    "W2": np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0]]),
    "b2": np.array([0.0, -1.0, 1.0]),
}


@check("the worked example gives the scores [[5, 9, 1]]")
def forward_example(two_layer_forward: Function) -> None:
    scores = _scores(_call(two_layer_forward, _EXAMPLE_X, _EXAMPLE))
    hints = {
        "shape": "scores has one row for each example and one column for each class.",
        "": "By hand: x @ W1 + b1 is [[5, -0.5]], hidden is [[5, 0]]. Compare with yours, line by line.",
    }
    require(compare("scores", scores, np.array([[5.0, 9.0, 1.0]])), hints)


@check("each row of scores depends on its own row of x alone")
def forward_rows_are_independent(two_layer_forward: Function) -> None:
    x, params = _batch(), _network()
    together = _scores(_call(two_layer_forward, x, params))
    hints = {
        "shape": "x has shape (N, D), and N = 1 is a batch too.",
        "": "Something mixes the rows: a sum, a maximum or a mean over axis 0, or over everything.",
    }
    require(compare_form("scores", together, np.zeros((len(x), 3))), hints)
    for row in range(len(x)):
        alone = _scores(_call(two_layer_forward, x[row : row + 1], params))
        found = compare(f"scores of row {row} alone", alone, np.asarray(together)[row : row + 1])
        require(found, hints, source="among other rows it is")


@check("x and params are as they were before the call")
def forward_leaves_its_arguments(two_layer_forward: Function) -> None:
    x, params = _batch(), _network()
    _scores(_call(two_layer_forward, x, params))


def _scores(got: object) -> Any:
    _require_parts("two_layer_forward(x, params)", got, ("scores", "cache"))
    return got[0]  # type: ignore[index]


# --- 4. two_layer_backward ------------------------------------------------------------------------------------------

_BACKWARD_HINTS = {
    "none": "Return a dict with the keys W1, b1, W2, b2.",
    "type": "Return a dict with the keys W1, b1, W2, b2.",
    "keys": "Return a dict with the keys W1, b1, W2, b2.",
    "transposed": "Say the shapes aloud. In this check H equals C, so that the wrong product has the right shape too.",
    "factor": "dscores holds the factor 1/N already, if there is one. Nothing is averaged here.",
    "sign": "Raise one parameter by 0.001. Does the loss grow or fall?",
    "shape": "A gradient has the shape of its parameter. One bias serves all rows of the batch: what does each row "
    "add to its gradient?",
}


@check("gradients of W2 and b2 agree with finite differences")
def backward_last_layer(two_layer_forward: Function, two_layer_backward: Function) -> None:
    hints = {
        "W2": "Each weight of W2 joins one hidden unit and one score. Which two arrays meet in its gradient?",
        "b2": "Each entry of b2 is added to one column of scores, in every row.",
    }
    _require_gradients(two_layer_forward, two_layer_backward, ("W2", "b2"), hints)


@check("gradients of W1 and b1 agree with finite differences")
def backward_first_layer(two_layer_forward: Function, two_layer_backward: Function) -> None:
    hints = {
        "W1": "Go back step by step: through W2 to hidden, through ReLU to x @ W1 + b1, then to W1. "
        "Where ReLU gave 0, a small change of its input changes nothing.",
        "b1": "b1 is added before ReLU. Which of its entries can still reach the scores, and in which rows?",
    }
    _require_gradients(two_layer_forward, two_layer_backward, ("W1", "b1"), hints)


@check("the cache of a first call is good after a second call")
def backward_uses_its_cache(two_layer_forward: Function, two_layer_backward: Function) -> None:
    x, params, dscores = _batch(), _network(), _dscores()
    _, cache = _forward(two_layer_forward, x, params)
    alone = _call(two_layer_backward, dscores, cache)
    _, cache = _forward(two_layer_forward, x, params)
    _forward(two_layer_forward, -x[:2], {name: 2 * value for name, value in params.items()})
    after = _call(two_layer_backward, dscores, cache)
    _require_value("two_layer_backward(dscores, cache)", alone)
    hint = (
        "Take everything from `cache`: two_layer_backward must not read variables from outside, and each call of "
        "two_layer_forward makes a new cache."
    )
    require(compare("gradients", after, alone), {"": hint}, source="without the second call it is")


def _require_gradients(forward: Function, backward: Function, names: tuple[str, ...], hints: dict[str, str]) -> None:
    # Square layers first: there a transposed matrix has the right shape and the values must tell.
    x, dscores = _batch(), _dscores()
    for params in (_square_network(), _network()):
        _, cache = _forward(forward, x, params)
        got = _call(backward, dscores, cache)
        form = compare_form("grads", got, params)
        require(form if form and form.what == "grads" else None, _BACKWARD_HINTS)
        for name in names:
            wanted = slopes(_loss_along(forward, x, params, dscores, name), params[name])
            found = compare(f'grads["{name}"]', got[name], wanted, batch=len(x))
            require(found, {**hints, **_BACKWARD_HINTS}, source="finite differences give")


def _loss_along(forward: Function, x: np.ndarray, params: Params, dscores: np.ndarray, name: str) -> Function:
    """A loss with the gradient `dscores` at the scores, as a function of one parameter."""

    def loss(moved: np.ndarray) -> float:
        scores, _ = _forward(forward, x, {**params, name: moved})
        return float(np.sum(dscores * scores))

    return loss


def _forward(forward: Function, x: np.ndarray, params: Params) -> tuple[Any, Any]:
    got = forward(x.copy(), {name: value.copy() for name, value in params.items()})
    _require_parts("two_layer_forward(x, params)", got, ("scores", "cache"))
    return got[0], got[1]


# --- 5. softmax_cross_entropy ---------------------------------------------------------------------------------------

_LABELS = np.array([0, 2, 1, 2])
_SCORES = np.array([[2.0, -1.0, 0.5], [0.3, 0.2, -0.7], [1.0, 1.5, -2.0], [-0.4, 0.9, 0.1]])
_LOSS_HINTS = {
    "shape": "The loss is one number: the mean over the rows.",
    "factor": "The loss is the mean over the N rows. Not the sum, and not a mean over all N x C entries.",
    "sign": "A probability is at most 1. Which sign has its logarithm?",
    "not finite": "np.exp overflows and np.log(0) is -inf. Read the question at the end of the exercise again.",
}


@check("equal scores for C classes cost log(C)")
def loss_of_equal_scores(softmax_cross_entropy: Function) -> None:
    for n, classes in ((1, 2), (4, 3)):
        loss, _ = _loss(_call(softmax_cross_entropy, np.zeros((n, classes)), np.arange(n) % classes))
        hints = {**_LOSS_HINTS, "": "Every class has probability 1/C here, in every row. Print your probabilities."}
        found = compare(f"loss of {n} row{'s' * (n > 1)} of {classes} zeros", loss, float(np.log(classes)), batch=n)
        require(found, hints)


@check("the worked example costs 0.410")
def loss_example(softmax_cross_entropy: Function) -> None:
    scores, labels = np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([0, 1])
    loss, _ = _loss(_call(softmax_cross_entropy, scores, labels))
    hints = {
        **_LOSS_HINTS,
        "": "Print your probabilities: each row must sum to 1. Then pick one of each row, the one of the right class.",
    }
    wanted = (np.log1p(np.exp(-2.0)) + np.log(2.0)) / 2
    require(compare("loss", loss, float(wanted), batch=2), hints)


@check("dscores agrees with finite differences of the loss")
def loss_gradient(softmax_cross_entropy: Function) -> None:
    _, dscores = _loss(_call(softmax_cross_entropy, _SCORES, _LABELS))
    wanted = slopes(lambda moved: _loss(_call(softmax_cross_entropy, moved, _LABELS))[0], _SCORES)
    hints = {
        "shape": "dscores has the shape of scores.",
        "factor": "The loss is a mean over N rows. What does that make of its slopes?",
        "sign": "A larger score for the right class makes the loss smaller: its slope is negative.",
        "zero": "Your loss changes when a score changes, so its gradient is not zero.",
        "": "If you add the same number to all scores of a row, the loss stays: so each row of dscores sums to 0. Do "
        "yours?",
    }
    require(compare("dscores", dscores, wanted, batch=len(_SCORES)), hints, source="finite differences give")


@check("scores of 1000 and -1000 do no harm")
def loss_of_large_scores(softmax_cross_entropy: Function) -> None:
    scores, labels = np.array([[1000.0, 0.0], [-1000.0, -1000.0], [1000.0, -1000.0]]), np.array([0, 1, 0])
    with np.errstate(all="ignore"):
        loss, dscores = _loss(_call(softmax_cross_entropy, scores, labels))
    hints = {
        **_LOSS_HINTS,
        "": "Rows 0 and 2 are as good as certain and right, row 1 is undecided between two classes.",
    }
    require(compare("loss", loss, float(np.log(2.0)) / 3, batch=3), hints)
    require(compare("dscores", dscores, np.array([[0, 0], [0.5, -0.5], [0, 0]]) / 3, batch=3), hints)


def _loss(got: object) -> tuple[Any, Any]:
    _require_parts("softmax_cross_entropy(scores, labels)", got, ("loss", "dscores"))
    parts: Any = got
    require(compare_form("loss", parts[0], 0.0), _LOSS_HINTS)
    return parts[0], parts[1]


# --- 6. train -------------------------------------------------------------------------------------------------------


@check("the first loss is right, and the first step goes against its gradient")
def train_first_step(train: Function) -> None:
    x, params, labels, rate = _batch(), _network(), np.array([0, 2, 1, 2]), 0.5
    batch = [np.arange(4)]

    def first_loss(name: str, moved: np.ndarray) -> float:
        return _first(_train(train, x, labels, {**params, name: moved}, rate, batch)[1])

    zeros = {name: np.zeros_like(value) for name, value in params.items()}
    at_zero = _first(_train(train, x, labels, zeros, rate, batch)[1])
    require(compare("losses[0] with all parameters 0", at_zero, float(np.log(3.0))), _TRAIN_HINTS)
    stepped, _ = _train(train, x, labels, params, rate, batch)
    for name, value in params.items():
        # The loss before the step is what `train` itself reports: its slopes say where the step must go.
        gradient = slopes(lambda moved, name=name: first_loss(name, moved), value)  # type: ignore[misc]
        moved = np.asarray(stepped[name]) - value
        found = compare(f'the step of params["{name}"]', moved, -rate * gradient, batch=len(x))
        require(found, _TRAIN_HINTS, source="minus learning rate times gradient is")


@check("two batches are one step and then another")
def train_goes_on(train: Function) -> None:
    x, params, labels, rate = _batch(), _network(), np.array([0, 2, 1, 2]), 0.5
    batches = [np.array([2, 0, 3]), np.array([1])]
    both, losses = _train(train, x, labels, params, rate, batches)
    first, loss_1 = _train(train, x, labels, params, rate, batches[:1])
    second, loss_2 = _train(train, x, labels, {name: np.asarray(v) for name, v in first.items()}, rate, batches[1:])
    hint = "Each step starts from the parameters that the step before it left."
    require(
        compare("params", both, {name: np.asarray(v) for name, v in second.items()}),
        {"": hint},
        source="step by step it is",
    )
    hint = "One loss for each batch, before the step that uses it."
    found = compare("losses", losses, np.array([_first(loss_1), _first(loss_2)]))
    require(found, {"": hint}, source="step by step it is")


@check("the params you are given are as they were before the call")
def train_leaves_params(train: Function) -> None:
    x, params, labels = _batch(), _network(), np.array([0, 2, 1, 2])
    before = copy.deepcopy(params)
    after, _ = _parts_of_train(train(x, labels, params, 0.5, [np.arange(4), np.arange(2)]))
    hint = (
        "`params = dict(params)` makes a new dict that holds the same arrays, and `-=` changes an array in its place."
    )
    for name, value in before.items():
        if not np.array_equal(params[name], value):
            fail(f'params["{name}"] of the caller changed.', hint)
    if all(np.array_equal(after[name], value) for name, value in before.items()):
        fail(
            "The params that came back are the ones that went in.",
            "Is the new value stored in the dict that you return?",
        )


@check("a network of 20 hidden units reads held-out digits")
def train_reads_digits(train: Function, two_layer_forward: Function) -> str:
    digits = load_digits()
    x, x_test = digits.x_train.reshape(-1, 64), digits.x_test.reshape(-1, 64)
    rng = np.random.default_rng(7)
    params = {
        "W1": rng.normal(0, 0.2, (64, 20)),
        "b1": np.zeros(20),
        "W2": rng.normal(0, 0.2, (20, 10)),
        "b2": np.zeros(10),
    }
    batches = [rng.choice(len(x), 25, replace=False) for _ in range(100)]
    trained, losses = _train(train, x, digits.y_train, params, 0.3, batches)
    scores, _ = _forward(two_layer_forward, x_test, {name: np.asarray(v) for name, v in trained.items()})
    right = float(np.mean(np.argmax(scores, axis=1) == digits.y_test))
    if not right >= 0.6:
        hint = "The checks above say which part to look at. If they hold, is every batch used?"
        fail(
            f"After {len(batches)} steps {right:.0%} of the held-out digits are right; it should be at least 60%.", hint
        )
    return f": {right:.0%} of {len(x_test)} right, the loss went from {losses[0]:.2f} to {losses[-1]:.2f}"


_TRAIN_HINTS = {
    "keys": "Return a dict with the keys W1, b1, W2, b2.",
    "zero": "This parameter did not move. Is each of the four updated, and is the new value stored?",
    "sign": "The gradient points uphill.",
    "factor": "Every step is the learning rate times the gradient, and nothing else. Do the checks of exercises 4 "
    "and 5 hold?",
    "": "Do the checks of exercises 3, 4 and 5 hold? Are all four gradients computed before the first parameter moves?",
}


def _train(
    train: Function, x: np.ndarray, labels: np.ndarray, params: Params, rate: float, batches: list[np.ndarray]
) -> tuple[Any, Any]:
    """`train` on copies: whether it spoils its arguments is a check of its own."""
    got = train(x.copy(), labels.copy(), copy.deepcopy(params), rate, [batch.copy() for batch in batches])
    after, losses = _parts_of_train(got)
    found = compare_form("params", after, params)
    require(found, {"shape": "A parameter keeps its shape.", **_TRAIN_HINTS})
    if np.shape(losses) != (len(batches),):
        fail(f"losses has shape {np.shape(losses)}; it should hold {len(batches)} numbers, one for each batch.")
    return after, losses


def _parts_of_train(got: object) -> tuple[Any, Any]:
    _require_parts("train(x, labels, params, learning_rate, batches)", got, ("params", "losses"))
    return got[0], got[1]  # type: ignore[index]


def _first(losses: Any) -> float:
    return float(np.asarray(losses)[0])


# --- shared ---------------------------------------------------------------------------------------------------------


def _call(function: Function, *args: Any, **kwargs: Any) -> Any:
    """Call with copies of the arrays, and say so if the function changes them."""
    given = copy.deepcopy((args, kwargs))
    got = function(*given[0], **given[1])
    names = function.__code__.co_varnames if hasattr(function, "__code__") else ()
    for position, (before, after) in enumerate(zip(args, given[0], strict=True)):
        _require_unchanged(names[position] if position < len(names) else f"argument {position}", before, after)
    for name, before in kwargs.items():
        _require_unchanged(name, before, given[1][name])
    return got


def _require_unchanged(name: str, before: object, after: object) -> None:
    if isinstance(before, np.ndarray) and not np.array_equal(before, after):  # type: ignore[arg-type]
        hint = f"`{name}[...] = ` and `{name} += ` change the caller's array. Make a new array instead."
        fail(f"Your function changed its argument {name}.", hint)
    if isinstance(before, dict) and isinstance(after, dict) and all(isinstance(v, np.ndarray) for v in before.values()):
        for key, value in before.items():
            _require_unchanged(f'{name}["{key}"]', value, after.get(key))


def _require_parts(call: str, got: object, names: tuple[str, ...], hints: Mapping[str, str] | None = None) -> None:
    """`got` is a tuple (or list) of as many values as there are names."""
    form = f"the tuple ({', '.join(names)})"
    if got is None:
        fail(f"{call} returned None; it should return {form}.", "Is there a `return`?")
    if type(got) not in (tuple, list):
        fail(f"{call} returned {type(got).__name__}; it should return {form}.")
    if len(got) != len(names):  # type: ignore[arg-type]
        fail(f"{call} returned {len(got)} values; it should return {form}.")  # type: ignore[arg-type]


def _require_value(name: str, got: object) -> None:
    if got is None:
        fail(f"{name} is None: no value came back.", "Is there a `return`?")


def _batch() -> np.ndarray:
    """Four rows of three numbers, of both signs."""
    return np.array([[1.0, -0.5, 0.25], [-1.5, 0.75, 1.0], [0.5, 1.25, -1.0], [2.0, -1.0, 0.5]])


def _network() -> Params:
    """Three inputs, five hidden units, three classes. No hidden unit is within 0.05 of ReLU's kink on `_batch()`."""
    return {
        "W1": np.array([[0.6, -0.8, 0.3, 1.1, -0.4], [-0.5, 0.9, 0.7, -0.2, 0.4], [0.8, 0.1, -0.6, 0.5, 1.2]]),
        "b1": np.array([0.1, -0.2, 0.3, -0.15, 0.25]),
        "W2": np.array([[0.7, -0.3, 0.2], [-0.6, 0.4, 0.9], [0.1, 0.8, -0.5], [0.5, -0.9, 0.3], [-0.2, 0.6, 1.0]]),
        "b2": np.array([0.2, -0.1, 0.05]),
    }


def _square_network() -> Params:
    """Three inputs, three hidden units, three classes."""
    params = _network()
    return {"W1": params["W1"][:, :3], "b1": params["b1"][:3], "W2": params["W2"][:3], "b2": params["b2"]}


def _dscores() -> np.ndarray:
    return np.array([[0.5, -0.25, 1.0], [-1.0, 0.75, 0.5], [0.25, 1.5, -0.5], [-0.75, 0.2, 0.6]])
