"""Switching on: everything that is replaced, in one list; and off: all of it put back."""

from __future__ import annotations

from collections.abc import Callable

import torch

from course_lib.virtual_cuda import (
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
from course_lib.virtual_cuda.patches import Patches
from course_lib.virtual_cuda.runtime import Runtime
from course_lib.virtual_cuda.storage import ON_CPU, forget_marks


def switch_on(runtime: Runtime) -> Callable[[], None]:
    """Install all parts in this process; the result takes them out again."""
    patches = Patches()
    patches.set(torch.UntypedStorage, "_vcuda", ON_CPU)
    mode = threads.inherited(runtime)
    try:
        for part in (tensors, factories, sharing, composites, grouping, reads, cuda_api, threads, amp, scripting):
            part.install(runtime, patches)
    except BaseException:
        patches.undo()
        raise
    mode.__enter__()

    def undo() -> None:
        try:
            mode.__exit__()
        finally:
            runtime.over = True
            patches.undo()
            forget_marks()

    return undo
