"""What every kernel has at hand: the modules that a zygote imports ahead, and the folders that a box shows."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

ALWAYS = ("numpy", "numpy.random", "matplotlib.pyplot", "matplotlib_inline.backend_inline")
FRAMEWORKS = (
    *ALWAYS,
    "torch",
    # Before TensorFlow: torch's optimizers import it at their first step, and with the libraries of TensorFlow 2.21
    # loaded that import ends the process (torch 2.14, SIGSEGV).
    "torch._dynamo",
    "tensorflow",
)
"""imported in this order, once, in the zygote; a submission that needs none of them loses nothing"""


TRY_S = 30.0
"""for all these imports: a module that waits for a network would keep every kernel waiting"""
_also: set[str] = set()
"""top names of the modules that `import_what_can_be` has brought in"""


def import_what_can_be(names: Sequence[str]) -> None:
    """Import those that exist and start no thread, up to the first that does: found out in a fork of this process."""
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            signal.setitimer(signal.ITIMER_REAL, TRY_S)  # and this process ends
            for name in names:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
                    if len(os.listdir("/proc/self/task")) > 1:
                        break
                    os.write(write, f"{name}\n".encode())
        finally:
            os._exit(0)
    os.close(write)
    before = set(map(_top, sys.modules))
    with open(read) as found:
        for name in found.read().split():
            importlib.import_module(name)
    _also.update(set(map(_top, sys.modules)) - before)


def forget_hidden() -> None:
    """Forget those of these modules in whose place a file of the working folder is imported in a cold kernel."""
    hidden = _also & set(map(_top, os.listdir()))
    for name in [name for name in sys.modules if _top(name) in hidden]:
        del sys.modules[name]


def _top(name: str) -> str:
    return name.partition(".")[0]


def public_folders() -> tuple[Path, ...]:
    """What kernels may read beyond Python: the helper package and the public data."""
    import course_lib

    package = Path(course_lib.__file__).resolve().parent
    data = package.parent / "data"
    return (package, data) if data.is_dir() else (package,)
