"""The visible checks of assignment a7: what a right answer must satisfy, told without the answer.

The numbers are those worked out in the notebook, and NumPy's: losses written with arrays, gradients as measured slopes.
"""

from __future__ import annotations

import functools
import gc
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as v1

from course_lib.checks.calling import parts
from course_lib.checks.oracles import slopes
from course_lib.checks.outcome import check, fail, require
from course_lib.compare import compare
from course_lib.virtual_cuda import tensorflow as virtual_gpus
from course_lib.virtual_cuda.tensorflow.names import short

Function = Callable[..., Any]
Array = np.ndarray
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
MOVES = ("Identity", "ExpandDims", "Reshape", "Squeeze")
"""operations that compute nothing: `tf.linalg.matvec` on one device makes a matrix of a code from the other"""


def _same(name: str, got: Any, wanted: Any, hint: str, tolerance: float = 1e-4) -> None:
    require(compare(name, got, np.asarray(wanted), rtol=tolerance, atol=tolerance / 10), {"": hint})


def _float(what: str, value: Any) -> float:
    if type(value) is not float:
        hint = "`float(...)` makes one of a tensor with a single number."
        fail(f"{what} is of type {type(value).__name__}; it should be a Python float.", hint)
    return value


def _list(what: str, value: Any, length: int) -> list[Any]:
    if not isinstance(value, (list, tuple)) or len(value) != length:
        fail(f"{what} should be a list of {length} entries; it is {value!r:.100}.", "One entry for each batch.")
    return list(value)


def _arrays(seed: int, *shapes: tuple[int, ...]) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(0, 0.8, shape).astype(np.float32) for shape in shapes)


def _distances(w: Array, b: Array, x1: Array, x2: Array) -> Array:
    return np.asarray(((np.tanh(x1 @ w + b) - np.tanh(x2 @ w + b)) ** 2).sum(axis=1))


def _loss(w: Array, b: Array, x1: Array, x2: Array, y: Array) -> float:
    return float(((_distances(w, b, x1, x2) - y) ** 2).mean())


def _slopes(of: int, *values: Array) -> Array:
    """The slopes of the siamese loss with respect to one of w, b, x1, x2, y."""
    exact: Any = [np.asarray(value, dtype=np.float64) for value in values]
    return slopes(lambda moved: _loss(*[*exact[:of], moved, *exact[of + 1 :]]), exact[of])


def _rows(seed: int, n: int, inputs: int = 3) -> Any:
    x1, x2, y = _arrays(seed, (n, inputs), (n, inputs), (n,))
    return x1, x2, abs(y)


_START: tuple[Array, Array] = _arrays(1, (3, 2), (2,))
_ROW: tuple[Array, Array, Array] = (np.array([[1]], np.float32), np.array([[0]], np.float32), np.array([0], np.float32))
_ONE: tuple[Array, Array] = (np.array([[1]], np.float32), np.array([0], np.float32))

# --- 1. build_graph -------------------------------------------------------------------------------------------------

KEYS = ("x1", "x2", "y", "init", "distance", "loss", "grad_w", "grad_b", "step")


@contextmanager
def _session(build_graph: Function, w: Array, b: Array, learning_rate: float) -> Iterator[tuple[Function, Any, Any]]:
    """A session after `init`: a function that runs nodes on a batch, the session, and the trainable variables."""
    made = build_graph(w, b, learning_rate)
    graph, nodes = parts("build_graph(...)", made, ("graph", "nodes"))
    if not isinstance(graph, tf.Graph):
        fail(f"The first value is of type {type(graph).__name__}; it should be a tf.Graph.")
    if missing := [key for key in KEYS if key not in nodes]:
        fail(f"nodes lacks {', '.join(missing)}.", "The docstring lists the keys.")
    with graph.as_default():
        variables = v1.trainable_variables()

    def run(names: Any, batch: Any) -> Any:
        feed = dict(zip((nodes["x1"], nodes["x2"], nodes["y"]), batch, strict=True))
        return session.run([nodes[name] for name in names], feed)

    with v1.Session(graph=graph) as session:
        session.run(nodes["init"])
        yield run, session, variables


@check("the worked example: distance 0.580, loss 0.336, gradients 0.742 and -1.025")
def graph_example(build_graph: Function) -> None:
    with _session(build_graph, *_ONE, learning_rate=0.1) as (run, _, _):
        distance, loss, grad_w, grad_b = run(("distance", "loss", "grad_w", "grad_b"), _ROW)
    t = math.tanh(1)
    _same("the distance", distance, [t**2], "The squared differences of the codes, summed over the units.")
    _same("the loss", loss, t**4, "The mean over the rows of (distance - y) squared.")
    _same("grad_w", grad_w, _slopes(0, *_ONE, *_ROW), "Which tensor do you differentiate, with respect to what?")
    _same("grad_b", grad_b, _slopes(1, *_ONE, *_ROW), "Both inputs pass through b. Do both pass through the same b?")


@check("both inputs pass through encoder/w and encoder/b, and there is no other variable")
def graph_shares_its_variables(build_graph: Function) -> None:
    with _session(build_graph, *_START, learning_rate=0.1) as (_, session, variables):
        names = sorted(variable.op.name for variable in variables)
        if names != ["encoder/b", "encoder/w"]:
            hint = "`v1.get_variable` inside a `v1.variable_scope` makes a variable, or with `reuse` finds it."
            fail(f"The trainable variables are {', '.join(names) or 'none'}.", hint)
        for variable, start in zip(sorted(variables, key=lambda v: v.op.name), _START[::-1], strict=True):
            _same(f"{variable.op.name} after init", session.run(variable), start, "What are they initialized with?")


@check("one graph takes batches of 1, 5 and 2 rows")
def graph_takes_any_batch(build_graph: Function) -> None:
    with _session(build_graph, *_START, learning_rate=0.1) as (run, _, _):
        for n in (1, 5, 2):
            batch = _rows(n, n)
            distance, loss = run(("distance", "loss"), batch)
            _same("the distance", distance, _distances(*_START, *batch[:2]), "A sum over the units of each row.")
            _same("the loss", loss, _loss(*_START, *batch), "The mean is over the rows.")


@check("the gradients are the slopes of the loss")
def graph_gradients_are_slopes(build_graph: Function) -> None:
    batch = _rows(7, 4)
    with _session(build_graph, *_START, learning_rate=0.1) as (run, _, _):
        for place, found in enumerate(run(("grad_w", "grad_b"), batch)):
            _same(
                ("grad_w", "grad_b")[place], found, _slopes(place, *_START, *batch), "Look at what is differentiated."
            )


@check("to run `step` alone makes one step, and gives the loss after it")
def graph_steps(build_graph: Function) -> None:
    rate = 0.3
    with _session(build_graph, *_START, learning_rate=rate) as (run, session, variables):
        named = {variable.op.name: variable for variable in variables}
        w, b = (start.astype(np.float64) for start in _START)
        for seed in (8, 9):
            batch = _rows(seed, 4)
            found = run(("step",), batch)[0]
            start, before = (w, b), _loss(w, b, *batch)
            w, b = w - rate * _slopes(0, w, b, *batch), b - rate * _slopes(1, w, b, *batch)
            after = session.run([named["encoder/w"], named["encoder/b"]])
            for name, got, wanted, old in zip(("w", "b"), after, (w, b), start, strict=True):
                hint = "The learning rate times the gradient of the loss is subtracted, taken before the step."
                if np.allclose(got, old):
                    hint = "A session runs what the fetched node depends on. Does `step` depend on the updates?"
                _same(f"{name} after a step", got, wanted, hint)
            hint = "The loss must be computed again, by operations that wait for the updates."
            if np.isclose(found, before, rtol=1e-5):
                fail(f"`step` gives {found:.4g}, the loss before the step.", hint)
            _same("the value of step", found, _loss(w, b, *batch), hint)


# --- 2. run_training ------------------------------------------------------------------------------------------------


def _line(w: float = 0.0, rate: float = 0.25) -> tuple[tf.Graph, dict[str, Any]]:
    """The network of the worked example, with a factor that a batch may feed."""
    graph = tf.Graph()
    with graph.as_default():
        x, y = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
        factor = v1.placeholder_with_default(np.float32(1), [])
        variable = v1.get_variable("w", initializer=np.array(w, np.float32))
        loss = factor * (variable * x - y) ** 2
        train = v1.train.GradientDescentOptimizer(rate).minimize(loss)
        nodes = {"init": v1.global_variables_initializer(), "train": train, "loss": loss, "w": variable}
    return graph, nodes | {"x": x, "y": y, "factor": factor}


def _trained(run_training: Function, batches: list[dict[str, Any]], finalize: bool = False) -> tuple[list[Any], Any]:
    graph, nodes = _line()
    if finalize:
        graph.finalize()
    losses, w = parts("run_training(...)", run_training(graph, nodes, batches), ("losses", "w"))
    return _list("losses", losses, len(batches)), w


_TWO = [{"x": np.float32(1), "y": np.float32(1)}, {"x": np.float32(1), "y": np.float32(3)}]


@check("the worked example: losses 1.0 and 6.25, w ends at 1.75")
def session_example(run_training: Function) -> None:
    losses, w = _trained(run_training, _TWO)
    for place, (found, wanted) in enumerate(zip(losses, (1.0, 6.25), strict=True)):
        hint = "The loss before the step of its batch, with the w that the steps before have left."
        _same(f"loss {place}", _float(f"losses[{place}]", found), wanted, hint)
    if not isinstance(w, (np.ndarray, np.generic)):
        fail(f"w is of type {type(w).__name__}; it should be an array.", "The session can tell the variable's value.")
    _same("w", w, 1.75, "One session, one init, one step for each batch.")


@check("a batch may feed another placeholder")
def session_feeds_what_the_batch_names(run_training: Function) -> None:
    batches = [{**_TWO[0], "factor": np.float32(2)}, _TWO[1]]
    losses, w = _trained(run_training, batches)
    hint = "Is everything fed that the batch names, and the loss read before the step?"
    _same("the losses", np.array(losses), [2.0, 4.0], hint)
    _same("w", w, 2.0, hint)


@check("nothing is added to a graph that is finalized")
def session_leaves_the_graph(run_training: Function) -> None:
    losses, _ = _trained(run_training, _TWO * 2, finalize=True)
    _same("the losses", np.array(losses), [1.0, 6.25, 0.5625, 2.640625], "The variables live as long as the session.")


# --- 3. train_with_tape ---------------------------------------------------------------------------------------------


def _taped(train_with_tape: Function, w: Array, b: Array, batches: list[Any], rate: float) -> Any:
    """The losses, the sensitivities, and w and b afterwards."""
    variables = tf.Variable(w), tf.Variable(b)
    tensors = [tuple(map(tf.constant, batch)) for batch in batches]
    returned = train_with_tape(*variables, tensors, tf.keras.optimizers.SGD(rate))
    losses, sensitivities = parts("train_with_tape(...)", returned, ("losses", "sensitivities"))
    losses = [_float(f"losses[{k}]", loss) for k, loss in enumerate(_list("losses", losses, len(batches)))]
    sensitivities = _list("sensitivities", sensitivities, len(batches))
    for place, found in enumerate(sensitivities):
        if not isinstance(found, np.ndarray):
            hint = "A gradient is None where nothing leads from what is watched to the loss." if found is None else ""
            fail(f"sensitivities[{place}] is of type {type(found).__name__}; it should be an array.", hint)
    return losses, sensitivities, [variable.numpy() for variable in variables]


@check("the worked example: loss 0.336, sensitivity 0.742")
def tape_example(train_with_tape: Function) -> None:
    losses, sensitivities, _ = _taped(train_with_tape, *_ONE, batches=[_ROW], rate=0.1)
    _same("the loss", losses[0], math.tanh(1) ** 4, "The loss before the step.")
    _same("the sensitivity", sensitivities[0], _slopes(2, *_ONE, *_ROW), "The gradient with respect to x1.")


@check("w and b follow the slopes of the loss")
def tape_follows_the_slopes(train_with_tape: Function) -> None:
    batch, rate = _rows(11, 4), 0.3
    _, sensitivities, after = _taped(train_with_tape, *_START, batches=[batch], rate=rate)
    for place, found in enumerate(after):
        wanted = _START[place] - rate * _slopes(place, *_START, *batch)
        _same(f"{'wb'[place]} after a step", found, wanted, "One step, with the gradients of the loss.")
    hint = "Taken before the step, of the same loss."
    _same("the sensitivity", sensitivities[0], _slopes(2, *_START, *batch), hint)


@check("a second batch is trained on from where the first one led")
def tape_begins_anew_with_each_batch(train_with_tape: Function) -> None:
    batches, rate = [_rows(12, 3), _rows(13, 5)], 0.3
    losses, sensitivities, after = _taped(train_with_tape, *_START, batches=batches, rate=rate)
    _, _, between = _taped(train_with_tape, *_START, batches=batches[:1], rate=rate)
    hint = "What is recorded before the loop, and what within?"
    _same("the second loss", losses[1], _loss(*between, *batches[1]), hint)
    _same("the second sensitivity", sensitivities[1], _slopes(2, *between, *batches[1]), hint)
    for place, found in enumerate(after):
        wanted = between[place] - rate * _slopes(place, *between, *batches[1])
        _same(f"{'wb'[place]} after two steps", found, wanted, hint)


# --- 4. make_step ---------------------------------------------------------------------------------------------------


def _stepper(make_step: Function) -> tuple[tf.Variable, list[Any], list[int], Function]:
    """A variable at 0, the history, a list with an entry for each time that Python ran loss_fn, and the step."""
    history: list[Any] = []
    runs: list[int] = []
    variable = tf.Variable(0.0)

    def loss_fn(x: Any, y: Any) -> tf.Tensor:
        runs.append(1)
        return tf.reduce_mean((variable - y) ** 2)

    return variable, history, runs, make_step(loss_fn, [variable], history)


def _target(*values: float) -> tuple[Array, Array]:
    return np.ones((len(values), 2), np.float32), np.array(values, np.float32)


@check("the worked example: losses 5.0 and 0.0, the variable goes to 1 and stays")
def step_example(make_step: Function) -> None:
    variable, _, _, step = _stepper(make_step)
    for values, rate, wanted in (((1.0, 3.0), 0.25, 5.0), ((1.0,), 1, 0.0)):
        loss = step(*_target(*values), rate)
        if loss is None:
            fail("step returned None; it should return the loss.", "Is there a `return`?")
        _same("the loss", np.asarray(loss), wanted, "The loss before the step.")
        _same("the variable", variable.numpy(), 1.0, "learning_rate times the gradient is subtracted once.")


@check("Python runs loss_fn once, whatever the batch sizes and learning rates are")
def step_is_traced_once(make_step: Function) -> None:
    _, _, runs, step = _stepper(make_step)
    step(*_target(1.0, 2.0), 0.1)
    for what, n, rate, tensors in (
        ("a call like the first one", 2, 0.1, False),
        ("another batch size", 3, 0.1, False),
        ("another learning rate", 3, 0.2, False),
        ("a learning rate that is an int", 3, 1, False),
        ("a learning rate that is a tensor", 3, tf.constant(0.3), False),
        ("tensors instead of arrays", 2, 0.1, True),
    ):
        x, y = _target(*range(n))
        step(*((tf.constant(x), tf.constant(y)) if tensors else (x, y)), rate)
        if len(runs) != 1:
            hint = "What is the signature of the function that is traced: which shapes, which types?"
            fail(f"After {what} Python has run loss_fn {len(runs)} times.", hint)


@check("the history has the loss of every call, as floats")
def step_keeps_a_history(make_step: Function) -> None:
    _, history, _, step = _stepper(make_step)
    losses = [float(step(*_target(1.0, k), 0.25)) for k in range(3)]
    if len(history) != 3:
        hint = "When does Python run the line that appends: in each call, or while tracing?"
        fail(f"After 3 calls the history has {len(history)} entries.", hint)
    for place, found in enumerate(history):
        _same(f"history[{place}]", _float(f"history[{place}]", found), losses[place], "The loss that the call returns.")


@check("two steps, called in turns, keep to their own variables")
def steps_do_not_interfere(make_step: Function) -> None:
    one, other = _stepper(make_step), _stepper(make_step)
    for _, _, _, step in (one, other):
        step(*_target(2.0), 0.25)
    one[3](*_target(2.0), 0.25)
    _same("the first variable", one[0].numpy(), 1.5, "Each call of make_step needs a traced function of its own.")
    _same("the second variable", other[0].numpy(), 1.0, "Each call of make_step needs a traced function of its own.")
    if (len(one[1]), len(other[1])) != (2, 1):
        fail(f"The histories have {len(one[1])} and {len(other[1])} entries after 2 calls and 1.")


# --- 5. row_norms ---------------------------------------------------------------------------------------------------


def _norms(row_norms: Function, x: Array, upstream: Array) -> tuple[Array, Array]:
    """The norms, and what comes back to x."""
    tensor = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        norms = row_norms(tensor)
    if not tf.is_tensor(norms):
        fail(f"row_norms returned {type(norms).__name__}; it should return a tensor.", "Is there a `return`?")
    if norms.dtype != tensor.dtype:
        fail(f"The norms are {norms.dtype.name}; they should be {tensor.dtype.name}, as x is.")
    gradient = tape.gradient(norms, tensor, output_gradients=tf.constant(upstream))
    if gradient is None:
        fail("No gradient comes back to x.", "Are the norms computed from x by TensorFlow?")
    return norms.numpy(), gradient.numpy()


@check("the row [3, 4] has norm 5, and with upstream gradient 10 it receives [6, 8]")
def norms_example(row_norms: Function) -> None:
    for dtype in (np.float32, np.float64):
        norms, gradient = _norms(row_norms, np.array([[3, 4]], dtype), np.array([10], dtype))
        _same("the norm", norms, [5.0], "The root of the sum of the squares.")
        _same("the gradient", gradient, [[6.0, 8.0]], "The row divided by its norm, times the upstream gradient.")


@check("rows of 1e30, of 1e-30 and of zeros have the right norms and gradients")
def norms_of_large_and_small_rows(row_norms: Function) -> None:
    for size in (1e30, 1e-30, 0.0):
        norms, gradient = _norms(row_norms, np.array([[3 * size, -4 * size]], np.float32), np.array([1], np.float32))
        hint = "The square of 1e30 is beyond float32, and so is that of 1e-30. What can the row be scaled by?"
        _same(f"the norm of a row of size {size:g} over {size or 1:g}", norms / (size or 1), [5.0 * (size > 0)], hint)
        wanted = [[0.6, -0.8]] if size else [[0.0, 0.0]]
        hint = "Which operation divides by zero or leaves the range of float32, also where its result is not used?"
        _same(f"the gradient of a row of size {size:g}", gradient, wanted, hint)


@check("each row receives its own upstream gradient")
def norms_pass_the_upstream_gradient(row_norms: Function) -> None:
    x, upstream = _arrays(15, (3, 3), (3,))
    _, gradient = _norms(row_norms, x, upstream)
    wanted = upstream[:, None] * x / np.sqrt((x**2).sum(axis=1, keepdims=True))
    hint = "The upstream gradient has one number for each row, and each row is multiplied by its own."
    _same("the gradient", gradient, wanted, hint)


@check("the rows [3, 4] and [0, 0] are right inside a tf.function that knows no shapes")
def norms_inside_a_function(row_norms: Function) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None])])  # type: ignore[untyped-decorator]
    def both(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            norms = row_norms(x)
        return norms, tape.gradient(norms, x)

    norms, gradient = both(tf.constant([[3.0, 4.0], [0.0, 0.0]]))
    _same("the norms", norms.numpy(), [5.0, 0.0], "Shapes may be known only when the graph runs.")
    _same("the gradient", gradient.numpy(), [[0.6, 0.8], [0.0, 0.0]], "Shapes may be known only when the graph runs.")


# --- 6. make_dataset ------------------------------------------------------------------------------------------------


def _pass(make_dataset: Function, n: int, batch_size: int, epochs: int, seed: int = 3) -> tuple[Any, list[int]]:
    """All batches of one pass over rows that are numbered, and how often decode and augment were applied."""
    counts = [0, 0]

    def counted(which: int, row: Any) -> Any:
        def note(value: Array) -> Array:
            counts[which] += 1
            return value + np.array(100 * (which + 1), np.float32)

        noted = tf.numpy_function(note, [row], tf.float32)
        noted.set_shape(row.shape)
        return noted

    x = np.arange(n, dtype=np.float32)[:, None] * np.array([[1, 1]], np.float32)
    y = 3 * np.arange(n, dtype=np.int64)
    decode, augment = (functools.partial(counted, which) for which in range(2))
    dataset = make_dataset(x, y, decode, augment, batch_size, epochs, seed)
    if not isinstance(dataset, tf.data.Dataset):
        fail(f"make_dataset returned {type(dataset).__name__}; it should return a tf.data.Dataset.")
    return [(rows.numpy(), labels.numpy()) for rows, labels in dataset], counts


def _orders(make_dataset: Function, seed: int, n: int = 30, epochs: int = 3) -> list[list[int]]:
    batches, _ = _pass(make_dataset, n, n, epochs, seed)
    return [(labels // 3).tolist() for _, labels in batches]


@check("10 rows in two epochs come as batches of 4, 4, 2, 4, 4 and 2, each row with its label")
def dataset_gives_every_row(make_dataset: Function) -> None:
    batches, _ = _pass(make_dataset, 10, 4, 2)
    sizes = [len(labels) for _, labels in batches]
    if sizes != [4, 4, 2] * 2:
        hint = "Which steps of the chain see the end of an epoch?"
        fail(f"The batches have {', '.join(map(str, sizes))} rows.", hint)
    for epoch in (batches[:3], batches[3:]):
        labels = np.concatenate([labels for _, labels in epoch])
        rows = np.concatenate([rows for rows, _ in epoch])
        if sorted(labels) != list(range(0, 30, 3)):
            fail("An epoch does not have every row once.", "Where does one epoch end and the next begin?")
        wanted = labels[:, None] / 3 + np.full((1, 2), 300)
        _same("the rows", rows, wanted, "augment(decode(row)), with the label of that row.")


@check("each epoch has an order of its own, over all rows, and the seed decides them")
def dataset_shuffles(make_dataset: Function) -> None:
    orders = _orders(make_dataset, 3) + _orders(make_dataset, 4)
    if any(order == sorted(order) for order in orders):
        fail("The rows of an epoch come in the order of the arrays.", "Which step of a dataset shuffles?")
    if orders[0] == orders[1]:
        hint = "What is kept of the first epoch for the second one: the rows, or their order too?"
        fail("Two epochs have the same order.", hint)
    if orders[:3] != _orders(make_dataset, 3):
        fail("Two datasets with the same seed have different orders.", "Is the seed given to what shuffles?")
    if orders[:3] == orders[3:]:
        fail("Two datasets with different seeds have the same orders.", "Is `seed` used?")
    first = max(order[0] for order in (*orders, *_orders(make_dataset, 5), *_orders(make_dataset, 6)))
    if first < 10:
        hint = "From how many rows does the shuffle choose?"
        fail(f"In 12 epochs of 30 rows, no row beyond number {first} came first.", hint)


@check("in two epochs each row is decoded once and augmented twice")
def dataset_decodes_once(make_dataset: Function) -> None:
    _, (decoded, augmented) = _pass(make_dataset, 6, 4, 2)
    if decoded != 6:
        fail(f"decode was applied {decoded} times to 6 rows.", "Which step of a dataset keeps what came out before it?")
    if augmented != 12:
        fail(f"augment was applied {augmented} times to 6 rows in 2 epochs.", "What stands behind the cache?")


# --- 7. TwoTowers ---------------------------------------------------------------------------------------------------


def placed_operations(model: Any, x1: tf.Tensor, x2: tf.Tensor) -> dict[str, list[str]]:
    """The devices of the operations on float tensors in a traced call: of those from x1 alone, x2 alone, from both."""
    graph = tf.function(lambda a, b: model(a, b)).get_concrete_function(x1, x2).graph
    found: dict[str, set[str]] = {"x1": set(), "x2": set(), "both": set()}
    _follow(graph, [frozenset({"x1"}), frozenset({"x2"})], "", found)
    return {name: sorted(devices) for name, devices in found.items()}


def _follow(graph: Any, inputs: list[frozenset[str]], device: str, found: dict[str, set[str]]) -> frozenset[str]:
    """Note the devices of a graph's operations, those of the functions that it calls too; what its outputs come from.

    inputs: what the first placeholders come from. device: where the call was placed.
    """
    sources = {tensor.name: source for tensor, source in zip(graph.inputs, inputs, strict=False)}
    for op in graph.get_operations():
        given = [sources.get(tensor.name, frozenset()) for tensor in op.inputs]
        source = frozenset().union(*given)
        where = short(op.device or "") or device
        if op.type in CALLS:
            inner = graph._get_function(op.get_attr("f").name).graph
            source = _follow(inner, given, where, found)
        elif source and op.type not in MOVES and any(tensor.dtype.is_floating for tensor in op.outputs):
            found["both" if len(source) > 1 else next(iter(source))].add(where or "no device")
        if op.type != "Placeholder":
            sources.update((tensor.name, source) for tensor in op.outputs)
    return frozenset().union(*(sources.get(tensor.name, frozenset()) for tensor in graph.outputs))


def _towers(TwoTowers: Function) -> tuple[Any, ...]:
    first, second = _arrays(21, (3, 2), (2,)), _arrays(22, (4, 2), (2,))
    x1, x2 = _arrays(23, (5, 3), (5, 4))
    return TwoTowers(first, second), first, second, x1, x2


@check("the worked example has the score 0.580, and NumPy's scores come out in both modes")
def towers_example(TwoTowers: Function) -> None:
    model = TwoTowers(_ONE, (_ONE[0], np.array([1], np.float32)))
    score = model(tf.constant(_ROW[0]), tf.constant(_ROW[1]))
    _same("the score", np.asarray(score), [math.tanh(1) ** 2], "The sum of the products of the codes.")
    model, first, second, x1, x2 = _towers(TwoTowers)
    wanted = (np.tanh(x1 @ first[0] + first[1]) * np.tanh(x2 @ second[0] + second[1])).sum(axis=1)
    for function in (model, tf.function(lambda a, b: model(a, b))):
        _same("the scores", np.asarray(function(tf.constant(x1), tf.constant(x2))), wanted, "One score for each row.")


@check("the variables of the towers lie on GPU:0 and on GPU:1")
def towers_lie_on_two_devices(TwoTowers: Function) -> None:
    model, first, second, _, _ = _towers(TwoTowers)
    for name, wanted, values in (("first", "GPU:0", first), ("second", "GPU:1", second)):
        variables = _list(f"model.{name}", getattr(model, name, None), 2)
        for part, variable, value in zip("wb", variables, values, strict=True):
            if not isinstance(variable, tf.Variable):
                fail(f"{part} of model.{name} is of type {type(variable).__name__}; it should be a tf.Variable.")
            _same(f"{part} of model.{name}", variable.numpy(), value, "The variables start with the arrays.")
            found = virtual_gpus.placement(variable)
            if found != wanted:
                hint = "A variable lies where it is made."
                fail(f"{part} of model.{name} lies on {found}; it belongs on {wanted}.", hint)


@check("the first tower works on GPU:0, the second on GPU:1, and the score is computed on GPU:0")
def towers_work_on_two_devices(TwoTowers: Function) -> None:
    model, _, _, x1, x2 = _towers(TwoTowers)
    found = placed_operations(model, tf.constant(x1), tf.constant(x2))
    for name, wanted in (("x1", "GPU:0"), ("x2", "GPU:1"), ("both", "GPU:0")):
        if found[name] != [wanted]:
            of = "x1 and x2 together" if name == "both" else f"{name} alone"
            hint = "Where a variable lies does not decide where it is used."
            places = ", ".join(found[name]) or "no device"
            fail(f"What is computed from {of} is placed on {places}; it belongs on {wanted}.", hint)


# --- 8. export_encoder, load_encoder --------------------------------------------------------------------------------


@contextmanager
def _exported(export_encoder: Function, w: Array, b: Array) -> Iterator[tuple[Any, Function]]:
    """What is loaded from the folder, and its signature as a function of arrays."""
    with tempfile.TemporaryDirectory() as folder:
        export_encoder(w, b, folder)
        loaded = tf.saved_model.load(folder)
    if "encode" not in loaded.signatures:
        found = ", ".join(loaded.signatures) or "none"
        fail(f'The folder has no signature "encode"; it has {found}.', "`save` has an argument for signatures.")
    signature = loaded.signatures["encode"]

    def encode(x: Array) -> Array:
        try:
            given = signature(x=tf.constant(x))
        except TypeError as error:
            asked = signature.structured_input_signature[1]
            fail(f"The signature cannot be called with x of shape {x.shape}: it takes {asked}.", str(error)[:100])
        if "code" not in given:
            fail(f'The output is called {", ".join(given)}; it should be called "code".')
        return np.asarray(given["code"])

    yield loaded, encode


@check('the signature "encode" turns any number of rows into codes')
def export_has_a_signature(export_encoder: Function) -> None:
    with _exported(export_encoder, *_ONE) as (_, encode):
        codes = encode(np.array([[0], [1]], np.float32))
        _same("the codes", codes, [[0.0], [math.tanh(1)]], "tanh of x @ w + b.")
    with _exported(export_encoder, *_START) as (loaded, encode):
        given = loaded.signatures["encode"].structured_input_signature[1]
        for name, spec in given.items():
            if spec.shape[0] is not None:
                hint = "The shapes are those of the trace. Which size is not known then?"
                fail(f"The input {name} of the signature has the shape {tuple(spec.shape)}.", hint)
        for n in (1, 4):
            (x,) = _arrays(n, (n, 3))
            _same("the codes", encode(x), np.tanh(x @ _START[0] + _START[1]), "tanh of x @ w + b.")


@check("the loaded object has the variables w and b, and the signature computes with them")
def export_keeps_its_variables(export_encoder: Function) -> None:
    with _exported(export_encoder, *_START) as (loaded, encode):
        for name, value in zip("wb", _START, strict=True):
            variable = getattr(loaded, name, None)
            if not isinstance(variable, tf.Variable):
                hint = "`save` finds what is an attribute of the object that is saved."
                fail(f"The loaded object has no variable {name}.", hint)
            _same(name, variable.numpy(), value, "Which values were saved?")
        x, w, b = _arrays(31, (2, 3), (3, 2), (2,))
        loaded.w.assign(w)
        loaded.b.assign(b)
        hint = "A value that is an array, or a constant, while tracing stays as it is in the graph."
        _same("the codes with other values", encode(x), np.tanh(x @ w + b), hint)


@check("load_encoder gives each folder's own encoder")
def encoder_comes_back(export_encoder: Function, load_encoder: Function) -> None:
    (x,) = _arrays(32, (2, 3))
    with tempfile.TemporaryDirectory() as folder:
        encoders = []
        for number in (0, 1):
            place = str(Path(folder) / str(number))
            export_encoder(_START[0] + number, _START[1], place)
            encoders.append(load_encoder(place))
    gc.collect()
    for number, encode in enumerate(encoders):
        codes = encode(x)
        if not isinstance(codes, np.ndarray):
            fail(f"The function returns {type(codes).__name__}; it should return an array.")
        _same("the codes", codes, np.tanh(x @ (_START[0] + number) + _START[1]), "Each function keeps its own model.")
