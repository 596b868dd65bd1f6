"""Names that stand for a framework's, which is imported when one of them is first used, not when tests are collected.

from tests.course_lib.virtual_cuda.lazy import lazy, torch

comm = lazy("torch.nn.parallel.comm")
DataLoader = lazy("torch.utils.data", "DataLoader")
"""

from __future__ import annotations

import importlib
from typing import Any


class Lazy:
    """Passes everything on to a module, or to a function or class of it."""

    def __init__(self, module: str, name: str | None) -> None:
        def resolve() -> Any:
            return getattr(importlib.import_module(module), name) if name else importlib.import_module(module)

        self.__dict__.update(_resolve=resolve, __name__=name or module)

    def __getattr__(self, name: str) -> Any:
        if name in ("__bases__", "__test__"):  # pytest asks everything in a module whether it is a test
            raise AttributeError(name)
        return getattr(self._resolve(), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._resolve(), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._resolve(), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._resolve()(*args, **kwargs)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._resolve())


def lazy(module: str, names: str = "") -> Any:
    """A module, or what it has under a name, or a list of that for several names."""
    found = [Lazy(module, name) for name in names.split() or [None]]
    return found if len(found) > 1 else found[0]


torch, nn, F = lazy("torch"), lazy("torch.nn"), lazy("torch.nn.functional")
Tensor = lazy("torch", "Tensor")
