"""The exercises of lecture 10: what each check asks, and the solution that the lecture continues with meanwhile.

Each solution stands here as it is folded in the lecture, so it has a notebook's form: without annotations, and with
`torch` and `F` as names of the module.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import copy
import importlib
import importlib.util
import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import torch
import torch.nn.functional as F

from course_lib.exercises import attempt_or_solution

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
        (lambda: _near(seen().result, seen().mean), "The training is right, but the number returned is not."),
    )


def _near(a: float, b: float) -> bool:
    return abs(a - b) < 1e-5


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
            "count over all batches how often it is equal to `y`.",
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
        (lambda: _near(pair()[0], seen().loss), "The accuracy is right, but the loss is not the mean per example."),
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
        (lambda: stops([3, 2, 1], 1) == 0, "The loss improves at each epoch, and yet the run is stopped."),
        (
            lambda: stops([3, 2, 2.5, 2.6, 2.7], 2) not in (2, 3),
            "With patience 2 and the losses 3, 2, 2.5, 2.6 it stops too early: it should wait for two epochs in a row "
            "without progress, so it stops at the fourth.",
        ),
        (
            lambda: stops([3, 2, 2.5, 2.6, 2.7], 2) == 4,
            "With patience 2 and the losses 3, 2, 2.5, 2.6, 2.7 it stops too late, or never: two epochs without "
            "progress are enough, so it should stop at the fourth.",
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
            "`best_state` changes when the model trains on, because a state dict refers to the model's own tensors. "
            "Take a deep copy, and only when the loss improves.",
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
    """The factor for the learning rate after `step` updates: up over `warmup` updates, then down to 0 at `total`."""
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
            "At step 0 the factor is 0, so the first update would change nothing. Count from 1: (step + 1) / warmup.",
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
            lambda: not (near(10, 0) and near(50, 1)),
            "The cosine part runs uphill, from 0 to 1. It should fall: add the cosine to 1, do not subtract it.",
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
    )


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


Pair = tuple[Callable[..., Any], Callable[..., Any]]
PARTS = {"epoch", "model", "optimizer", "scheduler", "shuffle", "dropout"}


def check_checkpoint(save: Callable[..., Any], load: Callable[..., Any]) -> Pair:
    """`save_checkpoint(path, run)` and `load_checkpoint(path, run)`; returns both, ours if either is wrong.

    A run has `model`, `optimizer`, `scheduler`, `loader` and `epoch`.
    """

    def seen() -> SimpleNamespace:
        return _resumed(save, load)

    return attempt_or_solution(
        "save_checkpoint, load_checkpoint",
        (save, load),
        (save_checkpoint, load_checkpoint),
        (lambda: _saved(save) is not None, "`save_checkpoint` writes no file at `path`: call `torch.save(..., path)`."),
        (
            lambda: _saved(save) != "refused",
            "`torch.load(path)` refuses the file: it contains whole objects, or functions that you did not call. Save "
            "what `state_dict()`, `get_state()` and `torch.get_rng_state()` return.",
        ),
        (
            lambda: isinstance(_saved(save), dict) and set(_saved(save)) >= PARTS,
            'The file should hold a dictionary with the six keys "epoch", "model", "optimizer", "scheduler", "shuffle" '
            'and "dropout".',
        ),
        (
            lambda: torch.equal(torch.as_tensor(_saved(save)["shuffle"]), _generator_states()[0]),
            '"shuffle" should be the state of the loader\'s generator: `run.loader.generator.get_state()`.',
        ),
        (
            lambda: torch.equal(torch.as_tensor(_saved(save)["dropout"]), _generator_states()[1]),
            '"dropout" should be the state of PyTorch\'s default generator: `torch.get_rng_state()`.',
        ),
        (
            lambda: not seen().replaced,
            "`load_checkpoint` replaces the model, the optimizer, the scheduler or the generator by its state. Do not "
            "assign the state: give it to the object that is there, with `load_state_dict(...)` or `set_state(...)`.",
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
            "After loading, PyTorch's default generator is in another state: call `torch.set_rng_state(...)`, and draw "
            "nothing after it.",
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


def _generator_states() -> tuple[Any, Any]:
    run = _trained_run()
    return run.loader.generator.get_state(), torch.get_rng_state()


def _saved(save: Callable[..., Any]) -> Any:
    """What the file holds; None if there is none, "refused" if `torch.load` refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.pt"
        save(path, _trained_run())
        if not path.exists():
            return None
        try:
            return torch.load(path)
        except Exception:
            return "refused"


def _resumed(save: Callable[..., Any], load: Callable[..., Any]) -> SimpleNamespace:
    """Which parts of a new run agree with the saved one after loading."""
    with tempfile.TemporaryDirectory() as folder:
        path, old = Path(folder) / "run.pt", _trained_run()
        state = torch.get_rng_state()
        save(path, old)
        new = _small_run()
        torch.manual_seed(99)
        load(path, new)
        dropout = torch.equal(torch.get_rng_state(), state)
    if not all(hasattr(part, "load_state_dict") for part in (new.model, new.optimizer, new.scheduler)) or not hasattr(
        new.loader.generator, "set_state"
    ):
        return SimpleNamespace(replaced=True)
    old_model, new_model = old.model.state_dict(), new.model.state_dict()
    moments = [run.optimizer.state_dict()["state"] for run in (old, new)]
    return SimpleNamespace(
        replaced=False,
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
