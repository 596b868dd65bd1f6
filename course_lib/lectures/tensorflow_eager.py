"""What lecture 13 shows and does not explain, and its exercises: a check for each, and the solution.

A check gives what the lecture continues with: the reader's code if it is right, else the solution, which is the one
that is folded in the lecture, word for word. One solution is a class of TensorFlow's, so this module imports it, as the
lecture has done before. PyTorch is imported where it is needed.
"""

# The solutions stand as the lecture shows them, without annotations.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs, allow-subclassing-any
# ruff: noqa: RUF007

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution
from course_lib.lectures.time_spans import Spans

__all__ = [
    "check_MLP",
    "check_gradients",
    "check_make_dataset",
    "check_safe_sqrt",
    "check_saving",
    "check_sgd_step",
    "check_train_step",
    "ported_script",
    "pytorch_script",
    "slow_load",
    "watch_epoch",
]

Params = list[np.ndarray]


# What the lecture shows.


def pytorch_script(
    images: np.ndarray, labels: np.ndarray, test_images: np.ndarray, y_test: np.ndarray, params: Params, seed: int = 0
) -> list[float]:
    """The script that the lecture opens with, in PyTorch: the test accuracy after each of five epochs.

    images: (n, 64). labels: (n,). params: [W1, b1, W2, b2], the first weights.
    """
    import torch

    x_all, y_all = torch.tensor(images), torch.tensor(labels)
    leaves = [torch.tensor(p, dtype=torch.float32, requires_grad=True) for p in params]
    w1, b1, w2, b2 = leaves
    optimizer = torch.optim.SGD(leaves, lr=0.1)
    generator = torch.Generator().manual_seed(seed)
    history = []
    for _ in range(5):
        for batch in torch.randperm(len(x_all), generator=generator).split(50):
            logits = torch.relu(x_all[batch] @ w1 + b1) @ w2 + b2
            loss = torch.nn.functional.cross_entropy(logits, y_all[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            y_pred = (torch.relu(torch.tensor(test_images) @ w1 + b1) @ w2 + b2).argmax(dim=1)
        history.append(float(np.mean(y_pred.numpy() == y_test)))
    return history


def ported_script(
    images: np.ndarray,
    labels: np.ndarray,
    test_images: np.ndarray,
    y_test: np.ndarray,
    params: Params,
    *,
    relu: Callable[..., Any] | None = None,
    mean: bool = True,
    buffer_size: int | None = None,
    seed: int = 0,
    epochs: int = 5,
) -> list[float]:
    """The same in TensorFlow, without mistakes unless asked for: the test accuracy after each epoch.

    relu: np.maximum for a hidden layer that the tape does not see. mean: False for a loss that is not reduced.
    buffer_size: of `shuffle`; None for all examples.
    """
    variables = [tf.Variable(p, dtype=tf.float32) for p in params]
    w1, b1, w2, b2 = variables
    activation = relu or tf.maximum
    dataset = (
        tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(buffer_size or len(images), seed=seed).batch(50)
    )
    history = []
    for _ in range(epochs):
        for x, y in dataset:
            with tf.GradientTape() as tape:
                logits = activation(x @ w1 + b1, 0) @ w2 + b2
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
                if mean:
                    loss = tf.reduce_mean(loss)
            for variable, grad in zip(variables, tape.gradient(loss, variables), strict=True):
                if grad is not None:
                    variable.assign_sub(0.1 * grad)
        y_pred = np.argmax(np.maximum(test_images @ w1 + b1, 0) @ w2 + b2, axis=1)
        history.append(float(np.mean(y_pred == y_test)))
    return history


_watched = Spans()
LOAD_S = TRAIN_S = 0.02


def slow_load(n: Any) -> Any:
    """For `map`: the element itself, after a wait of 20 ms that `watch_epoch` notes as "load"."""

    def wait(n: Any) -> Any:
        with _watched("load"):
            time.sleep(LOAD_S)
        return n

    return tf.numpy_function(wait, [n], tf.int64)


def watch_epoch(dataset: Any) -> Spans:
    """Go through `dataset` once and wait 20 ms for each element, as if training: the spans "load" and "train".

    The dataset runs as it is written: TensorFlow would add a prefetch to one that has none.
    """
    global _watched
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    options.threading.private_threadpool_size = 4
    _watched = spans = Spans()
    for _ in dataset.with_options(options):
        with spans("train"):
            time.sleep(TRAIN_S)
    return spans


# The solutions, and what they build on, word for word.


def gradients(function, inputs):
    """The gradients of function(*inputs), one for each of the inputs, a list of constants."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(*inputs)
    return tape.gradient(result, inputs)


def sgd_step(network, params, x, y, lr):
    """One step of gradient descent on the mean cross-entropy of a batch.

    network: function of (params, x) that returns logits (batch, classes). params: list of tf.Variable.
    x: (batch, features). y: (batch,) class numbers. Returns the loss before the step, a scalar tensor.
    Raises ValueError if the loss does not depend on one of the params.
    """
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=network(params, x))
        loss = tf.reduce_mean(losses)
    grads = tape.gradient(loss, params)
    for grad in grads:
        if grad is None:
            raise ValueError("the loss does not depend on every parameter")
    for param, grad in zip(params, grads, strict=True):
        param.assign_sub(lr * grad)
    return loss


class Dense(tf.Module):
    """A fully connected layer, as in the lecture."""

    def __init__(self, n_in, n_out, rng):
        super().__init__()
        self.w = tf.Variable(rng.normal((n_in, n_out)) * (2 / n_in) ** 0.5)
        self.b = tf.Variable(tf.zeros(n_out))

    def __call__(self, x):
        return x @ self.w + self.b


# fmt: off
class MLP(tf.Module):
    """Dense layers with ReLU between them. sizes: such as [64, 32, 10]. x: (batch, sizes[0]) -> (batch, sizes[-1])."""

    def __init__(self, sizes, seed=0):
        super().__init__()
        rng = tf.random.Generator.from_seed(seed)
        self.layers = []
        for n_in, n_out in zip(sizes[:-1], sizes[1:], strict=True):
            self.layers.append(Dense(n_in, n_out, rng))
        self.steps = tf.Variable(0, trainable=False)

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = tf.nn.relu(layer(x))
        return self.layers[-1](x)
# fmt: on


loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(net, optimizer, x, y):
    """One compiled training step, counted in net.steps. x: (batch, features). y: (batch,). Returns its loss."""
    with tf.GradientTape() as tape:
        loss = loss_fn(y, net(x))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables, strict=True))
    net.steps.assign_add(1)
    return loss


def make_dataset(images, labels, batch_size, seed=None, augment=None):
    """Batches of (images, labels), prefetched.

    images: (n, features). labels: (n,). seed: None for the order of the arrays, else all examples are shuffled.
    augment: None, or a function of (image, label) for each single example; it is random, so it runs in each epoch.
    """
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    if seed is not None:
        dataset = dataset.shuffle(len(images), seed=seed)
    if augment is not None:
        dataset = dataset.map(augment)
    return dataset.batch(batch_size).prefetch(1)


@tf.custom_gradient
def safe_sqrt(u):
    """The square root of each entry, with gradient 0 where the entry is 0. u: a tensor of any shape, at least 0."""
    root = tf.sqrt(u)

    def backward(upstream):
        return tf.math.divide_no_nan(upstream, 2 * root)

    return root, backward


def save_run(run, folder):
    """Save a run, a dict of objects as make_run returns it, in a folder. Returns the path of the checkpoint."""
    checkpoint = tf.train.Checkpoint(**run)
    return checkpoint.save(f"{folder}/run")


def restore_run(run, path):
    """Put the values of a checkpoint into the objects of `run`. Raises AssertionError if an object finds no values."""
    checkpoint = tf.train.Checkpoint(**run)
    status = checkpoint.restore(path)
    status.assert_existing_objects_matched()


def _error_of(act: Callable[[], object]) -> str:
    """The error of a call, its kind and message; empty if there is none. An exercise not begun is passed on."""
    try:
        act()
    except NotImplementedError as error:
        if not error.args:
            raise
        return f"NotImplementedError: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


# Exercise 1: gradients of constants.


def check_gradients(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """What the lecture continues with: `attempt` if its gradients are right, else our `gradients`."""

    def of(function: Callable[..., Any], *values: Any) -> Any:
        return attempt(function, [tf.constant(value) for value in values])

    def three() -> Any:
        return of(lambda x, y, z: (x + y) * z, -2.0, 5.0, -4.0)

    def close(found: Any, *wanted: Any) -> bool:
        return len(found) == len(wanted) and all(
            grad is not None and np.allclose(grad, right, rtol=1e-5) for grad, right in zip(found, wanted, strict=True)
        )

    return attempt_or_solution(
        "gradients",
        attempt,
        gradients,
        (
            lambda: three() is not None,
            "Your function returns None. Is there a `return`, and does `tape.gradient` get the result first and then "
            "the inputs?",
        ),
        (
            lambda: isinstance(three(), list | tuple) and len(three()) == 3,
            "For three inputs, return three gradients: ask `tape.gradient` for the whole list.",
        ),
        (
            lambda: all(grad is not None for grad in three()),
            "A gradient is None. The inputs are constants, so call `tape.watch(inputs)`, and call `function` after "
            "that, inside the block.",
        ),
        (lambda: close(three(), -4, -4, 3), "For (x + y) * z at -2, 5 and -4, the gradients should be -4, -4 and 3."),
        (
            lambda: (
                close(of(lambda u: u**3, 2.0), 12)
                and close(of(lambda u, v: tf.reduce_sum(u * v), [1.0, 2.0], [3.0, 5.0]), [3, 5], [1, 2])
            ),
            "It is right for three inputs and (x + y) * z, but not for another function or number of inputs. Use "
            "`function(*inputs)`.",
        ),
    )


# Exercise 2: a step of gradient descent.


@dataclass
class _Step:
    """What a step did to a linear model of six examples, and what it should have done."""

    returned: Any
    items: list[Any]
    """what is in the list of params afterwards"""
    before: list[np.ndarray]
    after: list[np.ndarray]
    grads: list[np.ndarray]
    losses: np.ndarray
    loss_after: float
    lr: float

    def moved(self, factor: float) -> bool:
        """Whether each parameter moved by `factor` times its gradient."""
        changes = zip(self.before, self.after, self.grads, strict=True)
        return all(np.allclose(a - b, factor * g, rtol=1e-3, atol=1e-6) for b, a, g in changes)


def _linear(params: Any, x: Any) -> Any:
    return x @ params[0] + params[1]


def _deep(params: Any, x: Any) -> Any:
    return tf.tanh(tf.tanh(x @ params[0]) @ params[1]) @ params[2]


def _losses(network: Callable[..., Any], params: Any, x: Any, y: Any) -> Any:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=network(params, x))


def _step(attempt: Callable[..., Any], network: Any = _linear, lr: float = 0.3, times: int = 1, n: int = 6) -> _Step:
    rng = np.random.default_rng(4)
    shapes = [(4, 3), (3,)] if network is _linear else [(4, 5), (5, 4), (4, 3)]
    before = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    x, y = tf.constant(rng.normal(size=(n, 4)), tf.float32), tf.constant(np.arange(n) % 3)
    expected = [tf.Variable(p) for p in before]
    with tf.GradientTape() as tape:
        losses = _losses(network, expected, x, y)
        loss = tf.reduce_mean(losses)
    grads = [grad.numpy() for grad in tape.gradient(loss, expected)]
    variables = [tf.Variable(p) for p in before]
    params = list(variables)
    returned = None
    for _ in range(times):
        returned = attempt(network, params, x, y, lr)
    after = [variable.numpy() for variable in variables]
    return _Step(
        returned, params, before, after, grads, losses.numpy(), float(np.mean(_losses(network, variables, x, y))), lr
    )


def _broken(attempt: Callable[..., Any]) -> tuple[str, bool]:
    """What is raised where the second parameter has no gradient, and whether the first one has changed."""
    params = [tf.Variable([[1.0, 2.0]]), tf.Variable([3.0, 4.0])]
    x, y = tf.constant([[1.0], [2.0]]), tf.constant([0, 1])
    error = _error_of(lambda: attempt(lambda params, x: x @ params[0], params, x, y, 0.1))
    return error, params[0].numpy().tolist() != [[1.0, 2.0]]


def _zero_gradient(attempt: Callable[..., Any]) -> str:
    params = [tf.Variable([[1.0, 2.0]]), tf.Variable([3.0, 4.0])]
    x, y = tf.zeros((2, 1)), tf.constant([0, 1])
    return _error_of(lambda: attempt(_linear, params, x, y, 0.1))


def _raises_own_value_error(attempt: Callable[..., Any]) -> bool:
    """Whether the attempt raises a ValueError because of a None. Other errors are passed on, also TensorFlow's own."""
    try:
        _step(attempt)
    except ValueError as error:
        from_tensorflow = os.path.dirname(tf.__file__) in traceback.extract_tb(error.__traceback__)[-1].filename
        if from_tensorflow and "None" not in str(error):
            raise
        return True
    return False


def _returned(step: _Step) -> float:
    return float(np.asarray(step.returned).reshape(-1)[0])


def check_sgd_step(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """What the lecture continues with: `attempt` if it makes the right step, else our `sgd_step`."""

    def two_steps() -> bool:
        ours, theirs = _step(sgd_step, times=2), _step(attempt, times=2)
        return all(np.allclose(a, b, atol=1e-5) for a, b in zip(ours.after, theirs.after, strict=True))

    def other_network() -> bool:
        ours, theirs = _step(sgd_step, _deep, lr=0.05, n=5), _step(attempt, _deep, lr=0.05, n=5)
        return all(np.allclose(a, b, atol=1e-5) for a, b in zip(ours.after, theirs.after, strict=True))

    return attempt_or_solution(
        "sgd_step",
        attempt,
        sgd_step,
        (
            lambda: not _raises_own_value_error(attempt),
            "Your function raises a ValueError although the loss depends on every parameter. If it is the one that you "
            "wrote for None: are the forward pass and the reduction both inside the `with` block? What comes after "
            "the block is not recorded.",
        ),
        (
            lambda: all(isinstance(item, tf.Variable) for item in _step(attempt).items),
            "Your function puts tensors into the list `params`. Leave the list as it is, and call `assign_sub` on each "
            "Variable.",
        ),
        (
            lambda: not _step(attempt).moved(0.0),
            "No Variable has changed. `param = param - ...` gives a new tensor the name `param`; call "
            "`param.assign_sub(...)`.",
        ),
        (lambda: _step(attempt).returned is not None, NOTHING_RETURNED),
        (
            lambda: np.shape(_step(attempt).returned) == (),
            "The loss that you return is not a scalar. The function of `tf.nn` gives one loss for each example; "
            "reduce them.",
        ),
        (
            lambda: not np.isclose(_returned(_step(attempt)), _step(sgd_step).losses.sum(), rtol=1e-4),
            "You return the sum of the losses, not their mean.",
        ),
        (
            lambda: not np.isclose(_returned(step := _step(attempt)), step.loss_after, rtol=1e-5),
            "You return the loss after the update. Return the one before it, which the gradients belong to.",
        ),
        (
            lambda: np.isclose(_returned(_step(attempt)), _step(sgd_step).losses.mean(), rtol=1e-4),
            "The loss is not the mean cross-entropy of the logits `network(params, x)` and the classes `y`. The "
            "function of `tf.nn` applies softmax itself.",
        ),
        (
            lambda: not (step := _step(attempt)).moved(step.lr),
            "The parameters moved uphill: subtract, with `assign_sub`.",
        ),
        (
            lambda: not (step := _step(attempt)).moved(-step.lr * len(step.losses)),
            "The parameters moved as far as the number of examples times what they should: the tape differentiated the "
            "sum of the losses. Ask it for the gradient of the mean.",
        ),
        (
            lambda: (step := _step(attempt)).moved(-step.lr),
            "Each parameter should move by `-lr` times its own gradient, both taken before the step.",
        ),
        (
            lambda: _broken(attempt)[0] != "",
            "With a network that does not use one of the params, its gradient is None, and your function says nothing. "
            "Raise a ValueError.",
        ),
        (
            lambda: _broken(attempt)[0].startswith("ValueError"),
            "With a network that does not use one of the params, its gradient is None, and your function fails with "
            "another error than ValueError. Look for None before you compute with it.",
        ),
        (
            lambda: not _broken(attempt)[1],
            "Your ValueError comes too late: another parameter has changed already. Look at all gradients first.",
        ),
        (
            lambda: not _zero_gradient(attempt),
            "If the gradient of a parameter is zero, your function raises an error. Zero is not None; compare with "
            "`is None`.",
        ),
        (two_steps, "One step is right, but a second one with the same params is not."),
        (
            other_network,
            "It is right for two params, but not for a network with three. Does your code use `network` and all "
            "`params`?",
        ),
    )


# Exercise 3: a network as a module.


def _weights_of(net: Any, sizes: list[int]) -> list[tuple[Any, Any]]:
    """The Variables of a network whose sizes are all different, as pairs (w, b) in the order of its layers."""
    by_shape = {tuple(variable.shape): variable for variable in net.trainable_variables}
    return [(by_shape[n_in, n_out], by_shape[(n_out,)]) for n_in, n_out in zip(sizes[:-1], sizes[1:], strict=True)]


def _computes(attempt: type, hidden: Callable[[Any], Any], last: Callable[[Any], Any]) -> bool:
    """Whether a network computes what its weights say, with these functions after the hidden and the last layer."""
    sizes = [6, 5, 4, 3]
    net = attempt(sizes)
    rng = np.random.default_rng(2)
    for variable in net.trainable_variables:
        variable.assign(rng.normal(size=variable.shape).astype(np.float32))
    x = given = tf.constant(rng.normal(size=(7, 6)), tf.float32)
    weights = _weights_of(net, sizes)
    for w, b in weights[:-1]:
        x = hidden(x @ w + b)
    w, b = weights[-1]
    return bool(np.allclose(net(given), last(x @ w + b), atol=1e-4))


def check_MLP(attempt: type) -> type:
    """What the lecture continues with: `attempt` if it builds the right network, else our `MLP`."""

    def shapes(sizes: list[int]) -> list[tuple[int, ...]]:
        return sorted(tuple(variable.shape) for variable in attempt(sizes).trainable_variables)

    def values(seed: int) -> list[Any]:
        return [variable.numpy() for variable in attempt([5, 4, 3], seed).trainable_variables]

    def linear(z: Any) -> Any:
        return z

    def all_reached() -> bool:
        net = attempt([6, 5, 4, 3])
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(net(tf.ones((2, 6))))
        return all(grad is not None for grad in tape.gradient(total, net.trainable_variables))

    def spread() -> bool:
        sizes = [300, 200, 100]
        return all(
            abs(np.std(w) / (2 / n) ** 0.5 - 1) < 0.1 and not np.any(b)
            for (w, b), n in zip(_weights_of(attempt(sizes), sizes), sizes[:-1], strict=True)
        )

    def all_numbers() -> np.ndarray:
        drawn = [variable.numpy() for variable in attempt([4, 4, 4]).trainable_variables if len(variable.shape) == 2]
        return np.array(drawn)

    return attempt_or_solution(
        "MLP",
        attempt,
        MLP,
        (
            lambda: attempt([5, 4, 3])(tf.ones((2, 5))) is not None,
            "`__call__` returns None. Is there a `return`?",
        ),
        (
            lambda: hasattr(attempt([5, 4, 3]), "steps") and isinstance(attempt([5, 4, 3]).steps, tf.Variable),
            "`self.steps` should be a `tf.Variable`.",
        ),
        (
            lambda: attempt([5, 4, 3]).steps.dtype.is_integer and int(attempt([5, 4, 3]).steps) == 0,
            "`self.steps` should be an integer that starts at 0: write 0, not 0.0.",
        ),
        (
            lambda: not attempt([5, 4, 3]).steps.trainable,
            "`self.steps` counts; it is not trained. Say `trainable=False`.",
        ),
        (
            lambda: len(shapes([5, 4, 3])) > 0,
            "TensorFlow finds no trainable Variables. Keep the layers in an attribute, such as `self.layers`, and not "
            "only in a local name.",
        ),
        (
            lambda: shapes([5, 4, 3]) == sorted([(5, 4), (4,), (4, 3), (3,)]),
            "For the sizes [5, 4, 3] the trainable Variables should be those of two `Dense` layers: 5 to 4 and 4 to 3.",
        ),
        (
            lambda: tuple(attempt([5, 4, 3])(tf.ones((2, 5))).shape) == (2, 3),
            "For two rows of five, the network for [5, 4, 3] should give two rows of three.",
        ),
        (
            lambda: not _computes(attempt, linear, linear),
            "There is no ReLU, so the layers together are one linear layer.",
        ),
        (
            lambda: not _computes(attempt, tf.nn.relu, tf.nn.relu),
            "There is a ReLU after the last layer, so no logit could be negative.",
        ),
        (
            lambda: _computes(attempt, tf.nn.relu, linear),
            "The output is not that of the layers in their order, with one ReLU after each but the last.",
        ),
        (
            all_reached,
            "The output is right, but the gradient of some weights is None. Does `__call__` leave TensorFlow, such as "
            "with a function of NumPy?",
        ),
        (
            lambda: not np.array_equal(all_numbers()[0], all_numbers()[1]),
            "Two layers of the same size start with the same weights. Create the generator once, before the loop.",
        ),
        (
            lambda: all(np.array_equal(one, other) for one, other in zip(values(1), values(1), strict=True)),
            "The same seed gives other weights when the network is built again. Use "
            "`tf.random.Generator.from_seed(seed)`.",
        ),
        (
            lambda: not np.array_equal(max(values(0), key=np.size), max(values(1), key=np.size)),
            "Another seed gives the same weights. Does your code use `seed`?",
        ),
        (spread, "The weights and biases should start as `Dense` draws them."),
        (
            lambda: len(shapes([4, 2])) == 2 and len(shapes([5, 4, 4, 4, 4, 2])) == 10,
            "It is right for three or four sizes, but not for two or six: let the length of `sizes` decide.",
        ),
    )


# Exercise 4: a compiled training step.


def check_train_step(attempt: Any) -> Any:
    """What the lecture continues with: `attempt` if it trains and is compiled, else our `train_step`."""

    def run(step: Any, times: int, sizes: list[int], optimizer: Any, rows: int = 6) -> SimpleNamespace:
        net = MLP(sizes, 3)
        optimizer.build(net.trainable_variables)
        rng = np.random.default_rng(5)
        x, y = tf.constant(rng.normal(size=(rows, sizes[0])), tf.float32), tf.constant(np.arange(rows) % sizes[-1])
        with tf.GradientTape() as tape:
            loss = loss_fn(y, net(x))
        grads = [grad.numpy() for grad in tape.gradient(loss, net.trainable_variables)]
        before = [variable.numpy() for variable in net.trainable_variables]
        returned = [step(net, optimizer, x, y) for _ in range(times)]
        after = [variable.numpy() for variable in net.trainable_variables]
        return SimpleNamespace(
            returned=returned, moved=[a - b for a, b in zip(after, before, strict=True)], grads=grads,
            loss=float(loss), later=float(loss_fn(y, net(x))),
            steps=int(net.steps) if isinstance(net.steps, tf.Variable) else None,
        )  # fmt: skip

    def mine(times: int = 1, *, compiled: bool = False) -> SimpleNamespace:
        """Without the decorator, unless `compiled`: Keras repairs some mistakes in a graph only."""
        step = attempt if compiled else getattr(attempt, "python_function", attempt)
        return run(step, times, [4, 5, 3], tf.keras.optimizers.SGD(0.4))

    def value() -> float:
        return float(mine().returned[0])

    def along(factor: float) -> bool:
        found = mine()
        return all(
            np.allclose(m, factor * g, rtol=1e-3, atol=1e-6) for m, g in zip(found.moved, found.grads, strict=True)
        )

    def as_ours(make: Callable[[], Any]) -> bool:
        ours, theirs = (run(step, 3, [4, 6, 5, 2], make(), rows=7) for step in (train_step, attempt))
        return all(np.allclose(a, b, atol=1e-5) for a, b in zip(ours.moved, theirs.moved, strict=True))

    def is_compiled() -> bool:
        return hasattr(attempt, "python_function") and hasattr(attempt, "get_concrete_function")

    def traced_once() -> bool:
        before = attempt.experimental_get_tracing_count()
        mine(3, compiled=True)
        return bool(attempt.experimental_get_tracing_count() - before == 1)

    return attempt_or_solution(
        "train_step",
        attempt,
        train_step,
        (
            lambda: "No gradients provided" not in _error_of(mine),
            "No weight has a gradient. Compute the loss inside the `with` block, so that the tape records it, and ask "
            "for `net.trainable_variables`.",
        ),
        (
            lambda: "Argument `output` must have rank" not in _error_of(mine),
            "`loss_fn` takes the classes first: `loss_fn(y, net(x))`.",
        ),
        (
            lambda: "_unique_id" not in _error_of(mine),
            "In each pair the gradient comes first: `zip(grads, net.trainable_variables)`.",
        ),
        (
            lambda: "to unpack" not in _error_of(mine),
            "`apply_gradients` takes pairs: `zip(grads, net.trainable_variables)`.",
        ),
        (
            lambda: "Unknown variable" not in _error_of(mine),
            "Among your Variables is one that the optimizer does not train. Ask for `net.trainable_variables` both "
            "times: `net.variables` holds `net.steps`, too.",
        ),
        (lambda: mine().returned[0] is not None, NOTHING_RETURNED),
        (lambda: np.shape(mine().returned[0]) == (), "Return the loss, a scalar."),
        (
            lambda: any(np.any(change) for change in mine().moved),
            "The weights did not move: pass the pairs to `optimizer.apply_gradients`.",
        ),
        (lambda: not np.isclose(value(), mine().later, rtol=1e-4), "Return the loss before the step."),
        (
            lambda: np.isclose(value(), mine().loss, rtol=1e-4),
            "The loss is not `loss_fn(y, net(x))`. The classes come first, and `loss_fn` applies softmax itself.",
        ),
        (
            lambda: not along(-1.0) and not along(0.4),
            "The step should be the optimizer's, with its learning rate: use `optimizer.apply_gradients`.",
        ),
        (lambda: along(-0.4), "The weights should move as the optimizer says, along the gradient of the loss."),
        (
            lambda: mine().steps is not None,
            "`net.steps = ...` puts a tensor in the place of the Variable. Change its value with `assign_add`.",
        ),
        (
            lambda: mine().steps > 0,
            "`net.steps` is still 0. Count with `net.steps.assign_add(1)`, once for each step.",
        ),
        (lambda: mine().steps == 1, "After one step, `net.steps` should be 1."),
        (is_compiled, "The step is right, but it is not compiled: write `@tf.function` on the line above `def`."),
        (lambda: mine(3, compiled=True).steps == 3, "After three steps, `net.steps` should be 3. Use `assign_add`."),
        (traced_once, "Three calls with the same network traced the function more than once."),
        (
            lambda: as_ours(lambda: tf.keras.optimizers.SGD(0.1)) and as_ours(lambda: tf.keras.optimizers.Adam(0.01)),
            "It is right for one network and optimizer, but not for others. Use the arguments.",
        ),
    )


# Exercise 5: a pipeline.


def _examples(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that say which they are, and labels that do, too."""
    return np.repeat(np.arange(n, dtype=np.float32)[:, None], 3, axis=1), np.arange(n) * 10


def _epoch(dataset: Any) -> list[np.ndarray]:
    """The numbers of the examples, batch by batch, as their labels say."""
    return [np.asarray(y) // 10 for _, y in dataset]


def _order(dataset: Any) -> list[int]:
    return [int(n) for batch in _epoch(dataset) for n in batch]


def _belongs(dataset: Any) -> bool:
    return all(np.array_equal(np.asarray(x)[:, 0] * 10, y) for x, y in dataset)


class _Recorded:
    """An augmentation that adds a random number below 0.5 and remembers what shapes it was given."""

    def __init__(self) -> None:
        self.shapes: list[Any] = []

    def __call__(self, image: Any, label: Any) -> tuple[Any, Any]:
        self.shapes.append(tuple(image.shape))
        return image + tf.random.uniform((), minval=0.1, maxval=0.4), label


def _augmented(attempt: Callable[..., Any], seed: int | None) -> tuple[_Recorded, list[np.ndarray], list[np.ndarray]]:
    """The augmentation, and the noise that each example got in two epochs, sorted by example."""
    augment, found, numbers = _Recorded(), [], []
    dataset = attempt(*_examples(10), 4, seed=seed, augment=augment)
    for _ in range(2):
        batches = list(dataset)
        x, y = (np.concatenate([np.asarray(batch[k]) for batch in batches]) for k in range(2))
        at = np.argsort(y)
        found.append(x[at, 0] - np.arange(10))
        numbers.append(y[at])
    return augment, found, numbers


def check_make_dataset(make: Callable[..., Any]) -> Callable[..., Any]:
    """What the lecture continues with: `make` if its datasets are right, else our `make_dataset`."""

    def sizes() -> list[int]:
        return [len(batch) for batch in _epoch(make(*_examples(10), 4))]

    def made(seed: int | None, n: int = 10, batch_size: int = 4) -> Any:
        return make(*_examples(n), batch_size, seed=seed)

    def consecutive() -> bool:
        return all(
            np.array_equal(batch, np.arange(batch[0], batch[0] + len(batch))) for batch in _epoch(made(7, 200, 10))
        )

    return attempt_or_solution(
        "make_dataset",
        make,
        make_dataset,
        (
            lambda: "truth value" not in _error_of(lambda: made(None)),
            "`from_tensor_slices` takes one argument. Pass a tuple, with its own brackets: `((images, labels))`.",
        ),
        (lambda: made(None) is not None, "`make_dataset` returns None. Is there a `return`?"),
        (lambda: isinstance(made(None), tf.data.Dataset), "`make_dataset` should return a `tf.data.Dataset`."),
        (
            lambda: isinstance(made(None).element_spec, tuple) and len(made(None).element_spec) == 2,
            "The elements should be pairs. Pass a tuple to `from_tensor_slices`: `(images, labels)`.",
        ),
        (
            lambda: made(None).cardinality() != tf.data.INFINITE_CARDINALITY,
            "The dataset never ends. Leave out `repeat`: one pass should be one epoch.",
        ),
        (
            lambda: len(made(None).element_spec[0].shape) == 2,
            "The images of an element should have the shape (batch, features). Is there one `batch`?",
        ),
        (
            lambda: sizes() != [4, 4],
            "The last two of ten examples are missing. Keep the remainder.",
        ),
        (lambda: sizes() == [4, 4, 2], "Ten examples in batches of four should give batches of 4, 4 and 2, once."),
        (
            lambda: _order(made(None)) == list(range(10)),
            "Without a seed, the examples should come in the order of the arrays. Ask `if seed is not None` before you "
            "shuffle.",
        ),
        (
            lambda: _order(made(3, 200, 10)) != list(range(200)),
            "With a seed, nothing is shuffled. `shuffle` returns a new dataset; does your code use it?",
        ),
        (
            lambda: _order(made(0, 200, 10)) != list(range(200)),
            "With seed=0, nothing is shuffled: 0 counts as false. Ask `if seed is not None`.",
        ),
        (
            lambda: not consecutive(),
            "The batches come in random order, but each holds neighbors. Shuffle before you batch.",
        ),
        (
            lambda: max(_epoch(made(0, 4000, 20))[0]) > 2000,
            "The first batch holds only examples from the start of the arrays: the shuffle buffer is too small. "
            "It needs room for all.",
        ),
        (
            lambda: sorted(_order(made(3, 200, 10))) == list(range(200)),
            "With a seed, an epoch does not have each example exactly once.",
        ),
        (
            lambda: _belongs(made(3, 200, 10)),
            "Images and labels do not belong together any more. Shuffle the pairs, not each by itself.",
        ),
        (
            lambda: _order(dataset := made(3, 200, 10)) != _order(dataset),
            "Two epochs have the same order. Is there a `cache` after the shuffle, or "
            "`reshuffle_each_iteration=False`?",
        ),
        (
            lambda: _order(made(3, 200, 10)) == _order(made(3, 200, 10)),
            "Two datasets with the same seed have different orders. Pass `seed=seed` to `shuffle`.",
        ),
        (
            lambda: _order(made(3, 200, 10)) != _order(made(4, 200, 10)),
            "Two datasets with different seeds have the same order. Pass `seed=seed` to `shuffle`.",
        ),
        (
            lambda: len(_augmented(make, None)[0].shapes) > 0,
            "`augment` is never called. Use `map`, and assign its result; also when there is no seed.",
        ),
        (
            lambda: {*_augmented(make, None)[0].shapes} == {(3,)},
            "`augment` is made for a single image, of shape (features,). Put `map` before `batch`.",
        ),
        (
            lambda: min(_augmented(make, None)[1][0]) > 0.05,
            "`augment` is called, but the dataset holds the images as they were. `map` returns a new dataset.",
        ),
        (
            lambda: max(_augmented(make, None)[1][0]) < 0.45,
            "`augment` is applied more than once to an image.",
        ),
        (
            lambda: not np.allclose((noise := _augmented(make, None)[1])[0], noise[1]),
            "In two epochs an image gets the same augmentation. Nothing random should come before a `cache`.",
        ),
        (
            lambda: len(_augmented(make, 1)[0].shapes) > 0 and min(_augmented(make, 1)[1][0]) > 0.05,
            "With both a seed and `augment`, the images are not augmented.",
        ),
        (
            lambda: all(np.array_equal(y, np.arange(10) * 10) for y in _augmented(make, 1)[2]),
            "With both a seed and `augment`, an epoch does not have each example exactly once.",
        ),
        (
            lambda: "Prefetch" in type(made(None)).__name__ or "Options" in type(made(None)).__name__,
            "The batches are right, but they are not prefetched. `prefetch` comes last, after `batch`.",
        ),
    )


# Under "If you want more": a gradient of one's own.


def _slope(function: Callable[..., Any], u: Any, upstream: Any) -> np.ndarray:
    u = tf.convert_to_tensor(u)
    with tf.GradientTape() as tape:
        tape.watch(u)
        total = tf.reduce_sum(tf.cast(upstream, u.dtype) * function(u))
    grad = tape.gradient(total, u)
    return np.full(u.shape, np.nan) if grad is None else np.asarray(grad)


def check_safe_sqrt(attempt: Any) -> Any:
    """What the lecture continues with: `attempt` if root and gradient are right, else our `safe_sqrt`."""
    three = tf.constant([4.0, 0.25, 9.0])
    usual = np.array([0.25, 1.0, 1 / 6])

    def slope(u: Any, upstream: Any = 1.0) -> np.ndarray:
        return _slope(attempt, u, upstream)

    def in_a_graph() -> bool:
        compiled = tf.function(attempt, input_signature=[tf.TensorSpec((None,), tf.float32)])
        return bool(np.allclose(_slope(compiled, tf.constant([4.0, 0.0]), 8.0), [2, 0]))

    def decorated() -> bool:
        returned = attempt(three)
        return not (isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1]))

    return attempt_or_solution(
        "safe_sqrt",
        attempt,
        safe_sqrt,
        (
            lambda: not any(word in _error_of(lambda: attempt(three)) for word in ("unpack", "not iterable")),
            "Return two things: the root, and the function `backward` (without calling it).",
        ),
        (
            lambda: "unsupported callable" not in _error_of(lambda: attempt(three)),
            "The second thing that you return should be a function of one argument, the upstream gradient, that "
            "returns the gradient of `u`.",
        ),
        (decorated, "`@tf.custom_gradient` is missing above the `def`, so the function returns a tuple."),
        (
            lambda: (
                not any(word in _error_of(lambda: slope(three)) for word in ("callable", "returned 0", "positional"))
            ),
            "The second thing that you return should be a function of one argument, the upstream gradient, that "
            "returns the gradient of `u`.",
        ),
        (lambda: np.allclose(attempt(three), [2, 0.5, 3]), "The roots of 4, 0.25 and 9 are not 2, 0.5 and 3."),
        (lambda: not np.isnan(np.asarray(attempt(tf.constant([0.0])))).any(), "The root of 0 is not a number."),
        (
            lambda: np.allclose(attempt(tf.constant([1e-16, 0.0])), [1e-8, 0], rtol=1e-3, atol=0),
            "The roots of 1e-16 and 0 are not 1e-8 and 0. Leave `u` as it is when you compute the root.",
        ),
        (
            lambda: not np.isnan(slope(three)).any(),
            "The gradient of `u` is None or nan. What does `backward` return?",
        ),
        (lambda: not np.allclose(slope(three), 2 * usual), "The gradient is twice too large: divide by 2."),
        (lambda: not np.allclose(slope(three), -usual), "The sign of the gradient is wrong."),
        (
            lambda: (
                not (np.allclose(slope(three), usual, rtol=1e-3) and np.allclose(slope(three, 8.0), usual, rtol=1e-3))
            ),
            "The gradient does not depend on the upstream gradient. Multiply by it.",
        ),
        (
            lambda: np.allclose(slope(three, [8.0, -2.0, 3.0]), [2, -2, 0.5], rtol=1e-3),
            "For u = [4, 0.25, 9] and the upstream gradient [8, -2, 3], the gradient should be [2, -2, 0.5].",
        ),
        (
            lambda: np.isfinite(slope(tf.constant([4.0, 0.0]), 8.0)).all(),
            "At u = 0 the gradient is not finite. Divide so that a division by 0 gives 0.",
        ),
        (
            lambda: np.allclose(slope(tf.constant([4.0, 0.0]), 8.0), [2, 0], rtol=1e-3),
            "For u = [4, 0] and the upstream gradient 8, the gradient should be [2, 0].",
        ),
        (
            lambda: np.allclose(slope(tf.constant([1e-12])), [5e5], rtol=1e-3),
            "At u = 1e-12 the gradient should be 5e5. Treat only 0 in another way, and add nothing to the divisor.",
        ),
        (
            lambda: np.allclose(slope(tf.constant([[4.0, 0.0], [1.0, 4.0]])), [[0.25, 0.0], [0.5, 0.25]]),
            "It is right for a vector, but not for a tensor of shape (2, 2).",
        ),
        (
            lambda: np.allclose(slope(tf.constant([2.0, 0.0], tf.float64)), [0.125**0.5, 0], rtol=1e-12, atol=0),
            "It is right for float32, but not for float64.",
        ),
        (
            lambda: not _error_of(in_a_graph) and in_a_graph(),
            "It is right at once, but not inside a `tf.function`. Use operations of TensorFlow only.",
        ),
    )


# Exercise 6: save and restore.


def _fresh_run(value: float, names: tuple[str, ...] = ("weights", "counter", "order")) -> dict[str, Any]:
    """A run as small as can be: a module, a Variable, and an iterator."""
    module = tf.Module()
    module.w = tf.Variable([value, value + 1])
    objects = [module, tf.Variable(int(value)), iter(tf.data.Dataset.range(100))]
    return dict(zip(names, objects, strict=True))


def _state(run: dict[str, Any]) -> list[Any]:
    module, counter, order = run.values()
    return [module.w.numpy().tolist(), int(counter), int(next(order))]


def check_saving(
    save: Callable[..., Any], restore: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What the lecture continues with: both functions if both are right, else our `save_run` and `restore_run`."""

    def saved(folder: str, value: float = 5.0) -> Any:
        run = _fresh_run(value)
        for _ in range(3):
            next(run["order"])
        return save(run, folder)

    def kept(folder: str) -> list[bool]:
        run = _fresh_run(1.0)
        restore(run, saved(folder))
        return [one == other for one, other in zip(_state(run), [[5.0, 6.0], 5, 3], strict=True)]

    def error_with(names: tuple[str, ...]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = saved(folder)
            return _error_of(lambda: restore(_fresh_run(1.0, names), path))

    def in_a_folder(question: Callable[[str], Any]) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            return question(folder)

    def partial() -> str:
        with tempfile.TemporaryDirectory() as folder:
            path, run = saved(folder), _fresh_run(1.0)
            del run["counter"]
            return _error_of(lambda: restore(run, path))

    return attempt_or_solution(
        "save_run and restore_run",
        (save, restore),
        (save_run, restore_run),
        (
            lambda: not _error_of(lambda: in_a_folder(kept)).startswith("KeyError"),
            "Your code asks for an entry that the run in this check does not have: its names are others than those of "
            "`make_run`. A run may have any entries: use `**run`.",
        ),
        (
            lambda: "root to be a trackable" not in _error_of(lambda: in_a_folder(kept)),
            "A Checkpoint takes keyword arguments, one for each object. Pass the entries of the dict: `**run`.",
        ),
        (lambda: in_a_folder(saved) is not None, "`save_run` returns None. Return the path that `save` returns."),
        (
            lambda: in_a_folder(lambda folder: isinstance(saved(folder), str | os.PathLike)),
            "`save_run` should return a path, which is what `save` returns.",
        ),
        (
            lambda: in_a_folder(lambda folder: os.fspath(saved(folder)).startswith(os.path.join(folder, ""))),
            "The checkpoint is not in the folder that `save_run` was given. Is the prefix a path inside it?",
        ),
        (
            lambda: in_a_folder(lambda folder: os.path.exists(os.fspath(saved(folder)) + ".index")),
            "There is no checkpoint at the path that `save_run` returns. `save` adds a number to the prefix; return "
            "what it returns.",
        ),
        (
            lambda: any(in_a_folder(kept)),
            "Nothing was restored: all objects of the run are as they were. The names in `tf.train.Checkpoint(...)` "
            "must be the same in both functions, those of `run`.",
        ),
        (
            lambda: all(in_a_folder(kept)),
            "A part of the run was not saved, or not restored. A run may have any entries: use `**run`.",
        ),
        (
            lambda: error_with(("weights", "other", "order")) != "",
            "An entry of the run has no values in the checkpoint, and `restore_run` says nothing. Ask the status: "
            "`assert_existing_objects_matched()`.",
        ),
        (
            lambda: error_with(("weights", "other", "order")).startswith("AssertionError"),
            "If an entry of the run has no values in the checkpoint, the error should be the AssertionError of "
            "`assert_existing_objects_matched()`.",
        ),
        (
            lambda: partial() == "",
            "A run with fewer entries than the checkpoint should be restored. `assert_consumed()` demands more than "
            "`assert_existing_objects_matched()`: that every value is used.",
        ),
    )
