"""The visible checks of assignment a8: what a right answer must satisfy, told without the answer.

Truth comes from the numbers worked out in the notebook, from NumPy, and from laws (a layer that was saved gives what it
gave before). All inputs are fixed, so that a student who runs a check twice reads the same sentence twice.

The first part builds models from arrays and trains them. The judge's probes use it too. It runs on every back end.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import keras
import numpy as np
from keras import layers, ops

from course_lib.checks.delegation import calls_of, functions_of
from course_lib.checks.outcome import check, fail, require
from course_lib.compare import compare, compare_form
from course_lib.data import load_digits

Function = Callable[..., Any]
Arrays = dict[str, np.ndarray]


# --- models from arrays -----------------------------------------------------------------------------------------------


def arrays(model: Any) -> Arrays:
    """Copies of a model's weights, under the name of the layer and of the weight: `head kernel`."""
    return {_name(w): np.array(ops.convert_to_numpy(w)) for w in model.weights}


def _name(weight: Any) -> str:
    return " ".join(weight.path.split("/")[-2:])


def load(model: Any, weights: Mapping[str, np.ndarray]) -> Any:
    """The model, its weights set to those of `weights` that have their names."""
    for weight in model.weights:
        name = _name(weight)
        if name in weights:
            weight.assign(weights[name])
    return model


def plain(structure: Any) -> Any:
    """Tensors as NumPy arrays, in dicts, lists and tuples too."""
    if isinstance(structure, Mapping):
        return {str(name): plain(value) for name, value in structure.items()}
    if isinstance(structure, (list, tuple)):
        return [plain(value) for value in structure]
    return np.array(ops.convert_to_numpy(structure))


def build_coder(shape: Sequence[int], units: int) -> keras.Sequential:
    """Some encoder of images: one dense layer named `coder`."""
    parts = [keras.Input(tuple(shape)), layers.Flatten(), layers.Dense(units, activation="sigmoid", name="coder")]
    return keras.Sequential(parts)


def build_heads(weights: Mapping[str, np.ndarray]) -> keras.Model:
    """A model with the outputs `digit` and `same`, both logits, of one input."""
    features, classes = weights["digit kernel"].shape
    x = keras.Input((features,))
    outputs = {"digit": layers.Dense(classes, name="digit")(x), "same": layers.Dense(1, name="same")(x)}
    return load(keras.Model(x, outputs), weights)


def build_parts(weights: Mapping[str, np.ndarray], penalty: float) -> list[keras.Sequential]:
    """Encoder, classifier and decoder for `TwoLossModel`, with a regularizer in the encoder and in the decoder.

    The encoder has a batch normalization; classifier and decoder begin with one if `weights` have it (`class_norm`,
    `image_norm`).
    """
    (features, hidden), classes = weights["code kernel"].shape, weights["class kernel"].shape[1]
    regularizer = keras.regularizers.L2(penalty)

    def norm(name: str) -> list[Any]:
        known = f"{name} gamma" in weights
        return [layers.BatchNormalization(momentum=0.7, epsilon=0.01, name=name)] if known else []

    code = layers.Dense(hidden, use_bias=False, kernel_regularizer=regularizer, name="code")
    image = layers.Dense(features, kernel_regularizer=regularizer, name="image")
    encoder = keras.Sequential([keras.Input((features,)), code, *norm("norm"), layers.Activation("tanh")])
    classifier = keras.Sequential([keras.Input((hidden,)), *norm("class_norm"), layers.Dense(classes, name="class")])
    decoder = keras.Sequential([keras.Input((hidden,)), *norm("image_norm"), image])
    return [load(part, weights) for part in (encoder, classifier, decoder)]


def build_base(weights: Mapping[str, np.ndarray]) -> keras.Sequential:
    """A network for transfer: dense, norm, ReLU, dense, norm, ReLU, dense; sizes are those of the weights."""
    sizes = [weights[f"dense{k} kernel"].shape for k in (1, 2, 3)]
    parts: list[Any] = [keras.Input((sizes[0][0],))]
    for k, (_, units) in enumerate(sizes, start=1):
        parts.append(layers.Dense(units, name=f"dense{k}"))
        if k < 3:
            norm = layers.BatchNormalization(momentum=0.6, epsilon=0.01, name=f"norm{k}")
            parts += [norm, layers.Activation("relu", name=f"relu{k}")]
    return load(keras.Sequential(parts), weights)


def finished_answers() -> AbstractContextManager[set[str]]:
    """Which methods of Keras's finished answers to exercises 4 to 6 are called meanwhile."""
    schedule = keras.optimizers.schedules.CosineDecay
    return calls_of(functions_of(keras.callbacks.EarlyStopping, schedule, layers.RandomFlip))


class Script(keras.callbacks.Callback):  # type: ignore[misc]
    """Gives each epoch the weights and the value that a check has chosen, in place of what training led to."""

    def __init__(self, monitor: str, values: Sequence[float], weights: Sequence[Mapping[str, np.ndarray]]) -> None:
        super().__init__()
        self.monitor, self.values, self.weights = monitor, values, weights
        self.epochs = 0

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Before the callbacks that come after it."""
        assert logs is not None
        load(self.model, self.weights[epoch])
        logs[self.monitor] = self.values[epoch]
        self.epochs += 1


def scripted_fit(
    callback: Any, monitor: str, values: Sequence[float], weights: Sequence[Mapping[str, np.ndarray]]
) -> tuple[int, keras.Model]:
    """Number of epochs of a `fit` in which epoch k ends with `values[k]` and `weights[k]`, and its model afterward."""
    features = len(weights[0]["norm gamma"])
    norm, dense = layers.BatchNormalization(name="norm"), layers.Dense(1, name="dense")
    model = keras.Sequential([keras.Input((features,)), norm, dense])
    model.compile(optimizer=keras.optimizers.SGD(0.0), loss="mse")
    script = Script(monitor, values, weights)
    x = np.zeros((2, features), np.float32)
    model.fit(x, x[:, :1], epochs=len(values), batch_size=2, verbose=0, callbacks=[script, callback])
    return script.epochs, model


def weights_of_epochs(many: int) -> list[Arrays]:
    """For visible checks: weights of `scripted_fit` that are k + 1 everywhere in epoch k."""
    shapes = {"dense kernel": (2, 1), "dense bias": (1,)}
    shapes |= {f"norm {name}": (2,) for name in ("gamma", "beta", "moving_mean", "moving_variance")}
    return [{name: np.full(shape, k + 1.0, np.float32) for name, shape in shapes.items()} for k in range(many)]


# --- 1. two images, one encoder ---------------------------------------------------------------------------------------


def _numbers(shape: Sequence[int], factor: float = 1.0) -> np.ndarray:
    """Numbers without a pattern, the same in every run."""
    values = factor * np.sin(1.0 + 2.3 * np.arange(math.prod(shape)) ** 1.3)
    return np.asarray(values.reshape(shape), np.float32)


def _require(name: str, got: Any, wanted: Any, hints: Mapping[str, str] | None = None, **how: Any) -> None:
    if got is None:
        fail(f"{name} is None.", "Is there a `return`?")
    require(compare_form(name, got, wanted) or compare(name, got, wanted, rtol=1e-4, atol=1e-5, **how), hints)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.logaddexp(0.0, x))


def _cross_entropy(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    total: np.ndarray = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(labels)), labels]
    return total


@check("the encoder is a Sequential with four weights, and computes tanh(relu(x W + b) V + c)")
def encoder_example(make_encoder: Function) -> None:
    encoder = make_encoder((2, 3), 4, 2)
    if not isinstance(encoder, keras.Sequential):
        fail(f"make_encoder returned {type(encoder).__name__}; it should return a keras.Sequential.")
    if len(encoder.weights) != 4:
        hint = "Without an input of known shape no layer knows how large its kernel is."
        fail(f"a new encoder has {len(encoder.weights)} weights; it should have 4.", hint)
    w, b, v, c = _numbers((6, 4)), _numbers((4,), 0.3), _numbers((4, 2)), _numbers((2,), 0.2)
    encoder.set_weights([w, b, v, c])
    x = _numbers((3, 2, 3), 0.8)
    wanted = np.tanh(np.maximum(x.reshape(3, 6) @ w + b, 0) @ v + c)
    _require("the code", plain(encoder(x)), wanted, {"shape": "The code is a row for each image.", "": "ReLU, tanh?"})


@check("the pair model reads both images with the encoder that it was given")
def pair_outputs(make_pair_model: Function) -> None:
    encoder = build_coder((2, 2), 3)
    model = make_pair_model(encoder, (2, 2), 4)
    weights = {"coder kernel": _numbers((4, 3)), "coder bias": _numbers((3,), 0.3)}
    weights |= {
        "digit kernel": _numbers((3, 4)),
        "digit bias": _numbers((4,)),
        "same bias": np.array([0.5], np.float32),
    }
    weights |= {"same kernel": _numbers((3, 1), 2.0)}
    load(encoder, weights)
    images = {"left": _numbers((3, 2, 2)), "right": _numbers((3, 2, 2))[::-1].copy()}
    model(images)  # a subclass may make its weights here
    # A copy of the encoder has weights of the same names.
    names = sorted(map(_name, model.weights))
    if names != sorted(weights):
        hint = "A layer that is called twice has its weights once. Two layers of the names `digit` and `same` are new."
        fail(f"the model has the weights {', '.join(names)}; it should have {', '.join(sorted(weights))}.", hint)
    load(model, weights)
    got = plain(model(images))
    codes = {
        side: 1 / (1 + np.exp(-image.reshape(3, 4) @ weights["coder kernel"] - weights["coder bias"]))
        for side, image in images.items()
    }
    distance = abs(codes["left"] - codes["right"])
    wanted = {
        "digit": codes["left"] @ weights["digit kernel"] + weights["digit bias"],
        "same": distance @ weights["same kernel"] + weights["same bias"],
    }
    hints = {"digit": "Logits, from the code of the left image.", "same": "A logit, from |left code - right code|."}
    _require("the outputs", got, wanted, hints)


@check("with logits that are 0 the loss is log(10) + 0.5 log(2), and with others it is right too")
def pair_loss(compile_pair_model: Function) -> None:
    targets = {"digit": np.array([3, 0, 9]), "same": np.array([[1], [0], [0]], np.float32)}
    for factor in (0.0, 3.0):
        weights = {"digit kernel": _numbers((2, 10), factor), "digit bias": _numbers((10,), factor)}
        weights |= {"same kernel": _numbers((2, 1), factor), "same bias": _numbers((1,), factor)}
        model = build_heads(weights)
        compile_pair_model(model, 0.1, 0.5)
        x = _numbers((3, 2))
        digit, same = (x @ weights[f"{name} kernel"] + weights[f"{name} bias"] for name in ("digit", "same"))
        wanted = _cross_entropy(digit, targets["digit"]).mean()
        wanted = wanted + 0.5 * (_softplus(same) - targets["same"] * same).mean()
        got = model.evaluate(x, targets, verbose=0, return_dict=True)["loss"]
        hint = "Both losses read logits, and only the second one has the factor `weight`."
        _require("the loss", np.array(got, np.float64), np.array(wanted, np.float64), {"": hint})


@check("your model learns to compare digits")
def pair_learns(make_encoder: Function, make_pair_model: Function, compile_pair_model: Function) -> str:
    keras.utils.set_random_seed(0)
    model = make_pair_model(make_encoder((8, 8), 32, 16), (8, 8), 10)
    compile_pair_model(model, 0.3, 1.0)
    x, y, x_test, y_test = load_digits()

    def pairs(images: np.ndarray, labels: np.ndarray, many: int) -> tuple[dict[str, Any], dict[str, Any]]:
        rng = np.random.default_rng(0)
        left, right = rng.integers(len(images), size=(2, many))
        alike = rng.random(many) < 0.5
        right = np.where(alike, [rng.choice(np.flatnonzero(labels == labels[k])) for k in left], right)
        same = (labels[left] == labels[right]).astype("float32").reshape(-1, 1)
        return {"left": images[left], "right": images[right]}, {"digit": labels[left], "same": same}

    model.fit(*pairs(x, y, 1500), batch_size=32, epochs=8, verbose=0)
    images, targets = pairs(x_test, y_test, 300)
    outputs = model.predict(images, verbose=0)
    digit = float((outputs["digit"].argmax(axis=1) == targets["digit"]).mean())
    same = float(((outputs["same"] > 0) == (targets["same"] > 0.5)).mean())
    if digit < 0.8 or same < 0.7:
        said = f"after training {digit:.0%} of the left digits and {same:.0%} of the pairs are right."
        fail(said, "Is each loss that of logits, and the optimizer SGD without momentum, with the rate that was given?")
    return f" ({digit:.0%} of the digits right, {same:.0%} of the pairs)"


# --- 2. a layer that knows about padding ------------------------------------------------------------------------------


def built_context(ContextMix: Function, weights: Sequence[np.ndarray], options: Mapping[str, Any]) -> Any:
    """A layer with these weights, built by a first call."""
    layer = ContextMix(weights[0].shape[1], **options)
    layer(np.zeros((1, 2, len(weights[0])), np.float32))
    layer.set_weights(list(weights))
    return layer


def build_padded_model(layer: Any, features: int) -> keras.Model:
    """The mean over valid places of what `layer` gives; places whose features are all 0 are padding."""
    inputs = keras.Input((None, features))
    return keras.Model(inputs, layers.GlobalAveragePooling1D()(layer(layers.Masking(0.0)(inputs))))


def saved_and_loaded(model: keras.Model, **custom_objects: Any) -> keras.Model:
    """The model after a journey through a file."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.keras")
        return keras.models.load_model(Path(folder) / "model.keras", custom_objects=custom_objects)


@check("the worked example gives [21, 23, 25], also with padding in front, and without a mask [31, 33, 35]")
def context_example(ContextMix: Function) -> None:
    weights = [np.array([[1]], np.float32), np.array([[10]], np.float32), np.array([0], np.float32)]
    layer = built_context(ContextMix, weights, {"activation": "linear"})
    x = np.array([[[1], [3], [5]]], np.float32)
    for mask, wanted in (([1, 1, 0], [21, 23, 25]), ([0, 1, 1], [41, 43, 45]), ([0, 0, 0], [1, 3, 5])):
        got = plain(layer(x, mask=np.array([mask], bool)))
        hint = "The mean is a sum over valid places, divided by their number. No valid place: 0. "
        hint += "The formula holds at padded places too."
        _require(
            f"y with the mask {mask}",
            got,
            np.array(wanted, np.float32).reshape(1, 3, 1),
            {"": hint, "non-finite": hint},
        )
    _require("y without a mask", plain(layer(x)), np.array([31, 33, 35], np.float32).reshape(1, 3, 1))
    shifted = built_context(ContextMix, [*weights[:2], np.array([0.5], np.float32)], {"activation": "linear"})
    two = np.array([[[1], [3], [5]], [[2], [4], [6]]], np.float32)
    got = plain(shifted(two, mask=np.array([[1, 1, 0], [1, 1, 1]], bool)))
    each_its_mean = np.array([[[21.5], [23.5], [25.5]], [[42.5], [44.5], [46.5]]], np.float32)
    hint = "Each sequence has a mean of its own: here 2 and 4. The bias is 0.5."
    _require("y of two sequences, with W = 1, U = 10 and b = 0.5", got, each_its_mean, {"": hint})
    tanh = plain(built_context(ContextMix, weights, {})(x / 100))
    _require("y with the default activation", tanh, np.tanh(np.array([0.31, 0.33, 0.35], np.float32)).reshape(1, 3, 1))


@check("the layer makes its three weights when it sees its input, and keeps them")
def context_weights(ContextMix: Function) -> None:
    layer = ContextMix(3)
    if layer.weights:
        fail("a new layer has weights already.", "It cannot know the number of features: that is what `build` is for.")
    x = _numbers((2, 4, 5))
    first = plain(layer(x))
    shapes = [tuple(w.shape) for w in layer.trainable_weights]
    if shapes != [(5, 3), (5, 3), (3,)]:
        hint = "`self.add_weight(shape=..., name=...)`, in the order of the text."
        fail(f"the weights have the shapes {shapes}; they should have (5, 3), (5, 3), (3,).", hint)
    _require("y of a second call", plain(layer(x)), first, {"": "Weights are made once."})


@check("the mask reaches the layers that follow")
def context_passes_the_mask_on(ContextMix: Function) -> None:
    # U is 0: what the layer itself makes of the mask is asked elsewhere.
    weights = [np.array([[1]], np.float32), np.array([[0]], np.float32), np.array([0], np.float32)]
    model = build_padded_model(built_context(ContextMix, weights, {"activation": "linear"}), 1)
    got = plain(model(np.array([[[1], [3], [0]]], np.float32)))
    hint = "Look up `supports_masking`. The mean over the two valid places is (1 + 3) / 2."
    _require("the mean over valid places", got, np.array([[2]], np.float32), {"": hint})


@check("the layer is rebuilt from its configuration, and a model with it comes back from a file")
def context_is_saved(ContextMix: Function) -> None:
    weights = [_numbers((2, 3)), _numbers((2, 3), 2.0), _numbers((3,))]
    for activation in ("relu", keras.activations.relu):
        layer = built_context(ContextMix, weights, {"activation": activation, "name": "mix"})
        again = ContextMix.from_config(layer.get_config())  # type: ignore[attr-defined]
        if (again.units, again.name) != (3, "mix"):
            fail(f"units and name were 3 and mix; rebuilt they are {again.units} and {again.name}.")
        model = build_padded_model(layer, 2)
        x = _numbers((4, 3, 2))
        got = plain(saved_and_loaded(model, ContextMix=ContextMix)(x))
        _require("the output of the loaded model", got, plain(model(x)), {"": "Which argument of `__init__` is lost?"})


# --- 3. a training step of your own -----------------------------------------------------------------------------------

_PARTS = {
    "code kernel": _numbers((3, 4)),
    "norm gamma": 1 + _numbers((4,), 0.3),
    "norm beta": _numbers((4,), 0.2),
    "norm moving_mean": _numbers((4,), 0.5),
    "norm moving_variance": 2 + _numbers((4,)),
    "class kernel": _numbers((4, 2)),
    "class bias": _numbers((2,), 0.1),
    "image kernel": _numbers((4, 3), 0.7),
    "image bias": _numbers((3,), 0.2),
}


def two_loss_fit(
    TwoLossModel: Function,
    weights: Mapping[str, np.ndarray],
    penalty: float,
    settings: Mapping[str, float],
    rate: float,
    data: tuple[np.ndarray, np.ndarray],
    batch_size: int,
    epochs: int = 1,
    frozen: bool = False,
) -> tuple[Arrays, dict[str, list[float]]]:
    """Weights and history after `fit` of a model built from `weights`. frozen: the decoder is not trained."""
    parts = build_parts(weights, penalty)
    parts[2].trainable = not frozen
    model = TwoLossModel(*parts, **settings)
    model.compile(optimizer=keras.optimizers.SGD(rate))
    history = model.fit(*data, batch_size=batch_size, epochs=epochs, shuffle=False, verbose=0).history
    return {name: value for part in parts for name, value in arrays(part).items()}, history


def _two_losses(x: np.ndarray, y: np.ndarray, weights: Mapping[str, np.ndarray], alpha: float, penalty: float) -> float:
    """The loss of one batch in training mode, in NumPy."""
    code = x @ weights["code kernel"]
    code = (code - code.mean(axis=0)) / np.sqrt(code.var(axis=0) + 0.01)
    code = np.tanh(code * weights["norm gamma"] + weights["norm beta"])
    logits = code @ weights["class kernel"] + weights["class bias"]
    squares = (code @ weights["image kernel"] + weights["image bias"] - x) ** 2
    penalties = sum(penalty * (weights[f"{name} kernel"] ** 2).sum() for name in ("code", "image"))
    return float(_cross_entropy(logits, y).mean() + alpha * squares.mean() + penalties)


_ROWS = (_numbers((5, 3), 2.0), np.array([0, 1, 1, 0, 1]))


@check("the model returns logits, in evaluation by the moving statistics, in training by those of the batch")
def two_loss_call(TwoLossModel: Function) -> None:
    parts = build_parts(_PARTS, 0.0)
    model = TwoLossModel(*parts, alpha=0.5, max_norm=1.0)
    for training in (False, True):
        code = _ROWS[0] @ _PARTS["code kernel"]
        mean, variance = _PARTS["norm moving_mean"], _PARTS["norm moving_variance"]
        if training:
            mean, variance = code.mean(axis=0), code.var(axis=0)
        code = np.tanh((code - mean) / np.sqrt(variance + 0.01) * _PARTS["norm gamma"] + _PARTS["norm beta"])
        wanted = code @ _PARTS["class kernel"] + _PARTS["class bias"]
        hints = {"": "encoder, then classifier; `training` goes to both."}
        _require(f"logits with training={training}", plain(model(_ROWS[0], training=training)), wanted, hints)


@check("one step follows the slope of the loss: cross-entropy, reconstruction and penalty")
def two_loss_one_step(TwoLossModel: Function) -> None:
    rate, penalty, settings = 0.1, 0.05, {"alpha": 0.5, "max_norm": 1e6}
    got, _ = two_loss_fit(TwoLossModel, _PARTS, penalty, settings, rate, _ROWS, 5)
    for name in ("class bias", "image bias", "code kernel", "image kernel", "norm beta"):
        place = (1, 2) if "kernel" in name else (1,)
        slope, h = 0.0, 1e-4
        for sign in (1, -1):
            moved = {key: value.astype(np.float64) for key, value in _PARTS.items()}
            moved[name][place] += sign * h
            slope += sign * _two_losses(*_ROWS, moved, settings["alpha"], penalty) / (2 * h)
        wanted = _PARTS[name][place] - rate * slope
        hints = {"": "Slope by finite differences. Which of the three terms does this weight belong to? Which mode?"}
        _require(f"{name} after one step", np.array(got[name][place], np.float64), np.array(wanted, np.float64), hints)


@check("a gradient that is too long is scaled to max_norm, all of it by one factor")
def two_loss_clips(TwoLossModel: Function) -> None:
    trained = [name for name in _PARTS if "moving" not in name]

    def moved(max_norm: float) -> np.ndarray:
        settings = {"alpha": 0.5, "max_norm": max_norm}
        got, _ = two_loss_fit(TwoLossModel, _PARTS, 0.05, settings, 0.5, _ROWS, 5)
        return np.concatenate([(got[name] - _PARTS[name]).ravel() for name in trained])

    free, clipped = moved(1e6), moved(0.1)
    length = float(np.linalg.norm(clipped))
    if abs(length - 0.05) > 1e-3:
        hint = "The norm is that of all gradients together. Clipped one by one, each may have that length."
        fail(f"with max_norm=0.1 and lr=0.5 the step has the length {length:.4f}; it should have 0.05.", hint)
    wanted = free * (0.05 / np.linalg.norm(free))
    _require("the clipped step", clipped, wanted, {"": "One factor for all gradients keeps the direction."})


@check("loss and accuracy are means over the rows of an epoch, and start anew in the next")
def two_loss_history(TwoLossModel: Function) -> None:
    settings = {"alpha": 0.5, "max_norm": 1.0}
    _, history = two_loss_fit(TwoLossModel, _PARTS, 0.05, settings, 0.0, _ROWS, 3, epochs=2)
    first, second = (_two_losses(_ROWS[0][s], _ROWS[1][s], _PARTS, 0.5, 0.05) for s in (slice(3), slice(3, 5)))
    wanted = (3 * first + 2 * second) / 5
    for name in ("loss", "accuracy"):
        if name not in history:
            fail(f"train_step does not return {name!r}.")
    hints = {"": "A batch of 2 rows counts less than one of 3. With lr=0 both epochs have the same loss."}
    _require("history['loss']", np.array(history["loss"], np.float64), np.array([wanted, wanted], np.float64), hints)
    _, trained = two_loss_fit(TwoLossModel, _PARTS, 0.05, settings, 0.5, _ROWS, 3, epochs=2)
    after_one, _ = two_loss_fit(TwoLossModel, _PARTS, 0.05, settings, 0.5, _ROWS, 3)
    _, alone = two_loss_fit(TwoLossModel, after_one, 0.05, settings, 0.5, _ROWS, 3)
    hint = "It is not that of a new training from the same weights. Which metrics does Keras reset?"
    second_loss, same_loss = (np.array(values, np.float64) for values in (trained["loss"][1], alone["loss"][0]))
    _require("the loss of a second epoch with lr=0.5", second_loss, same_loss, {"": hint})
    if history["accuracy"][0] != history["accuracy"][1] or round(5 * history["accuracy"][0], 4) % 1:
        fail(f"the accuracies of two equal epochs of 5 rows are {history['accuracy']}.")


# --- 4. stopping in time ----------------------------------------------------------------------------------------------


def _stopped(callback: Any, values: Sequence[float], wanted: tuple[int, int], monitor: str = "val_loss") -> None:
    epochs, model = scripted_fit(callback, monitor, values, weights_of_epochs(len(values)))
    series = f"{monitor} {', '.join(f'{v:g}' for v in values)}"
    if epochs != wanted[0]:
        fail(f"{series}: training ended after {epochs} epochs; it should end after {wanted[0]}.")
    if callback.best_epoch != wanted[1]:
        fail(f"{series}: best_epoch is {callback.best_epoch}; it should be {wanted[1]}.")
    for name, value in arrays(model).items():
        _require(f"{name} afterward", value, np.full_like(value, wanted[1] + 1), {"": "Weights as they were *then*."})


@check("the worked example ends after four epochs, with the weights of the second")
def stop_example(StopAtBest: Function) -> None:
    _stopped(StopAtBest(patience=2), [3.0, 2.0, 2.5, 2.0, 1.0], (4, 1))


@check("an improvement resets the patience, and the best weights come back without a stop too")
def stop_brings_the_best_back(StopAtBest: Function) -> None:
    _stopped(StopAtBest(patience=2), [3.0, 3.5, 2.0, 2.5, 1.0, 1.5], (6, 4))
    _stopped(StopAtBest(), [3.0, 1.0, 2.0, 2.0], (4, 1))


@check('with mode="max" larger is better, and nan is never better')
def stop_modes(StopAtBest: Function) -> None:
    _stopped(StopAtBest("accuracy", mode="max", patience=2), [0.5, 0.7, 0.6, 0.6, 0.9], (4, 1), "accuracy")
    _stopped(StopAtBest(patience=2), [math.nan, 2.0, math.nan, 3.0, 1.0], (4, 1))


@check("a second fit starts anew")
def stop_again(StopAtBest: Function) -> None:
    callback = StopAtBest(patience=2)
    _stopped(callback, [2.0, 1.0, 3.0], (3, 1))
    _stopped(callback, [5.0, 4.0, 4.5, 4.5, 3.0], (4, 1))


# --- 5. a learning rate with a plan -----------------------------------------------------------------------------------


def rates(schedule: Any, steps: Sequence[int]) -> list[float]:
    """What the schedule says, asked with plain integers and with tensors in turn."""
    asked = [ops.convert_to_tensor(step, dtype="int32") if k % 2 else step for k, step in enumerate(steps)]
    return [float(ops.convert_to_numpy(schedule(step))) for step in asked]


@check("the worked example: 0.25, 0.5, 0.75, 1, 1, 0.854, 0.5, 0.146, 0")
def schedule_example(WarmupCosine: Function) -> None:
    wanted = np.array([0.25, 0.5, 0.75, 1, 1, 0.8535534, 0.5, 0.1464466, 0], np.float64)
    hints = {"": "Step 0 has the rate peak / warmup. At `warmup` p is 0, and at `total` it is 1."}
    _require("the rates", np.array(rates(WarmupCosine(1.0, 4, 8), range(9)), np.float64), wanted, hints)


@check("without warm-up it starts at the peak, and after the end it stays at the floor")
def schedule_limits(WarmupCosine: Function) -> None:
    got = np.array(rates(WarmupCosine(2.0, 0, 4, floor=0.5), [0, 0, 2, 4, 5, 9]), np.float64)
    _require("the rates", got, np.array([2, 2, 1.25, 0.5, 0.5, 0.5], np.float64))
    schedule = WarmupCosine(2.0, 2, 6, floor=0.5)
    again = WarmupCosine.from_config(schedule.get_config())  # type: ignore[attr-defined]
    _require(
        "the rates of a copy",
        np.array(rates(again, range(9)), np.float64),
        np.array(rates(schedule, range(9)), np.float64),
    )


@check("an optimizer of Keras follows it")
def schedule_in_an_optimizer(WarmupCosine: Function) -> None:
    weight = keras.Variable(np.zeros(1, np.float32))
    optimizer = keras.optimizers.SGD(WarmupCosine(1.0, 2, 4))
    seen = []
    for _ in range(4):
        before = float(ops.convert_to_numpy(weight)[0])
        optimizer.apply([ops.convert_to_tensor(np.array([-1], np.float32))], [weight])
        seen.append(float(ops.convert_to_numpy(weight)[0]) - before)
    _require("four steps", np.array(seen, np.float64), np.array([0.5, 1.0, 1.0, 0.5], np.float64))


# --- 6. random, but only in training ----------------------------------------------------------------------------------


def mirrored(layer: Any, images: np.ndarray, kernel: np.ndarray, calls: Sequence[bool | None]) -> list[np.ndarray]:
    """Outputs of a dense layer behind the mirror, call by call; None stands for a call without `training`."""
    found = []
    for training in calls:
        seen = layer(images) if training is None else layer(images, training=training)
        found.append(plain(ops.matmul(ops.reshape(seen, (len(images), -1)), kernel)))
    return found


def _which(layer: Any, images: np.ndarray, training: bool | None = True) -> np.ndarray:
    """For each image whether it came out mirrored."""
    got = plain(layer(images) if training is None else layer(images, training=training))
    if got.shape != images.shape:
        fail(f"images of shape {images.shape} came out as {got.shape}.")
    same, turned = (np.isclose(got, other).all(axis=(1, 2, 3)) for other in (images, images[:, :, ::-1]))
    if not (same | turned).all():
        fail("an image came out neither mirrored along W nor as it was.", "The axes are (N, H, W, C).")
    return np.asarray(turned & ~same)


@check("outside training the images stay as they are")
def mirror_at_inference(RandomMirror: Function) -> None:
    for training in (None, False):
        if _which(RandomMirror(rate=1.0), _numbers((8, 2, 3, 1)), training).any():
            fail(f"{'without `training`' if training is None else 'with training=False'} an image was mirrored.")


@check("in training about the given share of the images is mirrored, each for itself")
def mirror_in_training(RandomMirror: Function) -> None:
    for rate, low, high in ((0.0, 0, 0), (1.0, 400, 400), (0.5, 140, 260), (0.25, 50, 150)):
        many = int(_which(RandomMirror(rate, seed=1), _numbers((400, 2, 3, 1))).sum())
        if not low <= many <= high:
            fail(f"with rate={rate} {many} of 400 images were mirrored.", "One random number for each image.")


@check("each call draws anew, and the same seed gives the same draws")
def mirror_draws_anew(RandomMirror: Function) -> None:
    images = _numbers((64, 1, 3, 1))
    one, other = RandomMirror(seed=7), RandomMirror(seed=7)
    first, second = _which(one, images), _which(one, images)
    if (first == second).all():
        mixed = first.any() and not first.all()
        hint = "Something that draws must remember how far it is." if mixed else "One random number for each image."
        fail("two calls mirrored the same images.", hint)
    if not ((_which(other, images) == first).all() and (_which(other, images) == second).all()):
        fail("two layers with the same seed mirrored different images.", "Where does `seed` go?")


# --- 7. starting from a trained network -------------------------------------------------------------------------------

_BASE = {
    "dense1 kernel": _numbers((3, 4)),
    "dense1 bias": _numbers((4,), 0.2),
    "norm1 gamma": 1 + _numbers((4,), 0.3),
    "norm1 beta": _numbers((4,), 0.3),
    "norm1 moving_mean": _numbers((4,), 0.4),
    "norm1 moving_variance": 2 + _numbers((4,)),
    "dense2 kernel": _numbers((4, 3)),
    "dense2 bias": _numbers((3,), 0.2),
    "norm2 gamma": 1 + _numbers((3,), 0.3),
    "norm2 beta": _numbers((3,), 0.3),
    "norm2 moving_mean": _numbers((3,), 0.4),
    "norm2 moving_variance": 2 + _numbers((3,)),
    "dense3 kernel": _numbers((3, 2)),
    "dense3 bias": _numbers((2,), 0.2),
}
_LABELED = (_numbers((6, 3), 2.0), np.array([0, 1, 2, 1, 0, 2]))


def _changed(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> list[str]:
    return [name for name in before if not np.array_equal(before[name], after[name])]


@check("in the first phase the head moves and the base does not")
def transfer_freezes(make_transfer_model: Function) -> None:
    base = build_base(_BASE)
    model = make_transfer_model(base, 3, 0.1)
    before = arrays(model)
    if sorted(before) != sorted([*_BASE, "head bias", "head kernel"]):
        fail(f"the model has the weights {', '.join(sorted(before))}.", "All of base, and one Dense layer named head.")
    model.train_on_batch(*_LABELED)
    changed = _changed(before, arrays(model))
    if sorted(changed) != ["head bias", "head kernel"]:
        fail(f"after a step {', '.join(changed) or 'nothing'} had changed.", "What is trained, and in which mode?")
    if _changed(_BASE, arrays(base)):
        fail("the weights of base have changed.")


@check("its first loss is log(3) for a head of zeros, and it learns with the rate that was given")
def transfer_learns(make_transfer_model: Function) -> None:
    model = make_transfer_model(build_base(_BASE), 3, 0.1)
    load(model, {"head kernel": np.zeros((2, 3), np.float32), "head bias": np.zeros(3, np.float32)})
    loss = model.evaluate(*_LABELED, verbose=0, return_dict=True)["loss"]
    _require("the loss", np.array(loss, np.float64), np.log(3.0))
    one = (_LABELED[0][:1], _LABELED[1][:1])
    model.train_on_batch(*one)
    wanted = 0.1 * (np.array([1, 0, 0], np.float64) - 1 / 3)
    _require("the bias of the head after one step", arrays(model)["head bias"].astype(float), wanted)


@check("in the second phase the last layers follow, but no BatchNormalization")
def fine_tune_moves(make_transfer_model: Function, fine_tune: Function) -> None:
    for depth, dense in ((1, ["dense3"]), (4, ["dense2", "dense3"]), (7, ["dense1", "dense2", "dense3"])):
        base = build_base(_BASE)
        model = make_transfer_model(base, 3, 0.1)
        model.train_on_batch(*_LABELED)
        before = arrays(model)
        fine_tune(model, base, depth, 0.05)
        if _changed(before, arrays(model)):
            fail("fine_tune itself has changed weights.")
        model.train_on_batch(*_LABELED)
        changed = sorted({name.split()[0] for name in _changed(before, arrays(model))})
        if changed != sorted([*dense, "head"]):
            wanted = ", ".join([*dense, "head"])
            fail(f"with depth={depth} a step moved {', '.join(changed) or 'nothing'}; it should move {wanted}.")
    base = build_base(_BASE)
    model = make_transfer_model(base, 3, 0.1)
    fine_tune(model, base, 1, 0.05)
    load(model, {"head kernel": np.zeros((2, 3), np.float32), "head bias": np.zeros(3, np.float32)})
    model.train_on_batch(_LABELED[0][:1], _LABELED[1][:1])
    step = 0.05 * (np.array([1, 0, 0], np.float64) - 1 / 3)
    hints = {"": "The second phase has a learning rate of its own."}
    _require("with rate=0.05 the step of the head's bias", arrays(model)["head bias"].astype(float), step, hints)


@check("with three images of each new digit the old features help")
def transfer_to_other_digits(make_transfer_model: Function, fine_tune: Function) -> str:
    x, y, x_test, y_test = load_digits()
    x, x_test = x.reshape(len(x), -1), x_test.reshape(len(x_test), -1)
    few = np.concatenate([np.flatnonzero(y == digit)[:3] for digit in range(5, 10)])

    def network() -> keras.Sequential:
        parts = [keras.Input((64,)), layers.Dense(128), layers.BatchNormalization(), layers.Activation("relu")]
        return keras.Sequential([*parts, layers.Dense(64), layers.Activation("relu")])

    def right(model: Any) -> float:
        found = model.predict(x_test[y_test >= 5], verbose=0).argmax(axis=1) + 5
        return float((found == y_test[y_test >= 5]).mean())

    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    keras.utils.set_random_seed(0)
    base = network()
    old = keras.Sequential([base, layers.Dense(5)])
    old.compile(keras.optimizers.SGD(0.1), loss)
    old.fit(x[y < 5], y[y < 5], batch_size=32, epochs=5, verbose=0)
    new = keras.Sequential([network(), layers.Dense(5)])
    new.compile(keras.optimizers.SGD(0.1), loss)
    new.fit(x[few], y[few] - 5, batch_size=10, epochs=30, verbose=0)
    model = make_transfer_model(base, 5, 0.1)
    model.fit(x[few], y[few] - 5, batch_size=10, epochs=20, verbose=0)
    fine_tune(model, base, 2, 0.1)
    model.fit(x[few], y[few] - 5, batch_size=10, epochs=10, verbose=0)
    yours, theirs = right(model), right(new)
    if yours < 0.5:
        fail(f"{yours:.0%} of the new digits are right.", "Which weights are trained in which phase?")
    return f" ({yours:.0%} right, and {theirs:.0%} with a new network)"
