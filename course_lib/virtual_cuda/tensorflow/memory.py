"""What lies on each virtual GPU: the tensors and variables that the program holds, rounded up as TensorFlow rounds.

What a running function holds in between is not seen, so a peak is that of the values between operations.
"""

from __future__ import annotations

import weakref
from typing import Any

ALIGNMENT = 256
# Their result is their argument under another name or shape.
SHARING = {"ExpandDims", "Identity", "ReadVariableOp", "Reshape", "Squeeze", "StopGradient"}


class Memory:
    """Bytes by device, now and at most, over values that are still alive."""

    def __init__(self) -> None:
        self._alive: dict[int, tuple[Any, str, int]] = {}
        self._current: dict[str, int] = {}
        self._peak: dict[str, int] = {}

    def hold(self, value: Any, device: str, size: int) -> None:
        """Count `size` bytes on `device` for as long as `value` lives."""
        rounded = -(-size // ALIGNMENT) * ALIGNMENT
        reference = weakref.ref(value, self._released)
        self._alive[id(reference)] = reference, device, rounded
        self._current[device] = self._current.get(device, 0) + rounded
        self._peak[device] = max(self._peak.get(device, 0), self._current[device])

    def info(self, device: str) -> dict[str, int]:
        """As `tf.config.experimental.get_memory_info` says it, in bytes."""
        return {"current": self._current.get(device, 0), "peak": self._peak.get(device, 0)}

    def reset(self, device: str) -> None:
        """The peak starts anew from what is held now."""
        self._peak[device] = self._current.get(device, 0)

    def _released(self, reference: Any) -> None:
        _, device, size = self._alive.pop(id(reference))
        self._current[device] -= size
