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

from course_lib.checks.calling import call, parts, plain, unchanged
from course_lib.checks.oracles import slopes
from course_lib.checks.outcome import check, fail, require
from course_lib.compare import compare, compare_form
from course_lib.data import load_digits

Function = Callable[..., Any]
Params = dict[str, np.ndarray]

# How near a gradient must be to one that was measured on the student's function, which may compute in float32.
RTOL, ATOL = 1e-3, 1e-4


# --- 1. small_graph -------------------------------------------------------------------------------------------------

_GRAPH = ("c", "grad_x", "grad_y", "grad_z")
_XYZ = {
    "x": np.array([[0.5, -1.0, 2.0], [1.5, 0.0, -0.5]]),
    "y": np.array([[2.0, 3.0, -1.0], [0.5, -2.0, 4.0]]),
    "z": np.array([[1.0, 0.5, -0.5], [-2.0, 3.0, 0.25]]),
}


@check("small_graph runs, and its c is the sum of x * y + z")
def small_graph_value(small_graph: Function) -> None:
    hints = {
        "shape": "c is one number: the sum over all entries.",
        "factor": "c is a sum. Is yours a mean?",
        "": "Follow the worked example on paper: a, then b, then c.",
    }
    example = {"x": np.array([1.0, 2.0]), "y": np.array([3.0, -1.0]), "z": np.array([0.5, 4.0])}
    for inputs in (example, _XYZ):
        c = _graph(small_graph, inputs)[0]
        require(compare("c", c, _graph_value(**inputs)), hints)


@check("gradients of x, y and z agree with finite differences")
def small_graph_gradients(small_graph: Function) -> None:
    got = dict(zip(_GRAPH, _graph(small_graph, _XYZ), strict=True))
    hints = {
        "shape": "A gradient has the shape of the array that it belongs to: one slope for each entry.",
        "factor": "c is a sum. The slopes of a mean would be smaller.",
        "sign": "Raise one entry by 0.001. Does c grow or fall?",
        "grad_z": "Raise one entry of z by 0.001. By how much does c grow?",
        "": "Raise one entry by 0.001 and look at what happens to a, to b and to c.",
    }
    for name, value in _XYZ.items():
        # The slopes are those of the sum itself, not of the student's c: a wrong c is the business of the other check.
        wanted = slopes(lambda moved, name=name: _graph_value(**{**_XYZ, name: moved}), value)  # type: ignore[misc]
        found = compare(f"grad_{name}", got[f"grad_{name}"], wanted, rtol=RTOL, atol=ATOL)
        require(found, hints, source="finite differences give")


def _graph(small_graph: Function, inputs: Mapping[str, np.ndarray]) -> tuple[Any, ...]:
    return plain(parts("small_graph(x, y, z)", call(small_graph, *inputs.values()), _GRAPH))  # type: ignore[no-any-return]


def _graph_value(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> float:
    return float(np.sum(x * y + z))


# --- 2. numerical_gradient ------------------------------------------------------------------------------------------

_DIFFERENCE_HINTS = {
    "none": "Is there a `return`?",
    "shape": "The result has the shape of x, whatever that is.",
    "dtype": "Collect the slopes in an array of floats: `np.zeros(x.shape)`.",
    "transposed": "Entry [i, j] of the result belongs to entry [i, j] of x.",
    "zero": "Does f see the moved entry? Print what you pass to f. An array of integers cannot hold x + h.",
    "factor": "How far apart are the two points at which you call f? Divide by that distance.",
    "sign": "Which of the two values of f comes first?",
    "offset": "A central difference calls f on both sides of x, at x + h and at x - h.",
    "": "When f is called, one entry of x is away from its place and all others are in theirs. Is that so in every "
    "call?",
}


@check("central differences of the sum of squares are exact, even for h = 0.5")
def numerical_gradient_of_a_square(numerical_gradient: Function) -> None:
    x = np.array([3.0, -2.0])
    got = plain(numerical_gradient(lambda v: float(np.sum(v**2)), x.copy(), h=0.5))
    require(compare("your gradient", got, 2 * x), _DIFFERENCE_HINTS)


@check("a central difference has an error of its own: with v ** 3 in f it is h ** 2")
def numerical_gradient_uses_h(numerical_gradient: Function) -> None:
    for h in (0.5, 0.1):
        got = plain(numerical_gradient(_cubic, np.array([1.0, -2.0]), h=h))
        hints = {**_DIFFERENCE_HINTS, "offset": "Does your step follow h? The two points are x + h and x - h."}
        require(compare(f"your gradient for h = {h}", got, np.array([1.0, 10.0]) + h**2), hints)


@check("arrays of one, two and three axes work")
def numerical_gradient_of_any_shape(numerical_gradient: Function) -> None:
    for shape in ((3,), (2, 3), (2, 1, 2)):
        x = (np.arange(np.prod(shape)) - 1.5).reshape(shape) / 2
        got = plain(numerical_gradient(_of_shape(shape), x.copy()))
        found = compare(f"your gradient for x of shape {shape}", got, slopes(_wave, x), rtol=1e-3, atol=1e-3)
        require(found, _DIFFERENCE_HINTS, source="it should be near")


@check("x holds the same numbers afterwards")
def numerical_gradient_leaves_x(numerical_gradient: Function) -> None:
    x = np.array([[0.25, -1.5], [3.0, 0.125]])
    before = x.copy()
    require(compare_form("your gradient", plain(numerical_gradient(_wave, x)), x), _DIFFERENCE_HINTS)
    # Adding h, taking 2h away and adding h again rounds: the last digit may differ, and that is all right.
    moved = np.argwhere(~np.isclose(x, before, rtol=0, atol=1e-12))
    if len(moved):
        at = tuple(int(i) for i in moved[0])
        hint = "Work on a copy, or put each entry back after its two calls of f: keep the old value in a variable."
        fail(f"x{list(at)} is {before[at]:.6g} before the call and {x[at]:.6g} after it.", hint)


def _cubic(v: np.ndarray) -> float:
    """Its slopes at [1, -2] are 1 and 10; each depends on both entries."""
    return float(np.sum(v**3) + np.sum(v) ** 2)


def _of_shape(shape: tuple[int, ...]) -> Callable[[np.ndarray], float]:
    def wave(v: np.ndarray) -> float:
        if np.shape(v) != shape:
            fail(f"f was called with an array of shape {np.shape(v)}; x has shape {shape}.", "f gets an array like x.")
        return _wave(v)

    return wave


def _wave(v: np.ndarray) -> float:
    """A function in which every slope depends on every entry."""
    return float(np.sin(v).sum() * (1 + (v * np.arange(1, v.size + 1).reshape(v.shape)).sum()))


# --- 3. two_layer_forward -------------------------------------------------------------------------------------------

_EXAMPLE_X = np.array([[1.0, 2.0]])
_EXAMPLE = {
    "W1": np.array([[1.0, -1.0], [2.0, 0.0]]),
    "b1": np.array([1.0, 0.5]),
    "W2": np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0]]),
    "b2": np.array([0.0, -1.0, -2.0]),
}


@check("the worked example gives the scores [[6, 11, -2]]")
def forward_example(two_layer_forward: Function) -> None:
    scores, _ = _forward(two_layer_forward, _EXAMPLE_X, _EXAMPLE)
    hints = {
        "shape": "scores has one row for each example and one column for each class.",
        "": "By hand: x @ W1 + b1 is [[6, -0.5]], hidden is [[6, 0]]. Compare with yours, line by line.",
    }
    require(compare("scores", scores, np.array([[6.0, 11.0, -2.0]])), hints)


@check("each row of scores depends on its own row of x alone")
def forward_rows_are_independent(two_layer_forward: Function) -> None:
    x, params = _rows(), _network()
    together, _ = _forward(two_layer_forward, x, params)
    hints = {
        "shape": "x has shape (N, D), and N = 1 is a batch too.",
        "": "Something mixes the rows: a sum, a maximum or a mean over axis 0, or over everything.",
    }
    require(compare_form("scores", together, np.zeros((len(x), 3))), hints)
    for row in range(len(x)):
        alone, _ = _forward(two_layer_forward, x[row : row + 1], params)
        found = compare(f"the scores of row {row} alone", alone, np.asarray(together)[row : row + 1])
        require(found, hints, source="among other rows it is")


@check("x and params are as they were before the call")
def forward_leaves_its_arguments(two_layer_forward: Function) -> None:
    _forward(two_layer_forward, _rows(), _network())


def _forward(two_layer_forward: Function, x: np.ndarray, params: Params) -> tuple[Any, ...]:
    scores, cache = parts("two_layer_forward(x, params)", call(two_layer_forward, x, params), ("scores", "cache"))
    return plain(scores), cache


def _backward(two_layer_backward: Function, dscores: np.ndarray, cache: Any) -> Any:
    def on_its_own_dict(dscores: np.ndarray, cache: Any) -> Any:
        # The arrays in a dict stay as they are; the dict itself may be emptied.
        return two_layer_backward(dscores, copy.copy(cache) if isinstance(cache, dict) else cache)

    return plain(call(on_its_own_dict, dscores, cache))


# --- 4. two_layer_backward ------------------------------------------------------------------------------------------

_BACKWARD_HINTS = {
    "none": "Return a dict with the keys W1, b1, W2, b2.",
    "type": "Return a dict with the keys W1, b1, W2, b2.",
    "keys": "Return a dict with the keys W1, b1, W2, b2.",
    "transposed": "Say the shapes aloud. In this check H equals C, so that the wrong product has the right shape too.",
    "factor": "dscores holds the factor 1/N already, if there is one. Nothing is averaged here.",
    "sign": "Raise one parameter by 0.001. Does the loss grow or fall?",
    "shape": "A gradient has the shape of its parameter.",
    "b1 shape": "One bias serves all rows of the batch. What does each row add to its gradient?",
    "b2 shape": "One bias serves all rows of the batch. What does each row add to its gradient?",
    "W1": "Go back step by step: through W2 to hidden, through ReLU to x @ W1 + b1, then to W1. "
    "Where x @ W1 + b1 is negative, ReLU gave 0, and a small change of its input changes nothing. Is that where your "
    "gradient stops? b1 counts there too.",
    "b1": "b1 is added before ReLU. Which of its entries can still reach the scores, and in which rows?",
    "W2": "Each weight of W2 joins one hidden unit and one score. Which two arrays meet in its gradient?",
    "b2": "Each entry of b2 is added to one column of scores, in every row.",
}


@check("gradients of W2 and b2 agree with finite differences")
def backward_last_layer(two_layer_forward: Function, two_layer_backward: Function) -> None:
    _require_gradients(two_layer_forward, two_layer_backward, ("W2", "b2"))


@check("gradients of W1 and b1 agree with finite differences")
def backward_first_layer(two_layer_forward: Function, two_layer_backward: Function) -> None:
    _require_gradients(two_layer_forward, two_layer_backward, ("W1", "b1"))


@check("the cache of a first call is good after a second call")
def backward_uses_its_cache(two_layer_forward: Function, two_layer_backward: Function) -> None:
    x, params = _rows(), _network()
    _, cache = _forward(two_layer_forward, x, params)
    alone = _backward(two_layer_backward, _dscores(), cache)
    require(compare_form("grads", alone, params), _BACKWARD_HINTS)
    _, cache = _forward(two_layer_forward, x, params)
    _forward(two_layer_forward, -x, {name: 2 * value for name, value in params.items()})
    hint = (
        "Each call of two_layer_forward needs a cache of its own, with arrays of its own, that later calls do not "
        "fill again. And two_layer_backward needs to take everything from `cache`, nothing from variables outside."
    )
    found = compare("grads", _backward(two_layer_backward, _dscores(), cache), alone)
    require(found, {"": hint, "factor": hint}, source="without the second call it is")


def _require_gradients(two_layer_forward: Function, two_layer_backward: Function, names: tuple[str, ...]) -> None:
    x, dscores = _rows(), _dscores()
    # Square layers first: there a transposed matrix has the right shape and the values must tell.
    for params in (_square_network(), _network()):
        _, cache = _forward(two_layer_forward, x, params)
        got = _backward(two_layer_backward, dscores, cache)
        form = compare_form("grads", got, params)
        require(form if form and form.what == "grads" else None, _BACKWARD_HINTS)
        for name in names:
            wanted = slopes(_loss_along(two_layer_forward, x, params, dscores, name), params[name])
            found = compare(f'grads["{name}"]', got[name], wanted, batch=len(x), rtol=RTOL, atol=ATOL)
            require(found, _BACKWARD_HINTS, source="finite differences give")


def _loss_along(forward: Function, x: np.ndarray, params: Params, dscores: np.ndarray, name: str) -> Function:
    """A loss with the gradient `dscores` at the scores, as a function of one parameter."""

    def loss(moved: np.ndarray) -> float:
        scores, _ = _forward(forward, x, {**params, name: moved})
        return float(np.sum(dscores * scores))

    return loss


def _rows() -> np.ndarray:
    """Four rows of three numbers, of both signs."""
    return np.array([[1.0, -0.5, 0.25], [-1.5, 0.75, 1.0], [0.5, 1.25, -1.0], [2.0, -1.0, 0.5]])


def _network() -> Params:
    """Three inputs, five hidden units, three classes. On `_rows()` no hidden unit is near ReLU's kink (a test says
    so).
    """
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


# --- 5. softmax_cross_entropy ---------------------------------------------------------------------------------------

_LABELS = np.array([0, 2, 1, 2])
_SCORES = np.array([[2.0, -1.0, 0.5], [0.3, 0.2, -0.7], [1.0, 1.5, -2.0], [-0.4, 0.9, 0.1]])
_LOSS_HINTS = {
    "shape": "The loss is one number: the mean over the rows.",
    "factor": "The loss is the mean over the N rows: not the sum, and not a mean over all N x C entries. Its "
    "logarithm is the natural one.",
    "sign": "A probability is at most 1. Which sign has its logarithm?",
    "not finite": "np.exp overflows and np.log(0) is -inf. Read the question at the end of the exercise again.",
}
_DSCORES_HINTS = {
    "shape": "dscores has the shape of scores.",
    "factor": "The loss is a mean over N rows. What does that make of its slopes? (And is the loss itself right?)",
    "sign": "A larger score for the right class makes the loss smaller: its slope is negative.",
    "zero": "Your loss changes when a score changes, so its gradient is not zero.",
    "not finite": "np.exp overflows and 0 / 0 is nan. Read the question at the end of the exercise again.",
    "": "If you add the same number to all scores of a row, the loss stays: so each row of dscores sums to 0. Do "
    "yours?",
}


@check("equal scores for C classes cost log(C)")
def loss_of_equal_scores(softmax_cross_entropy: Function) -> None:
    hints = {**_LOSS_HINTS, "": "Every class has probability 1/C here, in every row. Print your probabilities."}
    for n, classes in ((1, 2), (4, 3)):
        loss, _ = _loss(softmax_cross_entropy, np.zeros((n, classes)), (np.arange(n) % classes).astype(np.uint8))
        name = f"the loss of {n} row{'s' * (n > 1)} of {classes} zeros"
        require(compare(name, loss, float(np.log(classes)), batch=n), hints)


@check("the worked example costs 0.410")
def loss_example(softmax_cross_entropy: Function) -> None:
    loss, _ = _loss(softmax_cross_entropy, np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([0, 1]))
    pick = "Print your probabilities: each row must sum to 1. Then pick one of each row, the one of the right class."
    wanted = (np.log1p(np.exp(-2.0)) + np.log(2.0)) / 2
    require(compare("the loss", loss, float(wanted), batch=2), {**_LOSS_HINTS, "": pick})


@check("dscores agrees with finite differences of the loss")
def loss_gradient(softmax_cross_entropy: Function) -> None:
    _, dscores = _loss(softmax_cross_entropy, _SCORES, _LABELS)
    wanted = slopes(lambda moved: _loss(softmax_cross_entropy, moved, _LABELS)[0], _SCORES)
    found = compare("dscores", dscores, wanted, batch=len(_SCORES), rtol=RTOL, atol=ATOL)
    require(found, _DSCORES_HINTS, source="finite differences give")


@check("scores of 1000 and -1000 do no harm")
def loss_of_large_scores(softmax_cross_entropy: Function) -> None:
    scores, labels = np.array([[1000.0, 0.0], [-1000.0, -1000.0], [1000.0, -1000.0]]), np.array([0, 1, 0])
    rows = "Rows 0 and 2 are as good as certain and right, row 1 is undecided between two classes."
    # NumPy warns of an overflow that the sentence below explains better.
    with np.errstate(all="ignore"):
        loss, dscores = _loss(softmax_cross_entropy, scores, labels)
        wrong, _ = _loss(softmax_cross_entropy, scores[:1], np.array([1]))
    require(compare("the loss", loss, float(np.log(2.0)) / 3, batch=3), {**_LOSS_HINTS, "": rows})
    require(
        compare("dscores", dscores, np.array([[0, 0], [0.5, -0.5], [0, 0]]) / 3, batch=3), _DSCORES_HINTS | {"": rows}
    )
    close, _ = _loss(softmax_cross_entropy, np.array([[1000.0, 998.0]]), np.array([0]))
    hints = {**_LOSS_HINTS, "": "Only the differences of a row's scores count: it is the loss of the row [2, 0]."}
    require(compare("the loss of the row [1000, 998] with label 0", close, float(np.log1p(np.exp(-2.0)))), hints)
    require(compare_form("the loss of the row [1000, 0] with label 1", wrong, 1000.0), _LOSS_HINTS)
    if wrong < 10:
        fail(f"The loss of the row [1000, 0] with label 1 is {wrong:.4g}.", "Certain and wrong must cost a lot.")


def _loss(softmax_cross_entropy: Function, scores: np.ndarray, labels: np.ndarray) -> tuple[Any, ...]:
    returned = call(softmax_cross_entropy, scores, labels)
    loss, dscores = plain(parts("softmax_cross_entropy(scores, labels)", returned, ("loss", "dscores")))
    form = compare_form("the loss", loss, 0.0)
    require(form if form and form.kind != "not finite" else None, _LOSS_HINTS)
    return loss, dscores


# --- 6. train -------------------------------------------------------------------------------------------------------

_RATE = 0.5
_TRAIN_HINTS = {
    "none": "Is there a `return`?",
    "keys": "Return a dict with the keys W1, b1, W2, b2.",
    "dtype": "Is something stored in an array of integers?",
    "zero": "This parameter did not move. Is each of the four updated, and is the new value stored?",
    "sign": "The gradient points uphill. And a loss is not negative.",
    "factor": "Every step is the learning rate times the gradient, and nothing else. Do the checks of exercises 4 "
    "and 5 hold?",
    "": "Do the checks of exercises 3, 4 and 5 hold? Does training start from the params that it is given, and are all "
    "four gradients computed before the first parameter moves?",
}


@check("the first loss is right, and the first step goes against its gradient")
def train_first_step(train: Function) -> None:
    x, params, batch = _rows(), _network(), [np.arange(4)]
    zeros = {name: np.zeros_like(value) for name, value in params.items()}
    at_zero = _train(train, x, _LABELS, zeros, batch)[1][0]
    hint = "With all parameters 0 all scores are equal, so the loss is log(3). Is it the loss before the step?"
    require(compare("losses[0] with all parameters 0", at_zero, float(np.log(3.0))), {**_TRAIN_HINTS, "": hint})
    stepped, _ = _train(train, x, _LABELS, params, batch)
    for name, value in params.items():
        # The loss before the step is what `train` itself reports: its slopes say where the step must go.
        gradient = slopes(_first_loss_along(train, x, params, name), value)
        found = compare(
            f'the step of params["{name}"]', stepped[name] - value, -_RATE * gradient, batch=4, rtol=RTOL, atol=ATOL
        )
        require(found, _TRAIN_HINTS, source="minus learning rate times gradient is")


@check("a step uses the rows of its batch and no others")
def train_uses_its_batch(train: Function) -> None:
    x, params, rows = _rows(), _network(), np.array([3, 0, 2])
    after, losses = _train(train, x, _LABELS, params, [rows])
    alone, alone_losses = _train(train, x[rows], _LABELS[rows], params, [np.arange(3)])
    hint = "`x[batch]` are the rows of a batch. Which labels go with them?"
    source = "with the other rows taken away it is"
    require(compare("losses", losses, alone_losses), {"": hint, "factor": hint}, source=source)
    require(compare("params", after, alone), {"": hint, "factor": hint}, source=source)


@check("two batches are one step and then another")
def train_goes_on(train: Function) -> None:
    x, params, batches = _rows(), _network(), [np.array([2, 0, 3]), np.array([1])]
    both, losses = _train(train, x, _LABELS, params, batches)
    first, losses_1 = _train(train, x, _LABELS, params, batches[:1])
    second, losses_2 = _train(train, x, _LABELS, first, batches[1:])
    hint = "Each step starts from the parameters that the step before it left, and uses the gradients of its own batch."
    require(compare("params", both, second), {"": hint, "factor": hint}, source="one after the other it is")
    hint = "One loss for each batch, before the step that uses it."
    found = compare("losses", losses, np.concatenate([losses_1, losses_2]))
    require(found, {"": hint, "factor": hint}, source="one after the other it is")


@check("the params you are given are as they were before the call")
def train_leaves_params(train: Function) -> None:
    x, params = _rows(), _network()
    after, _ = _returned(train(x, _LABELS.copy(), params, _RATE, [np.arange(4), np.arange(2)]), params, 2)
    for name, value in _network().items():
        if not np.array_equal(params[name], value):
            hint = "`dict(params)` is a new dict that holds the same arrays, and `-=` changes an array in its place."
            fail(f'params["{name}"] of the caller changed.', hint)
    if all(np.array_equal(after[name], value) for name, value in params.items()):
        hint = "Is the new value stored in the dict that you return?"
        fail("The params that came back are the ones that went in.", hint)
    unchanged("x", _rows(), x)


@check("a network of 16 hidden units reads held-out digits")
def train_reads_digits(train: Function, two_layer_forward: Function) -> str:
    digits = load_digits()
    rng = np.random.default_rng(7)
    params = {"W1": rng.normal(0, 0.2, (64, 16)), "b1": np.zeros(16)}
    params |= {"W2": rng.normal(0, 0.2, (16, 10)), "b2": np.zeros(10)}
    batches = [rng.choice(len(digits.x_train), 16, replace=False) for _ in range(80)]
    trained, losses = _train(train, digits.x_train.reshape(-1, 64), digits.y_train, params, batches, rate=0.3)
    scores, _ = _forward(two_layer_forward, digits.x_test.reshape(-1, 64), trained)
    right = float(np.mean(np.argmax(scores, axis=1) == digits.y_test))
    if right < 0.5:
        hint = "The checks above say which part to look at."
        fail(f"After {len(batches)} steps {right:.0%} of them are right; it should be at least half.", hint)
    return f": {right:.0%} of {len(scores)} are right; the loss went from {losses[0]:.2f} to {losses[-1]:.2f}"


def _train(
    train: Function, x: np.ndarray, labels: np.ndarray, params: Params, batches: list[np.ndarray], rate: float = _RATE
) -> tuple[Params, np.ndarray]:
    """`train` on copies: whether it spoils its arguments is a check of its own."""
    returned = train(x.copy(), labels.copy(), copy.deepcopy(params), rate, [batch.copy() for batch in batches])
    return _returned(returned, params, len(batches))


def _returned(returned: object, params: Params, steps: int) -> tuple[Params, np.ndarray]:
    """What `train` returned as plain arrays, once its form is right."""
    after, losses = plain(parts("train(x, labels, params, learning_rate, batches)", returned, ("params", "losses")))
    require(compare_form("params", after, params), {**_TRAIN_HINTS, "shape": "A parameter keeps its shape."})
    hints = {
        "none": "Is there a `return`?",
        "": "One number for each batch: is the loss one number, and every batch a step?",
    }
    require(compare_form("losses", losses, np.zeros(steps)), hints)
    return {name: np.asarray(value) for name, value in after.items()}, np.asarray(losses, dtype=np.float64)


def _first_loss_along(train: Function, x: np.ndarray, params: Params, name: str) -> Function:
    """The first loss that `train` reports, as a function of one of the parameters that it starts from."""

    def loss(moved: np.ndarray) -> float:
        return float(_train(train, x, _LABELS, {**params, name: moved}, [np.arange(len(x))])[1][0])

    return loss
