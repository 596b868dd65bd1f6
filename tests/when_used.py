"""Frameworks that a test module names at its top and imports when a test first uses them.

    torch = when_used("torch")
    nn = when_used("torch.nn")
    Gradebook = when_used("nbgrader.api.Gradebook")

Collection stays cheap, and a run pays only for what its tests use; `test_collection.py` holds it.
"""

from __future__ import annotations

import importlib
from typing import Any


class _WhenUsed:
    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, attribute: str) -> Any:
        # pytest looks for `__test__` and the like in whatever a module holds.
        if attribute.startswith("__") and attribute != "__version__":
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self.__name__), attribute)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        module, _, function = self.__name__.rpartition(".")
        return getattr(importlib.import_module(module), function)(*arguments, **options)


def when_used(name: str) -> Any:
    """The module, or the function of a module, of this name, imported at the first look into it or call."""
    return _WhenUsed(name)
