"""The visible checks of assignment a9, and what shows a student the scripts and their symptoms.

Symptoms come from running a script as it was handed out, on bundled digits or on a series. Beside them stand the
numbers of a healthy script on the same data, recorded once (`HEALTHY`); a test runs the healthy scripts again.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from course_lib import plots
from course_lib.checks import clinic, outcome, training
from course_lib.checks.outcome import fail
from course_lib.data import load_digits

check = functools.partial(outcome.check, stands_alone=True)

Function = Callable[..., Any]

CATALOG: Mapping[str, str] = {
    "axis-confused": "a layer takes the rows of the batch for steps in time, or the other way around",
    "best-is-a-reference": "what is kept as the best weights goes on changing",
    "best-not-restored": "nothing brings back the weights of the best epoch at the end",
    "clipped-while-scaled": "gradients are clipped while they still carry the loss scale",
    "copied-every-step": "the data set goes to the device again in every step",
    "epoch-repeated": "a resumed run trains an epoch again that was done",
    "evaluates-in-training-mode": "dropout or batch statistics are at work while a set is evaluated",
    "frozen-statistics-move": "running statistics of a frozen part change",
    "gradients-not-cleared": "after a step its gradients stay, and the next step uses them too",
    "graphs-kept": "something that is kept holds the graphs of earlier steps",
    "hard-coded-device": "a tensor goes to another device than the one that was asked for",
    "labels-shifted": "in classification, rows have the labels of other rows",
    "last-batch-only": "a number for an epoch is that of its last batch",
    "logits-as-probabilities": "the loss takes logits for probabilities",
    "mean-of-means": "a mean over batches stands where a mean over rows is meant",
    "missing-nonlinearity": "nothing nonlinear stands between two linear layers",
    "not-divided": "the gradients of several batches are added up and not divided",
    "optimizer-not-restored": "a resumed run has lost the state of its optimizer",
    "order-never-changes": "every epoch has the same order or the same noise",
    "rate-steps-too-often": "the schedule of the learning rate advances more often than it was made for",
    "rows-and-labels-apart": "rows and labels are shuffled separately",
    "schedule-not-restored": "a resumed run has lost the state of its schedule",
    "selected-on-test": "the test set decides about training",
    "selected-on-training": "the training loss decides where the validation loss should",
    "shapes-broadcast": "two arrays of different shapes are combined to a larger one",
    "softmax-twice": "the loss applies a softmax to probabilities",
    "split-at-random": "test rows are chosen at random, and overlap with what was trained on",
    "statistics-from-test": "the lines that compute the scale of the inputs take in what is to be held out",
    "step-missing": "the optimizer makes no step",
    "target-in-input": "the input contains the value that is to be predicted",
    "trains-in-eval-mode": "some of the training happens in evaluation mode",
    "updates-missing": "the gradients of some batches make no update of their own",
    "weights-shared": "two layers that should differ are the same object",
    "wrong-parameters": "the optimizer changes parameters that the network does not use",
}
"""what a diagnosis may name -> what it means"""

NAMES = ("train_digits", "train_in_half", "fine_tune", "train_forecaster", "train_long", "train_in_keras")
"""the functions that train, one in each script"""

# --- runs on data that everybody has ----------------------------------------------------------------------------------


def _digits(*ends: int) -> list[np.ndarray]:
    """Flat images and labels: up to the first end, from there to the second, ..."""
    digits = load_digits()
    sets = digits.x_train.reshape(-1, 64), digits.y_train
    return [part[start:end] for start, end in itertools.pairwise((0, *ends)) for part in sets]


def _series() -> np.ndarray:
    steps = np.arange(160)
    noise = np.random.default_rng(0).normal(0.0, 0.3, 160)
    return np.asarray(20 + 0.04 * steps + 4 * np.sin(steps / 4) + noise, np.float32)


def run_digits(train_digits: Function, device: str = "cpu") -> tuple[Any, dict[str, Any]]:
    """Script 1 on 200 digits."""
    options = {"hidden": 24, "classes": 10, "epochs": 6, "lr": 0.05, "seed": 1, "device": device}
    found: tuple[Any, dict[str, Any]] = train_digits(*_digits(200, 301), **options)
    return found


def run_half(train_in_half: Function, device: str = "cuda") -> tuple[Any, dict[str, Any]]:
    """Script 2 on 150 digits: 19 batches, 5 updates in each epoch."""
    options = {"hidden": 24, "classes": 10, "epochs": 4, "lr": 0.4, "group": 4, "max_norm": 0.8, "seed": 1}
    found: tuple[Any, dict[str, Any]] = train_in_half(*_digits(150), **options, device=device)
    return found


def run_pets(fine_tune: Function, device: str = "cpu") -> tuple[Any, dict[str, Any]]:
    """Script 3 on 60 digits, with a backbone that was made and never trained."""
    options = {"classes": 10, "epochs": 30, "patience": 3, "lr": 1.0, "seed": 3, "device": device}
    found: tuple[Any, dict[str, Any]] = fine_tune(_first_net(fine_tune), *_digits(60, 160), **options)
    return found


def _first_net(fine_tune: Function) -> Any:
    torch.manual_seed(0)
    return fine_tune.__globals__["PetNet"](64, 32, 5)


def run_forecast(train_forecaster: Function, device: str = "cpu") -> tuple[Any, dict[str, Any]]:
    """Script 4 on a wave with a trend."""
    options = {"window": 8, "hidden": 8, "held_out": 32, "epochs": 12, "lr": 0.02, "seed": 1, "device": device}
    found: tuple[Any, dict[str, Any]] = train_forecaster(_series(), **options)
    return found


def run_long(train_long: Function, device: str = "cpu", stops: Sequence[int] = (3, 6)) -> tuple[Any, dict[str, Any]]:
    """Script 5 on 160 digits, interrupted after three of six epochs."""
    options = {"hidden": 24, "classes": 10, "lr": 0.3, "seed": 1, "device": device}
    with tempfile.TemporaryDirectory() as folder:
        for until in stops:
            net, losses = train_long(*_digits(160), str(Path(folder, "run.pt")), until=until, **options)
    return net, {"losses": losses}


def run_keras(train_in_keras: Function, device: str = "cpu") -> tuple[Any, dict[str, Any]]:
    """Script 6 on 100 digits."""
    import keras

    options = {"hidden": 24, "classes": 10, "epochs": 30, "patience": 2, "lr": 0.08, "seed": 1}
    with keras.device(device):
        found: tuple[Any, dict[str, Any]] = train_in_keras(*_digits(100, 160, 260), **options)
    return found


RUNS = (run_digits, run_half, run_pets, run_forecast, run_long, run_keras)
HEALTHY: Mapping[int, Mapping[str, Any]] = {
    1: {
        "train_loss": [1.9249, 0.7585, 0.4103, 0.2468, 0.2423, 0.1765],
        "test_loss": [1.2025, 0.4841, 0.2895, 0.2323, 0.2872, 0.2261],
        "test_accuracy": [0.7822, 0.8515, 0.9208, 0.9406, 0.9406, 0.9604],
    },
    2: {
        "loss": [2.2734, 1.8807, 1.1789, 0.6506],
        "lr": [
            0.4,
            0.38,
            0.36,
            0.34,
            0.32,
            0.3,
            0.28,
            0.26,
            0.24,
            0.22,
            0.2,
            0.18,
            0.16,
            0.14,
            0.12,
            0.1,
            0.08,
            0.06,
            0.04,
            0.02,
        ],
        "norm": [
            0.4296,
            0.4505,
            0.3885,
            0.507,
            0.4281,
            0.4654,
            0.5876,
            0.5519,
            0.5113,
            0.6067,
            0.8987,
            0.9233,
            1.0178,
            1.0907,
            0.8147,
            0.6147,
            0.6196,
            0.7659,
            0.8138,
            0.7332,
        ],
    },
    3: {
        "train_loss": [
            2.3158,
            2.078,
            1.7387,
            1.5389,
            1.1804,
            1.1633,
            1.148,
            1.0092,
            1.081,
            0.9337,
            0.7689,
            0.863,
            0.8016,
            0.7864,
            0.7601,
            0.7047,
        ],
        "val_loss": [
            2.1918,
            2.0277,
            1.6442,
            1.5229,
            1.2889,
            1.1739,
            1.1124,
            1.0242,
            0.9834,
            0.9337,
            0.9819,
            0.8626,
            0.8129,
            0.8441,
            0.8944,
            0.8446,
        ],
        "val_accuracy": [
            0.18,
            0.39,
            0.69,
            0.45,
            0.69,
            0.69,
            0.73,
            0.74,
            0.73,
            0.74,
            0.71,
            0.78,
            0.76,
            0.77,
            0.72,
            0.75,
        ],
    },
    4: {
        "train_loss": [0.8507, 0.3441, 0.1579, 0.0491, 0.0339, 0.0334, 0.0314, 0.0286, 0.0284, 0.0267, 0.0268, 0.0286],
        "predictions": [
            26.8433,
            27.2745,
            27.6159,
            27.9492,
            28.3933,
            28.5419,
            28.6437,
            28.2605,
            27.9785,
            27.4698,
            26.5853,
            24.504,
            24.0536,
            23.0267,
            22.1887,
            21.6486,
            21.4738,
            21.5644,
            21.655,
            21.6229,
            23.1014,
            23.9065,
            25.4328,
            25.8366,
            26.6073,
            27.0693,
            27.7407,
            28.3406,
            28.4961,
            28.9317,
            29.0594,
            28.9218,
        ],
        "test_error": 0.6218,
        "naive_error": 0.6611,
    },
    5: {
        "losses": [1.9761, 0.6911, 0.2432, 0.1396, 0.0955, 0.0563],
    },
    6: {
        "train_loss": [2.6015, 1.5887, 1.0208, 0.6445, 0.3583, 0.3353, 0.6501, 0.2538],
        "val_loss": [1.8726, 1.347, 0.886, 0.552, 0.4179, 0.3263, 0.556, 0.6036],
        "val_accuracy": 0.8667,
        "test_accuracy": 0.72,
    },
}
"""script -> what a healthy one says of its run"""

# --- scripts and symptoms ---------------------------------------------------------------------------------------------

NOBODY = 'Type your identifier into the first cell, student = "...", and run that cell.'


def _named(student: object) -> bool:
    return isinstance(student, str) and bool(student.strip())


def show_script(number: int, student: str) -> None:
    """Print one of the scripts, as this student gets it."""
    print(clinic.script(number, student) if _named(student) else NOBODY)


def symptoms(number: int, student: str) -> plots.Canvas | None:
    """Run a script as it was handed out, and show what it says of itself beside what a healthy one says."""
    if not _named(student):
        print(NOBODY)
        return None
    function = _function(number, clinic.script(number, student))
    _, history = RUNS[number - 1](function)
    for name, healthy in HEALTHY[number].items():
        print(f"{name}\n    healthy  {_row(healthy)}\n    yours    {_row(history.get(name, []))}")
    if number == 5:
        print(f"bytes to the device\n    healthy  {_COPIED:,}\n    yours    {copied_bytes(function):,}")
    return _curves({name: (healthy, history[name]) for name, healthy in HEALTHY[number].items() if "loss" in name})


def _curves(losses: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> plots.Canvas:
    """Losses by epoch: of a healthy script and of another, which may have more epochs or fewer."""
    series = {
        f"{name.replace('_', ' ')}, {whose}": values
        for name, both in losses.items()
        for whose, values in zip(("healthy", "yours"), both, strict=True)
    }
    most = max(map(len, series.values()))
    whole = {name: np.array([*values, *[np.nan] * (most - len(values))]) for name, values in series.items()}
    known = np.concatenate([values[np.isfinite(values)] for values in whole.values()])
    wide = bool(known.min() > 0 and known.max() > 50 * known.min())
    return plots.lines(np.arange(1, most + 1), whole, xlabel="epoch", ylabel="loss", logy=wide, markers=True)


def _function(number: int, text: str) -> Function:
    filename = f"<script {number}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"__name__": f"script_{number}"}
    exec(compile(text, filename, "exec"), names)
    function: Function = names[NAMES[number - 1]]
    return function


def _row(values: Any) -> str:
    numbers = np.ravel(np.asarray(values, dtype=float))
    shown = " ".join(f"{value:7.4g}" for value in numbers[:12])
    return f"{shown} ... ({len(numbers)} numbers)" if len(numbers) > 12 else shown


def copied_bytes(train_long: Function) -> int:
    """Bytes that script 5 copies to the device in two epochs."""
    with training.device_step() as found:
        run_long(train_long, "cuda", stops=(2,))
    return found[0].nbytes["host to device"]


_COPIED = 133960
"""by a healthy script"""

# --- checks -----------------------------------------------------------------------------------------------------------


_LEFT = "A fault is left, or a mend has made one."
_TWO_LOSSES = "These are weights of another epoch, or the script has computed its validation loss in another way."


def _as_healthy(number: int, function: Function, tolerance: float = 0.02) -> Any:
    """What training gives, once its numbers are those of a healthy script."""
    net, history = RUNS[number - 1](function)
    for name in HEALTHY[number]:
        if name not in history:
            fail(f'The dict that {NAMES[number - 1]} returns has no "{name}".')
    if _odd(number, history, tolerance, 0.002):
        # Where something is wrong, a small difference is its first sign: it is looked at closely.
        *_, said, hint = min(_odd(number, history, tolerance / 50, 1e-4), key=lambda found: found[:2])
        fail(said, f"{_LEFT} {hint}")
    return net, history


def _odd(number: int, history: Any, rtol: float, atol: float) -> list[tuple[bool, int, str, str]]:
    """Of each row of numbers the first that is not near that of a healthy script: late or not, place, words, hint."""
    odd = []
    for name, healthy in HEALTHY[number].items():
        wanted, got = np.ravel(np.asarray(healthy, float)), np.ravel(np.asarray(history[name], float))
        both = min(got.size, wanted.size)
        near = np.isclose(got[:both], wanted[:both], rtol=rtol, atol=atol)
        place = int(np.argmin([*near, False]))
        # What a script computes once, after training, comes last.
        late = np.ndim(healthy) == 0 or name == "predictions"
        if place < both:
            said = f'"{name}" at place {place} is {got[place]:.4g}; a healthy script gives {wanted[place]:.4g} there.'
            odd.append((late, place, said, "Which lines make this number, and what do they start from?"))
        elif got.size != wanted.size:
            said = f'"{name}" has {got.size} numbers; a healthy script gives {wanted.size}.'
            odd.append((late, place, said, "What decides how often a number is noted?"))
    return odd


@check("script 1 has the numbers of a healthy one")
def digits_numbers(train_digits: Function) -> None:
    _as_healthy(1, train_digits)


@check("script 1 runs on the device")
def digits_on_device(train_digits: Function) -> None:
    _runs_on_device(1, train_digits)


@check("script 2 has the numbers of a healthy one")
def half_numbers(train_in_half: Function) -> None:
    _as_healthy(2, train_in_half, 0.05)


@check("script 2 makes one update for each group of batches")
def half_updates(train_in_half: Function) -> None:
    _, history = run_half(train_in_half)
    if len(history["lr"]) != 20:
        said = f"There are {len(history['lr'])} updates in 4 epochs of 19 batches in groups of 4; there should be 20."
        fail(said, "One follows every fourth batch, and one the last three of an epoch.")
    if min(history["lr"]) <= 0:
        fail("The learning rate of some updates is 0.", "The rate should be 0 after the last update, not before.")


@check("script 3 has the numbers of a healthy one")
def pets_numbers(fine_tune: Function) -> None:
    _as_healthy(3, fine_tune)


@check("script 3 leaves the backbone as it is and comes back with its best weights")
def pets_weights(fine_tune: Function) -> None:
    before = training.arrays(_first_net(fine_tune).backbone.state_dict())
    net, history = run_pets(fine_tune)
    after = training.arrays(net.backbone.state_dict())
    changed = [name for name, value in before.items() if not np.allclose(value, after[name])]
    if changed:
        fail(f"{', '.join(changed)} of the backbone changed.", "What changes a tensor that has no gradient?")
    *_, x, y = _digits(60, 160)
    with torch.no_grad():
        logits = net.cpu().eval()(torch.tensor(x))
        loss = torch.nn.functional.cross_entropy(logits, torch.tensor(y)).item()
    lowest = min(history["val_loss"])
    if abs(loss - lowest) > 1e-3 * lowest:
        said = f"The returned network has the validation loss {loss:.4g}; the lowest in the history is {lowest:.4g}."
        fail(said, _TWO_LOSSES)


@check("script 4 has the numbers of a healthy one")
def forecast_numbers(train_forecaster: Function) -> None:
    _as_healthy(4, train_forecaster)


@check("script 4 is tested on the end of the series, in its units")
def forecast_test(train_forecaster: Function) -> None:
    series = _series()
    _, history = run_forecast(train_forecaster)
    naive = float(np.mean(np.abs(series[-32:] - series[-33:-1])))
    got = history["naive_error"]
    if abs(got - naive) > 1e-3 * naive:
        said = (
            f"The error of repeating the last value is said to be {got:.4g}; on the last 32 values it is {naive:.4g}."
        )
        fail(said, "Which windows are tested, and what is their target?")


@check("script 5 has the numbers of a healthy one, interrupted or not")
def long_numbers(train_long: Function) -> None:
    _as_healthy(5, train_long)
    _, whole = run_long(train_long, stops=(6,))
    _, parts = run_long(train_long, stops=(1, 2, 6))
    if not np.allclose(whole["losses"], parts["losses"], rtol=1e-3):
        fail("A run that is interrupted has other losses than one that is not.", "What does a new process not know?")


@check("script 5 copies its data once")
def long_copies(train_long: Function) -> None:
    copied = copied_bytes(train_long)
    if copied > 1.3 * _COPIED:
        said = f"{copied:,} bytes go to the device in two epochs; a healthy script copies {_COPIED:,}."
        fail(said, "What stands before `.to(`, how large is it, and how often does that line run?")


@check("script 6 has the numbers of a healthy one")
def keras_numbers(train_in_keras: Function) -> None:
    _as_healthy(6, train_in_keras)


@check("script 6 comes back with its best weights")
def keras_weights(train_in_keras: Function) -> None:
    import keras

    model, history = run_keras(train_in_keras)
    *_, x, y, _, _ = _digits(100, 160, 260)
    with keras.device("cpu"):
        outputs = np.asarray(model.predict(x, verbose=0), dtype=float)
    if not np.allclose(outputs.sum(axis=1), 1, atol=1e-3):  # logits
        outputs = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        outputs /= outputs.sum(axis=1, keepdims=True)
    loss, lowest = float(-np.log(outputs[np.arange(len(y)), y]).mean()), min(history["val_loss"])
    if abs(loss - lowest) > 0.01 * lowest:
        said = f"The returned model has the validation loss {loss:.4g}; the lowest in the history is {lowest:.4g}."
        fail(said, _TWO_LOSSES)


def _runs_on_device(number: int, function: Function) -> None:
    net, _ = RUNS[number - 1](function, "cuda")
    places = {str(parameter.device) for parameter in net.parameters()}
    if places != {"cuda:0"}:
        fail(f"After training on cuda the parameters are on {', '.join(sorted(places))}.")


@check("script 3 runs on the device")
def pets_on_device(fine_tune: Function) -> None:
    _runs_on_device(3, fine_tune)


@check("script 4 runs on the device")
def forecast_on_device(train_forecaster: Function) -> None:
    _runs_on_device(4, train_forecaster)


@check("the diagnosis is written in codes of the catalog")
def diagnosis_in_codes(diagnosis: Collection[str]) -> None:
    if isinstance(diagnosis, str):
        diagnosis = {diagnosis}
    if not isinstance(diagnosis, (set, frozenset, list, tuple)):
        fail('A diagnosis is a set of texts, as in {"step-missing"}.')
    if not diagnosis:
        fail("The diagnosis names no code.", "Every script was handed out with one fault at least.")
    unknown = sorted(str(code) for code in diagnosis if code not in CATALOG)
    if unknown:
        fail(f"Not in the catalog: {', '.join(unknown)}.", "Copy the codes from the table.")
    if len(set(diagnosis)) > 3:
        fail(f"The diagnosis names {len(set(diagnosis))} faults; no script has more than three.")
