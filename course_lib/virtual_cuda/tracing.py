"""The times of kernels, for whoever asks for them: a slower dispatch in the place of the usual one, while it lasts."""

from __future__ import annotations

from typing import Any

import torch

from course_lib.virtual_cuda.dispatch import Dispatch
from course_lib.virtual_cuda.log import Log
from course_lib.virtual_cuda.patches import Patches
from course_lib.virtual_cuda.storage import index_of

_patches: dict[int, Patches] = {}


def install(log: Log) -> None:
    """Record every operator that a virtual device runs, in all threads."""
    if _patches:
        return
    plain = Dispatch.__torch_dispatch__

    def timed(self: Dispatch, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """As without tracing, and noted if it was counted as launched."""
        before, began = self.launches[func], log.now()
        out = plain(self, func, types, args, kwargs)
        if self.launches[func] != before:
            log.kernel(func, device_of(out, *args), began)
        return out

    patches = _patches[id(log)] = Patches()
    patches.set(Dispatch, "__torch_dispatch__", timed)


def remove(log: Log) -> None:
    """Go back to the dispatch that only counts."""
    patches = _patches.pop(id(log), None)
    if patches is not None:
        patches.undo()


def device_of(*values: Any) -> int:
    """The device of the first tensor among values, lists of them included, that is on one; 0 if none is."""
    for value in values:
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(one, torch.Tensor):
                index = index_of(one)
                if index >= 0:
                    return index
    return 0
