"""Programs made of programs: TorchScript and export.

TorchScript knows torch's functions by identity: those that replace them stand for the same operators. torch scripts
some of its own code when it is first needed, that of forward-mode derivatives for one. A program that is exported runs
on fake tensors, which are those of the CPU.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import torch
from torch._subclasses import meta_utils

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import CPU, Runtime
from course_lib.virtual_cuda.core.storage import index_of


def install(runtime: Runtime, patches: Patches) -> None:
    """Tell the compiler which operators the functions replaced so far stand for. To be installed last."""
    patches.set(torch.jit, "load", _load(runtime))
    patches.set(meta_utils.MetaTensorDescriber, "describe_tensor", _describe_tensor())
    table: dict[int, str] = torch.jit._builtins._get_builtin_table()
    added = {id(value): table[id(before)] for before, value in patches.replaced() if id(before) in table}
    for key in added.keys() & table.keys():
        del added[key]
    table.update(added)

    def remove() -> None:
        for key in added:
            del table[key]

    patches.also(remove)


def _load(runtime: Runtime) -> Any:
    original = torch.jit.load

    @functools.wraps(original)
    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if map_location is None or runtime.resolve(map_location) < 0:
            return original(f, map_location, *args, **kwargs)
        return original(f, CPU, *args, **kwargs).to(map_location)

    return load


def _describe_tensor() -> Any:
    original = meta_utils.MetaTensorDescriber.describe_tensor

    @functools.wraps(original)
    def describe_tensor(self: Any, t: torch.Tensor, **settings: Any) -> Any:
        described = original(self, t, **settings)
        # A fake tensor's autograd would ask the driver about a CUDA device, and end the process.
        return dataclasses.replace(described, device=CPU) if index_of(t) >= 0 else described

    return describe_tensor
