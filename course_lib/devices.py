"""Which device the code runs on: asked in one place, so that every notebook says it in the same words.

A notebook that finds no GPU says so and goes on; it never pretends that a CPU time is a GPU time.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType


def best_device(torch: ModuleType | None = None) -> str:
    """`"cuda"` if PyTorch can use a GPU, else `"cpu"`. Imports torch unless it is handed in."""
    torch = torch or importlib.import_module("torch")
    return "cuda" if torch.cuda.is_available() else "cpu"


def describe(torch: ModuleType | None = None) -> str:
    """One sentence for the reader: the GPU's name, or that there is none and how to get one."""
    torch = torch or importlib.import_module("torch")
    if best_device(torch) == "cuda":
        return f"GPU: {torch.cuda.get_device_name(0)}."
    return "No GPU here, so nothing below is timed on one. (In Colab: Runtime > Change runtime type > GPU.)"


def waiter(device: str, torch: ModuleType | None = None) -> Callable[[], object] | None:
    """What to call before reading the clock on `device`: `torch.cuda.synchronize` for a GPU, None for a CPU."""
    torch = torch or importlib.import_module("torch")
    return torch.cuda.synchronize if device.startswith("cuda") else None
