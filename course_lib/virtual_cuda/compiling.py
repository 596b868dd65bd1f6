"""`torch.compile` while virtual CUDA is on: the program runs as it is written, and is told so once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from course_lib.virtual_cuda.patches import Patches
from course_lib.virtual_cuda.runtime import Runtime

NOTE = "torch.compile: there is no GPU to compile for; with virtual CUDA the code runs as it is written."


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace `torch.compile`; `Module.compile` calls it."""
    said = False

    def compile(model: Any = None, **settings: Any) -> Any:
        """As `torch.compile`, without compiling. A module comes back wrapped, its keys with `_orig_mod.`, as always."""
        nonlocal said
        if model is None:
            return lambda given: compile(given, **settings)
        if settings.get("mode") is not None and settings.get("options") is not None:
            raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
        if not callable(model):
            raise RuntimeError(f"torch.compile wants a function or a module, not {type(model).__name__}.")
        if not said:
            said = True
            warnings.warn(NOTE, stacklevel=2)
        if isinstance(model, torch.nn.Module):
            from torch._dynamo.eval_frame import OptimizedModule

            return OptimizedModule(model, as_written)  # type: ignore[arg-type]
        return model

    patches.set(torch, "compile", compile)


def as_written(function: Callable[..., Any]) -> Callable[..., Any]:
    """In the place of a compiler: the function itself."""
    return function
