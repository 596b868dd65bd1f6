"""The visible checks of assignment a6: what a right answer must satisfy, told without the answer.

Three kinds of truth are used: the numbers worked out in the notebook, laws (two batches are one and then another, a
step does not depend on the scale, a resumed run ends where the other one does), and what can be watched: devices,
modes, graphs, copies. On a machine without a GPU the CUDA devices are virtual, as everywhere in the course.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils.data import DataLoader

from course_lib.checks import training
from course_lib.checks.calling import parts
from course_lib.checks.outcome import check, fail, require
from course_lib.compare import compare
from course_lib.data import load_digits

Function = Callable[..., Any]
SIZES = (3, 4, 3)

training.without_tensorflow()


def _names() -> list[str]:
    """The devices to try: the CPU, and the CUDA devices that there are."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return ["cpu", *(["cuda", "cuda:0"] if count else []), *[f"cuda:{i}" for i in range(1, min(count, 2))]]


def _cuda(exercise: str) -> str:
    if not torch.cuda.is_available():
        fail(f"{exercise} needs a CUDA device, and there is none.", "Run the cell with virtual_cuda.enable() above.")
    return "cuda"


def _weights(kind: str, seed: int = 1, sizes: tuple[int, int, int] = SIZES) -> training.Arrays:
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(1.0 if name == "1.weight" else 0.0, 0.3 if len(shape) == 1 else 0.8, shape).astype(np.float32)
        for name, shape in training.shapes(kind, sizes).items()
    }


def _rows(n: int, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, SIZES[0])).astype(np.float32), np.arange(n) % SIZES[2]


def _example(device: str = "cpu") -> nn.Linear:
    """The model of the worked example: weight 2, bias 0."""
    model = nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(2.0)
        model.bias.fill_(0.0)
    return model.to(device)


_EXAMPLE = torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [1.0]])


def _moved(model: nn.Linear) -> np.ndarray:
    return np.array([model.weight.item(), model.bias.item()])


def _float(what: str, value: object) -> float:
    if isinstance(value, torch.Tensor):
        fail(f"{what} is a tensor; it should be a Python float.", "Which method of a tensor gives its number?")
    if not isinstance(value, float):
        fail(f"{what} is {value!r}; it should be a Python float.", "Is there a `return`?" if value is None else "")
    return value


def _on(model: nn.Module, device: str, what: str = "The model") -> None:
    wanted = "cuda:0" if device == "cuda" else device
    found = sorted({str(p.device) for p in model.parameters()})
    if found != [wanted]:
        hint = 'Is "cuda", "cuda:0" or "cpu" written into your function? It is told which device to use.'
        fail(f'{what} is on {", ".join(found)} after a call with device "{device}".', hint)


def _sgd(model: nn.Module, lr: float = 0.1, momentum: float = 0.0) -> torch.optim.SGD:
    return torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum)


# --- 1. train_step --------------------------------------------------------------------------------------------------

_STEP_HINTS = {
    "": "Print the gradients just before the step. Which of the three lines around it comes first?",
    "factor": "Is the loss the mean that loss_fn gives, and is there one step?",
}


@check("the worked example: weight 0.4, bias -0.6, loss 13")
def step_example(train_step: Function) -> None:
    model = _example()
    loss = train_step(model, _EXAMPLE, nn.MSELoss(), _sgd(model), "cpu")
    if np.array_equal(_moved(model), [2.0, 0.0]):
        hint = "Three lines make a step: which gradients are there when the optimizer looks at them?"
        fail("Weight and bias have not moved.", hint)
    found = compare("weight and bias after the step", _moved(model), np.array([0.4, -0.6]), rtol=1e-4, atol=1e-5)
    require(found, _STEP_HINTS)
    hint = "It is the loss of the batch before the step."
    require(compare("the loss", _float("The loss", loss), 13.0, rtol=1e-4, atol=1e-4), {"": hint})


@check("a second step uses the gradients of the second batch alone")
def step_forgets_the_last_batch(train_step: Function) -> None:
    batches = [tuple(map(torch.tensor, _rows(4, seed))) for seed in (3, 4)]
    first = training.network("mlp", SIZES, _weights("mlp"))
    train_step(first, batches[0], nn.CrossEntropyLoss(), _sgd(first), "cpu")
    second = training.network("mlp", SIZES, training.parameters(first))
    for model in (first, second):
        train_step(model, batches[1], nn.CrossEntropyLoss(), _sgd(model), "cpu")
    hint = "`backward` adds to what lies in `.grad`. What lies there when your step begins, and when it ends?"
    name = "the weights after the second step"
    found = compare(name, training.parameters(first), training.parameters(second), rtol=1e-3, atol=1e-5)
    require(found, {"": hint, "factor": hint}, source="with nothing in .grad before it is")


@check("a step is right on every device and happens there")
def step_on_every_device(train_step: Function) -> str:
    for name in _names():
        model = _example(name)
        optimizer = _sgd(model, momentum=0.9)
        train_step(model, list(_EXAMPLE), nn.MSELoss(), optimizer, name)
        _on(model, name)
        found = compare(f'weight and bias on "{name}"', _moved(model), np.array([0.4, -0.6]), rtol=1e-4, atol=1e-5)
        require(found, _STEP_HINTS)
    return f": {', '.join(_names())}"


# --- 2. make_loaders ------------------------------------------------------------------------------------------------


def _loaders(make_loaders: Function, seed: int = 5, n: int = 10, device: str = "cpu") -> tuple[Any, ...]:
    x = np.arange(n, dtype=np.float32)[:, None] * np.ones((1, 2), dtype=np.float32)
    y = (np.arange(n) * 3).astype(np.int64)
    made = make_loaders(x, y, x[:7], y[:7], 4, device, seed)
    return parts("make_loaders(...)", made, ("train_loader", "val_loader"))


def _order(loader: Any) -> list[int]:
    return [int(row[0]) for x, _ in loader for row in x]


@check("10 rows come as batches of 4, 4 and 2, float32 and int64, with their labels")
def loaders_give_every_row(make_loaders: Function) -> None:
    for name, loader, n in zip(("training", "validation"), _loaders(make_loaders), (10, 7), strict=True):
        if not isinstance(loader, DataLoader):
            fail(f"The {name} loader is a {type(loader).__name__}.", "It should be a torch.utils.data.DataLoader.")
        batches = list(loader)
        for x, y in batches:
            if (x.dtype, y.dtype) != (torch.float32, torch.int64):
                fail(f"In a batch of the {name} loader x is {x.dtype} and y is {y.dtype}.", "Keep the arrays' dtypes.")
            if x.device.type != "cpu" or y.device.type != "cpu":
                fail(f"A batch of the {name} loader is on {x.device}.", "Batches start on the host.")
            if not torch.equal(y, (x[:, 0] * 3).long()):
                fail(f"In the {name} loader rows and labels do not belong together.", "Shuffle them as pairs.")
        sizes = [len(y) for _, y in batches]
        wanted = [4] * (n // 4) + [n % 4]
        if sizes != wanted:
            hint = "Every row belongs to the epoch, also those that do not fill a batch."
            fail(f"The {name} loader gives batches of {sizes} rows; {wanted} are right.", hint)
        if sorted(_order(loader)) != list(range(n)):
            fail(f"The {name} loader does not give every row once.", "Print the rows of an epoch.")


@check("training rows are shuffled anew each epoch, validation rows never")
def loaders_shuffle_for_training_alone(make_loaders: Function) -> None:
    train, val = _loaders(make_loaders, n=40)
    first, second = _order(train), _order(train)
    if first == sorted(first):
        fail("The training rows come in the order of the arrays.", "Which argument of DataLoader shuffles?")
    if first == second:
        hint = "When is the order drawn: once, or as each epoch begins?"
        fail("Two epochs of the training loader have the same order.", hint)
    if _order(val) != list(range(7)):
        fail("The validation rows do not come in the order of the arrays.", "Validation needs no shuffling.")


@check("the seed decides the orders, and nothing else notices")
def loaders_follow_the_seed(make_loaders: Function) -> None:
    orders = []
    for seed, noise, validated in ((5, 1, False), (5, 2, False), (6, 1, False), (5, 1, True)):
        train, val = _loaders(make_loaders, seed, n=40)
        torch.manual_seed(noise)
        first = _order(train)
        if validated:
            _order(val)
        torch.manual_seed(noise + 2)
        orders.append([first, _order(train)])
    hint = "A DataLoader draws from PyTorch's global generator unless it is given one of its own."
    if orders[0] != orders[1]:
        fail("Two calls with the same seed gave different orders.", hint)
    if orders[0] == orders[2]:
        fail("Two calls with different seeds gave the same orders.", "Is `seed` used?")
    if orders[0] != orders[3]:
        shared = "Each pass over a DataLoader draws from its generator, shuffled or not. What do the two loaders share?"
        fail("A pass over val_loader after the first training epoch changed the order of the second.", shared)
    torch.manual_seed(0)
    wanted = torch.rand(3)
    torch.manual_seed(0)
    _loaders(make_loaders)
    if not torch.equal(torch.rand(3), wanted):
        fail("make_loaders changes the random numbers that the rest of the program draws.", hint)


# --- 3. train_epoch -------------------------------------------------------------------------------------------------


@check("one right step for each batch, on every device")
def epoch_is_one_step_for_each_batch(train_epoch: Function) -> None:
    for name in _names():
        example = _example(name)
        x, y = (t.numpy() for t in _EXAMPLE)
        train_epoch(example, training.batches_of(x, y, 2), nn.MSELoss(), _sgd(example), name)
        found = compare(f'weight and bias on "{name}"', _moved(example), np.array([0.4, -0.6]), rtol=1e-4, atol=1e-5)
        require(found, {"": "This is the worked example of exercise 1, as an epoch of one batch."})
        _on(example, name)
    x, y = _rows(8)
    model = training.network("mlp", SIZES, _weights("mlp"))
    optimizer = _sgd(model)
    steps = training.count_steps(optimizer)
    train_epoch(model, training.batches_of(x, y, 3), nn.CrossEntropyLoss(), optimizer, "cpu")
    if steps[0] != 3:
        hint = "What stands inside the loop, and what behind it?"
        fail(f"The optimizer took {steps[0]} steps for 3 batches.", hint)
    one_by_one = training.network("mlp", SIZES, _weights("mlp"))
    for part in (slice(0, 3), slice(3, 6), slice(6, 8)):
        one_by_one = training.network("mlp", SIZES, training.parameters(one_by_one))
        loader = training.batches_of(x[part], y[part], 3)
        train_epoch(one_by_one, loader, nn.CrossEntropyLoss(), _sgd(one_by_one), "cpu")
    hint = "Each step starts from the weights that the one before left, with the gradients of its own batch alone."
    name = "the weights after three batches"
    found = compare(name, training.parameters(model), training.parameters(one_by_one), rtol=1e-3, atol=1e-5)
    require(found, {"": hint, "factor": hint}, source="one after the other it is")


@check("batches of 4, 4 and 2 rows with the losses 1, 2 and 4 have the mean 2")
def epoch_loss_is_a_mean_over_rows(train_epoch: Function) -> None:
    model = _example()
    x = np.arange(10, dtype=np.float32)[:, None]
    y = 2 * x + np.sqrt(np.repeat([1.0, 2.0, 4.0], [4, 4, 2])).astype(np.float32)[:, None]
    loss = train_epoch(model, training.batches_of(x, y, 4), nn.MSELoss(), _sgd(model, lr=0.0), "cpu")
    hint = "A mean over rows: how much does each batch add, and what do you divide by?"
    found = compare("the mean loss", _float("The result", loss), 2.0, rtol=1e-3, atol=1e-4)
    require(found, {"": hint, "factor": hint})


@check("a model that arrives in evaluation mode is trained in training mode")
def epoch_trains_in_training_mode(train_epoch: Function) -> None:
    model = training.network("norm", SIZES, _weights("norm")).eval()
    watch = training.Watch().eval()
    model.append(watch)
    train_epoch(model, training.batches_of(*_rows(8), 3), nn.CrossEntropyLoss(), _sgd(model), "cpu")
    if not all(watch.training_modes):
        fail("The model worked in evaluation mode.", "Which method of a module sets the mode?")


@check("batches travel once, the model never, and the host waits little")
def epoch_copies_and_waits_little(train_epoch: Function) -> str:
    device = _cuda("This check")
    x, y = np.tile(_rows(8)[0], (24, 1)), np.tile(_rows(8)[1], 24)
    model = training.network("mlp", SIZES, _weights("mlp")).to(device)
    with training.device_step() as found:
        loader = training.batches_of(x, y, 32)
        train_epoch(model, loader, nn.CrossEntropyLoss(), _sgd(model), device)
    return _economy(found, x, y, 6 + 1)


def _economy(found: list[Any], x: np.ndarray, y: np.ndarray, allowed: int) -> str:
    if not found:
        return ""
    step, needed = found[0], x.nbytes + y.nbytes
    copied, waits = step.nbytes["host to device"], sum(step.syncs.values())
    if copied > 1.2 * needed:
        hint = "Look for every `.to(`, `.cuda(` and `.cpu(` in the loop, and for `torch.tensor(..., device=...)`."
        fail(f"{copied} bytes went to the device; the batches have {needed}.", hint)
    if waits > allowed:
        hint = "`.item()`, `float(t)`, `.cpu()`, `print(t)` and `if t:` all wait. `%%cuda_log` shows where."
        fail(f"The host waited {waits} times for the device; {allowed} times are allowed.", hint)
    return f": {copied} bytes to the device, {waits} waits"


@check("no graph of an earlier batch is kept")
def epoch_keeps_no_graphs(train_epoch: Function) -> None:
    model = training.network("mlp", SIZES, _weights("mlp"))
    watch = training.Watch()
    model.append(watch)
    alive: list[int] = []
    loader = training.batches_of(*_rows(10), 2, lambda: alive.append(watch.graphs_alive()))
    train_epoch(model, loader, nn.CrossEntropyLoss(), _sgd(model), "cpu")
    if max(alive) > 1:
        hint = "What does your loop collect? A loss that is a tensor holds its graph."
        fail(f"As the batches were fetched, {', '.join(map(str, alive))} graphs were alive.", hint)


# --- 4. evaluate ----------------------------------------------------------------------------------------------------


def _evaluated(evaluate: Function, *args: Any) -> tuple[float, float]:
    loss, accuracy = parts("evaluate(model, loader, loss_fn, device)", evaluate(*args), ("loss", "accuracy"))
    return _float("The loss", loss), _float("The accuracy", accuracy)


@check("the worked example has accuracy 2/3, on every device")
def evaluation_example(evaluate: Function) -> None:
    outputs = np.array([[2, 1], [0, 3], [5, 4]], dtype=np.float32)
    labels = np.array([0, 1, 1])
    wanted = float(np.mean(np.log(np.exp(outputs).sum(1)) - outputs[[0, 1, 2], labels]))
    for name in _names():
        model = nn.Linear(2, 2, bias=False)
        with torch.no_grad():
            model.weight.copy_(torch.eye(2))
        model.to(name)
        loader = training.batches_of(outputs, labels, 2)
        loss, accuracy = _evaluated(evaluate, model, loader, nn.CrossEntropyLoss(), name)
        hint = "Which class does each row have the largest output for? The share is between 0 and 1, over all rows."
        require(compare("the accuracy", accuracy, 2 / 3, rtol=1e-3, atol=1e-4), {"": hint, "factor": hint})
        hint = "A mean over rows: how much does each batch add, and what do you divide by?"
        require(compare("the loss", loss, wanted, rtol=1e-3, atol=1e-4), {"": hint, "factor": hint})
        _on(model, name)


@check("the batch size changes nothing, nor does a second call")
def evaluation_counts_every_row(evaluate: Function) -> None:
    x, y = _rows(11)
    model = training.network("norm", SIZES, _weights("norm"))
    results = [
        _evaluated(evaluate, model, training.batches_of(x, y, size), nn.CrossEntropyLoss(), "cpu")
        for size in (11, 4, 4, 3)
    ]
    hints = {"": "Is every batch counted, by its rows? Is the model in evaluation mode? Where do the sums start?"}
    for got, size in zip(results[1:], ("batches of 4", "batches of 4 in a second call", "batches of 3"), strict=True):
        found = compare(f"(loss, accuracy) with {size}", got, results[0], rtol=1e-3, atol=1e-5)
        require(found, {**hints, "factor": hints[""]}, source="with all rows in one batch it is")


@check("mode, weights, statistics and gradients are as they were")
def evaluation_leaves_the_model(evaluate: Function) -> None:
    for mode in (True, False):
        model = training.network("norm", SIZES, _weights("norm")).train(mode)
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        before = training.parameters(model) | training.buffers(model)
        _evaluated(evaluate, model, training.batches_of(*_rows(8), 3), nn.CrossEntropyLoss(), "cpu")
        if model.training is not mode:
            hint = "Remember the mode before you change it."
            fail(f"model.training was {mode} before the call and is {model.training} after it.", hint)
        hint = "Running statistics change in training mode alone. Nothing else should change at all."
        after = training.parameters(model) | training.buffers(model)
        require(compare("the model after the call", after, before), {"": hint, "factor": hint})
        if not all(p.requires_grad and p.grad is not None and (p.grad == 1).all() for p in model.parameters()):
            fail("requires_grad or .grad of the parameters changed.", "An evaluation has no use for gradients.")


@check("the model works in evaluation mode and builds no graph")
def evaluation_builds_no_graph(evaluate: Function) -> None:
    model = training.network("norm", SIZES, _weights("norm"))
    watch = training.Watch()
    model.append(watch)
    _evaluated(evaluate, model, training.batches_of(*_rows(8), 3), nn.CrossEntropyLoss(), "cpu")
    if any(watch.training_modes):
        fail("The model worked in training mode.", "Which method of a module sets the mode?")
    if any(watch.builds_graph):
        fail("The outputs of the model require gradients.", "How do you tell PyTorch that none are wanted?")


# --- 5. train_epoch_amp ---------------------------------------------------------------------------------------------


def _amp(
    train_epoch_amp: Function, scale: float, max_norm: float, model: nn.Module | None = None
) -> tuple[Any, float, Any]:
    device = _cuda("Exercise 5")
    trained: Any = (_example() if model is None else model).to(device)
    scaler = torch.amp.GradScaler("cuda", init_scale=scale)
    x, y = (t.numpy() for t in _EXAMPLE)
    loader = training.batches_of(x, y, 2)
    loss = train_epoch_amp(trained, loader, nn.MSELoss(), _sgd(trained, lr=0.01), scaler, device, max_norm)
    return trained, loss, scaler


@check("the model computes in float16 and keeps its parameters in float32")
def amp_runs_in_half_precision(train_epoch_amp: Function) -> None:
    watch = training.Watch()
    model = nn.Sequential(_example(), watch).eval()
    _amp(train_epoch_amp, 128.0, 1e6, model)
    if set(watch.dtypes) != {"float16"}:
        hint = "What surrounds the forward pass, and which dtype does it ask for?"
        fail(f"The outputs of the model are {', '.join(sorted(set(watch.dtypes)))}.", hint)
    if {p.dtype for p in model.parameters()} != {torch.float32}:
        fail("The parameters are no longer float32.", "Autocast casts for each operation; the parameters stay.")
    if not all(watch.training_modes):
        fail("The model worked in evaluation mode.", "As in exercise 3: which mode is for training?")


@check("the step of the worked example does not depend on the scale")
def amp_step_does_not_depend_on_the_scale(train_epoch_amp: Function) -> None:
    for scale in (2.0, 256.0):
        model, loss, _ = _amp(train_epoch_amp, scale, 1e6)
        # Learning rate 0.01, gradients 16 and 6.
        found = compare(f"weight and bias with the scale {scale:g}", _moved(model), np.array([1.84, -0.06]), rtol=0.01)
        hint = "Which line scales, which line divides by the scale, and who takes the step?"
        require(found, {"": hint, "factor": hint})
        found = compare("the mean loss", _float("The result", loss), 13.0, rtol=0.01)
        require(found, {"": "It is the loss before the step, not scaled.", "factor": "Is it the scaled loss?"})


@check("true gradients of norm 17.1 are clipped to norm 1")
def amp_clips_true_gradients(train_epoch_amp: Function) -> None:
    wanted = np.array([2.0, 0.0]) - 0.01 * np.array([16.0, 6.0]) / np.sqrt(16.0**2 + 6.0**2)
    for scale in (2.0, 256.0):
        model, _, _ = _amp(train_epoch_amp, scale, 1.0)
        step, right = _moved(model) - [2.0, 0.0], wanted - [2.0, 0.0]
        found = compare(f"the step of weight and bias with the scale {scale:g}", step, right, rtol=0.02)
        hint = (
            "What does `.grad` hold when it is clipped: scaled or true gradients? Is it clipped before the step, and "
            "by the norm of weight and bias together?"
        )
        require(found, {"": hint, "factor": hint})


@check("a batch that overflows changes the scale alone")
def amp_skips_a_batch_that_overflows(train_epoch_amp: Function) -> None:
    model, _, scaler = _amp(train_epoch_amp, 2.0**40, 1.0)
    if not np.array_equal(_moved(model), [2.0, 0.0]):
        hint = "Only the scaler knows whether gradients are infinite: who takes the step?"
        fail(f"Weight and bias are {_moved(model)} after a batch with infinite gradients.", hint)
    if scaler.get_scale() != 2.0**39:
        hint = "The scaler adapts its scale when it is told that the batch has ended."
        fail(f"The scale was 2 ** 40 and is {scaler.get_scale():g} afterwards; it should be half.", hint)


# --- 6. checkpoint --------------------------------------------------------------------------------------------------


@contextmanager
def _file() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder) / "run.pt")


def _run(seed: int, device: str = "cpu", *, kind: str = "norm", more: bool = True) -> tuple[Any, ...]:
    model = training.network(kind, SIZES, _weights(kind, seed)).to(device)
    optimizer = _sgd(model, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5) if more else None
    scaler = torch.amp.GradScaler(device, init_scale=64.0, growth_interval=3) if more else None
    return model, optimizer, scheduler, scaler


def _train(run: tuple[Any, ...], steps: int) -> None:
    model, optimizer, scheduler, scaler = run
    x, y = map(torch.tensor, _rows(6))
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        (scaler.scale(loss) if scaler else loss).backward()
        (scaler or optimizer).step(*([optimizer] if scaler else []))
        if scaler:
            scaler.update()
        if scheduler:
            scheduler.step()


@check("weights, statistics and the epoch come back, with None for scheduler and scaler")
def checkpoint_brings_the_model_back(save_checkpoint: Function, load_checkpoint: Function) -> None:
    with _file() as path:
        run, other = _run(1, more=False), _run(2, more=False)
        _train(run, 1)
        save_checkpoint(path, *run, 3)
        epoch = load_checkpoint(path, *other, "cpu")
    hint = "Parameters and buffers both belong to the model. Which method gives both?"
    for name, of in (("parameters", training.parameters), ("running statistics", training.buffers)):
        require(compare(f"the {name}", of(other[0]), of(run[0])), {"": hint, "factor": hint})
    if epoch != 3:
        fail(f"load_checkpoint returned {epoch!r}; 3 epochs were done.", "`epoch` comes back as it was saved.")


@check("a resumed run ends where the uninterrupted one does, bit for bit")
def checkpoint_resumes_training(save_checkpoint: Function, load_checkpoint: Function) -> None:
    with _file() as path:
        run, again = _run(1), _run(2)
        _train(run, 2)
        save_checkpoint(path, *run, 2)
        _train(run, 2)
        load_checkpoint(path, *again, "cpu")
        _train(again, 2)
    ends = [run[1].param_groups[0]["lr"], again[1].param_groups[0]["lr"]]
    if ends[0] != ends[1]:
        fail(f"The learning rate is {ends[1]:g} in the resumed run and {ends[0]:g} in the other.", "The scheduler?")
    if run[3].get_scale() != again[3].get_scale():
        hint = "A scaler has a scale and counts the steps until it grows. Is all of it saved and loaded?"
        fail(f"The scale is {again[3].get_scale():g} and should be {run[3].get_scale():g}.", hint)
    found = compare("the weights", training.parameters(again[0]), training.parameters(run[0]), rtol=0.0, atol=0.0)
    hint = (
        "Of momentum, learning rate and scale: what does each object remember, and which method gives it all? "
        "And is the run that was saved in the mode that it was in?"
    )
    require(found, {"": hint, "factor": hint}, source="in the uninterrupted run it is")


@check("the random state comes back")
def checkpoint_resumes_chance(save_checkpoint: Function, load_checkpoint: Function) -> None:
    with _file() as path:
        torch.manual_seed(11)
        save_checkpoint(path, *_run(1), 1)
        wanted = torch.rand(3)
        run = _run(2)
        torch.manual_seed(12)
        load_checkpoint(path, *run, "cpu")
    if not torch.equal(torch.rand(3), wanted):
        hint = "`torch.get_rng_state()` and `torch.set_rng_state(...)`. Set it last, in case loading draws numbers."
        fail("After loading, PyTorch draws other numbers than the saved run did.", hint)


@check("a file from a CUDA device loads on every device, and where there is none")
def checkpoint_moves_between_devices(save_checkpoint: Function, load_checkpoint: Function) -> None:
    device = _cuda("This check")
    asked = torch.cuda.is_available, torch.cuda.device_count
    for target in _names():
        with _file() as path:
            run, other = _run(1, device, more=False), _run(2, target, more=False)
            save_checkpoint(path, *run, 1)
            if target == "cpu":
                torch.cuda.is_available, torch.cuda.device_count = (lambda: False), (lambda: 0)
            try:
                load_checkpoint(path, *other, target)
            except RuntimeError as error:
                if "deserialize" not in str(error):
                    raise
                hint = "`torch.load` puts tensors back to where they were, unless it is told otherwise."
                fail("On a machine without a GPU the file cannot be loaded.", hint)
            finally:
                torch.cuda.is_available, torch.cuda.device_count = asked
        _on(other[0], target)
        require(compare("the parameters", training.parameters(other[0]), training.parameters(run[0])))


@check("the file holds plain data")
def checkpoint_is_plain_data(save_checkpoint: Function, load_checkpoint: Function) -> None:
    with _file() as path:
        save_checkpoint(path, *_run(1), 1)
        if not Path(path).is_file():
            fail("save_checkpoint wrote no file at `path`.")
        try:
            torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            hint = "Save what state_dict() gives, not the objects themselves."
            fail(f"torch.load(path, weights_only=True) raised {type(error).__name__}.", hint)


# --- 7. fit ---------------------------------------------------------------------------------------------------------

_KEYS = ("loss/train", "loss/validation", "accuracy/validation")


def _fitted(
    fit: Function, epochs: int, device: str = "cpu", rate: float = 0.1
) -> tuple[Any, dict[str, list[float]], dict[str, Any]]:
    model = training.network("norm", SIZES, _weights("norm"))
    # Validation labels that have nothing to do with the rows: the longer the training, the larger their loss.
    loaders = training.batches_of(*_rows(12), 5), training.batches_of(_rows(9, 5)[0], _rows(9)[1][::-1].copy(), 4)
    with training.patient_writers(), tempfile.TemporaryDirectory() as folder:
        history = fit(model, *loaders, epochs, rate, device, folder)
        scalars = training.read_scalars(folder)
    if not isinstance(history, dict) or not set(_KEYS) <= set(history):
        keys = sorted(map(str, history)) if isinstance(history, dict) else type(history).__name__
        fail(f"fit returned {keys}; it should return a dict with the keys {', '.join(_KEYS)}.")
    for key in _KEYS:
        if len(history[key]) != epochs:
            hint = "One number for each epoch. Look at the ends of your loop's range."
            fail(f'history["{key}"] has {len(history[key])} numbers after {epochs} epochs.', hint)
        for value in history[key]:
            _float(f'A number of history["{key}"]', value)
    return model, {key: history[key] for key in _KEYS}, scalars


@check("the model is trained on the device it is told, and stays there")
def fit_trains_on_its_device(fit: Function) -> str:
    alone: dict[str, list[float]] = {}
    for name in _names():
        model, history, _ = _fitted(fit, 2, name)
        _on(model, name)
        alone = alone or history
        found = compare(f'the history on "{name}"', history, alone, rtol=0.01, atol=1e-3)
        require(found, source="on the CPU it is")
    return f": {', '.join(_names())}"


@check("the optimizer has momentum 0.9, and its learning rate falls by a fifth after each epoch")
def fit_lowers_the_learning_rate(fit: Function) -> None:
    seen: list[tuple[float, float]] = []

    def look(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        group = optimizer.param_groups[0]
        seen.append((round(float(group["lr"]), 6), float(group.get("momentum", 0.0))))

    handle = register_optimizer_step_pre_hook(look)
    try:
        _fitted(fit, 3)
    finally:
        handle.remove()
    rates = [rate for rate, _ in seen]
    wanted = [0.1] * 3 + [0.08] * 3 + [0.064] * 3
    if len(rates) != 9:
        fail(f"The optimizer took {len(rates)} steps in 3 epochs of 3 batches.", "One step for each batch.")
    if rates != wanted:
        hint = "Epoch 1 uses `learning_rate` itself. When does the scheduler take its step?"
        fail(f"The learning rates of the nine steps were {rates}; {wanted} are right.", hint)
    if any(momentum != 0.9 for _, momentum in seen):
        fail(f"The optimizer's momentum is {seen[0][1]:g}.", "The text names it.")


@check("TensorBoard finds the three curves, with the steps 1, 2, 3")
def fit_writes_for_tensorboard(fit: Function) -> None:
    _, history, scalars = _fitted(fit, 3)
    if not scalars:
        hint = "A writer collects what it is given, and writes now and then. What must happen before fit returns?"
        fail("When fit had returned, there were no scalars in log_dir.", hint)
    for key in _KEYS:
        if key not in scalars:
            fail(f"There is no scalar {key}; there are {', '.join(sorted(scalars))}.", "The keys are the tags.")
        steps = [step for step, _ in scalars[key]]
        if steps != [1, 2, 3]:
            fail(f"The steps of {key} are {steps}.", "The third argument of add_scalar is the step. Count from 1.")
        found = compare(f"the values of {key}", [v for _, v in scalars[key]], history[key], rtol=1e-4, atol=1e-6)
        require(found, source="in the dict it is")


@check("the model comes back as it was when the validation loss was lowest")
def fit_keeps_the_best_weights(fit: Function) -> None:
    for rate in (0.1, 0.5):
        model, history, _ = _fitted(fit, 4, rate=rate)
        x, y = torch.tensor(_rows(9, 5)[0]), torch.tensor(_rows(9)[1][::-1].copy())
        with torch.no_grad():
            loss = nn.functional.cross_entropy(model.eval()(x), y).item()
        hint = (
            "Which weights does the model hold after the last epoch? `state_dict()` gives the model's own tensors: "
            "later steps change them. Statistics belong to the weights."
        )
        lowest = min(history["loss/validation"])
        found = compare("the validation loss of the returned model", loss, lowest, rtol=1e-3, atol=1e-4)
        require(found, {"": hint, "factor": hint}, source="the lowest in the history is")


@check("a small network reads held-out digits")
def fit_reads_digits(fit: Function) -> str:
    digits = load_digits()
    sizes = (8, 16, 10)
    rng = np.random.default_rng(3)
    weights = {
        name: rng.normal(0, np.sqrt(1.5 / np.prod(shape[1:])), shape).astype(np.float32)
        if len(shape) > 1
        else np.full(shape, 1.0 if name in ("1.weight", "5.weight") else 0.0, dtype=np.float32)
        for name, shape in training.shapes("cnn", sizes).items()
    }
    model = training.network("cnn", sizes, weights)
    x, y = digits.x_train[:, None], digits.y_train
    loaders = training.batches_of(x[:1200], y[:1200], 32), training.batches_of(x[1200:], y[1200:], 100)
    device = _names()[-1]
    with tempfile.TemporaryDirectory() as folder:
        history = fit(model, *loaders, 3, 0.05, device, folder)
    with torch.no_grad():
        outputs = model.cpu().eval()(torch.tensor(digits.x_test[:, None])).numpy()
    right = float(np.mean(outputs.argmax(1) == digits.y_test))
    if right < 0.8:
        fail(f"{right:.0%} of them are right; it should be 80 %.", "The checks above say which part to look at.")
    losses = history["loss/train"]
    return f": {right:.0%} of {len(outputs)} are right; the loss went from {losses[0]:.2f} to {losses[-1]:.2f}"
