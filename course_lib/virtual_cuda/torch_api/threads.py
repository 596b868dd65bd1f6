"""Dispatch modes belong to one thread; each thread that uses a device gets its own, or its results would be on the CPU.

A forked child process keeps everything of its parent but the right to use the devices, as on CUDA.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from torch.utils import _python_dispatch

from course_lib.virtual_cuda.core.dispatch import Dispatch
from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime

_NOTES = {
    "_is_in_torch_dispatch_mode",
    "_is_in_non_infra_torch_dispatch_mode",
    "_is_in_any_mode_without_ignore_compile_internals",
}
"""of `torch.utils._python_dispatch`: whether any mode is active"""
_on: list[Runtime] = []
"""the runtime that is on, for children that are forked"""


def install(runtime: Runtime, patches: Patches) -> None:
    """Threads started from now on, DataParallel's and the pinning DataLoader's among them, see the virtual devices.

    A thread that was there before sees them from the moment when it names one: `x.to("cuda")`, `device="cuda"`,
    `torch.cuda.current_device()`. Nothing can be changed in it before that.
    """
    original = threading.Thread._bootstrap_inner

    def bootstrap(self: threading.Thread) -> Any:
        with ThreadMode(runtime):
            return original(self)

    patches.set(threading.Thread, "_bootstrap_inner", bootstrap)
    runtime.adopt = ThreadMode(runtime).__enter__
    _on.append(runtime)
    patches.also(lambda: _on.remove(runtime))
    # A thread that outlives the session keeps its mode: only the thread itself could leave it.
    patches.also(lambda: setattr(_mode_class(runtime), "__torch_dispatch__", _run_plainly))


class ThreadMode:
    """The mode, in this thread, for as long as the thread lasts."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def __enter__(self) -> None:
        _leave_old_modes(self.runtime)
        self.mode = _mode_class(self.runtime)(self.runtime)
        self.mode.__enter__()
        self.runtime.here.mode = self.mode

    def __exit__(self, *error: Any) -> None:
        self.runtime.here.mode = None
        self.mode.__exit__(None, None, None)
        if not _on and _python_dispatch._get_current_dispatch_mode() is None:
            # The session ended before this thread. What torch notes about modes, for all threads at once, is stale.
            for name in _NOTES & vars(_python_dispatch).keys():
                setattr(_python_dispatch, name, False)
        self.runtime.log.give_back(self.mode.launches)


def _mode_class(runtime: Runtime) -> type[Dispatch]:
    """A class of its own for each session, so that all its modes in all threads can be made inert at its end."""
    if runtime.mode_class is None:
        runtime.mode_class = type("Dispatch", (Dispatch,), {})
    return runtime.mode_class


def _leave_old_modes(runtime: Runtime) -> None:
    """Modes of sessions that ended while this thread ran."""
    while True:
        top = _python_dispatch._get_current_dispatch_mode()
        if not isinstance(top, Dispatch) or top.runtime is runtime:
            return
        top.__exit__(None, None, None)


def _run_plainly(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    return func(*args, **(kwargs or {}))


def _mark_child_as_forked() -> None:
    for runtime in _on:
        runtime.forked = not runtime.forks
        # Another thread of the parent may have held these locks.
        runtime.log._lock = threading.RLock()
        for ledger in runtime.ledgers:
            ledger.after_fork(usable=runtime.forks)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark_child_as_forked)
