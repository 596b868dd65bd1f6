"""Count the operations that frameworks execute while a call of the judge runs.

An assignment that asks for a gradient by hand can be answered by `torch.autograd`, and the numbers are right. In a warm
process torch is loaded already, so no import gives it away; the operations do. The count is an observation beside the
student's code: it is a reason to look, never a verdict.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from autograder.protocol.settings import imported


@contextlib.contextmanager
def counted(frameworks: Iterable[str]) -> Iterator[dict[str, int]]:
    """Count operations of those of `frameworks` that can be watched and are loaded: torch and tensorflow."""
    counts: dict[str, int] = {}
    with contextlib.ExitStack() as stack:
        for name in frameworks:
            if name in _WATCHERS and imported(name):
                stack.enter_context(_WATCHERS[name](counts))
        yield counts


def _torch(counts: dict[str, int]) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        """Below autograd: backward operations count too."""

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            counts["torch"] = counts.get("torch", 0) + 1
            return func(*args, **(kwargs or {}))

    return Counting()


@contextlib.contextmanager
def _tensorflow(counts: dict[str, int]) -> Iterator[None]:
    from tensorflow.python.framework import op_callbacks

    def count(*args: Any, **kwargs: Any) -> None:
        counts["tensorflow"] = counts.get("tensorflow", 0) + 1

    op_callbacks.add_op_callback(count)
    try:
        yield
    finally:
        op_callbacks.remove_op_callback(count)


_WATCHERS: dict[str, Any] = {"torch": _torch, "tensorflow": _tensorflow}
