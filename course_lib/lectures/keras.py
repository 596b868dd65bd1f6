"""The exercises of lecture 14: what each check asks, and the solution that the lecture continues with meanwhile.

Each solution stands here as it is folded in the lecture, so it has a notebook's form: without annotations, and with
`keras`, `layers`, `ops` and `tf` as names of the module.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-subclassing-any, no-check-untyped-defs, no-warn-return-any

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from course_lib import frameworks
from course_lib.exercises import attempt_or_solution

frameworks.prepare("tensorflow", "keras")

import keras  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers, ops  # noqa: E402

__all__ = [
    "check_evaluate_each",
    "check_image_norm",
    "check_make_cnn",
    "check_make_form_reader",
    "check_make_sum_model",
    "check_watched_model",
    "check_wrong_per_100",
]


def _near(a: Any, b: Any) -> bool:
    first, second = np.asarray(a), np.asarray(b)
    return first.shape == second.shape and bool(np.allclose(first, second, rtol=1e-4, atol=1e-5))


def _once(function: Callable[[], SimpleNamespace]) -> Callable[[], SimpleNamespace]:
    """The same, but what it returned the first time is returned again; without TensorFlow's warnings about tracing."""

    @functools.lru_cache(maxsize=1)
    def once() -> SimpleNamespace:
        with _quiet():
            return function()

    return once


def _refused(ask: Callable[[], object]) -> str:
    """What Keras has against it; empty if nothing."""
    try:
        ask()
    except ValueError as error:
        return str(error)
    return ""


@contextmanager
def _quiet() -> Iterator[None]:
    """A check that runs again and again makes many small models, and TensorFlow warns of each new graph after a few."""
    level = tf.get_logger().level
    tf.get_logger().setLevel("ERROR")
    try:
        yield
    finally:
        tf.get_logger().setLevel(level)


def _layers_of(model: Any) -> list[Any]:
    return [layer for layer in model.layers if not isinstance(layer, layers.InputLayer)]


# wrong_per_100


def wrong_per_100(model, train, test):
    """Train the compiled `model` on the pair `train`; return the wrong answers per 100 images of the pair `test`."""
    x, y = train
    model.fit(x, y, batch_size=50, epochs=15, verbose=0)
    x, y = test
    _, accuracy = model.evaluate(x, y, verbose=0)
    return 100 * (1 - accuracy)


def check_wrong_per_100(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`wrong_per_100(model, train, test) -> float`, after one `fit` of `model`."""

    @_once
    def seen() -> SimpleNamespace:
        return _trained_and_tested(attempt)

    def gives(wanted: float) -> bool:
        return _near(seen().result, wanted)

    return attempt_or_solution(
        "wrong_per_100",
        attempt,
        wrong_per_100,
        (
            lambda: not seen().pair,
            "A method got a pair in place of the images. Pass `x` and `y` as two arguments: `x, y = train` unpacks "
            "the pair.",
        ),
        (
            lambda: seen().fits or _raise(seen().error),
            "The model that is passed was never trained: call `model.fit`.",
        ),
        (lambda: len(seen().fits) == 1, "`fit` is called more than once."),
        (
            lambda: seen().fits[0].get("x") is not seen().test[0],
            "The model is trained on the test images. Pass the images and labels of `train` to `fit`.",
        ),
        (
            lambda: seen().fits[0].get("x") is seen().train[0] and seen().fits[0].get("y") is seen().train[1],
            "`fit` should get the images and the labels of `train`, in this order.",
        ),
        (
            lambda: seen().fits[0].get("epochs", 1) == 15,
            "The model is not trained for 15 epochs. Without `epochs=15`, `fit` makes a single one.",
        ),
        (
            lambda: seen().fits[0].get("batch_size") == 50,
            "The batches do not have 50 images. Without `batch_size=50`, they have 32.",
        ),
        (
            lambda: "'list'" not in str(seen().error),
            "`evaluate` returns a list of two numbers, the loss and the accuracy. Unpack it: `_, accuracy = "
            "model.evaluate(...)`.",
        ),
        (lambda: seen().error is None or _raise(seen().error), "The function does not run to its end."),
        (lambda: seen().result is not None, "The function returns nothing: `return` the wrong answers per 100."),
        (
            lambda: np.ndim(seen().result) == 0 and not isinstance(seen().result, dict),
            "The result should be one number. `evaluate` returns the loss and the accuracy; use the accuracy.",
        ),
        (lambda: not gives(seen().untrained), "This was measured before the training. Call `fit` first."),
        (
            lambda: not gives(seen().on_train),
            "These are the wrong answers on `train`, which the model has learned. Evaluate it on `test`.",
        ),
        (
            lambda: not gives(100 - seen().wanted) and not gives(1 - seen().wanted / 100),
            "You count the right answers. The share of wrong ones is `1 - accuracy`.",
        ),
        (
            lambda: not gives(seen().wanted / 100),
            "This is the share of wrong answers, between 0 and 1. Multiply it by 100.",
        ),
        (
            lambda: not gives(seen().wanted / 100 * len(seen().test[1])),
            "This is the number of all wrong answers. How many are there per 100 images?",
        ),
        (
            lambda: not any(gives(value) for value in (seen().loss, 100 * seen().loss, 100 * (1 - seen().loss))),
            "You use the loss. `evaluate` returns the loss first, and then the accuracy.",
        ),
        (
            lambda: not gives(99 + seen().wanted / 100) and not gives(seen().wanted - 99),
            "The accuracy lies between 0 and 1. Subtract it from 1, and then multiply by 100.",
        ),
        (
            lambda: not gives(round(seen().wanted)) and not gives(int(seen().wanted)),
            "You round the number. Return it as it is.",
        ),
        (
            lambda: gives(seen().wanted),
            "The result is not the number of wrong answers per 100 images of `test`. Does it come from "
            "`model.evaluate(x, y)` with the images and labels of `test`?",
        ),
    )


def _trained_and_tested(attempt: Callable[..., Any]) -> SimpleNamespace:
    """What the attempt made of a small model: its calls of `fit`, its result, and the numbers it may have returned."""
    rng = np.random.default_rng(8)
    x, y = rng.standard_normal((157, 4)).astype("float32"), rng.integers(3, size=157)
    x[:, 0] += y
    train, test = (x[:120], y[:120]), (x[120:], y[120:])
    notes = SimpleNamespace(fits=[], pair=False)

    class Noting(keras.Sequential):
        def fit(self, *args: Any, **kwargs: Any) -> Any:
            given = inspect.signature(super().fit).bind(*args, **kwargs).arguments
            self.refuse_pair(given)
            notes.fits.append(given)
            return super().fit(*args, **kwargs)

        def evaluate(self, *args: Any, **kwargs: Any) -> Any:
            given = inspect.signature(super().evaluate).bind(*args, **kwargs).arguments
            self.refuse_pair(given)
            return super().evaluate(*args, **kwargs)

        def refuse_pair(self, given: dict[str, Any]) -> None:
            if isinstance(given.get("x"), tuple):
                notes.pair = True
                raise TypeError("a pair")

    keras.utils.set_random_seed(0)
    model = Noting([keras.Input((4,)), layers.Dense(3)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])

    def wrong(pair: tuple[np.ndarray, np.ndarray]) -> float:
        return float(100 * np.mean(np.argmax(model(pair[0], training=False), axis=1) != pair[1]))

    untrained, result, error = wrong(test), None, None
    try:
        result = attempt(model, train, test)
    except Exception as problem:
        error = problem
    return SimpleNamespace(
        **vars(notes),
        train=train,
        test=test,
        result=result,
        error=error,
        untrained=untrained,
        wanted=wrong(test),
        on_train=wrong(train),
        loss=float(loss(test[1], model(test[0], training=False))),
    )


# make_cnn


def make_cnn(augment=()):
    """A keras.Sequential from images (N, 8, 8, 1) to logits (N, 10), with the layers of `augment` in front."""
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            *augment,
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(10),
        ]
    )


def check_make_cnn(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`make_cnn(augment) -> keras.Model` from images (N, 8, 8, 1) to logits (N, 10)."""

    @_once
    def seen() -> SimpleNamespace:
        model = attempt()
        if not isinstance(model, keras.Model):
            return SimpleNamespace(model=model, kinds=[])
        found = _layers_of(model)
        convolutions = [layer for layer in found if isinstance(layer, layers.Conv2D)]
        built = bool(model.built and model.weights)
        kinds = [type(layer).__name__ for layer in found]
        return SimpleNamespace(model=model, found=found, convolutions=convolutions, built=built, kinds=kinds)

    def each(name: str) -> list[Any]:
        return [getattr(layer, name) for layer in seen().convolutions]

    def logits() -> np.ndarray:
        x = np.random.default_rng(0).standard_normal((16, 8, 8, 1)).astype("float32")
        return np.asarray(seen().model(10 * x, training=False))

    def rectified() -> bool:
        inside = [getattr(activation, "__name__", "") for activation in each("activation")]
        return inside.count("relu") + seen().kinds.count("ReLU") + _activations(seen().found) >= 2

    def with_front() -> list[Any]:
        front = [layers.GaussianNoise(0.1, name="front_a"), layers.GaussianNoise(0.1, name="front_b")]
        return [layer.name for layer in _layers_of(attempt(front))]

    return attempt_or_solution(
        "make_cnn",
        attempt,
        make_cnn,
        (
            lambda: "output size would be zero" not in _refused(seen),
            'The image gets too small for a layer. It begins as (8, 8, 1); `padding="same"` keeps its size, and '
            "`MaxPooling2D()` halves it. `Conv2D` takes the number of filters and then their size, but no number of "
            "input channels: a third number would be `strides`.",
        ),
        (
            lambda: "Only instances of `keras.Layer`" not in _refused(seen),
            "An element of the list is not a layer. Unpack `augment` with a star, `*augment`; a class needs "
            "parentheses to make a layer, as in `layers.MaxPooling2D()`.",
        ),
        (lambda: seen().model is not None, "The function returns nothing: `return` the model."),
        (lambda: isinstance(seen().model, keras.Model), "Return a `keras.Sequential` made of the list of layers."),
        (lambda: seen().built, "The model is not built. Begin the list with `keras.Input((8, 8, 1))`."),
        (
            lambda: seen().model.input_shape == (None, 8, 8, 1),
            "The input has another shape than (8, 8, 1). `keras.Input` takes the shape of one image.",
        ),
        (
            lambda: len(seen().convolutions) == 2,
            "There should be two `Conv2D` layers. `summary()` of your model lists the layers it has.",
        ),
        (
            lambda: each("filters") == [16, 32],
            "The convolutions do not have 16 and then 32 filters, which is the first argument of `Conv2D`.",
        ),
        (
            lambda: each("kernel_size") == [(3, 3), (3, 3)],
            "The filters should have 3 x 3 pixels: `Conv2D(16, 3, ...)`.",
        ),
        (
            lambda: each("padding") == ["same", "same"],
            'The image gets smaller in a convolution. `padding="same"` keeps its size; the default is `"valid"`.',
        ),
        (lambda: each("strides") == [(1, 1), (1, 1)], "The filters skip pixels: leave `strides` at its default, 1."),
        (lambda: rectified(), 'A convolution has no ReLU after it: `activation="relu"`.'),
        (
            lambda: not any("AveragePooling" in kind or "Global" in kind for kind in seen().kinds),
            "You pool by another rule. `MaxPooling2D()` keeps the largest value of each 2 x 2 square.",
        ),
        (
            lambda: seen().kinds.count("MaxPooling2D") == 2,
            "There should be a `MaxPooling2D()` after each of the two convolutions.",
        ),
        (
            lambda: (
                seen().kinds.index("MaxPooling2D") < _last(seen().kinds, "Conv2D") < _last(seen().kinds, "MaxPooling2D")
            ),
            "The order is convolution, pooling, convolution, pooling.",
        ),
        (
            lambda: len(seen().model.output_shape) == 2,
            "The output still has axes for the pixels. `Flatten()` makes a row of each image's numbers; it belongs "
            "before the `Dense` layer.",
        ),
        (lambda: seen().model.output_shape == (None, 10), "There should be 10 outputs, one logit for each class."),
        (
            lambda: not np.allclose(logits().sum(axis=1), 1, atol=1e-3),
            "The outputs of each image sum to 1, so they are probabilities. Leave the softmax out: the loss takes "
            "logits.",
        ),
        (lambda: logits().min() < 0, "No output is negative. The last layer returns logits, without an activation."),
        (lambda: "Dropout" in seen().kinds, "There is no `Dropout(0.3)` yet."),
        (
            lambda: [layer.rate for layer in seen().found if isinstance(layer, layers.Dropout)] == [0.3],
            "There should be one dropout layer, with rate 0.3.",
        ),
        (
            lambda: _last(seen().kinds, "MaxPooling2D") < seen().kinds.index("Dropout") < _last(seen().kinds, "Dense"),
            "The dropout belongs between the last pooling and the `Dense` layer.",
        ),
        (
            lambda: seen().model.count_params() == 6090,
            "Your model does not have 6,090 parameters, although each convolution is right. Compare its `summary()` "
            "with the list in the exercise.",
        ),
        (
            lambda: {"front_a", "front_b"} <= set(with_front()),
            "The layers of `augment` are not all in the model. Unpack the list with `*augment`.",
        ),
        (
            lambda: with_front()[:2] == ["front_a", "front_b"],
            "The layers of `augment` are in the model, but they should be the first ones, in their order.",
        ),
        (
            lambda: seen().model is not attempt() and not {*map(id, seen().found)} & {*map(id, _layers_of(attempt()))},
            "Two calls of `make_cnn` share layers, so training one model would change the other. Make the layers "
            "inside the function.",
        ),
    )


def _last(kinds: list[str], kind: str) -> int:
    return max(place for place, name in enumerate(kinds) if name == kind)


def _activations(found: list[Any]) -> int:
    kinds = [layer.activation for layer in found if isinstance(layer, layers.Activation)]
    return sum(getattr(activation, "__name__", "") == "relu" for activation in kinds)


# EvaluateEach


class EvaluateEach(keras.callbacks.Callback):
    """After each epoch, evaluate the model on each of `sets`: name -> (x, y)."""

    def __init__(self, sets):
        super().__init__()
        self.sets = sets

    def on_train_begin(self, logs=None):
        self.accuracy = {name: [] for name in self.sets}

    def on_epoch_end(self, epoch, logs=None):
        for name, (x, y) in self.sets.items():
            result = self.model.evaluate(x, y, verbose=0, return_dict=True)
            self.accuracy[name].append(result["accuracy"])


def check_evaluate_each(attempt: type[Any]) -> type[Any]:
    """A callback with `__init__(sets)` and, after a `fit`, `accuracy`: name -> a list with a number for each epoch."""

    @_once
    def seen() -> SimpleNamespace:
        return _fitted_with(attempt)

    def lists() -> list[list[Any]]:
        return [list(values) for values in seen().accuracy.values()]

    def refused_arguments() -> str:
        try:
            seen()
        except (AttributeError, TypeError, ValueError) as error:
            return str(error)
        return ""

    def same(wanted: dict[str, list[float]]) -> bool:
        return all(_near(seen().accuracy[name], wanted[name]) for name in wanted)

    return attempt_or_solution(
        "EvaluateEach",
        attempt,
        EvaluateEach,
        (
            lambda: isinstance(attempt({}), keras.callbacks.Callback),
            "The class is no longer a subclass of `keras.callbacks.Callback`.",
        ),
        (
            lambda: not re.search(r"on_\w+\(\) takes", refused_arguments()),
            "`fit` passes `logs`, whether you use it or not: `on_train_begin(self, logs=None)` and "
            "`on_epoch_end(self, epoch, logs=None)`.",
        ),
        (
            lambda: _ACCURACY_IS_A_LIST not in refused_arguments(),
            "`accuracy` is a list, and you index it with a name. It should be a dictionary: name -> list.",
        ),
        (
            lambda: "list indices must be integers" not in refused_arguments(),
            '`evaluate` returns a list, which has no place `"accuracy"`. Pass `return_dict=True` to get a dictionary.',
        ),
        (
            lambda: "values to unpack" not in refused_arguments(),
            "A line unpacks more or fewer values than there are. `for name, (x, y) in self.sets.items()` gives a name "
            "and its pair; without `.items()`, the loop gives the names only.",
        ),
        (
            lambda: "no attribute 'accuracy'" not in refused_arguments(),
            "When an epoch ends, the callback has no attribute `accuracy`. Set `self.accuracy` in `on_train_begin`, "
            "and check the spelling of that method.",
        ),
        (
            lambda: "None values not supported" not in _refused(seen),
            "`evaluate` got a pair in place of the images, so it has no labels. Unpack the pair: "
            "`for name, (x, y) in self.sets.items()`.",
        ),
        (
            lambda: seen().accuracy is not None,
            "After `fit` the callback has no attribute `accuracy`. Set `self.accuracy` in `on_train_begin`, and check "
            "the spelling of that method.",
        ),
        (lambda: isinstance(seen().accuracy, dict), "`accuracy` should be a dictionary: name -> list."),
        (
            lambda: set(seen().accuracy) == set(seen().wanted),
            "The keys of `accuracy` are not the names in `sets`. Use `self.sets`, not a dictionary of the notebook.",
        ),
        (
            lambda: all(isinstance(values, list) for values in seen().accuracy.values()),
            "`accuracy` should hold a list for each name. Append to this list; do not put a number in its place.",
        ),
        (
            lambda: any(lists()),
            "The lists are empty after `fit`. Append in `on_epoch_end(self, epoch, logs=None)`; check the spelling.",
        ),
        (
            lambda: all(_is_number(value) for values in lists() for value in values),
            "The lists hold something else than numbers. `evaluate` returns the loss and all metrics; append the "
            "accuracy alone.",
        ),
        (
            lambda: not seen().one_list,
            "All names share one list object, so each number is appended to the list of every name. Make a new `[]` "
            "for each name.",
        ),
        (
            lambda: all(len(values) == seen().epochs for values in lists()),
            f"There were {_EPOCHS} epochs, but a list does not have {_EPOCHS} numbers. Append once for each name in "
            "`on_epoch_end`, not for each batch; and make the lists in `on_train_begin`, not for each epoch.",
        ),
        (lambda: not same(seen().losses), "These are the losses. Append the accuracy."),
        (
            lambda: not any(_near(values, seen().from_logs) for values in lists()),
            "A list holds the accuracy that `fit` measured on its own training data. Evaluate on each of `sets`.",
        ),
        (
            lambda: not any(_near(values, seen().from_logs_valid) for values in lists()),
            "A list holds `val_accuracy` from `logs`. Evaluate on each of `sets`.",
        ),
        (
            lambda: not _near(*lists()),
            "All sets get the same accuracies, but they contain different examples. Evaluate each on its own `(x, y)`.",
        ),
        (lambda: same(seen().wanted), "The accuracies are not those of the model after each epoch on these sets."),
        (
            lambda: all(len(values) == seen().epochs for values in seen().second.values()),
            "In a second `fit` with the same callback, the lists go on from the first. Make them anew in "
            "`on_train_begin`.",
        ),
        (
            lambda: seen().kept is not seen().second,
            "A second `fit` changes the dictionary of the first. Set `self.accuracy` to a new one in `on_train_begin`.",
        ),
    )


_EPOCHS = 3
_ACCURACY_IS_A_LIST = "`accuracy` is a list"


def _is_number(value: Any) -> bool:
    return not isinstance(value, dict) and np.ndim(value) == 0


def _fitted_with(attempt: type[Any]) -> SimpleNamespace:
    """A small model, trained twice with the callback; `wanted` and `losses` come from another callback."""
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((48, 4)).astype("float32"), rng.integers(3, size=48)
    sets = {"one": (x[:17], y[:17]), "another": (x[17:30], y[17:30])}
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), layers.Dense(8), layers.Dropout(0.5), layers.Dense(3)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.SGD(2.0), loss=loss, metrics=["accuracy"])
    wanted: dict[str, list[float]] = {name: [] for name in sets}
    losses: dict[str, list[float]] = {name: [] for name in sets}

    class Reference(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            for name, (inputs, targets) in sets.items():
                logits = self.model(inputs, training=False)
                wanted[name].append(float(np.mean(np.argmax(logits, axis=1) == targets)))
                losses[name].append(float(loss(targets, logits)))

    callback = attempt(sets)
    settings: dict[str, Any] = {"epochs": _EPOCHS, "batch_size": 16, "verbose": 0, "validation_data": (x[30:], y[30:])}
    try:
        history = model.fit(x[:40], y[:40], callbacks=[Reference(), callback], **settings).history
    except TypeError as error:
        if "list indices" in str(error) and isinstance(getattr(callback, "accuracy", None), list):
            raise TypeError(_ACCURACY_IS_A_LIST) from error
        raise
    accuracy = getattr(callback, "accuracy", None)
    shown, one_list = accuracy, False
    if isinstance(accuracy, dict):
        one_list = len({id(values) for values in accuracy.values()}) < len(accuracy)
        shown = {name: values[:] if isinstance(values, list) else values for name, values in accuracy.items()}
        model.fit(x[:40], y[:40], callbacks=[callback], **settings)
    return SimpleNamespace(
        accuracy=shown,
        one_list=one_list,
        kept=accuracy,
        second=getattr(callback, "accuracy", None),
        wanted={name: values[:_EPOCHS] for name, values in wanted.items()},
        losses={name: values[:_EPOCHS] for name, values in losses.items()},
        epochs=_EPOCHS,
        from_logs=history["accuracy"],
        from_logs_valid=history["val_accuracy"],
    )


# make_form_reader


def make_form_reader(reader):
    """A keras.Model from {"left", "right"}, each (N, 8, 8, 1) with pixels from 0 to 16, to the sums (N,).

    reader: a model from images (N, 8, 8, 1) with pixels from 0 to 1 to logits (N, 10).
    """
    left = keras.Input((8, 8, 1), name="left")
    right = keras.Input((8, 8, 1), name="right")
    rescale = layers.Rescaling(1 / 16)
    left_logits = reader(rescale(left))
    right_logits = reader(rescale(right))
    total = ops.argmax(left_logits, axis=1) + ops.argmax(right_logits, axis=1)
    return keras.Model({"left": left, "right": right}, total)


def check_make_form_reader(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`make_form_reader(reader) -> keras.Model` from {"left", "right"}, each (N, 8, 8, 1), to the sums (N,)."""
    rng = np.random.default_rng(4)
    forms = {side: rng.integers(17, size=(40, 8, 8, 1)).astype("float32") for side in ("left", "right")}

    @_once
    def seen() -> SimpleNamespace:
        reader = keras.Sequential([keras.Input((8, 8, 1)), layers.Flatten(), layers.Dropout(0.5), layers.Dense(10)])
        kernel = rng.standard_normal((64, 10))
        reader.set_weights([kernel, -kernel.sum(axis=0) / 2])
        return SimpleNamespace(reader=reader, model=attempt(reader))

    def output(rows: int = 40) -> np.ndarray:
        return np.asarray(seen().model({side: x[:rows] for side, x in forms.items()}))

    def logits(side: str, scale: float = 1 / 16) -> np.ndarray:
        return np.asarray(seen().reader(scale * forms[side], training=False))

    def digits(side: str, scale: float = 1 / 16) -> np.ndarray:
        return logits(side, scale).argmax(axis=1)

    def gives(wanted: np.ndarray) -> bool:
        return _near(output(), wanted)

    return attempt_or_solution(
        "make_form_reader",
        attempt,
        make_form_reader,
        (
            lambda: "Only input tensors may be passed" not in _refused(seen) or "Rescaling" not in _refused(seen),
            "The reader got the layer `Rescaling`, not an image. With `rescale = layers.Rescaling(1 / 16)`, the "
            "rescaled image is `rescale(left)`.",
        ),
        (lambda: seen().model is not None, "The function returns nothing: `return keras.Model(...)`."),
        (lambda: _is_model(seen().model), "Return a `keras.Model(inputs, outputs)`."),
        (
            lambda: isinstance(seen().model.input, dict) and set(seen().model.input) == {"left", "right"},
            'The inputs are not a dictionary with the keys `"left"` and `"right"`, the first argument of `Model`.',
        ),
        (
            lambda: all(tuple(tensor.shape) == (None, 8, 8, 1) for tensor in seen().model.input.values()),
            "An input has another shape than (8, 8, 1), which is the shape of one image with its channel.",
        ),
        (
            lambda: not isinstance(seen().model.output, (dict, list, tuple)),
            "The output should be one tensor, the sum, not a dictionary or a list.",
        ),
        (
            lambda: any(weight is seen().reader.weights[0] for weight in seen().model.weights),
            "The reader that is passed is not part of the model. Call it on each of the two images.",
        ),
        (
            lambda: seen().model.count_params() == seen().reader.count_params(),
            "The model has other weights than those of the reader. Call the same reader twice; nothing else is "
            "learned.",
        ),
        (
            lambda: output().shape != (40, 10),
            "There are ten numbers for each form. Choose the class with the largest logit: `ops.argmax`.",
        ),
        (
            lambda: output().shape not in ((40, 2), (2, 40), (80,)),
            "Each form gives two numbers. Add the two digits.",
        ),
        (
            lambda: output().shape == (40,),
            "40 forms should give 40 sums, with the shape (40,). Along which axis of the logits, (N, 10), are the "
            "classes?",
        ),
        (
            lambda: not gives((logits("left") + logits("right")).argmax(axis=1)),
            "You add the logits, and then choose a class. Choose a class for each image, and then add.",
        ),
        (
            lambda: not gives(logits("left").max(axis=1) + logits("right").max(axis=1)),
            "`ops.max` is the largest logit itself. `ops.argmax` is its place, which is the class.",
        ),
        (
            lambda: not gives(logits("left").argmin(axis=1) + logits("right").argmin(axis=1)),
            "You choose the class with the smallest logit.",
        ),
        (
            lambda: not gives(digits("left", 1) + digits("right", 1)),
            "The pixels reach the reader without rescaling. Did you call `rescale`, and keep its results in other "
            "variables than the inputs? A model begins at the tensors in its first argument.",
        ),
        (
            lambda: not gives(digits("left", 1) + digits("right")) and not gives(digits("left") + digits("right", 1)),
            "Only one of the two images is rescaled.",
        ),
        (
            lambda: not gives(digits("left", 16) + digits("right", 16)),
            "The pixels are multiplied by 16. The factor is what the input is multiplied by.",
        ),
        (
            lambda: not gives(digits("left", 1 / 256) + digits("right", 1 / 256)),
            "The pixels are divided by about 256. They go from 0 to 16, so divide by 16, once.",
        ),
        (lambda: not gives(2 * digits("left")), "The right image has no influence. Is the left one read twice?"),
        (lambda: not gives(2 * digits("right")), "The left image has no influence. Is the right one read twice?"),
        (lambda: not gives(digits("left") - digits("right")), "You subtract the digits. Add them."),
        (lambda: not gives(digits("left") * digits("right")), "You multiply the digits. Add them."),
        (
            lambda: gives(digits("left") + digits("right")),
            "The outputs are not the sums of the classes with the largest logits. Is the factor of `Rescaling` 1 / 16, "
            "and do you add the two classes as they are?",
        ),
        (
            lambda: {tensor.name for tensor in seen().model.inputs} == {"left", "right"},
            'Give each input its key as its name: `keras.Input((8, 8, 1), name="left")`.',
        ),
        (lambda: output(3).shape == (3,), "The model works for one number of forms only."),
    )


# make_sum_model


def make_sum_model(encoder):
    """A keras.Model from {"left", "right"}, each (N, 8, 8, 1), to logits {"total": (N, 19), "larger": (N, 1)}."""
    left = keras.Input((8, 8, 1), name="left")
    right = keras.Input((8, 8, 1), name="right")
    features = layers.Concatenate()([encoder(left), encoder(right)])
    hidden = layers.Dense(64, activation="relu", name="hidden")(features)
    total = layers.Dense(19, name="total")(hidden)
    larger = layers.Dense(1, name="larger")(hidden)
    return keras.Model({"left": left, "right": right}, {"total": total, "larger": larger})


def check_make_sum_model(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`make_sum_model(encoder) -> keras.Model` with two inputs, two outputs and a shared encoder."""

    @_once
    def seen() -> SimpleNamespace:
        keras.utils.set_random_seed(0)
        encoder = keras.Sequential([keras.Input((8, 8, 1)), layers.Flatten(), layers.Dense(6)])
        model = attempt(encoder)
        dense = [layer for layer in model.layers if isinstance(layer, layers.Dense)] if _is_model(model) else []
        return SimpleNamespace(model=model, encoder=encoder, dense=dense)

    def inputs(rows: int = 5) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(1)
        return {side: rng.random((rows, 8, 8, 1)).astype("float32") for side in ("left", "right")}

    def outputs(**changed: np.ndarray) -> dict[str, np.ndarray]:
        return {name: np.asarray(value) for name, value in seen().model({**inputs(), **changed}).items()}

    def depends_on(side: str) -> bool:
        before, after = outputs(), outputs(**{side: 1 - inputs()[side]})
        return all(not np.allclose(before[name], after[name]) for name in before)

    def shapes() -> dict[str, Any]:
        return {name: value.shape for name, value in outputs().items()}

    def hidden() -> list[Any]:
        return [layer for layer in seen().dense if layer.units == 64]

    return attempt_or_solution(
        "make_sum_model",
        attempt,
        make_sum_model,
        (lambda: seen().model is not None, "The function returns nothing: `return keras.Model(...)`."),
        (lambda: _is_model(seen().model), "Return a `keras.Model(inputs, outputs)`."),
        (
            lambda: isinstance(seen().model.input, dict) and set(seen().model.input) == {"left", "right"},
            'The inputs are not a dictionary with the keys `"left"` and `"right"`, the first argument of `Model`.',
        ),
        (
            lambda: isinstance(seen().model.output, dict) and set(seen().model.output) == {"total", "larger"},
            'The outputs are not a dictionary with the keys `"total"` and `"larger"`, the second argument of '
            "`keras.Model`.",
        ),
        (
            lambda: shapes() != {"total": (5, 1), "larger": (5, 19)},
            "The outputs `total` and `larger` are swapped in the dictionary.",
        ),
        (lambda: shapes()["total"] == (5, 19), "`total` should have 19 logits: the sums from 0 to 18."),
        (lambda: shapes()["larger"] == (5, 1), "`larger` should have one logit for each pair."),
        (
            lambda: any(weight is seen().encoder.weights[0] for weight in seen().model.weights),
            "The encoder that is passed is not part of the model. Call it: `encoder(left)`.",
        ),
        (
            lambda: depends_on("right") or not depends_on("left"),
            "The right image has no influence on an output. Both images must pass through the encoder and reach the "
            "hidden layer.",
        ),
        (
            lambda: depends_on("left"),
            "The left image has no influence on an output. Is the same feature vector joined with itself?",
        ),
        (
            lambda: _softmax_like(seen().model) != "total",
            "`total` gives probabilities. Leave the softmax out: the loss will take logits.",
        ),
        (
            lambda: _softmax_like(seen().model) != "larger",
            "`larger` always lies between 0 and 1. Leave the sigmoid out: the loss will take logits.",
        ),
        (lambda: hidden(), "There is no `Dense` layer with 64 units."),
        (lambda: len(hidden()) == 1, "Both output layers should read the same hidden layer; there should be one."),
        (
            lambda: getattr(hidden()[0].activation, "__name__", "") == "relu" or _has_relu(seen().model),
            "The hidden layer has no ReLU.",
        ),
        (
            lambda: tuple(hidden()[0].kernel.shape) == (12, 64),
            "The hidden layer should read the features of both images side by side, twice as many as the encoder "
            "returns. `layers.Concatenate()` joins them; a sum or difference would not keep them apart.",
        ),
        (
            lambda: seen().model.count_params() == 64 * 6 + 6 + 12 * 64 + 64 + 64 * 19 + 19 + 64 + 1,
            "The model does not have as many weights as the encoder (once), the hidden layer and the two output layers "
            "hold. Use one encoder for both images, and let both output layers read the hidden layer.",
        ),
        (
            lambda: {tensor.name for tensor in seen().model.inputs} == {"left", "right"},
            'Give each input its key as its name: `keras.Input((8, 8, 1), name="left")`.',
        ),
        (
            lambda: {"total", "larger"} <= {layer.name for layer in seen().model.layers},
            'Give each output layer its key as its name: `layers.Dense(19, name="total")`.',
        ),
    )


def _is_model(model: Any) -> bool:
    return isinstance(model, keras.Model)


def _has_relu(model: Any) -> bool:
    return any(type(part).__name__.lower() == "relu" for part in model.operations) or _activations(model.layers) > 0


def _softmax_like(model: Any) -> str:
    """Which output has left the logits, judged with large weights; the weights are put back."""
    kept, rng = model.get_weights(), np.random.default_rng(2)
    model.set_weights([rng.standard_normal(weight.shape) for weight in kept])
    pairs = {side: rng.random((64, 8, 8, 1)).astype("float32") for side in ("left", "right")}
    found = {name: np.asarray(value) for name, value in model(pairs).items()}
    model.set_weights(kept)
    if np.allclose(found["total"].sum(axis=1), 1, atol=1e-3):
        return "total"
    return "larger" if found["larger"].min() >= 0 and found["larger"].max() <= 1 else ""


# ImageNorm


class ImageNorm(layers.Layer):
    """Standardize each image of (N, H, W, C); then scale and shift each channel by learned numbers."""

    def build(self, input_shape):
        channels = input_shape[-1]
        self.gamma = self.add_weight(shape=(channels,), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(channels,), initializer="zeros", name="beta")

    def call(self, x):
        mean = ops.mean(x, axis=(1, 2, 3), keepdims=True)
        variance = ops.var(x, axis=(1, 2, 3), keepdims=True)
        z = (x - mean) / ops.sqrt(variance + 0.001)
        return self.gamma * z + self.beta


def check_image_norm(attempt: type[Any]) -> type[Any]:
    """A layer with `build(input_shape)` and `call(x)`, from (N, H, W, C) to the same shape."""
    x = np.random.default_rng(4).normal(0.5, 0.3, (2, 3, 4, 5)).astype("float32")

    @_once
    def seen() -> SimpleNamespace:
        layer = attempt()
        if attempt.call is layers.Layer.call:  # not written yet; `build` may still wait
            layer.build(x.shape)
            return SimpleNamespace(result=None)
        result = layer(x)
        initial = [np.asarray(weight) for weight in layer.weights]
        shapes = [tuple(weight.shape) for weight in layer.weights]
        return SimpleNamespace(layer=layer, result=result, initial=initial, shapes=shapes)

    def shapes_that_do_not_fit() -> str:
        try:
            seen()
        except (tf.errors.InvalidArgumentError, ValueError) as error:
            return str(error)
        return ""

    def initial_sums() -> list[float]:
        return sorted(float(value.sum()) for value in seen().initial)

    @_once
    def changed() -> SimpleNamespace:
        gamma, beta = _norm_weights(5)
        layer = seen().layer
        layer.set_weights([gamma if weight.any() else beta for weight in seen().initial])
        return SimpleNamespace(output=np.asarray(layer(x)))

    def gives(formula: str) -> bool:
        return _near(changed().output, _normed(x, *_norm_weights(5), formula))

    return attempt_or_solution(
        "ImageNorm",
        attempt,
        ImageNorm,
        (
            lambda: "to a shape" not in shapes_that_do_not_fit(),
            "A shape is a tuple. With one number it needs a comma: `(channels,)`.",
        ),
        (
            lambda: "ncompatible" not in shapes_that_do_not_fit(),
            "Two shapes do not fit together. The mean and the variance need the shape (N, 1, 1, 1): pass "
            "`keepdims=True` with `axis=(1, 2, 3)`. Both weights have the shape (C,), with C = "
            "`input_shape[-1]`; multiply with `*`.",
        ),
        (
            lambda: seen().result is not None,
            "`call(self, x)` is not defined, or returns nothing: return gamma times z plus beta.",
        ),
        (
            lambda: seen().layer.weights,
            "The layer has no weights. Make them in `build`, with `self.add_weight`, which registers them; an array or "
            "tensor of your own is not trained.",
        ),
        (lambda: len(seen().shapes) == 2, "There should be two weights, `gamma` and `beta`."),
        (
            lambda: not {2, 3, 4} & {size for shape in seen().shapes for size in shape},
            "A weight depends on the number, the height or the width of the images. The channels are the last axis, "
            "`input_shape[-1]`.",
        ),
        (
            lambda: seen().shapes == [(5,), (5,)],
            "Each weight should have the shape (C,), one number for each channel.",
        ),
        (
            lambda: len(seen().layer.trainable_weights) == 2,
            "A weight does not learn: leave `trainable` at its default.",
        ),
        (
            lambda: initial_sums() == [0, 5],
            'One weight should start at one and the other at zero: `initializer="ones"` for gamma, `"zeros"` for beta.',
        ),
        (
            lambda: changed().output.shape == x.shape,
            "The output should have the shape of the input. With `keepdims=True` the mean has the shape (N, 1, 1, 1), "
            "which broadcasts over the image.",
        ),
        (
            lambda: not gives("swapped"),
            "The weights are swapped: the one that starts at one multiplies, and the one that starts at zero is added.",
        ),
        (lambda: not gives("shift first"), "You add beta before you multiply: return gamma times z, plus beta."),
        (lambda: not gives("z"), "The weights are not used: return gamma times z plus beta."),
        (lambda: not gives("no gamma"), "The factor gamma is not used."),
        (lambda: not gives("no beta"), "The shift beta is not used."),
        (lambda: not gives("no mean"), "The mean is not subtracted."),
        (
            lambda: not gives("no root") and not gives("no root, no constant"),
            "You divide by the variance. Divide by its square root, `ops.sqrt(...)`.",
        ),
        (lambda: not gives("no variance"), "You do not divide by the square root of the variance."),
        (
            lambda: not gives("no constant"),
            "The 0.001 is missing. Without it, an image with equal pixels makes the layer divide by zero.",
        ),
        (lambda: not gives("constant outside"), "Add 0.001 to the variance, before you take the square root."),
        (lambda: not gives("precedence"), "Division comes before subtraction: write `(x - mean) / ...`."),
        (
            lambda: not gives("channels apart"),
            "Each channel has its own mean and variance. Take them over all pixels and all channels, `axis=(1, 2, 3)`.",
        ),
        (
            lambda: not gives("pixels apart"),
            "Each pixel has its own mean and variance. Take them over all pixels and all channels, `axis=(1, 2, 3)`.",
        ),
        (
            lambda: not any(map(gives, ("whole batch", "batch norm", "batch only"))),
            "The mean and the variance are taken over the batch too, so the images influence each other. Axis 0 is "
            "the batch: leave it out of `axis`.",
        ),
        (lambda: gives(""), "The output is not gamma times z plus beta, with z as in step 2."),
        (
            lambda: _norm_example(attempt),
            "The example of the exercise, [1, 5], should become about [-1, 3].",
        ),
        (
            lambda: _norm_in_a_model(attempt),
            "The layer works when it is called by hand, but not in a model, or not for another size of the image.",
        ),
    )


def _norm_weights(channels: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return (
        rng.uniform(1.5, 2.5, channels).astype("float32"),
        rng.standard_normal(channels).astype("float32"),
    )


def _normed(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, formula: str) -> np.ndarray:
    """The right output, or that of a typical mistake."""
    typical: dict[str, Any] = {
        "channels apart": (1, 2),
        "pixels apart": 3,
        "whole batch": (0, 1, 2, 3),
        "batch norm": (0, 1, 2),
        "batch only": 0,
    }
    axis = typical.get(formula, (1, 2, 3))
    mean, variance = x.mean(axis, keepdims=True), x.var(axis, keepdims=True)
    spread: Any = np.sqrt(variance + (0 if formula == "no constant" else 0.001))
    if formula in ("no root", "no root, no constant"):
        spread = variance + (0 if formula.endswith("no constant") else 0.001)
    if formula == "no variance":
        spread = 1
    if formula == "constant outside":
        spread = np.sqrt(variance) + 0.001
    z = (x - (0 if formula == "no mean" else mean)) / spread
    if formula == "precedence":
        z = x - mean / spread
    if formula == "shift first":
        return np.asarray(gamma * (z + beta))
    if formula == "swapped":
        gamma, beta = beta, gamma
    return np.asarray((1 if formula in ("z", "no gamma") else gamma) * z + (0 if formula in ("z", "no beta") else beta))


def _with_weights(layer: Any, gamma: np.ndarray, beta: np.ndarray) -> None:
    layer.set_weights([gamma if np.asarray(weight).any() else beta for weight in layer.weights])


def _norm_example(attempt: type[Any]) -> bool:
    layer = attempt()
    pixels = np.array([1.0, 5.0], "float32").reshape(1, 1, 2, 1)
    layer(pixels)
    _with_weights(layer, np.array([2.0]), np.array([1.0]))
    return bool(np.allclose(np.asarray(layer(pixels)).ravel(), [-1, 3], atol=0.01))


def _norm_in_a_model(attempt: type[Any]) -> bool:
    layer = attempt(name="norm")
    model = keras.Sequential([keras.Input((6, 2, 3)), layer])
    x = np.random.default_rng(6).standard_normal((4, 6, 2, 3)).astype("float32")
    gamma, beta = _norm_weights(3)
    _with_weights(layer, gamma, beta)
    with _quiet():
        return _near(model.predict(x, verbose=0), _normed(x, gamma, beta, ""))


# WatchedModel


class MetricsModel(keras.Model):
    """What the lecture gives: the mean gradient norm, and the update of all metrics."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.gradient_norm = keras.metrics.Mean(name="gradient_norm")

    def update_metrics(self, y, logits, loss, norm):
        """Update all metrics with a batch's labels y (N,), its logits (N, C), its loss and the gradient's norm."""
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            elif metric.name == "gradient_norm":
                metric.update_state(norm)
            else:
                metric.update_state(y, logits)
        return self.get_metrics_result()


class WatchedModel(MetricsModel):
    """A keras.Model whose history also has the mean gradient norm of each epoch."""

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(x, y, logits)
        variables = self.trainable_variables
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply(gradients, variables)
        norm = tf.linalg.global_norm(gradients)
        return self.update_metrics(y, logits, loss, norm)


def check_watched_model(attempt: type[Any]) -> type[Any]:
    """A `keras.Model` with `train_step(data) -> dict`, which makes Keras's own step and reports `gradient_norm`."""

    @_once
    def seen() -> SimpleNamespace:
        return _watched_steps(attempt)

    @_once
    def wanted() -> SimpleNamespace:
        return _watched_steps(WatchedModel)

    def first_gradient(penalty: bool = True, scale: float = 1) -> bool:
        reference = wanted().gradients[0] if penalty else _watched_steps(WatchedModel, penalty=0).gradients[0]
        return all(_near(one, scale * other) for one, other in zip(seen().gradients[0], reference, strict=True))

    def clipped() -> bool:
        """In the first step that differs, each gradient is a positive multiple of the right one."""
        for found, right in zip(seen().gradients, wanted().gradients, strict=False):
            pairs = [(one.ravel(), other.ravel()) for one, other in zip(found, right, strict=True)]
            if not all(_near(one, other) for one, other in pairs):
                return all(_near(one * np.linalg.norm(b), b * np.linalg.norm(one)) for one, b in pairs)
        return False

    def swapped() -> bool:
        return all(_near(one, weight) for one, weight in zip(seen().gradients[0], seen().start, strict=True))

    def result(name: str) -> float:
        return float(seen().results[-1][name])

    def matches(name: str) -> bool:
        return _near(result(name), float(wanted().results[-1][name]))

    return attempt_or_solution(
        "WatchedModel",
        attempt,
        WatchedModel,
        (
            lambda: seen().modes or _raise(seen().error),
            "The model was never called: `logits = self(x, training=True)`.",
        ),
        (
            lambda: all(seen().modes),
            "The model was not called in training mode, so dropout would be off: pass `training=True`.",
        ),
        (lambda: not seen().twice, "The model is called more than once in a step. Use the logits that you have."),
        (
            lambda: not seen().none,
            "A gradient is None, because the tape did not record how the loss depends on it. Compute the logits and "
            "the loss inside `with tf.GradientTape() as tape:`.",
        ),
        (
            lambda: not seen().pairs,
            "`apply` got pairs, as `apply_gradients` takes them. Pass it two lists: "
            "`self.optimizer.apply(gradients, variables)`.",
        ),
        (
            lambda: seen().gradients or _raise(seen().error),
            "The optimizer was never called: `self.optimizer.apply(gradients, variables)`.",
        ),
        (lambda: len(seen().gradients[0]) == 4, "The optimizer should get a gradient for each trainable variable."),
        (
            lambda: not swapped(),
            "The optimizer got the variables in place of the gradients. The gradients come first: "
            "`self.optimizer.apply(gradients, variables)`.",
        ),
        (
            lambda: first_gradient() or not first_gradient(penalty=False),
            "The gradient lacks the penalty of a regularizer. `self.compute_loss(x, y, logits)` adds it to the loss.",
        ),
        (
            lambda: not clipped(),
            "The gradients have the right direction, but another length. Hand them to the optimizer unchanged.",
        ),
        (lambda: first_gradient(), "The gradients are not those of the loss that was passed to `compile`."),
        (
            lambda: seen().error is None or _raise(seen().error),
            "`train_step` does not run to its end.",
        ),
        (lambda: len(seen().gradients) == 3, "The optimizer should be called once in each step."),
        (
            lambda: all(isinstance(value, dict) for value in seen().results),
            "`train_step` does not return a dictionary. Return what `self.update_metrics(...)` returns.",
        ),
        (
            lambda: {"loss", "accuracy", "gradient_norm"} <= set(seen().results[-1]),
            "The dictionary lacks the loss, the accuracy or the gradient norm. Return what `self.update_metrics(...)` "
            "returns.",
        ),
        (
            lambda: matches("accuracy"),
            "The weights are right, but the accuracy is not. Are the arguments of `update_metrics` in its order: y, "
            "logits, loss, norm?",
        ),
        (
            lambda: matches("loss"),
            "The reported loss is not the loss of the batches. Are the arguments of `update_metrics` in its order: y, "
            "logits, loss, norm?",
        ),
        (
            lambda: matches("gradient_norm"),
            "The gradient norm is not that of all gradients together, `tf.linalg.global_norm(gradients)`.",
        ),
        (
            lambda: all(_near(one, other) for one, other in zip(seen().weights, wanted().weights, strict=True)),
            "After three steps the weights are not those of Keras's own step.",
        ),
        (
            lambda: _runs_in_fit(attempt),
            "The step works when it is called directly, but not in `fit`, which records it as a graph.",
        ),
    )


def _raise(error: Exception | None) -> bool:
    if error is not None:
        raise error
    return False


class _Probe(layers.Layer):
    """Passes on its input and notes in which mode it was called."""

    def __init__(self, modes: list[bool], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._modes = SimpleNamespace(list=modes)

    def call(self, x: Any, training: Any = None) -> Any:
        self._modes.list.append(bool(training))
        return x


class _Noting(keras.optimizers.SGD):
    """SGD that notes the gradients it is given; with None or pairs among them it makes no step."""

    def note_in(self, gradients: list[Any], flags: SimpleNamespace) -> None:
        self._notes = SimpleNamespace(gradients=gradients, flags=flags)

    def apply(self, grads: Any, trainable_variables: Any = None) -> Any:
        given = list(grads)
        if any(isinstance(gradient, tuple) for gradient in given):
            self._notes.flags.pairs = True
            return None
        if any(gradient is None for gradient in given):
            self._notes.flags.none = True
            return None
        self._notes.gradients.append([np.asarray(gradient) for gradient in given])
        return super().apply(given, trainable_variables)


def _watched_steps(attempt: type[Any], penalty: float = 0.05) -> SimpleNamespace:
    """Three direct calls of `train_step`: modes, gradients, what it returned, the weights, and the error if any."""
    rng = np.random.default_rng(7)
    x, y = tf.constant(3 * rng.standard_normal((12, 4)).astype("float32")), tf.constant(rng.integers(3, size=12))
    keras.utils.set_random_seed(0)
    modes: list[bool] = []
    gradients: list[Any] = []
    flags = SimpleNamespace(none=False, pairs=False)
    inputs = keras.Input((4,))
    hidden = layers.Dense(5, activation="tanh", kernel_regularizer=keras.regularizers.L2(penalty))(inputs)
    model = attempt(inputs, layers.Dense(3)(_Probe(modes)(hidden)))
    optimizer = _Noting(0.5)
    optimizer.note_in(gradients, flags)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=optimizer, loss=loss, metrics=["accuracy"], run_eagerly=True)
    model.optimizer.build(model.trainable_variables)
    model.test_on_batch(x, y)  # makes the metrics, as `fit` does before its first step
    model.reset_metrics()
    modes.clear()
    start = [np.asarray(weight) for weight in model.get_weights()]
    results, error, twice = [], None, False
    for rows in (slice(0, 4), slice(4, 8), slice(8, 12)):
        before = len(modes)
        try:
            results.append(model.train_step((x[rows], y[rows])))
        except Exception as problem:
            error = problem
            break
        twice = twice or len(modes) > before + 1
    weights = [np.asarray(weight) for weight in model.get_weights()]
    return SimpleNamespace(
        modes=modes,
        gradients=gradients,
        none=flags.none,
        pairs=flags.pairs,
        results=results,
        start=start,
        weights=weights,
        error=error,
        twice=twice,
    )


def _runs_in_fit(attempt: type[Any]) -> bool:
    inputs = keras.Input((4,))
    model = attempt(inputs, layers.Dense(3)(inputs))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss=loss, metrics=["accuracy"])
    history = model.fit(np.ones((6, 4), "float32"), np.array([0, 1, 2, 0, 1, 2]), batch_size=4, epochs=2, verbose=0)
    return {"loss", "accuracy", "gradient_norm"} <= set(history.history)
