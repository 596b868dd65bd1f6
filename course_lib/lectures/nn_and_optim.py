"""The exercises of lecture 07: a check for each, and the solution that the lecture continues with until it is right.

They are classes and functions of torch, so this module imports it, as the lecture has done before.
"""

# The solutions stand as the lecture shows them, without annotations.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution

loss_fn = nn.CrossEntropyLoss()

DEEP = [64, 64, 64, 64, 64, 64, 64, 10]
"""sizes of the network that the lecture opens with: six hidden layers"""


# What the lecture gives, and the solutions of its exercises, word for word.


class SGD:
    """Gradient descent: each parameter moves by `lr` times its gradient, downhill."""

    def __init__(self, params, lr):
        self.params = list(params)
        self.lr = lr

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for p in self.params:
            if p.grad is not None:
                p -= self.lr * p.grad


def make_network(sizes):
    """Linear layers, separated by ReLUs. sizes: a list such as [64, 32, 10]. Returns an nn.Sequential."""
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


def train(model, loss_fn, optimizer, x, y, batch_size, epochs, seed=0):
    """Mini-batch training. x: (n, features), y: (n,) class numbers. Returns the mean loss of each epoch, a list."""
    generator = torch.Generator().manual_seed(seed)
    history = []
    for _ in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(x), generator=generator).split(batch_size):
            logits = model(x[batch])
            loss = loss_fn(logits, y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        history.append(total / len(x))
    return history


class Momentum(SGD):
    """SGD along a velocity: a sum of all gradients so far, in which old ones fade."""

    def __init__(self, params, lr, momentum=0.9):
        super().__init__(params, lr)
        self.momentum = momentum
        self.velocities = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self):
        for p, velocity in zip(self.params, self.velocities, strict=True):
            if p.grad is not None:
                velocity *= self.momentum
                velocity += p.grad
                p -= self.lr * velocity


class Adam(SGD):
    """A moving average of the gradients, divided by the root of the moving average of their squares."""

    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, lr)
        self.betas = betas
        self.eps = eps
        self.t = 0
        self.m = [torch.zeros_like(p) for p in self.params]
        self.v = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self):
        self.t += 1
        beta1, beta2 = self.betas
        for p, m, v in zip(self.params, self.m, self.v, strict=True):
            if p.grad is not None:
                m *= beta1
                m += (1 - beta1) * p.grad
                v *= beta2
                v += (1 - beta2) * p.grad**2
                m_hat = m / (1 - beta1**self.t)
                v_hat = v / (1 - beta2**self.t)
                p -= self.lr * m_hat / (v_hat.sqrt() + self.eps)


def init_kaiming(model):
    """Draw every weight of `model` from a normal distribution of variance 2 / fan_in, and set every bias to 0."""
    for layer in model:
        if isinstance(layer, nn.Linear):
            std = (2 / layer.in_features) ** 0.5
            nn.init.normal_(layer.weight, mean=0.0, std=std)
            nn.init.zeros_(layer.bias)


def lr_search(make_model, loss_fn, optimizer_class, x, y, lrs):
    """Train a new model for two epochs at each learning rate. Returns the loss of the last epoch for each, a list."""
    losses = []
    for lr in lrs:
        model = make_model()
        optimizer = optimizer_class(model.parameters(), lr=lr)
        history = train(model, loss_fn, optimizer, x, y, batch_size=50, epochs=2)
        losses.append(history[-1])
    return losses


def three_runs(seed: int = 0) -> dict[str, list[float]]:
    """The runs that the lecture opens with: what differs -> the mean loss of each of ten epochs."""
    from course_lib.data import load_digits

    digits = load_digits()
    x, y = torch.tensor(digits.x_train).flatten(1), torch.tensor(digits.y_train)
    runs: dict[str, list[float]] = {}
    optimizers: tuple[tuple[type, float], ...] = ((torch.optim.SGD, 0.1), (torch.optim.Adam, 0.1))
    for optimizer_class, lr in (*optimizers, (torch.optim.Adam, 0.001)):
        torch.manual_seed(seed)
        model = make_network(DEEP)
        optimizer = optimizer_class(model.parameters(), lr=lr)
        label = f"{optimizer_class.__name__}, lr {lr}"
        runs[label] = train(model, loss_fn, optimizer, x, y, batch_size=50, epochs=10, seed=seed)
    return runs


# Exercise 1: the training loop.


@dataclass
class _Training:
    """What a training of a small linear model did."""

    returned: Any
    batches: list[list[int]]
    """numbers of the examples, for each forward pass that recorded a graph"""
    updates: int
    weight: torch.Tensor
    start: dict[str, Any]


NOT_ROWS = "the model was given something other than rows of x"


def _ten_examples() -> tuple[torch.Tensor, torch.Tensor]:
    drawn = torch.Generator().manual_seed(3)
    x = torch.randn(10, 4, generator=drawn, dtype=torch.float64)
    return x, torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2, 2])


def _linear_model() -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        return nn.Sequential(nn.Linear(4, 3)).double()


def _trained(
    attempt: Callable[..., Any], lr: float, epochs: int = 2, batch_size: int = 4, loss: nn.Module = loss_fn
) -> _Training:
    x, y = _ten_examples()
    model = _linear_model()
    start = {name: value.clone() for name, value in model.state_dict().items()}
    batches: list[list[int]] = []
    updates: list[int] = []

    def seen(_: Any, inputs: tuple[torch.Tensor, ...]) -> None:
        if torch.is_grad_enabled() and len(inputs[0]) <= batch_size:  # not a loss over all examples
            places = [(x == row).all(dim=1).nonzero() for row in inputs[0].detach()]
            if not all(len(place) for place in places):
                raise ValueError(NOT_ROWS)
            batches.append([int(place[0]) for place in places])

    model.register_forward_pre_hook(seen)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.register_step_post_hook(lambda *_: updates.append(1))
    returned = attempt(model, loss, optimizer, x, y, batch_size, epochs)
    return _Training(returned, batches, len(updates), model[0].weight.detach().clone(), start)


def _replayed(
    training: _Training, lr: float, clear: bool = True, in_order: bool = False, loss: nn.Module = loss_fn
) -> torch.Tensor:
    """The weights after the same batches: without clearing, with labels in the order of the file, another loss."""
    x, y = _ten_examples()
    model = _linear_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    done = 0
    for batch in training.batches:
        labels = torch.arange(done, done + len(batch)) if in_order else torch.tensor(batch)
        if clear:
            optimizer.zero_grad()
        loss(model(x[batch]), y[labels]).backward()
        optimizer.step()
        done = (done + len(batch)) % len(x)
    return torch.as_tensor(model[0].weight.detach())


def _losses_at_rest(training: _Training) -> list[torch.Tensor]:
    """The loss of each batch if no update changes anything."""
    x, y = _ten_examples()
    model = _linear_model()
    with torch.no_grad():
        return [loss_fn(model(x[batch]), y[batch]) for batch in training.batches]


def check_train(attempt: Callable[..., list[float]]) -> Callable[..., list[float]]:
    """What the lecture continues with: `attempt` if its updates and its losses are right, else our `train`."""

    def moving() -> _Training:
        return _trained(attempt, lr=0.5)

    def repeats_itself() -> bool:
        with torch.random.fork_rng(devices=[]):
            runs = []
            for state in (1, 2):
                torch.manual_seed(state)
                runs.append(moving().batches)
        return runs[0] == runs[1]

    def epochs_of(training: _Training) -> list[list[int]]:
        rows = [row for batch in training.batches for row in batch]
        return [rows[:10], rows[10:]]

    def weights_are(**changes: Any) -> bool:
        training = moving()
        return torch.allclose(training.weight, _replayed(training, 0.5, **changes), rtol=0, atol=1e-9)

    def uses_the_given_loss() -> bool:
        other = nn.CrossEntropyLoss(label_smoothing=0.5)
        training = _trained(attempt, lr=0.5, loss=other)
        return torch.allclose(training.weight, _replayed(training, 0.5, loss=other), rtol=0, atol=1e-9)

    def returns(values: Callable[[list[torch.Tensor]], float]) -> bool:
        training = _trained(attempt, lr=0.0, epochs=1)
        expected = values(_losses_at_rest(training))
        return abs(float(training.returned[0]) - expected) < 1e-9

    def second_to_first(ratio: float) -> bool:
        """True if, while nothing moves, the second epoch's number is `ratio` times that of the first."""
        first, second = (float(value) for value in _trained(attempt, lr=0.0).returned)
        return abs(second - ratio * first) < 1e-9

    return attempt_or_solution(
        "train",
        attempt,
        train,
        (
            lambda: NOT_ROWS not in _error_of(moving),
            "The model gets something other than rows of `x`. A mini-batch of `split` holds indices, so hand the model "
            "`x[batch]`.",
        ),
        (lambda: moving().updates > 0, "No update was made. Where is `optimizer.step()`?"),
        (
            lambda: moving().updates != 2,
            "One update in each epoch. `step` belongs inside the loop over mini-batches.",
        ),
        (
            lambda: moving().updates != 3,
            "There was only one epoch, though two were asked for. Is the `return` inside the loop over epochs?",
        ),
        (
            lambda: moving().updates == 6,
            "10 examples in batches of 4 are 3 updates in each epoch, the last of them with 2 examples.",
        ),
        (
            lambda: moving().batches,
            "The model gets all examples at once. Hand it one mini-batch: `x[batch]`.",
        ),
        (
            lambda: len(moving().batches) <= 6,
            "The model is called more than once for each batch. Compute the loss once, before the update, and use it "
            "for `backward` and for the returned mean.",
        ),
        (
            lambda: all(sorted(rows) == list(range(10)) for rows in epochs_of(moving())),
            "Every example should be used exactly once in each epoch: shuffle all the numbers, then cut into batches.",
        ),
        (
            lambda: epochs_of(moving())[0] != list(range(10)),
            "The examples come in the order of the file. Shuffle them: `torch.randperm`.",
        ),
        (
            lambda: epochs_of(moving())[0] != epochs_of(moving())[1],
            "Both epochs use the same order. Seed the generator and shuffle: one before the loop over epochs, the "
            "other inside.",
        ),
        (
            repeats_itself,
            "A second run with the same `seed` shuffles differently. Draw from the generator: "
            "`torch.randperm(len(x), generator=generator)`.",
        ),
        (
            lambda: not torch.equal(moving().weight, moving().start["0.weight"]),
            "The weights do not move. Is `zero_grad` between `backward` and `step`?",
        ),
        (lambda: not weights_are(clear=False), "Gradients of earlier batches are never cleared: `zero_grad`."),
        (
            lambda: not weights_are(in_order=True),
            "Images and labels do not belong together: index `x` and `y` with the same `batch`.",
        ),
        (
            lambda: weights_are(),
            "The weights are not those of six plain updates. For each batch: the loss of its logits, `zero_grad`, "
            "`backward`, `step`.",
        ),
        (
            uses_the_given_loss,
            "Given another loss, it trains on cross-entropy all the same. Call the `loss_fn` that is passed in.",
        ),
        (lambda: moving().returned is not None, NOTHING_RETURNED),
        (
            lambda: isinstance(moving().returned, list) and len(moving().returned) == 2,
            "Return a list with one number for each epoch.",
        ),
        (
            lambda: all(isinstance(value, float) for value in moving().returned),
            "Return Python numbers: `loss.item()` is one, a tensor keeps its graph.",
        ),
        (
            lambda: not returns(lambda losses: float(sum(losses) / len(losses))),
            "You took the mean of the batches' means. The last batch is smaller: weight each loss by `len(batch)`.",
        ),
        (
            lambda: not returns(lambda losses: float(losses[-1])),
            "That is the loss of the last batch. Add up over all batches of the epoch.",
        ),
        (
            lambda: not second_to_first(2),
            "The second number also contains the losses of the first epoch. Start the sum from 0 in each epoch.",
        ),
        (
            lambda: (
                returns(lambda losses: float(losses[0] * 4 + losses[1] * 4 + losses[2] * 2) / 10) and second_to_first(1)
            ),
            "The weights are right, the returned losses are not: add `loss.item() * len(batch)` over the epoch, "
            "starting from 0 in each, and divide by `len(x)`.",
        ),
    )


# Exercises 2 and 3: optimizers.


def _walk(optimizer_class: Callable[..., Any], grads: list[Any], **settings: Any) -> list[list[torch.Tensor]]:
    """Where each parameter is after each step, for gradients that are given and not computed.

    grads: for each step the gradient of each parameter, a list of numbers or None.
    """
    params = [nn.Parameter(torch.ones(len(first or [0.0]), dtype=torch.float64)) for first in grads[0]]
    optimizer = optimizer_class(params, **settings)
    path = []
    for step in grads:
        for p, grad in zip(params, step, strict=True):
            p.grad = None if grad is None else torch.tensor(grad, dtype=torch.float64)
        optimizer.step()
        path.append([p.detach().clone() for p in params])
    return path


def _moves(optimizer_class: Callable[..., Any], grads: list[float], **settings: Any) -> list[float]:
    """How far one parameter of one number moved in each step, divided by the learning rate 0.1."""
    path = [1.0, *(float(at[0][0]) for at in _walk(optimizer_class, [[[grad]] for grad in grads], lr=0.1, **settings))]
    return [(after - before) / 0.1 for before, after in itertools.pairwise(path)]


def _error_of(call: Callable[[], object]) -> str:
    """The message of an error that PyTorch or Python raises, or nothing; an exercise not begun is passed on."""
    try:
        call()
    except NotImplementedError:
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _same_walk(one: Callable[..., Any], other: Callable[..., Any], grads: list[Any], **settings: Any) -> bool:
    pairs = zip(_walk(one, grads, **settings), _walk(other, grads, **settings), strict=True)
    return all(
        torch.allclose(a, b, rtol=1e-6, atol=1e-9) for at, there in pairs for a, b in zip(at, there, strict=True)
    )


def _drawn_grads(steps: int) -> list[Any]:
    """Gradients of very different sizes, for two parameters of two numbers each."""
    drawn = torch.Generator().manual_seed(1)
    sizes = torch.tensor([[100.0, 1.0], [0.01, 0.0001]])
    return [(torch.randn(2, 2, generator=drawn) * sizes).tolist() for _ in range(steps)]


def _keeps_the_gradient(optimizer_class: Callable[..., Any]) -> bool:
    p = nn.Parameter(torch.ones(1))
    optimizer = optimizer_class([p], lr=0.1)
    for _ in range(2):
        p.grad = grad = torch.tensor([3.0])
        optimizer.step()
        if grad.item() != 3.0:
            return False
    return True


def _learns_from_a_generator(optimizer_class: Callable[..., Any]) -> bool:
    """True if it moves a parameter that comes from a generator, as `model.parameters()` is."""
    p = nn.Parameter(torch.ones(1))
    optimizer = optimizer_class((parameter for parameter in [p]), lr=0.1)
    p.grad = torch.tensor([3.0])
    return not _error_of(optimizer.step) and p.item() != 1.0


def _is(moves: list[float], *wanted: float) -> bool:
    return all(abs(move - value) <= 1e-5 * max(1.0, abs(value)) for move, value in zip(moves, wanted, strict=False))


IN_PLACE_TESTS = (
    "Autograd refuses to change a parameter in place while it records. Put `@torch.no_grad()` above `step`.",
    "The parameters do not move. `p = p - ...` makes a new tensor and leaves the parameter as it was; `p -= ...` "
    "changes it.",
    "Your `step` fails for a parameter whose `.grad` is None. Skip it, as `SGD` does.",
    "A parameter whose `.grad` is None ends your loop, so those after it do not move. Skip only that one, with "
    "`continue` or `if`.",
    "Your `step` changes `p.grad`. Only the parameters and the optimizer's own state should change.",
    "It works for a list, but not for `model.parameters()`: that is a generator, which can be gone through only once. "
    "Call `super().__init__` first, and then go through `self.params`, not `params`.",
)


def check_momentum(attempt: type) -> type:
    """What the lecture continues with: `attempt` if it takes the steps of torch.optim.SGD, else our `Momentum`."""

    def moves(*grads: float, momentum: float = 0.9) -> list[float]:
        return _moves(attempt, list(grads), momentum=momentum)

    in_place, still, none, ended, changed, used_up = IN_PLACE_TESTS
    return attempt_or_solution(
        "Momentum",
        attempt,
        Momentum,
        (lambda: "in-place operation" not in _error_of(lambda: moves(1.0)), in_place),
        (
            lambda: not _is(moves(1.0, 1.0), 0.0, -1.0),
            "The first step is 0 and the second is not: the parameter moves before the gradient is in the velocity.",
        ),
        (lambda: moves(1.0) != [0.0], still),
        (lambda: moves(1.0)[0] < 0, "You go uphill: subtract."),
        (
            lambda: not _is(moves(1.0), -0.1),
            "The first step is a tenth of SGD's: the gradient enters whole, without a factor `1 - momentum`. "
            "This velocity is a sum, not a mean. (Or is `lr` used twice?)",
        ),
        (lambda: not _is(moves(1.0), -10.0), "The first step is ten times too long. Is it multiplied by `lr`?"),
        (
            lambda: not _is(moves(1.0), -1.9),
            "You step along gradient + momentum * velocity. That is Nesterov's variant; step along the velocity.",
        ),
        (
            lambda: not _is(moves(1.0), -0.9),
            "The gradient fades in the step in which it arrives. First multiply the old velocity by `self.momentum`, "
            "then add the gradient.",
        ),
        (
            lambda: not _is(moves(1.0), -2.0),
            "The gradient counts twice. The velocity contains it already, so step along the velocity alone.",
        ),
        (lambda: _is(moves(1.0), -1.0), "The first step should be that of SGD, because the velocity starts at 0."),
        (
            lambda: not _is(moves(1.0, 1.0), -1.0, -1.0),
            "The second step forgets the first. Is the new velocity kept for the next call of `step`?",
        ),
        (
            lambda: not _is(moves(1.0, 1.0), -1.0, -2.0),
            "Nothing fades: the old velocity is not multiplied by `self.momentum`.",
        ),
        (
            lambda: _is(moves(1.0, 1.0), -1.0, -1.9),
            "With gradient 1 twice, the velocities are 1 and 0.9 * 1 + 1 = 1.9. The second step is not 1.9 * lr.",
        ),
        (lambda: _is(moves(1.0, 1.0, momentum=0.5), -1.0, -1.5), "Use `self.momentum`, not 0.9."),
        (
            lambda: (
                not _error_of(lambda: _walk(attempt, [[[1.0], [2.0, 3.0]]], lr=0.1))
                and _same_walk(attempt, Momentum, [[[1.0], [-5.0]]] * 3, lr=0.1)
            ),
            "It fails with two parameters. Each needs a velocity of its own, with its own shape.",
        ),
        (lambda: not _error_of(lambda: _walk(attempt, [[None, [1.0]]], lr=0.1)), none),
        (lambda: _walk(attempt, [[None, [1.0]]], lr=0.1)[0][1].item() != 1.0, ended),
        (lambda: _keeps_the_gradient(attempt), changed),
        (lambda: _learns_from_a_generator(attempt), used_up),
        (
            lambda: _same_walk(
                lambda params, lr: attempt(params, lr=lr, momentum=0.9),
                lambda params, lr: torch.optim.SGD(params, lr=lr, momentum=0.9),
                _drawn_grads(50),
                lr=0.01,
            ),
            "50 steps do not agree with `torch.optim.SGD(..., momentum=0.9)`. Does each velocity have the dtype of its "
            "parameter, as `torch.zeros_like(p)` has?",
        ),
    )


def check_adam(attempt: type) -> type:
    """What the lecture continues with: `attempt` if it takes the steps of torch.optim.Adam, else our `Adam`."""

    def moves(*grads: float, **settings: Any) -> list[float]:
        return _moves(attempt, list(grads), **settings)

    def first() -> float:
        return moves(3.0)[0]

    swapped = functools.partial(Adam, betas=(0.999, 0.9))
    in_place, still, none, ended, changed, used_up = IN_PLACE_TESTS
    return attempt_or_solution(
        "Adam",
        attempt,
        Adam,
        (lambda: "in-place operation" not in _error_of(first), in_place),
        (
            lambda: "ZeroDivisionError" not in _error_of(first) and math.isfinite(first()),
            "The first step is not a number. `self.t` should be 1 in the first step, because 1 - beta**0 = 0, and "
            "`1 - beta**self.t` needs parentheses.",
        ),
        (
            lambda: first() != 0.0 or moves(3.0, 3.0)[1] == 0.0,
            "The first step is 0 and the second is not: update `m` and `v` first, and use them afterward.",
        ),
        (lambda: first() != 0.0, still),
        (
            lambda: first() < 0,
            "You go uphill: subtract. (If you do, are there parentheses around `1 - beta1**self.t`?)",
        ),
        (
            lambda: not _is([first()], -0.3 / math.sqrt(0.009)),
            "The first step is 3.16 times too long: without the two divisions, `m` and `v` are too small at first.",
        ),
        (
            lambda: not _is(moves(3.0, 3.0), -1 / math.sqrt(0.001), -1 / math.sqrt(0.001)),
            "You square the factor 1 - beta2, too. Only the gradient is squared: `(1 - beta2) * p.grad**2`.",
        ),
        (
            lambda: not _is([first()], -1 / math.sqrt(0.001)) and not _is([first()], -0.1),
            "Only one of the two means is corrected: divide `m` by 1 - beta1**t, and `v` by 1 - beta2**t.",
        ),
        (
            lambda: not _is([first()], -1 / 3) and not _is([first()], -10 / 3) and not _is([first()], -1 / 0.03),
            "Divide by the square root of the mean of squares, not by the mean itself.",
        ),
        (lambda: not _is([first()], -math.sqrt(3)), "`v` should be the mean of the *squared* gradients."),
        (
            lambda: not _is([first()], -(0.3 / 0.19) / math.sqrt(0.009 / (1 - 0.999**2))),
            "`self.t` is 2 in the first step. Start it at 0, and add 1 once in each step, outside the loop over "
            "parameters.",
        ),
        (
            lambda: not _is([first()], -((0.3 * 0.999 + 0.009) / 0.1) / math.sqrt((0.3 * 0.999 + 0.009) / 0.001)),
            "`m` and `v` share their tensors, so a change of one changes the other. Make two lists of zeros.",
        ),
        (
            lambda: (
                not _is([first()], -(0.3 / 0.01) / math.sqrt(9 / 0.001)) and not _is([first()], -3 / math.sqrt(9000))
            ),
            "The new value enters a mean whole. Multiply the gradient by 1 - beta1, and its square by 1 - beta2.",
        ),
        (
            lambda: not _is([first()], -10.0),
            "The first step is ten times too long. Is it multiplied by `lr`, and the new gradient in `m` by 1 - beta1?",
        ),
        (
            lambda: _is([first()], -1.0),
            "For a gradient of 3 the first step should be exactly `lr`, because m_hat = 3 and v_hat = 9.",
        ),
        (
            lambda: not _is(moves(3.0, -3.0), -1.0, 1.0),
            "The second step follows the last gradient alone. The numerator is the corrected mean `m_hat`, and the "
            "means must be kept for the next call of `step`.",
        ),
        (
            lambda: not _is(moves(3.0, -3.0, 1.0), *_moves(swapped, [3.0, -3.0, 1.0])),
            "The betas are swapped: `m` is the average with `beta1`, `v` the one with `beta2`.",
        ),
        (
            lambda: _same_walk(attempt, Adam, [[[3.0]], [[-3.0]], [[1.0]]], lr=0.1),
            "The first step is right, the later ones are not. Are `m` and `v` changed in place "
            "(`m *= ...`, not `m = ...`), are they kept without the correction, is each beta raised to the power "
            "`self.t` (`**`), and does `self.t` grow by 1 in each step?",
        ),
        (
            lambda: (
                not _error_of(lambda: _walk(attempt, [[[1.0], [2.0, 3.0]]], lr=0.1))
                and _same_walk(attempt, Adam, [[[1.0], [-5.0]]] * 3, lr=0.1)
            ),
            "One parameter is right, two are not. Count `self.t` once in each step, outside the loop, and keep an "
            "`m` and a `v` for each parameter.",
        ),
        (
            lambda: _same_walk(attempt, Adam, [[[3.0]], [[-1.0]]], lr=0.1, betas=(0.5, 0.7)),
            "Use `self.betas`, not 0.9 and 0.999.",
        ),
        (
            lambda: moves(1e-3, eps=1e-3)[0] > -1.0005,
            "`eps` is added to the whole step. It belongs in the denominator: put the root and `eps` in parentheses.",
        ),
        (
            lambda: not _is(moves(1e-2, eps=1e-2), -1.0),
            "`eps` makes no difference to the step. Add `self.eps` to the root, in the denominator.",
        ),
        (
            lambda: _is(moves(1e-3, eps=1e-3), -0.5),
            "`eps` should be added to the square root, not under it; and use `self.eps`.",
        ),
        (lambda: not _error_of(lambda: _walk(attempt, [[None, [1.0]]], lr=0.1)), none),
        (lambda: _walk(attempt, [[None, [1.0]]], lr=0.1)[0][1].item() != 1.0, ended),
        (lambda: _keeps_the_gradient(attempt), changed),
        (lambda: _learns_from_a_generator(attempt), used_up),
        (
            lambda: _same_walk(attempt, torch.optim.Adam, _drawn_grads(100), lr=0.01),
            "100 steps do not agree with `torch.optim.Adam`. Do `m` and `v` have the dtype of their parameter, as "
            "`torch.zeros_like(p)` has?",
        ),
    )


# Exercise 4: initialization.


def check_init_kaiming(attempt: Callable[[nn.Sequential], object]) -> Callable[[nn.Sequential], object]:
    """What the lecture continues with: `attempt` if spreads, means and biases are right, else our `init_kaiming`."""

    def initialized() -> list[nn.Linear]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(7)
            model = make_network([400, 100, 300, 250])
            for layer in model:
                if isinstance(layer, nn.Linear):
                    nn.init.constant_(layer.weight, 7.0)
                    nn.init.constant_(layer.bias, 7.0)
            attempt(model)
        return [layer for layer in model if isinstance(layer, nn.Linear)]

    def spreads_are(std: Callable[[nn.Linear], float]) -> bool:
        return all(abs(layer.weight.std().item() / std(layer) - 1) < 0.06 for layer in initialized())

    return attempt_or_solution(
        "init_kaiming",
        attempt,
        init_kaiming,
        (
            lambda: "in-place operation" not in _error_of(initialized),
            "Autograd refuses to change a weight in place while it records. Use `nn.init.normal_`, or write under "
            "`torch.no_grad()`.",
        ),
        (
            lambda: "has no attribute" not in _error_of(initialized),
            "A ReLU has no weight. Ask `isinstance(layer, nn.Linear)` first.",
        ),
        (
            lambda: any((layer.weight != 7).any() for layer in initialized()),
            "No weight has changed. If `isinstance(layer, nn.Linear)`, write into `layer.weight`, for instance with "
            "`nn.init.normal_`.",
        ),
        (
            lambda: all((layer.weight != 7).any() for layer in initialized()),
            "Some layers keep their old weights. Every `nn.Linear` should get new ones, the last one too.",
        ),
        (
            lambda: all(layer.weight.min() < layer.weight.max() for layer in initialized()),
            "All weights of a layer are equal. Draw them at random.",
        ),
        (
            lambda: not spreads_are(lambda layer: 2 / layer.in_features),
            "The spread is 2 / fan_in, but that is the variance. The standard deviation is its square root.",
        ),
        (
            lambda: not spreads_are(lambda layer: math.sqrt(2 / layer.out_features)),
            "You divide by the number of outputs. The sum runs over the inputs: `layer.in_features`.",
        ),
        (
            lambda: not spreads_are(lambda layer: 1 / layer.in_features),
            "The spread is 1 / fan_in. A power comes before a division: for the root, write `** 0.5` or `** (1 / 2)`.",
        ),
        (
            lambda: not spreads_are(lambda layer: math.sqrt(1 / layer.in_features)),
            "The spread is the root of 1 / fan_in. The factor 2 is missing, which makes up for the ReLU.",
        ),
        (
            lambda: spreads_are(lambda layer: math.sqrt(2 / layer.in_features)),
            "The spread of the weights is not the root of 2 / fan_in in each layer.",
        ),
        (
            lambda: all(abs(layer.weight.mean()) < 0.1 * layer.weight.std() for layer in initialized()),
            "The mean of the weights should be 0.",
        ),
        (lambda: all((layer.bias == 0).all() for layer in initialized()), "Every bias should be 0."),
        (
            lambda: all(layer.weight.requires_grad and layer.weight.is_leaf for layer in initialized()),
            "The weights no longer require a gradient. Change their values, not the tensors themselves.",
        ),
    )


# Exercise 5: a search for the learning rate.


@dataclass
class _Search:
    """What a search over three rates did."""

    returned: Any
    models: list[Any]
    optimizers: list[Any]
    updates: list[Any]
    """for each update its optimizer"""
    losses: list[float]
    """as often as the loss that was passed in was called: the value, times the size of the batch"""


SEARCHED = [0.01, 30.0, 0.1]
"""the rates of the check; the second diverges, so its last loss is not its smallest"""


def _searched(attempt: Callable[..., Any]) -> _Search:
    drawn = torch.Generator().manual_seed(4)
    x, y = torch.rand(120, 64, generator=drawn), torch.arange(120) % 10
    found = _Search(None, [], [], [], [])

    def make_model() -> Any:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(5)
            found.models.append(nn.Sequential(nn.Linear(64, 10)))
        return found.models[-1]

    class SGD(torch.optim.SGD):
        def __init__(self, params: Any, lr: float) -> None:
            super().__init__(params, lr=lr)
            found.optimizers.append(self)
            self.register_step_post_hook(lambda *_: found.updates.append(self))

    def loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        value = nn.functional.cross_entropy(logits, labels, label_smoothing=0.5)
        found.losses.append(value.item() * len(labels))
        return value

    found.returned = attempt(make_model, loss, SGD, x, y, list(SEARCHED))
    return found


def check_lr_search(attempt: Callable[..., list[float]]) -> Callable[..., list[float]]:
    """What the lecture continues with: `attempt` if each rate gets its own training, else our `lr_search`."""

    @functools.cache
    def seen() -> _Search:
        return _searched(attempt)

    def returned_are(values: Callable[[list[float]], float]) -> bool:
        """The returned numbers are those that `values` makes of the six losses of each rate."""
        parts = [seen().losses[6 * k : 6 * k + 6] for k in range(len(SEARCHED))]
        pairs = zip(seen().returned, map(values, parts), strict=True)
        return all(abs(float(got) - wanted) < 1e-4 for got, wanted in pairs)

    return attempt_or_solution(
        "lr_search",
        attempt,
        lr_search,
        (
            lambda: "argument: 'self'" not in _error_of(seen),
            "`train` got the class. It needs an optimizer: `optimizer_class(model.parameters(), lr=lr)`.",
        ),
        (lambda: seen().models, "No network was made: call `make_model()` for each rate."),
        (
            lambda: seen().optimizers,
            "No optimizer was made from the class that is passed in: `optimizer_class(model.parameters(), lr=lr)`.",
        ),
        (lambda: seen().updates, "A network was made, but nothing was trained: call `train`."),
        (
            lambda: len({id(optimizer) for optimizer in seen().updates}) > 1,
            "There were three rates, and only one training. Is a `return` inside the loop, or `train` after it?",
        ),
        (
            lambda: len(seen().models) != 1,
            "`make_model` was called once, and three rates need three networks. Otherwise each run goes on with the "
            "weights that the run before has trained, and the rates cannot be compared.",
        ),
        (
            lambda: [optimizer.param_groups[0]["lr"] for optimizer in seen().optimizers] == SEARCHED,
            "Each optimizer should get its own rate, in the order of `lrs`: "
            "`optimizer_class(model.parameters(), lr=lr)` inside the loop.",
        ),
        (
            lambda: len(seen().updates) < 150,
            "You train on all 1500 digits. Use the `x` and `y` that are passed in.",
        ),
        (
            lambda: seen().losses,
            "The loss is not the `loss_fn` that is passed in. Hand it on to `train`.",
        ),
        (
            lambda: len(seen().updates) != 9,
            "Each rate was trained for only one epoch. A first epoch tells little: `epochs=2`.",
        ),
        (
            lambda: len(seen().updates) == 18,
            "The check gave 120 examples. In batches of 50 and for two epochs, that should be 6 updates for each rate.",
        ),
        (
            lambda: all(
                any(optimizer.param_groups[0]["params"][0] is model[0].weight for model in seen().models[k : k + 1])
                for k, optimizer in enumerate(seen().optimizers)
            ),
            "An optimizer holds the weights of another network than the one that is trained, so nothing is learned.",
        ),
        (lambda: seen().returned is not None, NOTHING_RETURNED),
        (
            lambda: (
                isinstance(seen().returned, list)
                and len(seen().returned) == len(SEARCHED)
                and not any(isinstance(value, tuple) for value in seen().returned)
            ),
            "Return a list with one number for each rate.",
        ),
        (
            lambda: not any(isinstance(value, list) for value in seen().returned),
            "You keep the losses of both epochs. Keep only the last one of each run: `history[-1]`.",
        ),
        (
            lambda: not returned_are(lambda losses: sum(losses[:3]) / 120),
            "These are the losses of the first epoch. Keep the last one: `history[-1]`.",
        ),
        (
            lambda: not returned_are(lambda losses: sum(losses) / 240),
            "Each number is the mean of both epochs. Keep the loss of the second one: `history[-1]`.",
        ),
        (
            lambda: not returned_are(lambda losses: min(sum(losses[:3]), sum(losses[3:6])) / 120),
            "You keep the smaller of the two losses, which hides that a rate diverges. Keep the last one: "
            "`history[-1]`.",
        ),
        (
            lambda: returned_are(lambda losses: sum(losses[3:6]) / 120),
            "Each rate should get the loss of the second epoch, as `train` returns it.",
        ),
    )
