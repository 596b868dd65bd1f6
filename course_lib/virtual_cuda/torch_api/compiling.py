"""`torch.compile` while virtual CUDA is on: the program runs as it is written, and is told so once."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import torch

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime

NOTE = "torch.compile: there is no GPU to compile for; with virtual CUDA the code runs as it is written."


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace `torch.compile`; `Module.compile` calls it."""
    said = False
    known = inspect.signature(torch.compile)

    def compile(model: Any = None, **settings: Any) -> Any:
        """As `torch.compile`, without compiling. A module comes back wrapped, its keys with `_orig_mod.`, as always."""
        nonlocal said
        try:
            known.bind(model, **settings)
        except TypeError as error:
            raise TypeError(f"compile() {error}") from None
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
    patches.set(torch.compiler, "reset", _reset(torch.compiler.reset))
    patches.set(torch.compiler, "cudagraph_mark_step_begin", _nothing)


def _nothing() -> None:
    """As `torch.compiler.cudagraph_mark_step_begin`, with no graph that was captured."""


def _reset(original: Callable[[], None]) -> Callable[[], None]:
    """`torch.compiler.reset` also looks for what was compiled for a GPU, which a build without CUDA cannot."""

    def reset() -> None:
        """As `torch.compiler.reset`."""
        answer, torch.cuda.is_available = torch.cuda.is_available, lambda: False
        try:
            original()
        finally:
            torch.cuda.is_available = answer

    return reset


def as_written(function: Callable[..., Any]) -> Callable[..., Any]:
    """In the place of a compiler: the function itself."""
    return function
