"""Classes in the place of torch's: one that stands for another, and one that belongs to a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class StandIn(type):
    """A class in the place of torch's: `isinstance` and `issubclass` answer as for that one; calls go to `make`."""

    original: type
    make: Callable[..., Any]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.original)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.original)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.make(*args, **kwargs)


def stand_in(original: type, make: Callable[..., Any]) -> Any:
    """The class for the place of `original`. It can be subclassed: torch's compiler does so when it is imported."""
    namespace = {"__module__": "torch", "__doc__": original.__doc__, "original": original, "make": make}
    return StandIn(original.__name__, (), namespace)


def class_of_session(base: Any, module: str, **state: Any) -> Any:
    """`base` for one session, whose state are attributes of the class; it passes for a class of torch's `module`."""
    return type(base)(base.__name__, (base,), {**state, "__module__": module, "__doc__": base.__doc__})
