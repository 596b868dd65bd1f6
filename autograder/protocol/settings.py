"""What one function of a student's leaves switched over must not ruin the next.

`torch.set_grad_enabled(False)` in an evaluation, a default dtype or a recursion limit set in a helper: in the student's
own notebook the next exercise may set it right again, or be run before. The judge calls functions in an order of its
own, so each call begins with the settings that the notebook ended with.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


def imported(name: str) -> Any:
    """The module of this name, once it is imported whole; a thread of the student's may be at it still."""
    module = sys.modules.get(name)
    return None if getattr(getattr(module, "__spec__", None), "_initializing", False) else module


@contextlib.contextmanager
def settings_kept() -> Iterator[None]:
    """The recursion limit, and PyTorch's settings where torch is imported, are afterwards what they were before."""
    torch, limit = imported("torch"), sys.getrecursionlimit()
    before = _settings(torch) if torch else {}
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        after = _settings(torch) if before else {}
        for name, value in before.items():
            if after.get(name) != value:
                _RESTORE[name](torch, value)


def _settings(torch: Any) -> dict[str, Any]:
    return {
        "grad": torch.is_grad_enabled(),
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "anomaly": torch.is_anomaly_enabled(),
        "autocast": torch.is_autocast_enabled("cuda"),
        "autocast on the cpu": torch.is_autocast_enabled("cpu"),
    }


_RESTORE: dict[str, Any] = {
    "grad": lambda torch, value: torch.set_grad_enabled(value),
    "dtype": lambda torch, value: torch.set_default_dtype(value),
    # No default device is the CPU too, and costs nothing.
    "device": lambda torch, value: torch.set_default_device(None if value.type == "cpu" else value),
    "threads": lambda torch, value: torch.set_num_threads(value),
    "deterministic": lambda torch, value: torch.use_deterministic_algorithms(value),
    "anomaly": lambda torch, value: torch.set_anomaly_enabled(value),
    "autocast": lambda torch, value: torch.set_autocast_enabled("cuda", value),
    "autocast on the cpu": lambda torch, value: torch.set_autocast_enabled("cpu", value),
}
