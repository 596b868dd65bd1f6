"""What a program did with its device: copies, synchronising reads, kernels."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

_OURS = str(Path(__file__).parent)
_TORCH = "/torch/"


@dataclass(frozen=True)
class Copy:
    """One copy between devices."""

    source: str
    target: str
    nbytes: int
    where: str
    """`file:line` of the program's own code"""
    at_s: float
    """seconds since the log began"""
    blocking: bool = True
    """whether the host waits for it: not if `non_blocking=True` and the host's memory is pinned"""

    @property
    def direction(self) -> str:
        """`host to device`, `device to host` or `device to device`."""
        return f"{'host' if self.source == 'cpu' else 'device'} to {'host' if self.target == 'cpu' else 'device'}"


@dataclass(frozen=True)
class Sync:
    """One moment at which the host waits for the device."""

    what: str
    """`item`, `tolist`, `nonzero`, `copy to host`, `print`, `synchronize`..."""
    where: str
    at_s: float


class Log:
    """The events of one session."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.copies: list[Copy] = []
        self.syncs: list[Sync] = []
        self.launches: Counter[Any] = Counter()
        """kernels launched, by operator"""
        self.unchecked: Counter[str] = Counter()
        """operators that got tensors on different devices and that no rule is known for: allowed"""

    def now(self) -> float:
        """Seconds since the log began."""
        return time.perf_counter() - self.began

    def copy(self, source: int, target: int, nbytes: int, *, blocking: bool = True) -> None:
        """Note a copy between devices, given by index (-1: the host)."""
        names = ["cpu" if i < 0 else f"cuda:{i}" for i in (source, target)]
        self.copies.append(Copy(names[0], names[1], nbytes, call_site(), self.now(), blocking))
        if target < 0 and blocking:
            self.sync("copy to host")

    def sync(self, what: str) -> None:
        """Note that the host waits for the device."""
        self.syncs.append(Sync(what, call_site(), self.now()))


def call_site() -> str:
    """`file:line` of the innermost frame that is neither torch's nor ours."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_OURS) and _TORCH not in name and not name.startswith("<frozen"):
            return f"{Path(name).name}:{frame.f_lineno}"
        frame = frame.f_back
    return "unknown"
