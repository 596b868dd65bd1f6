"""Replace attributes and put them back, exactly.

Everything that virtual CUDA changes in torch goes through one `Patches`, so that switching off leaves no trace: an
attribute that the owner did not have itself is deleted, not set to what it inherited.
"""

from __future__ import annotations

from typing import Any

_MISSING = object()


class Patches:
    """A stack of replaced attributes of modules and classes."""

    def __init__(self) -> None:
        self._done: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace `owner.name`, remembering what was there."""
        own = vars(owner) if hasattr(owner, "__dict__") else {}
        self._done.append((owner, name, own.get(name, _MISSING)))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Put everything back, last first."""
        while self._done:
            owner, name, before = self._done.pop()
            if before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
