"""Dispatch modes belong to one thread; every new thread gets its own, or its results would be on the CPU."""

from __future__ import annotations

import threading
from typing import Any

from course_lib.virtual_cuda.dispatch import Dispatch
from course_lib.virtual_cuda.patches import Patches
from course_lib.virtual_cuda.runtime import Runtime


def install(runtime: Runtime, patches: Patches) -> None:
    """Threads started from now on, DataParallel's and the pinning DataLoader's among them, see the virtual devices."""
    original = threading.Thread._bootstrap_inner

    def bootstrap(self: threading.Thread) -> Any:
        with inherited(runtime):
            return original(self)

    patches.set(threading.Thread, "_bootstrap_inner", bootstrap)


class inherited:
    """The mode, in this thread, for as long as the thread lasts."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def __enter__(self) -> None:
        self.mode = Dispatch(self.runtime)
        self.mode.__enter__()
        self.runtime.here.mode = self.mode

    def __exit__(self, *error: Any) -> None:
        self.runtime.here.mode = None
        self.mode.__exit__(None, None, None)
