"""The same log on a real GPU, where nothing is replaced: operators and a few reads are watched as they go by.

A mode below autograd sees every operator with the devices of its tensors, the copies between devices among them. What
goes by in one piece for the program and in several for the mode (`tolist`, `print`), or past the mode altogether
(`synchronize`, the data of `torch.tensor(..., device="cuda")`), is wrapped in Python, and calls the original.

Not yet run on a GPU. What was checked: a program on fake CUDA tensors (torch's own FakeTensor, which dispatches what a
CUDA tensor would, without data) is logged here as the same program on the virtual device is logged there. Two limits
follow from what is seen: a kernel's `took_s` is the time of its launch, and where CUDA picks another operator than the
CPU does (cuDNN's batch normalization, fused attention) the names under `launches` differ from the virtual device's.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.virtual_cuda.core.operators import (
    IMPLICIT,
    INDEXES,
    KEEPS,
    MOVES,
    QUIET,
    READING,
    READS,
    classify,
    log_indices,
    moved_bytes,
)
from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.log.recorder import Recorder

Tensor = torch.Tensor


class _ThreadState(threading.local):
    quiet = 0
    """above 0: what happens now is part of something that is noted already"""


def index_of(tensor: Tensor) -> int:
    """The index of the tensor's CUDA device; -1 for anything else."""
    device = tensor.device
    return (device.index or 0) if device.type == "cuda" else -1


@contextlib.contextmanager
def observe(log: Recorder) -> Iterator[None]:
    """While it lasts, `log` is told what this thread, and threads started in it, do with CUDA tensors.

    The log's steps measure peak memory, for which torch's own peak is reset at their ends; `max_memory_allocated()`
    goes on answering as if it were not.
    """
    here, patches = _ThreadState(), Patches()
    log.is_virtual = False
    watched = Watcher(log, here)
    _install(log, here, patches)
    try:
        with watched:
            yield
    finally:
        log.trace(False)
        patches.undo()
        log.give_back(watched.launches)


class Watcher(TorchDispatchMode):
    """Sees every operator of one thread, and changes nothing."""

    def __init__(self, log: Recorder, here: _ThreadState) -> None:
        super().__init__()
        self.log, self.here = log, here
        self.launches: Counter[Any] = log.launch_counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operator as it is, and note what it was."""
        kwargs = kwargs or {}
        if func.namespace == "prim":  # a question, not an operator
            return func(*args, **kwargs)
        bits = classify(func)
        if bits & IMPLICIT:
            with self:
                return func.decompose(*args, **kwargs)
        given = list(_tensors((*args, *kwargs.values())))
        device = max(map(index_of, given), default=-1)
        began = self.log.now()
        if self.here.quiet == 0 and device >= 0:
            if bits & READS:
                self.log.sync(READING[func._schema.name.rpartition("::")[2]], device)
            if bits & INDEXES:
                log_indices(self.log, func, args, device, index_of)
        out = func(*args, **kwargs)
        device = max(device, max(map(index_of, _tensors((out,))), default=-1))
        if device >= 0 and not self._copies(func, bits, args, kwargs, out, began) and not bits & QUIET:
            self.launches[func] += 1
            if self.log.is_tracing:
                self.log.kernel(func, device, began)
        return out

    def _copies(self, func: Any, bits: int, args: Any, kwargs: Any, out: Any, began: float) -> bool:
        """Note what went from one device to another; whether that was all, with no kernel to convert it."""
        if func._schema.name == "aten::_to_copy":
            pairs, asked = [(out, args[0])], bool(kwargs.get("non_blocking", False))
        elif bits & KEEPS and func._schema.name != "aten::set_":
            targets, sources = (args[0], args[1]) if isinstance(args[0], (list, tuple)) else ([args[0]], [args[1]])
            pairs = list(zip(targets, sources, strict=False))
            asked = bool(args[2] if len(args) > 2 else kwargs.get("non_blocking", False))
        else:
            return False
        crossed = [(target, source) for target, source in pairs if index_of(target) != index_of(source)]
        for target, source in crossed:
            if self.here.quiet == 0:
                to, start = index_of(target), index_of(source)
                # A copy to the host that is not to be waited for makes its own pinned memory.
                makes_pinned = bits & MOVES and to < 0
                host = target if to < 0 else source
                free = (asked and (makes_pinned or host.is_pinned())) or (to >= 0 and start >= 0)
                nbytes, took = moved_bytes(target, source, start >= 0, asked), self.log.now() - began
                self.log.copy(start, to, nbytes, blocking=not free, non_blocking=asked, took_s=took)
                began = self.log.now()
        return bool(crossed) and not (asked and any(target.dtype != source.dtype for target, source in crossed))


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _install(log: Recorder, here: _ThreadState, patches: Patches) -> None:
    """Wrap what the mode cannot see, or sees in pieces."""

    def noted(owner: Any, name: str, what: str, concerns: Callable[..., bool]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if here.quiet == 0 and concerns(*args):
                log.sync(what)
            here.quiet += 1
            try:
                return original(*args, **kwargs)
            finally:
                here.quiet -= 1

        patches.set(owner, name, call)

    def on_device(tensor: Tensor, *rest: Any) -> bool:
        return index_of(tensor) >= 0

    def always(*args: Any) -> bool:
        return True

    noted(Tensor, "tolist", "tolist", on_device)
    noted(Tensor, "__repr__", "print", on_device)
    noted(torch.cuda, "synchronize", "synchronize", always)
    noted(torch.cuda.Stream, "synchronize", "synchronize", always)
    noted(torch.cuda.Event, "synchronize", "synchronize", always)
    noted(torch.accelerator, "synchronize", "synchronize", always)
    for name in ("tensor", "as_tensor", "asarray"):
        patches.set(torch, name, _from_data(log, here, getattr(torch, name)))
    start = threading.Thread._bootstrap_inner

    def bootstrap(self: threading.Thread) -> Any:
        watcher = Watcher(log, here)
        try:
            with watcher:
                return start(self)
        finally:
            log.give_back(watcher.launches)

    patches.set(threading.Thread, "_bootstrap_inner", bootstrap)
    if torch.cuda.is_available():
        gauges = [GpuMemory(index) for index in range(torch.cuda.device_count())]
        log.gauges = gauges
        _keep_peaks(gauges, patches)


def _from_data(log: Recorder, here: _ThreadState, original: Callable[..., Any]) -> Callable[..., Any]:
    """Numbers become a tensor on the host first; torch then copies it where no mode sees it."""

    @functools.wraps(original)
    def make(*args: Any, **kwargs: Any) -> Any:
        began = log.now()
        data = args[0] if args else kwargs.get("data")
        before = index_of(data) if isinstance(data, Tensor) else -1
        here.quiet += 1
        try:
            made = original(*args, **kwargs)
        finally:
            here.quiet -= 1
        to = index_of(made)
        if to != before and here.quiet == 0:
            log.copy(before, to, made.numel() * made.element_size(), took_s=log.now() - began)
        return made

    return make


class GpuMemory:
    """The memory of a real GPU, its peak counted for the log and for the program."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.peak = 0
        """the program's own peak, as far as the counter was reset for the log"""
        self.read, self.reset = torch.cuda.max_memory_allocated, torch.cuda.reset_peak_memory_stats

    def allocated(self) -> int:
        """Bytes in use now."""
        return torch.cuda.memory_allocated(self.index)

    def take_high(self) -> int:
        """The most in use since the last call."""
        high = self.read(self.index)
        self.peak = max(self.peak, high)
        self.reset(self.index)
        return high


def _keep_peaks(gauges: list[GpuMemory], patches: Patches) -> None:
    def gauge(device: Any) -> GpuMemory:
        index = torch.cuda._utils._get_device_index(device, optional=True)
        return gauges[index]

    def max_memory_allocated(device: Any = None) -> int:
        """As torch's, over the log's resets."""
        one = gauge(device)
        return max(one.peak, one.read(one.index))

    def reset_peak_memory_stats(device: Any = None) -> None:
        """As torch's."""
        one = gauge(device)
        one.reset(one.index)
        one.peak = 0

    patches.set(torch.cuda, "max_memory_allocated", max_memory_allocated)
    patches.set(torch.cuda, "reset_peak_memory_stats", reset_peak_memory_stats)
