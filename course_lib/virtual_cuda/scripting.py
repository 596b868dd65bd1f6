"""TorchScript knows torch's functions by identity: those that replace them stand for the same operators.

torch scripts some of its own code when it is first needed, that of forward-mode derivatives for one.
"""

from __future__ import annotations

import torch

from course_lib.virtual_cuda.patches import Patches
from course_lib.virtual_cuda.runtime import Runtime


def install(runtime: Runtime, patches: Patches) -> None:
    """Tell the compiler which operators the functions replaced so far stand for. To be installed last."""
    table: dict[int, str] = torch.jit._builtins._get_builtin_table()
    added = {id(value): table[id(before)] for before, value in patches.replaced() if id(before) in table}
    for key in added.keys() & table.keys():
        del added[key]
    table.update(added)

    def remove() -> None:
        for key in added:
            del table[key]

    patches.also(remove)
