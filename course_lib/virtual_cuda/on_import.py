"""An IPython extension that waits for `import torch`, and then loads `course_lib.virtual_cuda`.

`make lab` has every kernel load it at its start. A notebook without torch starts as fast as ever; one with it reads, in
the cell that imports torch, that its device is virtual.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

EXTENSION = "course_lib.virtual_cuda"


class AfterImport(MetaPathFinder):
    """Calls `then` once, as soon as module `name` has been imported."""

    def __init__(self, name: str, then: Callable[[], object]) -> None:
        self.name, self.then = name, then

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module's own spec, with a loader that calls `then` at its end."""
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_then(module: ModuleType) -> None:
                execute(module)
                self.then()

            spec.loader.exec_module = execute_then  # type: ignore[method-assign]
        return spec


def load_ipython_extension(ipython: Any) -> None:
    """Load virtual CUDA when torch is imported, or now if it has been."""

    def load() -> None:
        ipython.extension_manager.load_extension(EXTENSION)

    if "torch" in sys.modules:
        load()
    else:
        sys.meta_path.insert(0, AfterImport("torch", load))


def unload_ipython_extension(ipython: Any) -> None:
    """Wait no longer."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, AfterImport)]
