"""A CUDA device for PyTorch on a machine without a GPU.

    from course_lib import virtual_cuda
    virtual_cuda.enable()                   # or %load_ext course_lib.virtual_cuda in a notebook

An unmodified CUDA training program then runs on the CPU, with the CPU's numbers, under CUDA's rules: every tensor has a
device, tensors on different devices do not mix, `.numpy()` wants `.cpu()` first, and the same mistakes end in the same
errors. `torch.cuda.*` answers. What the program copies, and where it waits for the device, is in a log.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.virtual_cuda.log import Log

__all__ = ["disable", "enable", "is_enabled", "session"]

_depth = 0
_undo: Any = None


def enable(
    devices: int = 1,
    memory: int | None = None,
    name: str | None = None,
    *,
    same_numbers: bool = False,
    quiet: bool = False,
) -> Log:
    """Switch virtual CUDA on, and return its log. May be nested: the outermost call decides.

    `devices`: how many. `memory`: bytes of each, beyond which `torch.cuda.OutOfMemoryError` is raised; None: no limit.
    `name`: what `torch.cuda.get_device_name()` says. `same_numbers`: random numbers on the device are the CPU's, to
    compare a run with one on the CPU; else they differ, as on CUDA. `quiet`: do not say that the device is virtual.
    """
    global _depth, _undo
    from course_lib.virtual_cuda import runtime as state

    if _depth == 0:
        from course_lib.virtual_cuda.switch import switch_on

        made = state.Runtime(devices, memory, name or state.DEFAULT_NAME, same_numbers)
        _undo = switch_on(made)
        state.current = made
        if not quiet:
            print(
                "Virtual CUDA is on: there is no GPU here, 'cuda' is the CPU under CUDA's rules. Times are the CPU's.",
                file=sys.stderr,
            )
    _depth += 1
    assert state.current is not None
    return state.current.log


def disable() -> None:
    """Switch virtual CUDA off again: torch is as if it had never been on. Tensors on the device stay, on the CPU."""
    global _depth, _undo
    from course_lib.virtual_cuda import runtime as state

    if _depth == 0:
        return
    _depth -= 1
    if _depth == 0:
        _undo()
        _undo = state.current = None


def is_enabled() -> bool:
    """Whether virtual CUDA is on."""
    return _depth > 0


@contextlib.contextmanager
def session(**settings: Any) -> Iterator[Log]:
    """`with virtual_cuda.session() as log:` switches on, and off at the end. The settings are `enable`'s."""
    log = enable(**settings)
    try:
        yield log
    finally:
        disable()
