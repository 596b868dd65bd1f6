"""The times of kernels, for whoever asks for them: a slower dispatch in the place of the usual one, while it lasts."""

from __future__ import annotations

from typing import Any

import torch

from course_lib.virtual_cuda.core.dispatch import INTERNAL, Dispatch
from course_lib.virtual_cuda.core.runtime import Runtime
from course_lib.virtual_cuda.core.storage import index_of

INTERNAL.add(__file__)


def switch_tracing(runtime: Runtime, on: bool) -> None:
    """Record every operator that a virtual device runs, in all threads; or go back to the dispatch that only counts."""
    if not runtime.over:
        runtime.mode_class.__torch_dispatch__ = _run_and_time if on else Dispatch.__torch_dispatch__


def _run_and_time(self: Dispatch, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """As without tracing, and noted if it was counted as launched."""
    log = self.runtime.log
    before, began = self.launches[func], log.now()
    out = Dispatch.__torch_dispatch__(self, func, types, args, kwargs)
    if self.launches[func] != before:
        log.kernel(func, first_device(out, *args), began)
    return out


def first_device(*values: Any) -> int:
    """The device of the first tensor among values, lists of them included, that is on one; 0 if none is."""
    for value in values:
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(one, torch.Tensor):
                index = index_of(one)
                if index >= 0:
                    return index
    return 0
