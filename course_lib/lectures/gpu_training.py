"""The exercises of lecture 11: what each check asks, and the solution that the lecture continues with meanwhile.

Each solution stands here as it is folded in the lecture, so it has a notebook's form: without annotations, and with
`torch`, `F` and `nn` as names of the module. The checks use the device that is there: the virtual one, or a GPU.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import copy
import functools
import math
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest import mock

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from course_lib import virtual_cuda
from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution

T = TypeVar("T")


def _batch(rows: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Small images (rows, 1, 4, 4) and labels (rows,) of three classes, on the host."""
    generator = torch.Generator().manual_seed(1)
    return torch.randn(rows, 1, 4, 4, generator=generator), torch.arange(rows) % 3


def _model(device: str) -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model.to(device)


def _flat(tensors: Any) -> torch.Tensor:
    """All numbers of some tensors in one, on the CPU."""
    return torch.cat([torch.zeros(0), *(t.detach().flatten().cpu().float() for t in tensors)])


def _true_gradient(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The gradient of the mean loss at the model's present weights, computed on the CPU in float32."""
    fresh = copy.deepcopy(model).cpu()
    fresh.zero_grad()
    F.cross_entropy(fresh(x.cpu()), y.cpu()).backward()
    return _flat(p.grad for p in fresh.parameters())


# train_step


def train_step(model, x, y, optimizer, device):
    """One step on the batch `x`, `y`, which may be on the host. Return the loss: a tensor without its graph."""
    x = x.to(device)
    y = y.to(device)
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def check_train_step(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`train_step(model, x, y, optimizer, device) -> loss`, a tensor on `device` that does not require a gradient."""

    @functools.cache
    def on(name: str) -> SimpleNamespace:
        with virtual_cuda.session(quiet=True) as log:
            model = _model(name)
            (x, y), before = _batch(), _flat(model.parameters())
            truth = _true_gradient(model, x, y)
            right = F.cross_entropy(model(x.to(name)), y.to(name)).item()
            for parameter in model.parameters():
                parameter.grad = torch.ones_like(parameter)
            optimizer, updates = torch.optim.SGD(model.parameters(), lr=0.5), []
            optimizer.register_step_post_hook(lambda *_: updates.append(1))
            with log.step("train_step"):
                loss = attempt(model, x, y, optimizer, torch.device(name))
            step = log.steps[-1]
            moved = (before - _flat(model.parameters())) / 0.5
            return SimpleNamespace(
                loss=loss, right=right, updates=updates, moved=moved, truth=truth, waits=sum(step.syncs.values()),
                sent=step.nbytes["host to device"], needed=x.nbytes + y.nbytes,
            )  # fmt: skip

    def seen() -> SimpleNamespace:
        return on("cuda")

    def on_cpu() -> bool:
        try:
            return bool(on("cpu").loss.device.type == "cpu")
        except RuntimeError:  # tensors on different devices
            return False

    def near(one: torch.Tensor, other: torch.Tensor) -> bool:
        return bool((one - other).norm() < 0.02 * other.norm())

    return attempt_or_solution(
        "train_step",
        attempt,
        train_step,
        (lambda: seen().updates, "The weights did not move: call `optimizer.step()`."),
        (
            lambda: seen().moved.norm() > 0,
            "`optimizer.step()` found no gradient. The order is `zero_grad()`, `backward()`, `step()`.",
        ),
        (
            lambda: not near(seen().moved, torch.ones_like(seen().truth)),
            "The step used only the gradient that was there before the call. Is `loss.backward()` missing, or does it "
            "come after `optimizer.step()`?",
        ),
        (
            lambda: not near(seen().moved, seen().truth + 1),
            "The gradient of the step before is still in it: call `optimizer.zero_grad()` before `loss.backward()`.",
        ),
        (
            lambda: near(seen().moved, seen().truth),
            "The step is not along the gradient of `F.cross_entropy(logits, y)`, the mean over the batch.",
        ),
        (lambda: seen().loss is not None, "Your function returns None. Return the loss."),
        (
            lambda: isinstance(seen().loss, torch.Tensor),
            "Return a tensor: `loss.detach()`. To make a Python number of it, the host has to wait for the device.",
        ),
        (
            lambda: not seen().loss.requires_grad,
            "The loss that you return still has its graph. `loss.detach()` is the number alone.",
        ),
        (
            lambda: seen().waits == 0,
            "The step is right, but somewhere the host waits for a result of the device. Look for `.item()`, `float`, "
            "`print`, `.cpu()` or an `if` on a tensor.",
        ),
        (lambda: abs(seen().loss.item() - seen().right) < 0.01, "You do not return the loss from before the step."),
        (
            lambda: seen().sent <= seen().needed,
            "You copy more to the device than the batch. Copy `x` and `y` once each; the model is there already.",
        ),
        (
            on_cpu,
            "With the CPU as `device` the step fails, or its loss is somewhere else. Use `device` and no other device.",
        ),
    )


# running_epoch


def running_epoch(net, batches, optimizer, device):
    """Train for one epoch. Return mean loss, number of correct answers and largest loss, but wait only at the end."""
    total = torch.zeros((), device=device)
    correct = torch.zeros((), device=device)
    largest = torch.zeros((), device=device)
    for x, y in batches:
        x, y = x.to(device), y.to(device)
        logits = net(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
        correct += (logits.argmax(dim=1) == y).sum()
        largest = torch.maximum(largest, loss.detach())
    total, correct, largest = torch.stack([total, correct, largest]).tolist()
    return total / len(batches), int(correct), largest


class _Graph:
    """What a graph holds as long as it is alive."""


class _Mark(torch.autograd.Function):
    """The identity, which puts a `_Graph` into the graph."""

    @staticmethod
    def forward(ctx, x, graph):
        ctx.graph = graph
        return x.view_as(x)

    @staticmethod
    def backward(ctx, upstream):
        return upstream, None


def check_running_epoch(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`running_epoch(net, batches, optimizer, device) -> (mean loss, correct, largest loss)`, Python numbers."""

    @functools.cache
    def seen() -> SimpleNamespace:
        x, y = _batch(7 * 64)
        x[128:192] *= 3  # so the third loss is the largest
        found = {}
        with virtual_cuda.session(quiet=True) as log:
            for name, function in (("right", running_epoch), ("mine", attempt)):
                net = _model("cuda")
                alive: weakref.WeakSet[_Graph] = weakref.WeakSet()
                most = [0]

                def mark(module, inputs, output, alive=alive, most=most):
                    graph = _Graph()
                    alive.add(graph)
                    most[0] = max(most[0], len(alive))
                    return _Mark.apply(output, graph)

                net.register_forward_hook(mark)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                batches = list(zip(x.split(64), y.split(64), strict=True))
                with log.step(name):
                    result = function(net, batches, optimizer, torch.device("cuda"))
                waits = sum(log.steps[-1].syncs.values())
                weights = _flat(net.parameters())
                found[name] = SimpleNamespace(result=result, weights=weights, waits=waits, graphs=most[0])
        return SimpleNamespace(**found)

    def near(place: int) -> bool:
        return bool(abs(float(seen().mine.result[place]) - seen().right.result[place]) < 1e-3)

    return attempt_or_solution(
        "running_epoch",
        attempt,
        running_epoch,
        (lambda: seen().mine.result is not None, NOTHING_RETURNED),
        (
            lambda: isinstance(seen().mine.result, tuple | list) and len(seen().mine.result) == 3,
            "Return three numbers: mean loss, correct answers, largest loss.",
        ),
        (
            lambda: (seen().mine.weights - seen().right.weights).norm() < 1e-3 * seen().right.weights.norm(),
            "The weights after the epoch are not those of `waiting_epoch`. Leave the lines of the step as they are.",
        ),
        (
            lambda: near(0),
            "The first result should be the mean: the sum of the losses, divided by `len(batches)`. (If you wrote "
            "`total = correct = torch.zeros(...)`, that is one tensor with two names.)",
        ),
        (lambda: near(1), "The second result should be the number of correct answers in all batches together."),
        (lambda: near(2), "The third result should be the largest loss of all batches."),
        (
            lambda: seen().mine.waits <= 3,
            "The results are right, but the host still waits in every step. Look inside the loop for `.item()`, `int`, "
            "`float`, `.cpu()`, `print`, Python's `max`, or an `if` on a tensor.",
        ),
        (
            lambda: seen().mine.graphs <= 3,
            "The results are right, but your sum, list or maximum holds the graph of every batch, so the memory grows "
            "from step to step. Use `loss.detach()`, the number without its graph.",
        ),
        (
            lambda: all(isinstance(value, int | float) for value in seen().mine.result),
            "Return Python numbers. After the loop, `torch.stack([...]).tolist()` reads three tensors with one wait.",
        ),
    )


# best_milliseconds


def best_milliseconds(function, repeats=5):
    """Milliseconds until the device has done the work of `function()`: the best of `repeats` after a warm-up."""
    function()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return min(times)


class _Clock:
    """A device that works while the host goes on, in a time of its own: nothing here really takes time.

    took_ms: what each call's work takes on the device, the last one from then on.
    """

    def __init__(self, took_ms: list[float]) -> None:
        self.host_ms, self.free_ms = 5000.0, 5100.0
        """now, and when the device will have done all that was launched; it is busy with something already"""
        self.took_ms, self.calls = took_ms, 0

    def launch(self) -> None:
        took = self.took_ms[min(self.calls, len(self.took_ms) - 1)]
        self.calls += 1
        self.host_ms += 0.01
        self.free_ms = max(self.free_ms, self.host_ms) + took

    def synchronize(self, device: Any = None) -> None:
        self.host_ms = max(self.host_ms, self.free_ms)

    @contextmanager
    def instead(self) -> Iterator[None]:
        """For this thread, `torch.cuda` and the functions of `time` are this device's."""
        clock, thread = self, threading.get_ident()

        class Event:
            at_ms = math.nan

            def __init__(self, *args: Any, **settings: Any) -> None:
                pass

            def record(self, stream: Any = None) -> None:
                self.at_ms = max(clock.host_ms, clock.free_ms)

            def synchronize(self) -> None:
                clock.host_ms = max(clock.host_ms, self.at_ms)

            def elapsed_time(self, end: Any) -> float:
                if max(self.at_ms, end.at_ms) > clock.host_ms:
                    raise RuntimeError("Both events must be completed before calculating elapsed time.")
                return float(end.at_ms - self.at_ms)

        def reading(name: str, scale: float) -> Any:
            real = getattr(time, name)
            kind = int if name.endswith("_ns") else float
            return lambda: kind(self.host_ms * scale) if threading.get_ident() == thread else real()

        with ExitStack() as stack:
            stack.enter_context(mock.patch.object(torch.cuda, "synchronize", self.synchronize))
            stack.enter_context(mock.patch.object(torch.cuda, "Event", Event))
            for name in ("perf_counter", "monotonic", "time"):
                stack.enter_context(mock.patch.object(time, name, reading(name, 1e-3)))
                stack.enter_context(mock.patch.object(time, f"{name}_ns", reading(f"{name}_ns", 1e6)))
            yield


def check_best_milliseconds(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`best_milliseconds(function, repeats) -> float`, for an asynchronous device."""

    def run(took_ms: list[float], repeats: int) -> tuple[Any, int]:
        clock = _Clock(took_ms)
        with clock.instead():
            return attempt(clock.launch, repeats), clock.calls

    def once() -> Any:
        return run([200.0, 20.0], 1)[0]

    def near(ms: float) -> bool:
        return bool(abs(once() - ms) < 0.5)

    return attempt_or_solution(
        "best_milliseconds",
        attempt,
        best_milliseconds,
        (lambda: run([20.0], 3)[1] > 0, "Your function never calls `function()`."),
        (lambda: once() is not None, NOTHING_RETURNED),
        (lambda: isinstance(once(), int | float), "Return one number, the best time."),
        (lambda: not 0.015 < once() < 1, "That is in seconds; multiply by 1000 for milliseconds."),
        (
            lambda: once() > 1,
            "You stop the clock without waiting for the device, so you time the launch and not the work.",
        ),
        (
            lambda: not near(320) and not near(300),
            "Work that was launched earlier is in your time: the warm-up, or what the device was busy with before. "
            "Wait before you start the clock, too.",
        ),
        (
            lambda: not near(120),
            "Work that was launched before the call is in your time. Wait before you start the clock, too.",
        ),
        (
            lambda: not near(200) and not near(220),
            "The first call, which is slow, is in your time. Call `function()` once before the loop, to warm up.",
        ),
        (
            lambda: run([200.0, 20.0], 4)[1] >= 5,
            "For `repeats=4` the function should be called five times: once to warm up, and four times with the clock.",
        ),
        (
            lambda: abs(run([200.0, *[30.0, 20.0, 40.0] * 9], 3)[0] - 20) < 0.5,
            "The three times are 30, 20 and 40 ms. Return the smallest: whatever disturbs a run makes it longer.",
        ),
        (lambda: near(20), "The work takes 20 ms; you say something else."),
    )


# toy_epoch


def toy_epoch(toy, prepare, kernel, steps, wait_every):
    """Milliseconds for `steps` steps on the device `toy`, with a wait after every `wait_every`-th step."""
    toy.synchronize()
    start = time.perf_counter()
    for step in range(1, steps + 1):
        prepare()
        toy.launch(kernel)
        if step % wait_every == 0:
            toy.synchronize()
    toy.synchronize()
    return (time.perf_counter() - start) * 1e3


class _ToyOnPaper:
    """The lecture's `ToyDevice` in the time of a `_Clock`, where preparing and a kernel take 10 ms each."""

    def __init__(self) -> None:
        self.clock = _Clock([10.0])
        self.launched: list[Any] = []
        self.waits: list[int] = []
        """how much was launched when the host waited, for each wait"""
        self.prepared = self.on_host = 0

    def prepare(self) -> None:
        self.prepared += 1
        self.clock.host_ms += 10

    def kernel(self) -> None:
        self.on_host += 1
        self.clock.host_ms += 10

    def launch(self, kernel: Any) -> None:
        self.launched.append(kernel)
        self.clock.launch()

    def synchronize(self) -> None:
        self.waits.append(len(self.launched))
        self.clock.synchronize()


def check_toy_epoch(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`toy_epoch(toy, prepare, kernel, steps, wait_every) -> float`, milliseconds."""

    def run(function: Callable[..., Any], steps: int, wait_every: int) -> tuple[Any, _ToyOnPaper]:
        toy = _ToyOnPaper()
        with toy.clock.instead():
            return function(toy, toy.prepare, toy.kernel, steps, wait_every), toy

    @functools.cache
    def seen() -> tuple[Any, _ToyOnPaper]:
        return run(attempt, 7, 3)

    def places() -> set[int]:
        return set(seen()[1].waits) - {0}

    def difference(steps: int = 7, wait_every: int = 3) -> float:
        return float(run(attempt, steps, wait_every)[0] - run(toy_epoch, steps, wait_every)[0])

    return attempt_or_solution(
        "toy_epoch",
        attempt,
        toy_epoch,
        (
            lambda: seen()[1].on_host == 0,
            "The host ran the kernel itself. Hand the function over: `toy.launch(kernel)`, where no parentheses follow "
            "`kernel`.",
        ),
        (
            lambda: seen()[1].prepared == len(seen()[1].launched) == 7,
            "In 7 steps, `prepare()` should be called 7 times, and 7 kernels should be launched.",
        ),
        (lambda: all(map(callable, seen()[1].launched)), "`toy.launch` needs the function `kernel`."),
        (lambda: seen()[0] is not None, NOTHING_RETURNED),
        (lambda: isinstance(seen()[0], int | float), "Return one number, the milliseconds."),
        (
            lambda: places() & {1, 2, 3, 4, 5, 6},
            "With 7 steps and `wait_every=3`, the host never waits before the last step. Call `toy.synchronize()` in "
            "the loop, after every third step.",
        ),
        (
            lambda: not places() >= {1, 2, 3, 4, 5, 6},
            "The host waits in every step. It should wait only if `step % wait_every == 0`.",
        ),
        (
            lambda: places() & {1, 2, 3, 4, 5, 6} == {3, 6},
            "With 7 steps and `wait_every=3`, the host should wait after steps 3 and 6, and at the end. Count the "
            "steps from 1, and wait after the launch.",
        ),
        (
            lambda: 7 in places(),
            "After the last step the device is still busy. Wait once more before you stop the clock.",
        ),
        (
            lambda: seen()[1].waits[0] == 0,
            "The device may be busy with earlier work. Wait before you start the clock, too.",
        ),
        (lambda: not abs(seen()[0] * 1e3 + difference() - seen()[0]) < 1, "That is in seconds; multiply by 1000."),
        (
            lambda: difference() < 50,
            "The time that the device was busy before is in your result. Start the clock after the first wait.",
        ),
        (
            lambda: difference() > -5,
            "Some of the work is not in your result. Start the clock before the loop, and stop it after the last wait.",
        ),
        (lambda: abs(difference()) < 1, "The time is too long. Does anything else take time between the two clocks?"),
        (
            lambda: abs(difference(4, 2)) < 1 and abs(difference(5, 9)) < 1,
            "It is right for 7 steps and `wait_every=3`, but not for other numbers. Use both arguments.",
        ),
    )


# scaled_step


def scaled_step(loss, optimizer, params, scale):
    """A step with loss scaling, skipped if a gradient is infinite or nan. Return whether it was made."""
    optimizer.zero_grad()
    (scale * loss).backward()
    for p in params:
        p.grad /= scale
    finite = all(p.grad.isfinite().all() for p in params)
    if finite:
        optimizer.step()
    return finite


def check_scaled_step(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`scaled_step(loss, optimizer, params, scale) -> bool`, whether the step was made."""

    @functools.cache
    def step(scale: float = 1024.0) -> SimpleNamespace:
        with virtual_cuda.session(quiet=True):
            model = _model("cuda")
            params = list(model.parameters())
            x, y = (tensor.cuda() for tensor in _batch())
            truth, before = _true_gradient(model, x, y), _flat(params)
            for parameter in params:
                parameter.grad = torch.full_like(parameter, scale)  # 1, once it is divided by the scale
            upstream: list[float] = []
            loss = F.cross_entropy(model(x), y)
            loss.register_hook(lambda gradient: upstream.append(gradient.item()))
            made, gone = None, False
            try:
                made = attempt(loss, torch.optim.SGD(params, lr=1.0), params, scale)
            except (AttributeError, TypeError) as error:
                gone = "NoneType" in str(error) and all(parameter.grad is None for parameter in params)
                if not gone:
                    raise
            return SimpleNamespace(made=made, moved=before - _flat(params), truth=truth, upstream=upstream, gone=gone)

    @functools.cache
    def broken(place: int, fault: float) -> SimpleNamespace:
        """A step in which one entry of one of three gradients is `fault`."""
        params: list[torch.Tensor] = [nn.Parameter(torch.tensor([1.0, 2.0])) for _ in range(3)]
        params[place].register_hook(lambda gradient: torch.tensor([fault, 1.0]))
        loss = torch.stack(params).sum()
        made = attempt(loss, torch.optim.SGD(params, lr=1.0), params, 8.0)
        return SimpleNamespace(made=made, moved=any(p.tolist() != [1.0, 2.0] for p in params))

    def error(factor: float, added: float = 0.0) -> float:
        wanted = factor * step().truth + added
        return float((step().moved - wanted).norm() / wanted.norm())

    faults = [(place, fault) for place in range(3) for fault in (math.inf, math.nan, -math.inf)]
    return attempt_or_solution(
        "scaled_step",
        attempt,
        scaled_step,
        (lambda: step().upstream, "There was no backward pass from `loss`. Call `(scale * loss).backward()`."),
        (
            lambda: step().upstream == [1024.0],
            "The backward pass should start from the loss times the scale: multiply before you call `backward`.",
        ),
        (
            lambda: not step().gone,
            "When you use the gradients, all of them are None. `optimizer.zero_grad()` comes before `backward()`.",
        ),
        (
            lambda: step().moved.norm() > 0,
            "The weights did not move, although all gradients were finite. Is `optimizer.step()` called, and are the "
            "gradients still there then?",
        ),
        (
            lambda: error(1, 1) > 0.02 and error(1024, 1024) > 0.02,
            "The gradient of the step before is still in it: call `optimizer.zero_grad()` before `backward()`.",
        ),
        (
            lambda: error(1024) > 0.02,
            "The step is 1024 times too long, and 1024 is the scale. Divide each `p.grad` by it before "
            "`optimizer.step()`; `p.grad / scale` alone changes nothing.",
        ),
        (lambda: error(1 / 1024) > 0.02, "The gradients are divided by the scale twice."),
        (
            lambda: error(1) < 0.02,
            "The step should be along the gradient of `loss`, as without a scale. One `optimizer.step()` updates all "
            "parameters, so it comes after the loop that has divided all gradients.",
        ),
        (
            lambda: not broken(0, math.inf).moved,
            "A gradient had an infinite entry, and the step was made. Call `optimizer.step()` only if all entries of "
            "all gradients are finite.",
        ),
        (
            lambda: not any(broken(place, fault).moved for place, fault in faults),
            "One gradient of three had an entry that was infinite or `nan`, and the step was made. Look at all "
            "gradients, and use `isfinite`.",
        ),
        (lambda: step().made is not None, "Your function returns None. Return True if the step was made, else False."),
        (lambda: bool(step().made), "All gradients were finite and the step was made, so return True."),
        (
            lambda: broken(0, math.inf).made is not None and not broken(0, math.inf).made,
            "After a skipped step, return False.",
        ),
        (
            lambda: (
                step(8.0).upstream == [8.0] and (step(8.0).moved - step().moved).norm() < 0.02 * step().truth.norm()
            ),
            "It is right for `scale=1024`, but not for 8. Use the argument.",
        ),
    )


# device_batches


def device_batches(x, y, batch_size, device):
    """Yield shuffled batches `x_batch`, `y_batch` on `device`, copied while the host goes on."""
    pin = device.type == "cuda"
    loader = DataLoader(TensorDataset(x, y), batch_size, shuffle=True, pin_memory=pin)
    for x_batch, y_batch in loader:
        x_batch = x_batch.to(device, non_blocking=True)
        y_batch = y_batch.to(device, non_blocking=True)
        yield x_batch, y_batch


def check_device_batches(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`device_batches(x, y, batch_size, device)` yields pairs of tensors on `device`."""
    x, y = torch.arange(60.0).reshape(30, 2), torch.arange(30)

    @functools.cache
    def on(name: str) -> SimpleNamespace:
        with virtual_cuda.session(quiet=True) as log:
            log.copies.clear()
            result = attempt(x, y, 8, torch.device(name))
            pairs = [] if result is None else list(result)
            copies = [c for c in log.copies if c.source == "cpu"]
            tensors = [t for pair in pairs for t in (pair if isinstance(pair, tuple | list) else [pair])]
            places, pinned = [t.device.type for t in tensors], any(not t.is_cuda and t.is_pinned() for t in tensors)
            return SimpleNamespace(result=result, pairs=pairs, copies=copies, places=places, pinned=pinned)

    def seen() -> SimpleNamespace:
        return on("cuda")

    def rows(pairs: Any) -> torch.Tensor:
        return torch.cat([torch.as_tensor(labels).cpu() for _, labels in pairs])

    def together(pairs: Any) -> bool:
        return all(torch.equal(images[:, 0].cpu(), 2.0 * labels.cpu()) for images, labels in pairs)

    return attempt_or_solution(
        "device_batches",
        attempt,
        device_batches,
        (lambda: seen().result is not None, "Your function returns None. `yield` each batch inside the loop."),
        (
            lambda: seen().pairs and all(isinstance(p, tuple | list) and len(p) == 2 for p in seen().pairs),
            "Yield pairs: `yield x_batch, y_batch`.",
        ),
        (
            lambda: [len(labels) for _, labels in seen().pairs] == [8, 8, 8, 6],
            "30 rows and a `batch_size` of 8 should give batches of 8, 8, 8 and 6 rows.",
        ),
        (
            lambda: rows(seen().pairs).sort().values.tolist() == list(range(30)),
            "Every row of `x` and `y` should come exactly once.",
        ),
        (lambda: together(seen().pairs), "Rows of `x` and labels of `y` no longer belong together."),
        (
            lambda: set(seen().places) == {"cuda"},
            "Not every tensor is on the device. `to` returns a new tensor, for `x_batch` and for `y_batch`.",
        ),
        (
            lambda: len(seen().copies) == 8,
            "Each tensor of a batch should be copied once, as a whole, inside the loop: 4 batches, 8 copies. (Copying "
            "all of `x` and `y` at once is possible only as long as they fit into the device's memory.)",
        ),
        (
            lambda: all(c.non_blocking for c in seen().copies),
            "Not every copy is asynchronous: write `non_blocking=True` in both.",
        ),
        (
            lambda: not any(c.blocking for c in seen().copies),
            "The copies are `non_blocking`, but their source is not pinned. A batch is a new tensor, so the loader "
            "must pin it: for a CUDA device, its `pin_memory` is True. "
            '(`device == "cuda"` is always False. Compare `device.type`.)',
        ),
        (
            lambda: rows(seen().pairs).tolist() != list(range(30)),
            "The rows come in the order of the arrays: the loader needs `shuffle=True`.",
        ),
        (
            lambda: rows(on("cpu").pairs).sort().values.tolist() == list(range(30)),
            "With the device `cpu` the rows do not come once each.",
        ),
        (
            lambda: set(on("cpu").places) == {"cpu"},
            "With the device `cpu` the batches should be there. Use `device` and no other device.",
        ),
        (
            lambda: not on("cpu").pinned,
            'Batches for the CPU are pinned, which is of no use. Decide by the argument: `device.type == "cuda"`.',
        ),
    )


# amp_step


def amp_step(model, x, y, optimizer, scaler, max_norm):
    """One step in mixed precision, the gradient clipped to the norm `max_norm`. Return the loss, without its graph."""
    with torch.autocast("cuda", dtype=torch.float16):
        logits = model(x)
        loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


def check_amp_step(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`amp_step(model, x, y, optimizer, scaler, max_norm) -> loss`, a tensor."""

    @functools.cache
    def step(max_norm: float = 1e9, fault: float = 1.0) -> SimpleNamespace:
        calls: list[str] = []

        class Watched(torch.amp.GradScaler):
            def scale(self, outputs):
                calls.append("scale")
                scaled.append(getattr(outputs, "dtype", torch.float32))
                return super().scale(outputs)

            def step(self, optimizer, *args, **settings):
                calls.append("step")
                if all(p.grad is None for p in model.parameters()):
                    calls.append("step without gradients")  # PyTorch's own message would not say so
                    return None
                return super().step(optimizer, *args, **settings)

            def update(self, new_scale=None):
                calls.append("update")
                if "step without gradients" not in calls:
                    super().update(new_scale)

        with virtual_cuda.session(quiet=True) as log:
            model = _model("cuda")
            x, y = _batch()
            truth, before = _true_gradient(model, x, y), _flat(model.parameters())
            x, y = (fault * x).cuda(), y.cuda()
            right = F.cross_entropy(model(x), y).item()
            for parameter in model.parameters():
                parameter.grad = torch.full_like(parameter, 1024.0)  # 1, once it is divided by the scale
            kinds: list[Any] = []
            scaled: list[Any] = []
            inside: list[bool] = []

            def watch(module, inputs, output):
                kinds.append(output.dtype)
                if output.requires_grad:
                    output.register_hook(lambda upstream: inside.append(torch.is_autocast_enabled("cuda")))

            model.register_forward_hook(watch)
            scaler = Watched("cuda", init_scale=1024.0)
            optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
            with log.step("amp_step"):
                loss = attempt(model, x, y, optimizer, scaler, max_norm)
            waits = sum(log.steps[-1].syncs.values())
            moved = before - _flat(model.parameters())
            return SimpleNamespace(
                loss=loss, right=right, kinds=kinds, truth=truth, moved=moved, calls=calls, scale=scaler.get_scale(),
                waits=waits, scaled=scaled, inside=inside,
            )  # fmt: skip

    def error(wanted: Callable[[torch.Tensor], torch.Tensor], max_norm: float = 1e9) -> float:
        found = step(max_norm)
        direction = wanted(found.truth)
        return float((found.moved - direction).norm() / direction.norm())

    def size() -> float:
        found = step()
        return float(found.moved.norm() / found.truth.norm())

    def clipped(norm: float) -> float:
        """How long the step is that should have the length `norm`, in units of it."""
        return float(step(max_norm=norm).moved.norm() / norm)

    return attempt_or_solution(
        "amp_step",
        attempt,
        amp_step,
        (lambda: step().kinds, "The model was never called: compute `logits = model(x)`."),
        (
            lambda: step().kinds == [torch.float16],
            "The forward pass did not run in float16, or ran more than once. Put `model(x)` under "
            '`torch.autocast("cuda", dtype=torch.float16)`.',
        ),
        (
            lambda: "scale" in step().calls,
            "`scale` of the scaler that you were given was never called. Start the backward pass from "
            "`scaler.scale(loss)`, and create no scaler of your own.",
        ),
        (
            lambda: set(step().scaled) == {torch.float32},
            "The loss is in 16 bits, so it was not computed under `autocast`. Indent `F.cross_entropy`, too.",
        ),
        (
            lambda: not any(step().inside),
            "The backward pass runs under `autocast`. Only the logits and the loss are indented under the `with`.",
        ),
        (
            lambda: "step" in step().calls,
            "`scaler.step(optimizer)` was never called. `optimizer.step()` neither divides by the scale nor skips a "
            "step with infinite gradients.",
        ),
        (
            lambda: "step without gradients" not in step().calls,
            "When `scaler.step(optimizer)` runs, there are no gradients. `zero_grad()` comes before `backward()`, and "
            "`backward()` before the step.",
        ),
        (
            lambda: "update" in step().calls,
            "`scaler.update()` is missing at the end, so the scale would never change.",
        ),
        (
            lambda: step().calls.index("step") < step().calls.index("update"),
            "`scaler.update()` comes too early. It ends the step, so it comes after `scaler.step(optimizer)`.",
        ),
        (
            lambda: error(torch.ones_like) > 0.05,
            "The step used only the gradient from before the call. `backward()` comes before `scaler.step(optimizer)`.",
        ),
        (
            lambda: error(lambda truth: truth + 1) > 0.05,
            "The gradient of the step before is still in it: call `optimizer.zero_grad()` before `backward()`.",
        ),
        (lambda: step().moved.norm() > 0, "The weights did not move: was there a gradient when the step was made?"),
        (
            lambda: not 500 < size() < 3000,
            "The step is about 1024 times too long, and 1024 is the scale: the weights moved along a scaled gradient. "
            "Only `scaler.step(optimizer)` makes the step.",
        ),
        (
            lambda: not size() < 0.01,
            "The step is about 1024 times too short, because an unscaled gradient was divided by the scale. Call "
            "`backward()` on what `scaler.scale(loss)` returns.",
        ),
        (
            lambda: error(lambda truth: 2 * truth) > 0.05,
            "The step is twice as long as it should be. `scaler.step(optimizer)` already calls `optimizer.step()`.",
        ),
        (lambda: error(lambda truth: truth) < 0.05, "The step is not along the gradient of the mean cross-entropy."),
        (
            lambda: clipped(0.01) < 10,
            "With `max_norm=0.01` the step is as long as without clipping. Call `nn.utils.clip_grad_norm_` with the "
            "argument `max_norm`, between `backward()` and `scaler.step(optimizer)`.",
        ),
        (
            lambda: clipped(0.01) > 0.1,
            "With `max_norm=0.01` the step is about 1024 times too short, because scaled gradients were clipped. Call "
            "`scaler.unscale_(optimizer)` before you clip.",
        ),
        (
            lambda: error(lambda truth: 0.01 * truth / truth.norm(), 0.01) < 0.05,
            "With `max_norm=0.01` the step should have that length and the direction of the gradient. "
            "`clip_grad_norm_` multiplies all gradients by one factor.",
        ),
        (
            lambda: step(fault=math.inf).scale == 512,
            "After an infinite gradient the scale should be half of what it was. `scaler.update()` is the last call.",
        ),
        (lambda: step().loss is not None, "Your function returns None. Return the loss."),
        (
            lambda: isinstance(step().loss, torch.Tensor),
            "Return a tensor: `loss.detach()`. To make a Python number of it, the host has to wait for the device.",
        ),
        (lambda: not step().loss.requires_grad, "The loss that you return still has its graph: `loss.detach()`."),
        (
            lambda: abs(step().loss.item() - step().right) < 0.05 * (1 + step().right),
            "You do not return the unscaled loss from before the step.",
        ),
        (
            lambda: step().waits <= 1,
            "Besides the scaler, something else makes the host wait. Look for `.item()`, `print` or an `if`.",
        ),
    )


# what_helps


def what_helps(ms, double_ms, in_amp):
    """The row to try first, such as "fused optimizer". A step takes `ms`, with the batch doubled `double_ms`.

    in_amp: whether the step runs in AMP already, and not in float32.
    """
    if double_ms < 1.5 * ms:
        return "larger batch"
    if in_amp:
        return "torch.compile"
    return "AMP"


def check_what_helps(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """`what_helps(ms, double_ms, in_amp) -> str`, the name of a row in the table of section 7."""
    rows = "larger batch", "TF32", "AMP", "torch.compile", "fused optimizer"

    @functools.cache
    def idle(in_amp: bool) -> Any:
        return attempt(10.0, 11.0, in_amp)

    @functools.cache
    def busy(in_amp: bool) -> Any:
        return attempt(10.0, 20.0, in_amp)

    def everywhere() -> list[Any]:
        return [idle(False), busy(False), busy(True), idle(True)]

    return attempt_or_solution(
        "what_helps",
        attempt,
        what_helps,
        (lambda: None not in everywhere(), "For some steps your function returns None. Is there a `return` for each?"),
        (
            lambda: all(row in rows for row in everywhere()),
            "Return the name of a row, as a string: " + ", ".join(f'"{row}"' for row in rows) + ".",
        ),
        (lambda: "TF32" not in everywhere(), "A V100 has no TF32, so no step on it can use that row."),
        (
            lambda: not (idle(False) == "AMP" and busy(False) == "larger batch"),
            "You return the larger batch for a device that is busy, and AMP for one that is not full. Is the "
            "comparison the wrong way round?",
        ),
        (
            lambda: idle(False) != "AMP",
            "From 10 ms to 11 ms with the batch doubled: the device is not full (compare `double_ms` with 1.5 times "
            "`ms`). AMP saves arithmetic and memory traffic, which are not the limit here.",
        ),
        (
            lambda: idle(False) == "larger batch",
            "From 10 ms to 11 ms with the batch doubled: the device is not full. That row saves launches, too, but "
            "there is a higher one.",
        ),
        (
            lambda: "larger batch" not in (busy(False), busy(True)),
            "From 10 ms to 20 ms with the batch doubled: each image takes as long as before, so the device is busy, "
            "and a larger batch gains nothing.",
        ),
        (
            lambda: "fused optimizer" not in (busy(False), busy(True)),
            "From 10 ms to 20 ms with the batch doubled: arithmetic or memory traffic is the limit, and a fused "
            "optimizer saves launches.",
        ),
        (
            lambda: not (busy(False) == "torch.compile" and busy(True) == "AMP"),
            "You return AMP for a step that is in AMP already. `in_amp` is True for such a step.",
        ),
        (
            lambda: busy(False) == "AMP",
            "In float32, with a busy device, a row above `torch.compile` works on the limit, too.",
        ),
        (
            lambda: busy(True) == "torch.compile",
            "A step in AMP uses that row already. Which row further down saves memory traffic?",
        ),
        (
            lambda: idle(True) == "larger batch",
            "In AMP, from 10 ms to 11 ms with the batch doubled: this device is not full either. Ask for that first.",
        ),
        (
            lambda: attempt(100.0, 110.0, False) == "larger batch" and attempt(1.0, 2.0, False) == "AMP",
            "It is right for steps of 10 ms, but not for 1 or 100 ms. Compare `double_ms` with 1.5 times `ms`.",
        ),
        (
            lambda: attempt(10.0, 14.5, False) == "larger batch" and attempt(10.0, 15.5, False) == "AMP",
            "The device is full if the doubled batch takes 1.5 times as long or longer; your limit is another.",
        ),
    )


# save_run and load_run


def save_run(path, model, optimizer, scaler):
    """Write the states of model, optimizer and scaler into one file."""
    states = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scaler": scaler.state_dict(),
    }
    torch.save(states, path)


def load_run(path, model, optimizer, scaler):
    """Read the three states back, on whatever device the model is."""
    states = torch.load(path, map_location="cpu")
    model.load_state_dict(states["model"])
    optimizer.load_state_dict(states["optimizer"])
    scaler.load_state_dict(states["scaler"])


def check_run(save: Callable[..., Any], load: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`save_run(path, model, optimizer, scaler)` and `load_run`, with the same arguments, in place."""

    def trained(seed_scale: float, steps: int) -> SimpleNamespace:
        model = _model("cuda")
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cuda", init_scale=seed_scale, growth_interval=100)
        x, y = (t.cuda() for t in _batch())
        for _ in range(steps):
            amp_step(model, x, y, optimizer, scaler, 1.0)
        return SimpleNamespace(model=model, optimizer=optimizer, scaler=scaler)

    @functools.cache
    def restored() -> SimpleNamespace:
        with virtual_cuda.session(quiet=True), tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "run.pt")
            old, new = trained(256.0, 3), trained(65536.0, 0)
            before = copy.deepcopy((old.model.state_dict(), old.optimizer.state_dict(), old.scaler.state_dict()))
            save(path, old.model, old.optimizer, old.scaler)
            if not path.exists():
                return SimpleNamespace(written=False)
            after = old.model.state_dict(), old.optimizer.state_dict(), old.scaler.state_dict()
            real, asked = torch.load, []

            def watched(*args: Any, **settings: Any) -> Any:
                asked.append(args[1] if len(args) > 1 else settings.get("map_location"))
                return real(*args, **settings)

            with mock.patch.object(torch, "load", watched):
                load(path, new.model, new.optimizer, new.scaler)
            return SimpleNamespace(
                written=True, old=old, new=new, asked=asked, kept=_flat(_tensors(before)).equal(_flat(_tensors(after))),
                there=all(p.is_cuda for p in new.model.parameters()),
            )  # fmt: skip

    def moments(run: SimpleNamespace) -> torch.Tensor:
        return _flat(_tensors(run.optimizer.state_dict()["state"]))

    def equal(one: torch.Tensor, other: torch.Tensor) -> bool:
        return one.shape == other.shape and bool(torch.equal(one, other))

    def same(part: Callable[[SimpleNamespace], torch.Tensor]) -> bool:
        found = restored()
        return equal(part(found.old), part(found.new))

    def both() -> tuple[Callable[..., Any], Callable[..., Any]]:
        return save, load

    return attempt_or_solution(
        "save_run, load_run",
        both(),
        (save_run, load_run),
        (lambda: restored().written, "`save_run` wrote no file: `torch.save(states, path)`."),
        (lambda: restored().asked, "`load_run` reads no file: `states = torch.load(path, ...)`."),
        (
            lambda: same(lambda run: _flat(run.model.state_dict().values())),
            "The new model has not got the weights of the saved one: `model.load_state_dict(...)`.",
        ),
        (
            lambda: moments(restored().new).numel() > 0,
            "The new optimizer has not got the averages of the saved one: save and load `optimizer.state_dict()`, too.",
        ),
        (lambda: same(moments), "The new optimizer's averages are not those of the saved one."),
        (
            lambda: restored().new.scaler.get_scale() == 256,
            "The saved scaler had the scale 256, and the new one still starts from its own. Save and load "
            "`scaler.state_dict()`, too.",
        ),
        (
            lambda: restored().new.scaler.state_dict() == restored().old.scaler.state_dict(),
            "The scale is right, but the number of good steps since it last changed is not. Save the whole "
            "`scaler.state_dict()`.",
        ),
        (
            lambda: restored().there,
            "After loading, the model is no longer on its device.",
        ),
        (
            lambda: all(place is not None for place in restored().asked),
            "This works here. But on a machine without a GPU, `torch.load` could not put the saved CUDA tensors "
            'anywhere: give it `map_location="cpu"`.',
        ),
        (lambda: restored().kept, "Saving changed the run that was saved."),
    )


def _tensors(value: Any) -> list[torch.Tensor]:
    """All tensors and numbers in nested containers, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [t for inner in value.values() for t in _tensors(inner)]
    if isinstance(value, list | tuple):
        return [t for inner in value for t in _tensors(inner)]
    return [torch.tensor(float(value))] if isinstance(value, int | float) else []
