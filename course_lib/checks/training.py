"""Small networks from arrays, and quiet observers of a training loop: for probes and visible checks.

Nothing here knows a right answer. A network is built from the arrays that it is given; a `Watch` is a last layer that
lets everything pass and writes down in which mode, on which device and in which precision it was called, and whose
graphs are still alive.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, default_collate

from course_lib import virtual_cuda

__all__ = [
    "Heavy",
    "Watch",
    "arrays",
    "batches_of",
    "buffers",
    "count_steps",
    "device_step",
    "gradients",
    "memory_left",
    "network",
    "networks",
    "outputs_on",
    "parameters",
    "patient_writers",
    "read_scalars",
    "shapes",
    "without_tensorflow",
]

Arrays = dict[str, np.ndarray]


def without_tensorflow() -> None:
    """Let TensorBoard do without TensorFlow, whose import takes seconds: it looks for a module of this name."""
    name = "tensorboard.compat.notf"
    sys.modules.setdefault(name, ModuleType(name))


# --- networks -------------------------------------------------------------------------------------------------------


class DrawnLinear(nn.Linear):
    """A linear layer whose outputs are multiplied by gains drawn on the device that it runs on, the same in every call.

    A GPU's generator draws other numbers than the CPU's from the same seed. So what this layer gives tells where it was
    computed: a value, where `Watch.devices` is only a claim.
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (N, in_features). Returns (N, out_features); the gains are between 0.5 and 1.5."""
        outputs = super().forward(x)
        generator = torch.Generator(device=x.device).manual_seed(self.out_features)
        gains = torch.empty(self.out_features, device=x.device).uniform_(0.5, 1.5, generator=generator)
        return outputs * gains.to(outputs.dtype)


def _mlp(d: int, h: int, c: int, linear: type[nn.Linear] = nn.Linear) -> nn.Sequential:
    return nn.Sequential(linear(d, h), nn.ReLU(), linear(h, c))


def _norm(d: int, h: int, c: int, linear: type[nn.Linear] = nn.Linear) -> nn.Sequential:
    return nn.Sequential(linear(d, h, bias=False), nn.BatchNorm1d(h), nn.ReLU(), linear(h, c))


def _dropout(d: int, h: int, c: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Dropout(0.5), nn.Linear(h, c))


def _cnn(channels: int, more: int, c: int) -> nn.Sequential:
    """For images of 8 x 8 pixels with one channel."""

    def block(before: int, after: int) -> list[nn.Module]:
        return [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]

    return nn.Sequential(*block(1, channels), *block(channels, more), nn.Flatten(), nn.Linear(4 * more, c))


networks: Mapping[str, Callable[[int, int, int], nn.Sequential]] = {
    "mlp": _mlp,
    "norm": _norm,
    "dropout": _dropout,
    "cnn": _cnn,
    "mlp with drawn gains": functools.partial(_mlp, linear=DrawnLinear),
    "norm with drawn gains": functools.partial(_norm, linear=DrawnLinear),
}
"""kind -> function of three sizes: inputs, hidden units, classes; for the `cnn` channels, more channels, classes"""


def shapes(kind: str, sizes: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the parameters of a network."""
    return {name: tuple(value.shape) for name, value in networks[kind](*sizes).named_parameters()}


def network(
    kind: str,
    sizes: Sequence[int],
    weights: Mapping[str, np.ndarray],
    statistics: Mapping[str, np.ndarray] | None = None,
) -> nn.Sequential:
    """A network whose parameters are copies of `weights`, in training mode, on the CPU.

    statistics: running means and variances; those of a new network where there are none.
    """
    model = networks[kind](*sizes)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.tensor(weights[name]))
        for name, buffer in model.named_buffers():
            if name in (statistics or {}):
                buffer.copy_(torch.tensor(statistics[name]))  # type: ignore[index]
    return model


def arrays(tensors: Mapping[str, Any]) -> Arrays:
    """Tensors, wherever they are, as NumPy arrays of their own."""
    return {name: value.detach().cpu().numpy().copy() for name, value in tensors.items()}


def parameters(model: nn.Module) -> Arrays:
    """The parameters of a model as arrays."""
    return arrays(dict(model.named_parameters()))


def buffers(model: nn.Module) -> Arrays:
    """What a model keeps beside its parameters, such as running means, as arrays."""
    return arrays({name: value.double() for name, value in model.named_buffers()})


def outputs_on(device: str, model: nn.Module, x: np.ndarray) -> np.ndarray:
    """What a copy of the model gives in evaluation mode for rows on `device`.

    Raises RuntimeError if the model is elsewhere; a `Watch` in it tells where it was called last.
    """
    ran_on = [watch.devices[-1] for watch in model.modules() if isinstance(watch, Watch) and watch.devices]
    rows = torch.tensor(x, device=device)
    with torch.no_grad():
        try:
            outputs: np.ndarray = copy.deepcopy(model).float().eval()(rows).cpu().numpy()
        except RuntimeError as error:
            # In other words than torch's: the same error inside the call is another mistake.
            before = f" (in the call it ran on {ran_on[-1]})" if ran_on else ""
            raise RuntimeError(f"after the call the model{before} does not take rows on {device}: {error}") from None
    return outputs


def gradients(model: nn.Module) -> Arrays:
    """What lies in `.grad` of each parameter that has one."""
    return arrays({name: p.grad for name, p in model.named_parameters() if p.grad is not None})


# --- batches --------------------------------------------------------------------------------------------------------


def batches_of(
    x: np.ndarray,
    y: np.ndarray,
    batch_size: int,
    before_each: Callable[[], None] | None = None,
    *,
    drop_last: bool = False,
) -> DataLoader[Any]:
    """A loader that gives the rows in order, the rest of them last, or with `drop_last` not at all.

    `before_each` is called as each batch is made.
    """

    def collate(rows: list[Any]) -> Any:
        if before_each is not None:
            before_each()
        return default_collate(rows)

    rows = _Rows(torch.tensor(x), torch.tensor(y))
    return DataLoader(rows, batch_size=batch_size, collate_fn=collate, drop_last=drop_last)


class _Rows(TensorDataset):
    """Its rows are cut once: of what virtual CUDA sees of a6's trainings, every fifth operator was such a cut."""

    def __init__(self, *tensors: torch.Tensor) -> None:
        super().__init__(*tensors)
        self.rows = list(zip(*tensors, strict=True))

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index] if isinstance(index, int) else tuple(tensor[index] for tensor in self.tensors)


# --- observers ------------------------------------------------------------------------------------------------------


def count_steps(optimizer: torch.optim.Optimizer) -> list[int]:
    """A list with one number, which grows with every step of the optimizer."""
    count = [0]

    def one_more(*_: Any) -> None:
        count[0] += 1

    optimizer.register_step_post_hook(one_more)
    return count


class _Held(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, nbytes: int) -> torch.Tensor:
        ctx.held = torch.empty(nbytes, dtype=torch.uint8, device=x.device)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0], None


class Heavy(nn.Module):
    """A last layer that changes nothing, and whose graph holds memory on the device for as long as it lives."""

    def __init__(self, nbytes: int) -> None:
        super().__init__()
        self.nbytes = nbytes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x itself."""
        return _Held.apply(x, self.nbytes) if x.requires_grad else x


@contextlib.contextmanager
def memory_left(device: str, nbytes: int) -> Iterator[None]:
    """Within, the device gives this process so many bytes more than it has reserved, and then no more."""
    index = torch.device(device).index or 0
    # Not the properties, which an honest program may have replaced: a wrong total would leave it less.
    _, total = torch.cuda.mem_get_info(index)
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved(index) + nbytes) / total, index)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, index)


class _Alive:
    """Lives as long as the graph that holds it."""


class _Mark(torch.autograd.Function):
    generate_vmap_rule = True  # `torch.func` is one way to write a right answer

    @staticmethod
    def forward(x: torch.Tensor, watch: Watch) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.alive = inputs[1].mark()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0], None


class Watch(nn.Module):
    """A last layer that changes nothing and writes down how it was called."""

    def __init__(self) -> None:
        super().__init__()
        self.training_modes: list[bool] = []
        """one for each forward pass"""
        self.builds_graph: list[bool] = []
        self.devices: list[str] = []
        self.dtypes: list[str] = []
        self._marks: list[weakref.ref[_Alive]] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x itself."""
        self.training_modes.append(self.training)
        self.builds_graph.append(x.requires_grad)
        self.devices.append(str(x.device))
        self.dtypes.append(str(x.dtype).removeprefix("torch."))
        return _Mark.apply(x, self) if x.requires_grad else x

    def mark(self) -> _Alive:
        """Something to be held by a graph."""
        alive = _Alive()
        self._marks.append(weakref.ref(alive))
        return alive

    def graphs_alive(self) -> int:
        """How many of the graphs that went through here are still held by somebody."""
        return sum(mark() is not None for mark in self._marks)

    def __deepcopy__(self, memo: Any) -> Watch:
        # Whoever evaluates a copy of the model is seen, too: a copy writes into the same lists.
        copied = Watch().train(self.training)
        for name in ("training_modes", "builds_graph", "devices", "dtypes", "_marks"):
            setattr(copied, name, getattr(self, name))
        return copied


@contextlib.contextmanager
def device_step() -> Iterator[list[virtual_cuda.Step]]:
    """What the device did within: a list that holds one record of the log afterwards. Without a device it is empty."""
    found: list[virtual_cuda.Step] = []
    if not torch.cuda.is_available():
        yield found
        return
    with virtual_cuda.session(quiet=True) as log:
        with log.step():
            yield found
        found.append(log.steps[-1])


@contextlib.contextmanager
def patient_writers() -> Iterator[None]:
    """What TensorBoard's writers are given stands in their files once they are flushed or closed, and not before.

    With TensorFlow it is so; without, a thread writes when it finds the time, and who forgets to close a writer may or
    may not be lucky.
    """
    without_tensorflow()
    from tensorboard.summary.writer.record_writer import RecordWriter

    write, flush, close = RecordWriter.write, RecordWriter.flush, RecordWriter.close
    held: weakref.WeakKeyDictionary[Any, list[bytes]] = weakref.WeakKeyDictionary()

    def keep(self: Any, data: bytes) -> None:
        held.setdefault(self, []).append(data)

    def write_out(self: Any) -> None:
        for data in held.pop(self, []):
            write(self, data)

    def write_and_flush(self: Any) -> None:
        write_out(self)
        flush(self)

    def write_and_close(self: Any) -> None:
        write_out(self)
        close(self)

    RecordWriter.write, RecordWriter.flush, RecordWriter.close = keep, write_and_flush, write_and_close
    try:
        yield
    finally:
        RecordWriter.write, RecordWriter.flush, RecordWriter.close = write, flush, close


def read_scalars(folder: str) -> dict[str, list[tuple[int, float]]]:
    """The scalars in TensorBoard's event files below a folder: tag -> (step, value) in the order written."""
    without_tensorflow()
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(folder)
    events.Reload()
    return {tag: [(e.step, float(e.value)) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
