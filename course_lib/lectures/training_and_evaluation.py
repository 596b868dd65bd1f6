"""The exercises of lecture 10: what each check asks, and the solution that the lecture continues with meanwhile.

Each solution stands here as it is folded in the lecture, so it has a notebook's form: without annotations, and with
`torch` and `F` as names of the module.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import copy
import functools
import importlib
import importlib.util
import math
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import torch
import torch.nn.functional as F

from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution

T = TypeVar("T")
_ROWS = 10
"""examples of the small data set of the checks, in batches of 4, 4 and 2"""


def load_tensorboard() -> None:
    """Import TensorBoard's writer. It loads TensorFlow if that is installed: here without TensorFlow's log messages."""
    if importlib.util.find_spec("tensorflow") is not None:
        importlib.import_module("course_lib.frameworks").prepare("torch", "tensorflow")
    importlib.import_module("torch.utils.tensorboard")


# train_epoch


def train_epoch(model, loader, optimizer):
    """Train `model` for one epoch; return the mean loss per example, as a float."""
    model.train()
    total = 0
    for x, y in loader:
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


def check_train_epoch(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`train_epoch(model, loader, optimizer) -> float`, the mean loss per example of one epoch of training."""

    def seen() -> SimpleNamespace:
        return _watched_training(attempt)

    return attempt_or_solution(
        "train_epoch",
        attempt,
        train_epoch,
        (lambda: seen().modes, "The model was never called: compute `logits = model(x)` for each batch."),
        (
            lambda: len(seen().modes) == 3,
            "The loader has 3 batches, but the model did not see each of them once. Is a `return` inside the loop?",
        ),
        (lambda: all(seen().modes), "The model was in eval mode. Call `model.train()` before the loop."),
        (lambda: seen().steps, "The weights never moved: call `optimizer.step()`."),
        (
            lambda: len(seen().steps) == 3,
            "There are 3 batches, but `optimizer.step()` was not called 3 times. It belongs inside the loop, once.",
        ),
        (
            lambda: seen().steps[0].norm > 0,
            "When `optimizer.step()` ran there was no gradient. Is `loss.backward()` missing, or does it come after "
            "`step()`, or does `zero_grad()` stand between the two?",
        ),
        (
            lambda: seen().steps[0].error < 1e-5,
            "The first gradient is not that of the batch's mean cross-entropy. `F.cross_entropy` takes logits, without "
            "a softmax, and its default reduction is the mean.",
        ),
        (
            lambda: seen().steps[1].error < 1e-5,
            "The first gradient is right, but the second still contains it: call `optimizer.zero_grad()` for each "
            "batch, before `loss.backward()`.",
        ),
        (lambda: seen().result is not None, "The function returns nothing: return the mean loss per example."),
        (
            lambda: isinstance(seen().result, float),
            "Return a Python float. `loss.item()` reads the number out of the tensor and lets go of the graph.",
        ),
        (
            lambda: not _near(seen().result, seen().losses[-1]),
            "You return the loss of the last batch. Add up the losses of all batches.",
        ),
        (
            lambda: not _near(seen().result, sum(seen().losses)),
            "You return the sum of the batches' losses. Weight each with its number of examples, and divide by the "
            "number of all examples.",
        ),
        (
            lambda: not _near(seen().result, sum(seen().losses) / 3),
            "You return the mean over batches, so each of the 2 examples in the last batch counts twice as much as one "
            "of the 4 in the first. Multiply each loss by `len(y)` and divide by `len(loader.dataset)`.",
        ),
        (
            lambda: not _near(seen().result, seen().mean * _ROWS / 3),
            "You divide by the number of batches, `len(loader)`. Divide by the number of examples, "
            "`len(loader.dataset)`.",
        ),
        (
            lambda: not _near(seen().result, sum(seen().losses) / _ROWS),
            "Each batch's loss is already a mean, and you divide their sum by the number of examples. Multiply each "
            "loss by `len(y)` first.",
        ),
        (lambda: not _near(seen().result, seen().mean * _ROWS), "You return a sum. Divide by the number of examples."),
        (
            lambda: not _near(seen().result, sum(seen().losses) * 4 / _ROWS),
            "You weight each loss with the loader's batch size, 4, but the last batch has 2 examples: use `len(y)`.",
        ),
        (
            lambda: not _near(seen().result, seen().losses[-1] * 2 / _ROWS),
            "Only the last batch is in your total: `total += ...` belongs inside the loop.",
        ),
        (
            lambda: not any(_near(seen().result, seen().mean * _ROWS / size) for size in (300, 1200)),
            "You divide by the size of one of the lecture's sets, but this loader has another number of examples: "
            "`len(loader.dataset)`.",
        ),
        (
            lambda: not _same_factor(seen().result, sum(seen().losses)),
            "You multiply each loss by the same number, larger than any batch. Does `len(y)` count the labels of your "
            "loop's batch, or those of the lecture's own `y`, which are 1500?",
        ),
        (
            lambda: _near(seen().result, seen().mean),
            "The training is right, but the number returned is not: it should be "
            "the sum of `loss.item() * len(y)` over all batches, divided by `len(loader.dataset)`.",
        ),
    )


def _near(a: float, b: float) -> bool:
    return abs(a - b) < 1e-5


def _same_factor(result: float, losses: float) -> bool:
    """Whether each batch's loss has been weighted with one and the same whole number, above the size of a batch."""
    factor = result * _ROWS / losses
    return factor > 4.5 and abs(factor - round(factor)) < 1e-2


def _batches() -> Any:
    """A loader of 10 examples with 4 features and 3 classes, in batches of 4, 4 and 2."""
    from torch.utils.data import DataLoader, TensorDataset

    generator = torch.Generator().manual_seed(1)
    x = torch.randn(_ROWS, 4, generator=generator)
    y = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2, 0])
    return DataLoader(TensorDataset(x, y), batch_size=4, generator=torch.Generator())


def _small_model() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


def _watched_training(attempt: Callable[..., Any]) -> SimpleNamespace:
    """What one call of `attempt` did: the mode at each forward pass, the loss of each batch, the gradient of each step.

    `steps`: for each, the norm of the gradient and how far it is from that of the batch at these weights.
    """
    loader, model = _batches(), _small_model().eval()
    modes: list[bool] = []
    batches: list[Any] = []
    steps: list[SimpleNamespace] = []
    losses: list[float] = []

    def before(module: Any, inputs: Any) -> None:
        modes.append(module.training)
        batches.append(inputs[0].detach().clone())

    def gradient_of(x: Any) -> Any:
        y = torch.stack([loader.dataset[_row_of(loader.dataset, row)][1] for row in x])
        fresh = copy.deepcopy(model).train()
        fresh._forward_pre_hooks.clear()
        fresh.zero_grad()
        loss: Any = F.cross_entropy(fresh(x), y)
        loss.backward()
        losses.append(loss.item())
        return torch.cat([p.grad.flatten() for p in fresh.parameters()])

    class Watched(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            found = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
            gradient = torch.cat([g.flatten() for g in found]).clone()
            error = (gradient - gradient_of(batches[-1])).abs().max().item() if batches else math.inf
            steps.append(SimpleNamespace(norm=gradient.norm().item(), error=error))
            return super().step(closure)

    model.register_forward_pre_hook(before)
    result = attempt(model, loader, Watched(model.parameters(), lr=0.5))
    sizes = [len(x) for x in batches]
    mean = sum(a * b for a, b in zip(losses, sizes, strict=False)) / _ROWS
    return SimpleNamespace(modes=modes, steps=steps, losses=losses, mean=mean, result=result)


def _row_of(dataset: Any, x: Any) -> int:
    return next(i for i in range(len(dataset)) if torch.equal(dataset[i][0], x))


# evaluate


def evaluate(model, loader):
    """Return the mean loss per example and the accuracy, over the whole set."""
    model.eval()
    total_loss = 0
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            logits = model(x)
            total_loss += F.cross_entropy(logits, y, reduction="sum").item()
            correct += (logits.argmax(dim=1) == y).sum().item()
    count = len(loader.dataset)
    return total_loss / count, correct / count


def check_evaluate(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`evaluate(model, loader) -> (loss, accuracy)`, both per example over the whole set."""

    def seen() -> SimpleNamespace:
        return _watched_evaluation(attempt)

    def pair() -> tuple[float, float]:
        loss, accuracy = seen().result
        return float(loss), float(accuracy)

    return attempt_or_solution(
        "evaluate",
        attempt,
        evaluate,
        (lambda: seen().modes, "The model was never called: compute `logits = model(x)` for each batch."),
        (
            lambda: len(seen().modes) == 3,
            "The loader has 3 batches, but the model did not see each of them once. Is a `return` inside the loop?",
        ),
        (lambda: not any(seen().modes), "The model was in training mode. Call `model.eval()` before the loop."),
        (lambda: not any(seen().recorded), "Autograd records the forward pass: put the loop under `torch.no_grad()`."),
        (lambda: seen().unchanged, "The weights changed. An evaluation calls neither `backward()` nor `step()`."),
        (
            lambda: isinstance(seen().result, tuple | list) and len(seen().result) == 2,
            "Return two numbers: `return loss, accuracy`.",
        ),
        (
            lambda: all(isinstance(value, int | float) for value in seen().result),
            "Return Python numbers: `.item()` reads them out of the tensors.",
        ),
        (
            lambda: not (_near(pair()[0], seen().accuracy) and _near(pair()[1], seen().loss)),
            "The two numbers are in the wrong order: first the loss, then the accuracy.",
        ),
        (
            lambda: not _near(pair()[1], seen().accuracy * 100) and not _near(pair()[1], seen().accuracy * _ROWS),
            "The accuracy is a share between 0 and 1: divide the number of correct answers by the number of examples.",
        ),
        (
            lambda: not _near(pair()[1], seen().mean_accuracy),
            "The accuracy is the mean over batches, so the last batch with its 2 examples counts as much as one with "
            "4. Count correct answers over all batches, and divide once, after the loop.",
        ),
        (
            lambda: not _near(pair()[1], seen().accuracy * _ROWS / 3),
            "You divide the correct answers by the number of batches, `len(loader)`. Divide by `len(loader.dataset)`.",
        ),
        (
            lambda: not (_near(pair()[1], seen().last_accuracy) and _near(pair()[0], seen().last_loss)),
            "You return the numbers of the last batch. Add up over all batches.",
        ),
        (
            lambda: _near(pair()[1], seen().accuracy),
            "The accuracy is wrong. The predicted class is the index of the largest logit, `logits.argmax(dim=1)`; "
            "count over all batches how often it is equal to `y`, and divide by `len(loader.dataset)`.",
        ),
        (
            lambda: not _near(pair()[0], seen().mean_loss),
            "The accuracy is right, but the loss is the mean over batches. Add up the loss of each example, with "
            '`reduction="sum"`, and divide once by `len(loader.dataset)`.',
        ),
        (
            lambda: not _near(pair()[0], seen().sum_of_means / _ROWS),
            "`F.cross_entropy` returns a mean over the batch by default, and you divide it by the number of examples "
            'again. Use `reduction="sum"`.',
        ),
        (lambda: not _near(pair()[0], seen().loss * _ROWS), "The loss is a sum: divide by the number of examples."),
        (
            lambda: not _near(pair()[0], seen().weighted_sums / _ROWS),
            'With `reduction="sum"` the loss of a batch is already a sum, so do not multiply it by `len(y)`.',
        ),
        (
            lambda: _near(pair()[0], seen().loss),
            "The accuracy is right, but the loss is not the mean per example of `F.cross_entropy(logits, y)`, which "
            "takes logits, without a softmax.",
        ),
    )


def _watched_evaluation(attempt: Callable[..., Any]) -> SimpleNamespace:
    loader, model = _batches(), _small_model()
    with torch.no_grad():
        model[1].running_mean.fill_(0.3)
    expected = copy.deepcopy(model).eval()
    before = copy.deepcopy(model.state_dict())
    modes: list[bool] = []
    recorded: list[bool] = []

    def after(module: Any, inputs: Any, output: Any) -> None:
        modes.append(module.training)
        recorded.append(output.requires_grad)

    model.train().register_forward_hook(after)
    result = attempt(model, loader)
    with torch.no_grad():
        judged = [
            (F.cross_entropy(expected(x), y).item(), (expected(x).argmax(1) == y).float().mean().item(), len(y))
            for x, y in loader
        ]
    return SimpleNamespace(
        result=result,
        modes=modes,
        recorded=recorded,
        unchanged=all(torch.equal(value, before[name]) for name, value in model.state_dict().items()),
        loss=sum(loss * size for loss, _, size in judged) / _ROWS,
        accuracy=sum(share * size for _, share, size in judged) / _ROWS,
        mean_loss=sum(loss for loss, _, _ in judged) / 3,
        mean_accuracy=sum(share for _, share, _ in judged) / 3,
        last_loss=judged[-1][0],
        last_accuracy=judged[-1][1],
        sum_of_means=sum(loss for loss, _, _ in judged),
        weighted_sums=sum(loss * size**2 for loss, _, size in judged),
    )


# EarlyStopping


class EarlyStopping:
    """Remember the best weights; say when the validation loss has not improved for `patience` epochs."""

    def __init__(self, patience):
        self.patience = patience
        self.best_loss = float("inf")
        self.best_state = None
        self.waited = 0

    def step(self, valid_loss, model):
        """Call once after each epoch; True means: stop now."""
        if valid_loss < self.best_loss:
            self.best_loss = valid_loss
            self.best_state = copy.deepcopy(model.state_dict())
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience


def check_early_stopping(attempt: type[Any]) -> type[Any]:
    """A class with `__init__(patience)`, `step(valid_loss, model) -> bool`, `best_loss` and `best_state`."""

    def stops(losses: Sequence[float], patience: int) -> int:
        return int(_stopped(attempt, losses, patience).epoch)

    def after(losses: Sequence[float], patience: int = 3) -> SimpleNamespace:
        return _stopped(attempt, losses, patience)

    return attempt_or_solution(
        "EarlyStopping",
        attempt,
        EarlyStopping,
        (
            lambda: any(reply is not None for reply in after([3, 4, 4, 4, 4, 4]).replies),
            "`step` returns nothing: return True to stop, False to go on.",
        ),
        (
            lambda: stops([3, 2, 1], 1) == 0,
            "The loss improves at each epoch, and yet the run is stopped. "
            "Does `best_loss` start at infinity, and does a better loss set the counter to 0?",
        ),
        (
            lambda: stops([3, 2, 2.5, 2.6, 2.7], 2) not in (2, 3),
            "With patience 2 and the losses 3, 2, 2.5, 2.6 it stops too early: it should wait for two epochs in a row "
            "without progress, so it stops at the fourth.",
        ),
        (
            lambda: stops([3, 2, 2.5, 2.6, 2.7], 2) == 4,
            "With patience 2 and the losses 3, 2, 2.5, 2.6, 2.7 it stops too late, or never: two epochs without "
            "progress are enough, so it should stop at the fourth. Are the best loss and the counter kept in `self`, "
            "and does `step` return True then?",
        ),
        (
            lambda: stops([3, 2, 2.5, 2.4, 2.3], 2) == 4,
            "With the losses 3, 2, 2.5, 2.4 and patience 2 it goes on. 2.4 is less than 2.5, but not less than 2: "
            "compare with the best loss, not with the one before.",
        ),
        (
            lambda: stops([2, 2, 2, 2], 2) == 3,
            "An equal loss is no progress: with patience 2 and the losses 2, 2, 2 it should stop at the third.",
        ),
        (
            lambda: stops([3, 2, 2.5, 1, 1.5, 1.2], 2) == 6,
            "After an improvement the waiting starts again: set the counter back to 0.",
        ),
        (
            lambda: getattr(after([3, 2, 2.5]).stopper, "best_loss", None) == 2,
            "Keep the lowest loss so far in `self.best_loss`.",
        ),
        (
            lambda: getattr(after([3, 2, 2.5]).stopper, "best_state", None) is not None,
            "Keep the weights of the best epoch in `self.best_state`.",
        ),
        (
            lambda: hasattr(after([3, 2, 2.5]).stopper.best_state, "keys"),
            "`best_state` should be a state dict: a copy of `model.state_dict()`.",
        ),
        (
            lambda: _epoch_of(after([3, 2, 2.5])) != 3,
            "`best_state` holds the weights of the last epoch, not those of the best. Take a deep copy, because a "
            "state dict refers to the model's own tensors, and take it only when the loss improves.",
        ),
        (lambda: _epoch_of(after([3, 2, 2.5])) == 2, "`best_state` does not hold the weights of the best epoch."),
    )


def _stopped(kind: type[Any], losses: Sequence[float], patience: int) -> SimpleNamespace:
    """The replies to these losses, one more for each until it stops; `epoch`: when it did, from 1, or 0."""
    stopper, model, replies = kind(patience), torch.nn.Linear(1, 1), []
    for number, loss in enumerate(losses, start=1):
        with torch.no_grad():
            model.weight.fill_(number)
        replies.append(stopper.step(loss, model))
        if replies[-1]:
            return SimpleNamespace(stopper=stopper, replies=replies, epoch=number)
    return SimpleNamespace(stopper=stopper, replies=replies, epoch=0)


def _epoch_of(after: SimpleNamespace) -> float:
    return float(after.stopper.best_state["weight"])


# warmup_cosine


def warmup_cosine(step, warmup, total):
    """The factor for `lr` after `step` calls of the scheduler: up over `warmup` calls, then down to 0 at `total`."""
    if step < warmup:
        return (step + 1) / warmup
    progress = (step - warmup) / (total - warmup)
    return 0.5 * (1 + math.cos(math.pi * progress))


def check_warmup_cosine(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`warmup_cosine(step, warmup, total) -> float`: linear to 1, then half a cosine down to 0."""

    def factor(step: int, warmup: int = 10, total: int = 50) -> float:
        return float(attempt(step, warmup, total))

    def near(step: int, wanted: float) -> bool:
        return abs(factor(step) - wanted) < 1e-6

    return attempt_or_solution(
        "warmup_cosine",
        attempt,
        warmup_cosine,
        (lambda: attempt(0, 10, 50) is not None, "The function returns nothing for step 0."),
        (lambda: attempt(20, 10, 50) is not None, "The function returns nothing for steps after the warm-up."),
        (
            lambda: not near(0, 0),
            "At step 0 the factor is 0, so the first updates would change nothing. Count from 1: (step + 1) / warmup.",
        ),
        (
            lambda: near(0, 0.1) and near(4, 0.5) and near(9, 1),
            "The warm-up is wrong: with warmup=10 the factors of steps 0, 4 and 9 should be 0.1, 0.5 and 1.",
        ),
        (
            lambda: not near(10, 1.1),
            "At step `warmup` the factor is above 1. The warm-up is over there: it is for `step < warmup`.",
        ),
        (
            lambda: not near(10, 2),
            "The cosine starts at 2: 1 + cos lies between 0 and 2, so multiply it by 0.5.",
        ),
        (
            lambda: not near(10, 1.5),
            "The cosine starts at 1.5, because only the 1 is halved. Halve the whole sum: 0.5 * (1 + ...).",
        ),
        (
            lambda: not (near(10, 0) and near(50, 1)),
            "The cosine part runs uphill, from 0 to 1. It should fall: progress goes from 0 at `warmup` to 1 at "
            "`total`, and the cosine is added to 1, not subtracted.",
        ),
        (
            lambda: near(10, 1),
            "The cosine should start at 1 where the warm-up ends, at step 10 of 50. Its progress is the number of "
            "steps *since the warm-up*, divided by the number of steps that remain.",
        ),
        (
            lambda: not near(30, math.cos(math.pi / 4)),
            "That is a quarter of a cosine wave, steepest at its end. Half a wave runs from angle 0 to pi, where the "
            "cosine is -1: add 1, and halve the sum.",
        ),
        (
            lambda: factor(49) > -1e-6,
            "The factor becomes negative, so the updates would go uphill. Add 1 to the cosine before you halve it.",
        ),
        (
            lambda: near(50, 0),
            "At step `total` the factor should be 0: the angle runs from 0 to pi (`math.pi`), and progress from 0 "
            "to 1.",
        ),
        (lambda: near(30, 0.5), "Halfway through the cosine, at step 30 of 50, the factor should be 0.5."),
        (
            lambda: not near(20, 0.75),
            "After the warm-up the factor falls in a straight line. Half a cosine wave is flat at both ends, so a "
            "quarter of the way down, at step 20 of 50, it is still above 0.85.",
        ),
        (
            lambda: near(20, 0.5 * (1 + math.cos(math.pi / 4))),
            "A quarter of the way down, at step 20 of 50, the factor should be 0.5 * (1 + cos(pi / 4)), about 0.854.",
        ),
    )


# random_search


def random_search(validation_loss, trials, rng):
    """Try random settings; rng: a NumPy generator. Returns [(loss, lr, p), ...], the lowest loss first."""
    found = []
    for _ in range(trials):
        lr = 10 ** rng.uniform(-4, -1)
        p = rng.uniform(0, 0.6)
        found.append((validation_loss(lr, p), lr, p))
    return sorted(found)


def check_random_search(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`random_search(validation_loss, trials, rng) -> [(loss, lr, p), ...]`, sorted, lr uniform on a log scale."""

    def loss_of(lr: float, p: float) -> float:
        return (math.log10(lr) + 2.5) ** 2 + p if lr > 0 else 99.0

    @functools.cache
    def searched(trials: int = 600, seed: int = 0) -> SimpleNamespace:
        calls: list[tuple[float, float]] = []

        def validation_loss(lr: float, p: float) -> float:
            calls.append((float(lr), float(p)))
            return loss_of(lr, p)

        result = attempt(validation_loss, trials, np.random.default_rng(seed))
        return SimpleNamespace(calls=calls, result=result)

    def rates() -> list[float]:
        return [lr for lr, _ in searched().calls]

    def low() -> float:
        return sum(lr < 10**-2.5 for lr in rates()) / len(rates())

    return attempt_or_solution(
        "random_search",
        attempt,
        random_search,
        (lambda: searched().calls, "`validation_loss(lr, p)` was never called."),
        (
            lambda: len(searched().calls) == 600 and len(searched(3).calls) == 3,
            "`validation_loss` was not called once for each of the `trials`. It trains a network, so call it once in "
            "each trial. Is a `return` inside the loop?",
        ),
        (
            lambda: len(set(rates())) > 1,
            "All trials have the same learning rate. Draw it inside the loop.",
        ),
        (
            lambda: len({p for _, p in searched().calls}) > 1,
            "All trials have the same dropout. Draw it inside the loop.",
        ),
        (
            lambda: min(rates()) > 0,
            "Some rates are not positive. Draw the exponent, and raise 10 to it: `10 ** rng.uniform(...)`.",
        ),
        (
            lambda: not (max(rates()) > 0.2 and max(p for _, p in searched().calls) < 0.15),
            "It seems that rate and dropout are swapped: `validation_loss(lr, p)` takes the rate first.",
        ),
        (
            lambda: not (min(rates()) > 0.01 and 0.3 < max(rates()) < 0.4),
            "The rates lie between 0.018 and 0.37, which are powers of e. Powers of 10 are wanted: `10 ** ...`.",
        ),
        (
            lambda: not (low() < 0.1 and 0.09 < max(rates()) <= 0.1),
            "Nearly all rates lie between 0.003 and 0.1, because the rate itself is drawn uniformly. Draw the exponent "
            "uniformly.",
        ),
        (
            lambda: 1e-4 <= min(rates()) < 1.3e-4 and 0.08 < max(rates()) <= 0.1 and 0.4 < low() < 0.6,
            "The rates should lie between 0.0001 and 0.1, with an exponent that is uniform between -4 and -1, not only "
            "a whole number.",
        ),
        (
            lambda: len(set(rates())) > 100,
            "There are only a few different rates. The exponent need not be a whole number: `rng.uniform(-4, -1)`.",
        ),
        (
            lambda: (
                0 <= min(p for _, p in searched().calls) < 0.05 and 0.55 < max(p for _, p in searched().calls) <= 0.6
            ),
            "The dropout `p` should be uniform between 0 and 0.6.",
        ),
        (
            lambda: abs(np.corrcoef([(math.log(lr), p) for lr, p in searched().calls], rowvar=False)[0, 1]) < 0.2,
            "Rate and dropout rise and fall together. Draw a new random number for each of them.",
        ),
        (
            lambda: searched(5).calls == _again(attempt, loss_of, 5),
            "Two searches with the same `rng` differ. Draw from `rng`, and from nothing else.",
        ),
        (
            lambda: searched(5).calls != searched(5, 1).calls,
            "Two searches with different generators are the same. Draw from the `rng` that is given.",
        ),
        (
            lambda: searched().result is not None,
            f"{NOTHING_RETURNED} (`found.sort()` sorts in place and returns None; `sorted(found)` returns a list.)",
        ),
        (
            lambda: hasattr(searched().result, "__len__") and len(searched().result) == 600,
            "Return all trials in a list, not only the best.",
        ),
        (
            lambda: all(hasattr(trial, "__len__") and len(trial) == 3 for trial in searched().result),
            "Each trial should be a tuple of three numbers: `(loss, lr, p)`.",
        ),
        (
            lambda: (
                sorted((lr, p) for _, lr, p in searched().result) == sorted(searched().calls)
                and all(abs(loss - loss_of(lr, p)) < 1e-9 for loss, lr, p in searched().result)
            ),
            "Each tuple should hold the loss, then the rate and the dropout that it belongs to.",
        ),
        (
            lambda: searched().result[0][0] < searched().result[-1][0],
            "The highest loss comes first, or the list is not sorted. The lowest should come first.",
        ),
        (
            lambda: all(a[0] <= b[0] for a, b in pairwise(searched().result)),
            "The list is not sorted by the loss: `sorted` compares the first entries of tuples.",
        ),
    )


def _again(attempt: Callable[..., Any], loss_of: Callable[..., float], trials: int) -> list[tuple[float, float]]:
    """The settings that a new search with seed 0 tries."""
    calls: list[tuple[float, float]] = []

    def validation_loss(lr: float, p: float) -> float:
        calls.append((float(lr), float(p)))
        return loss_of(lr, p)

    attempt(validation_loss, trials, np.random.default_rng(0))
    return calls


# save_checkpoint and load_checkpoint


def save_checkpoint(path, run):
    """Write the six parts of `run` into one file."""
    checkpoint = {
        "epoch": run.epoch,
        "model": run.model.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "scheduler": run.scheduler.state_dict(),
        "shuffle": run.loader.generator.get_state(),
        "dropout": torch.get_rng_state(),
    }
    torch.save(checkpoint, path)


def load_checkpoint(path, run):
    """Read the six parts from the file into `run`, a new run."""
    checkpoint = torch.load(path)
    run.epoch = checkpoint["epoch"]
    run.model.load_state_dict(checkpoint["model"])
    run.optimizer.load_state_dict(checkpoint["optimizer"])
    run.scheduler.load_state_dict(checkpoint["scheduler"])
    run.loader.generator.set_state(checkpoint["shuffle"])
    torch.set_rng_state(checkpoint["dropout"])


def check_load_checkpoint(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`load_checkpoint(path, run)`: puts the six parts that `save_checkpoint` wrote into a new run.

    A run has `model`, `optimizer`, `scheduler`, `loader` and `epoch`.
    """

    def seen() -> SimpleNamespace:
        return _resumed(attempt)

    return attempt_or_solution(
        "load_checkpoint",
        attempt,
        load_checkpoint,
        (
            lambda: not seen().replaced,
            "`load_checkpoint` replaces the model, the optimizer, the scheduler or the generator by its state. Do not "
            "assign the state: give it to the object that is there, with `load_state_dict(...)` or `set_state(...)`.",
        ),
        (
            lambda: seen().kept,
            "`load_checkpoint` puts a new object into the run, but others still use the old one: the scheduler the old "
            "optimizer, the optimizer the old model's weights, the loader's sampler the old generator. Give the states "
            "to the objects that are there.",
        ),
        (lambda: seen().epoch == 2, "`load_checkpoint` does not set `run.epoch` to the epoch in the file."),
        (lambda: seen().model, "`load_checkpoint` does not restore the model: parameters and buffers."),
        (lambda: seen().optimizer, "`load_checkpoint` does not restore the optimizer's state."),
        (lambda: seen().scheduler, "`load_checkpoint` does not restore the scheduler's state."),
        (
            lambda: seen().shuffle,
            "`load_checkpoint` does not restore the loader's generator: `run.loader.generator.set_state(...)`.",
        ),
        (
            lambda: seen().dropout,
            "After loading, PyTorch's default generator is in another state: call `torch.set_rng_state(...)` with "
            'the part "dropout", and draw nothing after it.',
        ),
    )


def _small_run() -> SimpleNamespace:
    from torch.utils.data import DataLoader

    model = _small_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    generator = torch.Generator().manual_seed(0)
    loader = DataLoader(_batches().dataset, batch_size=5, shuffle=True, generator=generator)
    return SimpleNamespace(model=model, optimizer=optimizer, scheduler=scheduler, loader=loader, epoch=0)


def _trained_run() -> SimpleNamespace:
    run = _small_run()
    for _ in range(2):
        train_epoch(run.model, run.loader, run.optimizer)
        run.scheduler.step()
        run.epoch += 1
    torch.manual_seed(7)
    torch.rand(3)
    return run


def _resumed(load: Callable[..., Any]) -> SimpleNamespace:
    """Which parts of a new run agree with the saved one after loading."""
    with tempfile.TemporaryDirectory() as folder:
        path, old = Path(folder) / "run.pt", _trained_run()
        state = torch.get_rng_state()
        save_checkpoint(path, old)
        new = _small_run()
        there = (new.model, new.optimizer, new.scheduler, new.loader.generator)
        torch.manual_seed(99)
        load(path, new)
        dropout = torch.equal(torch.get_rng_state(), state)
    if not all(hasattr(part, "load_state_dict") for part in (new.model, new.optimizer, new.scheduler)) or not hasattr(
        new.loader.generator, "set_state"
    ):
        return SimpleNamespace(replaced=True)
    old_model, new_model = old.model.state_dict(), new.model.state_dict()
    moments = [run.optimizer.state_dict()["state"] for run in (old, new)]
    now = (new.model, new.optimizer, new.scheduler, new.loader.generator)
    return SimpleNamespace(
        replaced=False,
        kept=all(old_part is new_part for old_part, new_part in zip(there, now, strict=True)),
        epoch=new.epoch,
        model=all(torch.equal(value, new_model[name]) for name, value in old_model.items()),
        optimizer=moments[0].keys() == moments[1].keys()
        and all(
            torch.equal(torch.as_tensor(v), torch.as_tensor(moments[1][k][n]))
            for k, state in moments[0].items()
            for n, v in state.items()
        )
        and old.optimizer.param_groups[0]["lr"] == new.optimizer.param_groups[0]["lr"],
        scheduler=old.scheduler.state_dict() == new.scheduler.state_dict(),
        shuffle=torch.equal(old.loader.generator.get_state(), new.loader.generator.get_state()),
        dropout=dropout,
    )
