"""Checks for the exercises of lecture 12, and their solutions.

Each check names the first mistake that it finds. The solutions are those that are folded in the lecture, word for word.
TensorFlow is imported when it is first used.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution

__all__ = ["check_build_network", "check_curve", "check_descend", "check_evaluate"]

# The solutions are written as a reader writes them: without types.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"


class _TensorFlow1:
    """`tensorflow.compat.v1`, imported when an attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        from tensorflow.compat import v1

        return getattr(v1, name)


tf: Any = _TensorFlow1()


def curve(points):
    """Evaluate y = 10 x^2 - 5 x + 4 at each point: one graph, one session, one run for each point.

    points: list of floats. Returns (graph, values): a tf.Graph with the scalar float32 placeholder "x" and the
    tensor "y", and a list of the values of y.
    """
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, shape=[], name="x")
        y = tf.add(10 * x**2 - 5 * x, 4.0, name="y")
    with tf.Session(graph=graph) as session:
        values = [session.run(y, feed_dict={x: point}) for point in points]
    return graph, values


def evaluate(fetch, feed_dict, kernels):
    """The value of the symbolic tensor `fetch`, without a session.

    feed_dict: symbolic tensor -> value. kernels: type of operation -> function of the values of its inputs.
    Raises ValueError if a placeholder is needed and was not fed.
    """
    values = dict(feed_dict)

    def value_of(tensor):
        if tensor not in values:
            op = tensor.op
            if op.type == "Placeholder":
                raise ValueError(f"You must feed a value for {tensor.name}.")
            if op.type == "Const":
                values[tensor] = tf.make_ndarray(op.get_attr("value"))
            else:
                inputs = [value_of(t) for t in op.inputs]
                values[tensor] = kernels[op.type](*inputs)
        return values[tensor]

    return value_of(fetch)


def descend(lr, steps):
    """Gradient descent on y = 10 x^2 - 5 x + 4 from x = 0.

    Returns (graph, visited): the tf.Graph, and a list with the value of x after each step.
    """
    graph = tf.Graph()
    with graph.as_default():
        x = tf.Variable(0.0, name="x")
        y = 10 * x**2 - 5 * x + 4
        [dy_dx] = tf.gradients(y, [x])
        step = tf.assign_sub(x, lr * dy_dx)
        init = tf.global_variables_initializer()
    visited = []
    with tf.Session(graph=graph) as session:
        session.run(init)
        for _ in range(steps):
            session.run(step)
            visited.append(session.run(x))
    return graph, visited


def build_network(hidden, lr):
    """A two-layer network for digits, with its training step.

    Returns (graph, nodes): a tf.Graph, and a dict with
    "x": placeholder (batch, 64), float32; "y": placeholder (batch,), int64; batch: any size;
    "logits": (batch, 10); "loss": scalar; "train": one step of gradient descent; "init": the initializer.
    """
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 64], name="x")
        y = tf.placeholder(tf.int64, [None], name="y")
        h = tf.nn.relu(dense(x, hidden, "layer_1"))
        logits = dense(h, 10, "layer_2")
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_mean(losses)
        train = tf.train.GradientDescentOptimizer(lr).minimize(loss)
        init = tf.global_variables_initializer()
    return graph, {"x": x, "y": y, "logits": logits, "loss": loss, "train": train, "init": init}


def dense(x: Any, units: int, scope: str) -> Any:
    """x @ w + b with the variables scope/w (features, units) and scope/b (units,). x: (batch, features)."""
    with tf.variable_scope(scope):
        w = tf.get_variable("w", [x.shape[1], units])
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
    return x @ w + b


def _is_graph_and(found: Any, kind: type | tuple[type, ...]) -> bool:
    pair = isinstance(found, tuple) and len(found) == 2
    return pair and isinstance(found[0], tf.Graph) and isinstance(found[1], kind)


def _operations(graph: Any) -> int:
    return len(graph.get_operations())


@contextlib.contextmanager
def _recorded_runs() -> Iterator[list[tuple[Any, Any]]]:
    """The runs of all sessions inside the block, each with its session and its fetches."""
    base = next(kind for kind in tf.Session.__mro__ if "run" in vars(kind))
    run, runs = base.run, []

    def recorded(session: Any, fetches: Any, *arguments: Any, **settings: Any) -> Any:
        runs.append((session, fetches))
        return run(session, fetches, *arguments, **settings)

    with mock.patch.object(base, "run", recorded):
        yield runs


def _changes_a_variable(session: Any, fetches: Any) -> bool:
    """Whether a run with these fetches assigns to a variable."""
    nodes = [session.graph.as_graph_element(fetch) for fetch in tf.nest.flatten(fetches)]
    waiting = [getattr(node, "op", node) for node in nodes]
    seen = set(waiting)
    while waiting:
        op = waiting.pop()
        if any(word in op.type for word in ("Assign", "Apply")):
            return True
        needed = {*(tensor.op for tensor in op.inputs), *op.control_inputs} - seen
        seen |= needed
        waiting += needed
    return False


def _error_of(act: Callable[[], object]) -> str:
    """The message of the error that a call raises; empty if there is none. An exercise not begun is passed on."""
    try:
        act()
    except NotImplementedError:
        raise
    except Exception as error:
        return str(error)
    return ""


def check_curve(attempt: Any) -> Any:
    """`curve(points)` returns (graph, values) for y = 10 x^2 - 5 x + 4."""

    @functools.cache
    def called(points: tuple[float, ...]) -> Any:
        with _recorded_runs() as runs:
            return attempt(list(points)), runs

    def make(points: list[float]) -> Any:
        """What `curve(points)` returns; called once for each list, because a graph and a session take time."""
        return called(tuple(points))[0]

    def sessions(points: list[float]) -> list[Any]:
        """The session of each run"""
        return [session for session, _ in called(tuple(points))[1]]

    def named(kind: str) -> list[str]:
        return [op.name for op in make([1.0])[0].get_operations() if op.type == kind]

    def fetched(point: float) -> Any:
        """y in the returned graph, in a session of ours"""
        graph, _ = make([1.0])
        with tf.Session(graph=graph) as session:
            return session.run("y:0", {"x:0": point})

    def has(name: str) -> bool:
        return name in {op.name for op in make([1.0])[0].get_operations()}

    def shape() -> Any:
        return make([1.0])[0].get_tensor_by_name("x:0").shape

    def fails_with(words: str) -> bool:
        return words in _error_of(lambda: make([1.0]))

    return attempt_or_solution(
        "curve", attempt, curve,
        (lambda: not fails_with("not compatible with eager execution"),
         "The placeholder belongs to no graph. Create all nodes inside `with graph.as_default():`."),
        (lambda: not fails_with("graph is empty"),
         "Your session runs another graph, which is empty. Open it on yours: `tf.Session(graph=graph)`."),
        (lambda: not fails_with("must feed"),
         "A run got no value for the placeholder. Pass one with feed_dict={x: point}."),
        (lambda: make([1.0]) is not None, NOTHING_RETURNED),
        (lambda: isinstance(make([1.0]), tuple) and len(make([1.0])) == 2, "Return two things: graph and values."),
        (lambda: isinstance(make([1.0])[0], tf.Graph), "The first thing that you return should be the tf.Graph."),
        (lambda: _operations(make([1.0])[0]) > 0,
         "The graph that you return is empty. Create its nodes inside `with graph.as_default():`."),
        (lambda: len(named("Placeholder")) == 1, "The graph should have one placeholder, not none or several."),
        (lambda: named("Placeholder") == ["x"], 'Give the placeholder the name "x": tf.placeholder(..., name="x").'),
        (lambda: has("y"), 'No node is called "y". The last operation needs name="y".'),
        (lambda: shape().rank in (0, None), "The placeholder is not a scalar. A scalar has the shape []."),
        (lambda: not any(tf.is_tensor(value) for value in make([1.0, 2.0])[1]),
         "The values are symbolic tensors. They become numbers in session.run."),
        (lambda: len(make([1.0, 2.0, 3.0])[1]) == 3, "There should be one value for each point."),
        (lambda: all(np.shape(value) == () for value in make([1.0, 2.0])[1]),
         "Each value should be one number. Do you fetch a list, such as session.run([y], ...)?"),
        (lambda: abs(fetched(0.0) - 4) < 1e-5, "At x = 0 the node y should be 4."),
        (lambda: abs(fetched(1.0) - 9) < 1e-5, "At x = 1 the node y should be 10 - 5 + 4 = 9."),
        (lambda: abs(fetched(-2.0) - 54) < 1e-4, "At x = -2 the node y should be 10 * 4 + 10 + 4 = 54."),
        (lambda: np.allclose(make([0.0, 1.0, -2.0])[1], [4, 9, 54]),
         "The node y is right, but the values are not y at each of the points, in their order."),
        (lambda: len(sessions([0.0, 1.0, -2.0])) > 0,
         "The values are right, but Python computed them: your function never calls session.run. Fetch y."),
        (lambda: len(sessions([0.0, 1.0, -2.0])) >= 3,
         "The values are right, but there should be one run for each point. Feed one number at a time."),
        (lambda: len(set(map(id, sessions([0.0, 1.0, -2.0])))) == 1,
         "The values are right, but each point gets its own session. Open one, with the loop inside it."),
        (lambda: _operations(make([1.0])[0]) == _operations(make([1.0, 2.0, 3.0])[0]),
         "The graph grows with the number of points. Build it once, before the runs."),
    )  # fmt: skip


def check_evaluate(attempt: Any) -> Any:
    """`evaluate(fetch, feed_dict, kernels)` is the value of the fetch, each node computed at most once."""
    run: Any = attempt
    calls: list[str] = []

    def counted(kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def kernel(*inputs: Any) -> Any:
            calls.append(kind)
            return function(*inputs)

        return kernel

    functions = {"AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply, "Pow": np.power, "MatMul": np.matmul}
    kernels = {kind: counted(kind, function) for kind, function in functions.items()}
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        three = tf.constant(3.0, name="three")
        by_three = tf.multiply(x, three, name="by_three")
        plus_two = tf.add(x, 2.0, name="plus_two")
        product = tf.multiply(plus_two, x, name="product")
        difference = tf.subtract(x, by_three, name="difference")
        doubled = x
        for _ in range(10):
            doubled = doubled + doubled
        rows = tf.placeholder(tf.float32, [None, 3], name="rows")
        matrix = tf.constant(np.arange(6.0, dtype=np.float32).reshape(3, 2), name="matrix")
        outputs = tf.matmul(rows, matrix)
        other = tf.exp(rows, name="unneeded") + product

    def value(fetch: Any, feed_dict: dict[Any, Any]) -> Any:
        calls.clear()
        return run(fetch, feed_dict, kernels)

    def times(fetch: Any, feed_dict: dict[Any, Any]) -> int:
        value(fetch, feed_dict)
        return len(calls)

    def error_of(fetch: Any, feed_dict: dict[Any, Any]) -> str:
        try:
            value(fetch, feed_dict)
        except NotImplementedError:
            raise
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def feeds_afterwards() -> int:
        feeds = {x: 3.0}
        value(product, feeds)
        return len(feeds)

    def one_after_the_other() -> list[float]:
        return [float(value(product, {x: number})) for number in (3.0, 4.0, 3.0)]

    def others_kernel() -> Any:
        return run(by_three, {x: 2.0}, {"Mul": lambda a, b: 10 * a + b})

    def needs_other() -> str:
        return error_of(other, {x: 1.0, rows: np.zeros((1, 3))})

    nodes = _operations(graph)
    ones = np.ones((2, 3), np.float32)
    return attempt_or_solution(
        "evaluate", attempt, evaluate,
        (lambda: "rows" not in error_of(x, {x: 3.0}),
         "Your function asks for placeholders that the fetch does not need. Start at the fetch and walk back."),
        (lambda: value(x, {x: 3.0}) is not None,
         "Your function returns None for a fetch that is in the feed dict. Does it `return` a value that is known?"),
        (lambda: value(x, {x: 3.0}) == 3, "A tensor that is fed has the value that was fed."),
        (lambda: value(x, {x: 2.0}) == 2,
         "A second call with another feed returns an old value. The dictionary of values belongs to one call."),
        (lambda: value(three, {}) is not None, "Your function returns None for a constant. Is there a `return`?"),
        (lambda: not tf.is_tensor(value(three, {})), "Your function returns a symbolic tensor. Return its value."),
        (lambda: isinstance(value(three, {}), (np.ndarray, np.generic, float)) and value(three, {}) == 3,
         "The value of a Const is tf.make_ndarray(op.get_attr(\"value\")), an array."),
        (lambda: value(by_three, {x: 2.0}) is not None, "Your function returns None for a Mul. Is there a `return`?"),
        (lambda: value(by_three, {x: 2.0}) == 6, "With x = 2, a Mul of x and the constant 3 should give 6."),
        (lambda: others_kernel() == 23,
         "The value does not come from `kernels[op.type]`. Use the argument `kernels`, for every type but the two."),
        (lambda: value(difference, {x: 2.0}) == -4,
         "x - 3 * x should be -4 for x = 2. The inputs of a Sub have an order: keep that of op.inputs."),
        (lambda: value(product, {x: 3.0}) == 15, "(x + 2) * x should be 15 for x = 3."),
        (lambda: np.array_equal(value(outputs, {rows: ones}), ones @ np.arange(6.0).reshape(3, 2)),
         "A product of matrices is wrong."),
        (lambda: error_of(product, {}) != "", "A placeholder that is needed but not fed should raise a ValueError."),
        (lambda: error_of(product, {}).startswith("ValueError"),
         "A placeholder that was not fed should raise a ValueError; yours raises something else. Test the type "
         "Placeholder before you look into `kernels`."),
        (lambda: "x" in error_of(product, {}).partition(":")[2].replace("exp", ""),
         "The message of your ValueError should name the placeholder, for example with tensor.name."),
        (lambda: error_of(by_three, {x: 2.0, rows: ones}) == "" and error_of(product, {x: 2.0}) == "",
         "Your function fails because of nodes that the fetch does not need. Start at the fetch and walk back."),
        (lambda: value(product, {plus_two: 10.0, x: 3.0}) == 30,
         "A tensor in the feed dict is not computed, even if it is no placeholder. Look for it in `values` first."),
        (lambda: times(doubled, {x: 1.0}) <= 10,
         "A node that is used twice is computed twice. Store each value, and look it up before you compute."),
        (lambda: value(doubled, {x: 1.0}) == 1024, "A chain of 10 doublings of 1 should give 1024."),
        (lambda: feeds_afterwards() == 1,
         "Your function writes into the caller's feed dict, so a second call would find old values. Make a copy: "
         "dict(feed_dict)."),
        (lambda: one_after_the_other() == [15, 24, 15],
         "A second call with another feed returns an old value. The dictionary of values belongs to one call."),
        (lambda: "exp" in needs_other().lower(), "A type that is not in `kernels` should raise an error."),
        (lambda: _operations(graph) == nodes, "Your function adds nodes to the graph. It should only read it."),
    )  # fmt: skip


def check_descend(attempt: Any) -> Any:
    """`descend(lr, steps)` returns (graph, visited) for y = 10 x^2 - 5 x + 4 from x = 0."""

    @functools.cache
    def called(lr: float, steps: int) -> Any:
        with _recorded_runs() as runs:
            return attempt(lr, steps), runs

    def go(lr: float, steps: int) -> Any:
        return called(lr, steps)[0]

    def changes(steps: int) -> int:
        """How many runs assign to a variable, the initializer's among them"""
        return sum(_changes_a_variable(*run) for run in called(0.02, steps)[1])

    def fails_with(words: str) -> bool:
        return words in _error_of(lambda: go(0.02, 2))

    def visited(lr: float, steps: int) -> list[float]:
        return [float(value) for value in go(lr, steps)[1]]

    def begins(lr: float, *wanted: float) -> bool:
        return np.allclose(visited(lr, len(wanted)), wanted, atol=1e-5)

    return attempt_or_solution(
        "descend", attempt, descend,
        (lambda: not fails_with("uninitialized"),
         "The variable is uninitialized in your session. Create the initializer after the variable, and run it once, "
         "before the loop."),
        (lambda: not fails_with("'NoneType'"),
         "The gradient is None. Start x at the float 0.0, and compute y from x."),
        (lambda: not fails_with("sequence by non-int"),
         "`tf.gradients` returns a list with one entry: `[dy_dx] = tf.gradients(y, [x])`."),
        (lambda: go(0.02, 2) is not None, NOTHING_RETURNED),
        (lambda: isinstance(go(0.02, 2), tuple) and len(go(0.02, 2)) == 2, "Return two things: graph and visited."),
        (lambda: isinstance(go(0.02, 2)[0], tf.Graph), "The first thing that you return should be the tf.Graph."),
        (lambda: isinstance(go(0.02, 2)[1], (list, tuple, np.ndarray)), "The second thing should be a list."),
        (lambda: not any(tf.is_tensor(value) or isinstance(value, tf.Variable) for value in go(0.02, 2)[1]),
         "The list holds symbolic tensors or variables. Their values come from session.run."),
        (lambda: not any(value is None for value in go(0.02, 2)[1]),
         "The list holds None. An operation such as that of an optimizer has no output; fetch x in another run."),
        (lambda: all(np.shape(value) == () for value in go(0.02, 2)[1]),
         "Each entry should be one number. Do you fetch a list, such as session.run([x])?"),
        (lambda: len(go(0.02, 3)[1]) == 3,
         "After 3 steps the list should have 3 entries, one for each step; the start, 0, is not among them."),
        (lambda: not begins(0.02, 0.0, 0.1, 0.16),
         "The first entry is 0, so x was read before the step. Fetch x after the step, in a run of its own: the "
         "fetches of one run have no order."),
        (lambda: not begins(0.02, 0.0, 0.0, 0.0),
         "x stays at 0. Does the loop run the step, and does the step change the variable? `x - ...` only computes a "
         "number; `tf.assign_sub` stores it."),
        (lambda: not begins(0.02, -0.1), "The first step goes to -0.1, uphill. Subtract lr times the gradient."),
        (lambda: not begins(0.02, 5.0), "After one step x is 5, which is minus the gradient. Where is lr?"),
        (lambda: not begins(0.02, 0.1, 0.1, 0.1),
         "The first step is right, but it starts at 0 again in each round. Open one session, run the initializer once, "
         "before the loop, and subtract with `tf.assign_sub`: `x - ...` alone does not change the variable."),
        (lambda: begins(0.02, 0.1), "The first step with lr=0.02 should lead to 0.1."),
        (lambda: begins(0.02, 0.1, 0.16, 0.196), "Three steps with lr=0.02 should lead to 0.1, 0.16 and 0.196."),
        (lambda: begins(0.08, 0.4, 0.16), "With lr=0.08, x should go to 0.4 and back to 0.16. Do you use `lr`?"),
        (lambda: _operations(go(0.02, 1)[0]) == _operations(go(0.02, 4)[0]),
         "The results are right, but the graph grows with the number of steps: something in your loop adds nodes. "
         "Build the gradient and the step before the loop."),
        (lambda: _operations(go(0.02, 1)[0]) > 0 and any("grad" in op.name for op in go(0.02, 1)[0].get_operations()),
         "The graph that you return has no gradient in it. Let tf.gradients add it, inside `with graph.as_default()`."),
        (lambda: changes(4) - changes(1) >= 3,
         "The numbers are right, but Python computed them: the loop never runs an operation that changes the variable. "
         "Run the step in each round, and then fetch x."),
    )  # fmt: skip


def check_build_network(attempt: Any) -> Any:
    """`build_network(hidden, lr)` returns (graph, nodes) of a two-layer network with its training step."""

    finalized: list[bool] = []

    @functools.cache
    def build(hidden: int, lr: float) -> Any:
        """What `build_network` returns; its graph open again if it was finalized, since the checks add nodes."""
        made = attempt(hidden, lr)
        if _is_graph_and(made, dict):
            finalized.append(made[0].finalized)
            made[0]._unsafe_unfinalize()
        return made

    keys = {"x", "y", "logits", "loss", "train", "init"}
    rng = np.random.default_rng(0)
    images, labels = rng.random((5, 64), np.float32) - 0.3, rng.integers(0, 10, 5)

    @contextlib.contextmanager
    def running(hidden: int = 4, lr: float = 0.5) -> Iterator[tuple[Any, dict[str, Any], Any]]:
        """The graph, its nodes, and a session in which the variables have values."""
        graph, nodes = build(hidden, lr)
        with tf.Session(graph=graph) as session:
            session.run(nodes["init"])
            yield graph, nodes, session

    def variables(graph: Any) -> list[Any]:
        with graph.as_default():
            return list(tf.trainable_variables())

    def shapes(hidden: int) -> list[tuple[int, ...]]:
        return sorted(tuple(variable.shape.as_list()) for variable in variables(build(hidden, 0.5)[0]))

    def forward(hidden: int = 4) -> tuple[Any, Any]:
        """The logits, and what they should be: (x @ w1 + b1).relu() @ w2 + b2."""
        with running(hidden) as (graph, nodes, session):
            found = session.run(nodes["logits"], {nodes["x"]: images})
            sizes = {tuple(v.shape.as_list()): v for v in variables(graph)}
            w1, b1, w2, b2 = session.run([sizes[64, hidden], sizes[hidden,], sizes[hidden, 10], sizes[10,]])
            return found, np.maximum(images @ w1 + b1, 0) @ w2 + b2

    def without(layer: int) -> bool:
        """Are the logits those of a network without ReLU (0), or with a ReLU after the logits (1)?"""
        with running() as (graph, nodes, session):
            found = session.run(nodes["logits"], {nodes["x"]: images})
            sizes = {tuple(v.shape.as_list()): v for v in variables(graph)}
            w1, b1, w2, b2 = session.run([sizes[64, 4], sizes[4,], sizes[4, 10], sizes[10,]])
            linear = (images @ w1 + b1) @ w2 + b2
            high = np.maximum(np.maximum(images @ w1 + b1, 0) @ w2 + b2, 0)
            return np.allclose(found, high if layer else linear, atol=1e-5)

    def probabilities() -> bool:
        found, _ = forward()
        return bool(np.allclose(found.sum(1), 1, atol=1e-4))

    def loss() -> tuple[Any, float]:
        """The loss, and the mean cross-entropy of the logits of the same run."""
        with running() as (_, nodes, session):
            feeds = {nodes["x"]: images, nodes["y"]: labels}
            found, logits = session.run([nodes["loss"], nodes["logits"]], feeds)
            shifted = logits - logits.max(1, keepdims=True)
            rows = np.log(np.exp(shifted).sum(1)) - shifted[np.arange(5), labels]
            return found, float(rows.mean())

    def ratio() -> float:
        found, mean = loss()
        return float(found) / mean

    def after_a_step(lr: float) -> float:
        """The largest difference, in two steps, from what the gradients say."""
        graph, nodes = build(4, lr)
        with graph.as_default():
            trained = tf.trainable_variables()
            gradients = tf.gradients(nodes["loss"], trained)
        with tf.Session(graph=graph) as session:
            session.run(nodes["init"])
            feeds = {nodes["x"]: images, nodes["y"]: labels}
            gaps = []
            for _ in range(2):
                start, slopes = session.run([trained, gradients], feeds)
                session.run(nodes["train"], feeds)
                end = session.run(trained)
                gaps += [np.abs(e - (s - lr * g)).max() for s, g, e in zip(start, slopes, end, strict=True)]
        return float(max(gaps))

    def moved() -> bool:
        with running() as (graph, nodes, session):
            trained = variables(graph)
            start = session.run(trained)
            session.run(nodes["train"], {nodes["x"]: images, nodes["y"]: labels})
            return any(not np.array_equal(s, e) for s, e in zip(start, session.run(trained), strict=True))

    def nodes() -> dict[str, Any]:
        return dict(build(4, 0.5)[1])

    def initializes() -> bool:
        with running() as (graph, _, session):
            with graph.as_default():
                missing = tf.report_uninitialized_variables()
            return len(session.run(missing)) == 0

    def takes(rows: int) -> bool:
        with running() as (_, nodes, session):
            feeds = {nodes["x"]: np.zeros((rows, 64)), nodes["y"]: np.zeros(rows, int)}
            return bool(np.shape(session.run(nodes["logits"], feeds)) == (rows, 10))

    def sizes_of(key: str) -> list[int | None]:
        shape = nodes()[key].shape
        return list(shape.as_list()) if shape.rank is not None else []

    return attempt_or_solution(
        "build_network", attempt, build_network,
        (lambda: build(4, 0.5) is not None, NOTHING_RETURNED),
        (lambda: _is_graph_and(build(4, 0.5), dict), "Return the graph and a dict: `return graph, {\"x\": x, ...}`."),
        (lambda: keys <= nodes().keys(), f"The dict should have the keys {', '.join(sorted(keys))}."),
        (lambda: nodes()["train"] is not None and nodes()["init"] is not None,
         "\"train\" or \"init\" is None. Store the operations that minimize(...) and "
         "tf.global_variables_initializer() return."),
        (lambda: not isinstance(nodes()["train"], tf.train.Optimizer),
         "\"train\" is the optimizer. Its minimize(loss) returns the operation."),
        (lambda: not callable(nodes()["init"]), "\"init\" is a function. Call it: it returns the operation."),
        (lambda: all(getattr(node, "graph", None) is build(4, 0.5)[0] for node in nodes().values()),
         "Some nodes are not in the graph that you return. Create all of them inside `with graph.as_default():`."),
        (lambda: all(nodes()[key].op.type == "Placeholder" for key in "xy"), "\"x\" and \"y\" should be placeholders."),
        (lambda: nodes()["x"].dtype == tf.float32 and nodes()["y"].dtype == tf.int64,
         "The dtype of x should be float32, and that of y int64."),
        (lambda: sizes_of("x")[1:] == [64], "The shape of x should be (batch, 64)."),
        (lambda: len(sizes_of("y")) == 1, "The shape of y should be (batch,): one class number for each row."),
        (lambda: sizes_of("x")[0] is None and sizes_of("y")[0] is None,
         "The number of rows is fixed. A size of None accepts any batch."),
        (lambda: shapes(4) != [], "The graph has no trainable variables. Use `dense`."),
        (lambda: shapes(4) == [(4,), (4, 10), (10,), (64, 4)] or len(shapes(4)) != 4,
         "With hidden=4 the weights should be (64, 4) and (4, 10), the biases (4,) and (10,)."),
        (lambda: len(shapes(4)) == 4, "There should be four variables: a weight matrix and a bias for each layer."),
        (lambda: shapes(7) == [(7,), (7, 10), (10,), (64, 7)], "With hidden=7 the shapes are wrong. Is `hidden` used?"),
        (lambda: initializes(), "The initializer leaves out some variables. Create it after all of them."),
        (lambda: takes(1) and takes(3), "The logits should have the shape (batch, 10)."),
        (lambda: not without(0), "The hidden layer has no ReLU."),
        (lambda: not without(1), "There is a ReLU after the second layer. Logits may be negative."),
        (lambda: not probabilities(), "The logits are probabilities. The loss contains the softmax, so leave it out."),
        (lambda: np.allclose(*forward(), atol=1e-5), "The logits should be relu(x @ w1 + b1) @ w2 + b2."),
        (lambda: np.shape(loss()[0]) == (), "The loss should be one number: the mean over the batch."),
        (lambda: abs(ratio() - 5) > 1e-3,
         "The loss is the sum over the batch, not the mean."),
        (lambda: abs(ratio() - 1) < 1e-4,
         "The loss should be the mean cross-entropy of logits and y. The function of `tf.nn` applies softmax itself."),
        (lambda: moved(), "Running \"train\" moves no variable. It should be what minimize(loss) returns."),
        (lambda: after_a_step(0.5) < 1e-4,
         "After \"train\" each variable should be lr times its gradient lower, with lr=0.5. Does minimize get the mean "
         "loss, and is the optimizer plain gradient descent?"),
        (lambda: after_a_step(0.125) < 1e-4, "With lr=0.125 the step is wrong. Do you use the argument `lr`?"),
        (lambda: not any(finalized),
         "The graph is finalized, but the lecture adds a Saver to it. Leave out `graph.finalize()` here."),
    )  # fmt: skip
