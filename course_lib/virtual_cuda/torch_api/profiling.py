"""`torch.profiler` while virtual CUDA is on: the host's times, and one note that a device has none of its own."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from torch.autograd import profiler

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime

NOTE = "torch.profiler: a virtual CUDA device works in the host's time; the times under CPU are all there is."


def install(runtime: Runtime, patches: Patches) -> None:
    """Ask CUPTI for nothing: without a driver it fails at every operator, each time with a page of C++ frames."""
    original = profiler.profile.__init__
    said = False

    @functools.wraps(original)
    def __init__(self: profiler.profile, enabled: bool = True, *args: Any, **settings: Any) -> None:
        nonlocal said
        if settings.get("use_device") == "cuda":
            settings |= {"use_device": None, "use_cpu": True}
            if not said:
                said = True
                warnings.warn(NOTE, stacklevel=2)
        original(self, enabled, *args, **settings)

    patches.set(profiler.profile, "__init__", __init__)
