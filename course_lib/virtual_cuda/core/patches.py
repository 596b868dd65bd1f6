"""Replace attributes and put them back, exactly.

Everything that virtual CUDA changes in torch goes through one `Patches`, so that switching off leaves no trace: an
attribute that the owner did not have itself is deleted, not set to what it ThreadMode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_MISSING, _CALL = object(), object()


class Patches:
    """A stack of replaced attributes of modules and classes."""

    def __init__(self) -> None:
        self._done: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace `owner.name`, remembering what was there."""
        own = vars(owner) if hasattr(owner, "__dict__") else {}
        before = own.get(name, _MISSING)
        setattr(owner, name, value)
        # Only now: what cannot be replaced need not be put back.
        self._done.append((owner, name, before))

    def also(self, put_back: Callable[[], object]) -> None:
        """Call `put_back` when its turn comes: for what is not an attribute."""
        self._done.append((put_back, "", _CALL))

    def replaced(self) -> Iterator[tuple[Any, Any]]:
        """What was replaced, and by what."""
        for owner, name, before in self._done:
            if before is not _CALL:
                yield before, vars(owner)[name]

    def undo(self) -> None:
        """Put everything back, last first."""
        while self._done:
            owner, name, before = self._done.pop()
            if before is _CALL:
                owner()
            elif before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
