"""Switching on: everything that is replaced, in one list; and off: all of it put back."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime
from course_lib.virtual_cuda.core.storage import ON_CPU
from course_lib.virtual_cuda.core.tracing import switch_tracing
from course_lib.virtual_cuda.torch_api import (
    amp,
    composites,
    cuda_api,
    factories,
    grouping,
    reads,
    scripting,
    sharing,
    tensors,
    threads,
)


def switch_on(runtime: Runtime) -> Callable[[], None]:
    """Install all parts in this process; the result takes them out again."""
    patches = Patches()
    patches.set(torch.UntypedStorage, "_vcuda", ON_CPU)
    mode = threads.ThreadMode(runtime)
    try:
        for part in (tensors, factories, sharing, composites, grouping, reads, cuda_api, threads, amp, scripting):
            part.install(runtime, patches)
    except BaseException:
        patches.undo()
        raise
    mode.__enter__()
    runtime.log.switch_tracing = functools.partial(switch_tracing, runtime)

    def undo() -> None:
        try:
            mode.__exit__()
        finally:
            runtime.over = True
            patches.undo()
            runtime.forget_marks()

    return undo
