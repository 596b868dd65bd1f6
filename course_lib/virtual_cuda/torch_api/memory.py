"""`torch.cuda`'s memory functions: the driver's answers, from each device's ledger. The Python above them is torch's.

Where the size of a tensor is known before it is made, the limit is checked before, so that the host need not have it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course_lib.virtual_cuda.core.ledger import Ledger
from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace what asks CUDA's allocator."""

    def ledger(index: int = -1) -> Ledger:
        if not -1 <= index < runtime.devices:
            raise RuntimeError(f"Invalid device argument {index}: did you call init?")
        return runtime.ledgers[runtime.checked(index)]

    def info(index: int = -1) -> tuple[int, int]:
        one = ledger(index)
        return max(one.capacity - one.reserved(), 0), one.capacity

    def empty_cache() -> None:
        for one in runtime.ledgers:
            one.empty_cache()

    def enable(on: bool) -> None:
        runtime.caching = bool(on)

    driver: dict[str, Callable[..., Any]] = {
        "_cuda_emptyCache": empty_cache,
        "_cuda_memoryStats": lambda index: ledger(index).stats(),
        "_cuda_resetPeakMemoryStats": lambda index: ledger(index).reset_peak(),
        "_cuda_resetAccumulatedMemoryStats": lambda index: ledger(index).reset_totals(),
        "_cuda_setMemoryFraction": lambda fraction, index: ledger(index).allow(fraction),
        "_cuda_getMemoryFraction": lambda index: ledger(index).fraction,
        "_cuda_getAllocatorBackend": lambda: "native",
        "_cuda_cudaCachingAllocator_enable": enable,
        "_cuda_cudaCachingAllocator_is_enabled": lambda: runtime.caching,
        "_cuda_hostMemoryStats": dict,
        "_cuda_resetPeakHostMemoryStats": lambda: None,
        "_cuda_resetAccumulatedHostMemoryStats": lambda: None,
        "_cuda_clearCublasWorkspaces": lambda: None,
        "_cuda_ipc_collect": lambda: None,
        "_accelerator_isAllocatorInitialized": lambda: True,
        "_accelerator_emptyCache": empty_cache,
        "_accelerator_emptyHostCache": lambda: None,
        "_accelerator_getDeviceStats": lambda index: ledger(index).stats(),
        "_accelerator_getMemoryInfo": info,
        "_accelerator_resetPeakStats": lambda index: ledger(index).reset_peak(),
        "_accelerator_resetAccumulatedStats": lambda index: ledger(index).reset_totals(),
    }
    for name, value in driver.items():
        patches.set(torch._C, name, value)


def check_limit(ledger: Ledger, original: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Raise torch.OutOfMemoryError for a tensor that will not fit, before the host makes it.

    Only with a limit, and only where a factory's size can be told without its data.
    """
    if ledger.limit is None:
        return
    plain = {k: v for k, v in kwargs.items() if k not in ("generator", "pin_memory", "out", "requires_grad")}
    try:
        size = original(*args, **{**plain, "device": "meta"}).nbytes
    except Exception:
        return
    ledger.make_room(size)
