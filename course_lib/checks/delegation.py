"""See ready-made functions at work while an exercise asks for one's own."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["calls_of", "functions_of"]


def functions_of(*owners: Any) -> list[types.FunctionType]:
    """The Python functions that modules and classes define themselves."""
    found = []
    for owner in owners:
        home = owner.__name__ if isinstance(owner, types.ModuleType) else owner.__module__
        found += [f for f in vars(owner).values() if isinstance(f, types.FunctionType) and f.__module__ == home]
    return found


@contextlib.contextmanager
def calls_of(functions: Iterable[types.FunctionType]) -> Iterator[set[str]]:
    """The names of those `functions` that are called meanwhile: in any thread, and by whatever name they are known.

    Their code is exchanged, not what they are called, so a reference that was taken before is seen too. Left out are
    functions with a closure.
    """
    seen: set[str] = set()
    before = {}
    for function in functions:
        if function.__code__.co_freevars or function in before:
            continue
        before[function] = (function.__code__, function.__defaults__, function.__kwdefaults__)
        original = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
        original.__kwdefaults__ = function.__kwdefaults__
        function.__globals__.setdefault(_ORIGINALS, {})[function.__qualname__] = (original, seen)
        own = (*_noted.__code__.co_consts[:-1], function.__qualname__)
        function.__code__ = _noted.__code__.replace(co_consts=own, co_name=function.__name__)
        function.__defaults__ = function.__kwdefaults__ = None
    try:
        yield seen
    finally:
        for function, (code, defaults, named) in before.items():
            function.__code__, function.__defaults__, function.__kwdefaults__ = code, defaults, named


_ORIGINALS = "__originals_of_watched_calls__"


def _noted(*args: Any, **kwargs: Any) -> Any:
    # The last constant is replaced by the function's name, and the globals are those of its module.
    original, seen = globals()["__originals_of_watched_calls__"]["the function's name"]
    seen.add(original.__qualname__)
    return original(*args, **kwargs)
