"""`torch.cuda.*` for the virtual devices: a closed table of replaced functions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from course_lib.virtual_cuda.patches import Patches
from course_lib.virtual_cuda.runtime import Runtime


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace what asks the driver."""
    table: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: runtime.devices,
        "current_device": lambda: runtime.here.device,
        "_lazy_init": lambda: None,
        "init": lambda: None,
        "is_initialized": lambda: True,
        "_is_in_bad_fork": lambda: False,
        "is_current_stream_capturing": lambda: False,
        "synchronize": lambda device=None: runtime.log.sync("synchronize"),
        "get_device_name": lambda device=None: runtime.name,
        "get_device_capability": lambda device=None: (8, 0),
        "get_device_properties": lambda device=None: SimpleNamespace(
            name=runtime.name, major=8, minor=0, total_memory=runtime.memory or 16 << 30, multi_processor_count=40
        ),
        "memory_allocated": lambda device=None: runtime.ledgers[runtime.here.device].allocated(),
        "max_memory_allocated": lambda device=None: runtime.ledgers[runtime.here.device].peak,
        "reset_peak_memory_stats": lambda device=None: runtime.ledgers[runtime.here.device].reset_peak(),
        "empty_cache": lambda: None,
    }
    for name, value in table.items():
        patches.set(torch.cuda, name, value)
    accelerator: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: runtime.devices,
        "current_device_index": lambda: runtime.here.device,
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "current_stream": lambda device=None: SimpleNamespace(is_capturing=lambda: False),
    }
    for name, value in accelerator.items():
        patches.set(torch.accelerator, name, value)
    patches.set(torch.backends.cudnn, "is_acceptable", lambda tensor: False)
