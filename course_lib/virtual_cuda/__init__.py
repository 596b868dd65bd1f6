"""A CUDA device for PyTorch on a machine without a GPU.

    from course_lib import virtual_cuda
    virtual_cuda.enable()                   # or %load_ext course_lib.virtual_cuda in a notebook

An unmodified CUDA training program then runs on the CPU, with the CPU's numbers, under CUDA's rules: every tensor has a
device, tensors on different devices do not mix, `.numpy()` wants `.cpu()` first, and the same mistakes end in the same
errors. `torch.cuda.*` answers. What the program copies, and where it waits for the device, is in a log.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from course_lib.virtual_cuda.log.records import Step
from course_lib.virtual_cuda.views.log import Log

__all__ = [
    "VARIABLE",
    "Log",
    "Step",
    "disable",
    "enable",
    "enable_from_environment",
    "is_enabled",
    "observe",
    "session",
]

VARIABLE = "COURSE_LIB_VIRTUAL_CUDA"
"""environment variable: how many virtual devices a kernel, or `enable_from_environment()`, is to switch on"""


@dataclass
class _Session:
    """What the outermost `enable` did."""

    log: Log
    undo: Callable[[], None]
    virtual: bool
    """False: a real GPU is there, and it is only watched"""
    depth: int = 1


_on: _Session | None = None
_said = False


def enable(
    devices: int = 1,
    memory: int | None = None,
    name: str | None = None,
    *,
    same_numbers: bool = False,
    force: bool = False,
    quiet: bool = False,
    trace: bool = False,
    forks: bool = False,
) -> Log:
    """Switch virtual CUDA on, and return its log. May be nested: the outermost call decides.

    `devices`: how many, 1 to 64. `memory`: bytes of each, beyond which `torch.cuda.OutOfMemoryError` is raised; None:
    no limit. `name`: what `torch.cuda.get_device_name()` says. `same_numbers`: random numbers on the device are the
    CPU's, to compare a run with one on the CPU; else they differ, as on CUDA. With a real GPU present nothing is
    replaced, and the log watches the GPU; `force` uses the virtual device all the same. `quiet`: do not say so.
    `trace`: record the times of kernels, for `log.timeline()`; slower. `forks`: children that are forked may use the
    devices, too, which CUDA does not allow. Raises ValueError.
    """
    global _on
    if _on is not None:
        _on.depth += 1
        return _on.log
    import torch

    if not force and torch.cuda.is_available():
        watching = contextlib.ExitStack()
        _on = _Session(watching.enter_context(observe()), watching.close, virtual=False)
    else:
        from course_lib.virtual_cuda.core.runtime import Runtime
        from course_lib.virtual_cuda.torch_api.switch import switch_on

        log = Log()
        _on = _Session(log, switch_on(Runtime(devices, memory, name, same_numbers, forks, log)), virtual=True)
    if trace:
        _on.log.trace(True)
    if not quiet:
        _announce(_on.virtual)
    return _on.log


def enable_from_environment() -> bool:
    """Switch on if the environment variable `COURSE_LIB_VIRTUAL_CUDA` asks for devices; say whether it did."""
    wanted = os.environ.get(VARIABLE, "").strip()
    if wanted in ("", "0"):
        return False
    if not wanted.isdecimal():
        raise ValueError(f"{VARIABLE} is {wanted!r}; it must be the number of virtual devices, 1 for example.")
    enable(devices=int(wanted), quiet=True)
    return True


def disable() -> None:
    """Switch virtual CUDA off again: torch is as if it had never been on. Tensors on the device stay, on the CPU."""
    global _on
    if _on is None:
        return
    _on.depth -= 1
    if _on.depth == 0:
        before, _on = _on, None
        before.log.trace(False)
        before.undo()


def is_enabled() -> bool:
    """Whether virtual devices are there. False on a machine with a GPU, unless it was forced."""
    return _on is not None and _on.virtual


def _announce(virtual: bool) -> None:
    """Once for each process."""
    global _said
    if not _said:
        _said = True
        if virtual:
            print("Virtual CUDA: there is no GPU here. 'cuda' is this CPU under CUDA's rules; times are the CPU's.")
        else:
            print("Virtual CUDA stays off: this machine has a GPU, and 'cuda' is that GPU.")


@contextlib.contextmanager
def observe() -> Iterator[Log]:
    """`with virtual_cuda.observe() as log:` only watches what the program does with a real GPU; nothing is replaced."""
    from course_lib.virtual_cuda.torch_api import watcher

    with watcher.observe(log := Log()):
        yield log


@contextlib.contextmanager
def session(**settings: Any) -> Iterator[Log]:
    """`with virtual_cuda.session() as log:` switches on, and off at the end. The settings are `enable`'s."""
    log = enable(**settings)
    try:
        yield log
    finally:
        disable()


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext course_lib.virtual_cuda`: switch on, and add the cell magic `%%cuda_log`."""
    from course_lib.virtual_cuda.views import notebook

    notebook.load(ipython, enable)


def unload_ipython_extension(ipython: Any) -> None:
    """`%unload_ext course_lib.virtual_cuda`: switch off what loading switched on."""
    from course_lib.virtual_cuda.views import notebook

    notebook.unload(ipython, disable)
