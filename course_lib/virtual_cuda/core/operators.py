"""What is special about an operator, found once for each: random, a copy, a view, one that the host waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course_lib.virtual_cuda.core import lower_precision, rules
from course_lib.virtual_cuda.log.recorder import Recorder

Tensor = torch.Tensor

LEARNED, SEEDED, READS, ALWAYS, IMPLICIT, MOVES, QUIET, KEEPS, TAKES_GENERATOR, INDEXES, WIDENS, TAKES_DEVICE, LAZY = (
    1 << n for n in range(13)
)
"""bits of what is special. `aten::add.Tensor` has LEARNED only; `aten::normal_` has SEEDED and TAKES_GENERATOR as well;
`aten::_local_scalar_dense`, which is `.item()`, has READS and QUIET"""
ONLY_WIDENS = LEARNED | WIDENS
ALSO_ON_CPU = MOVES | SEEDED | TAKES_DEVICE | LAZY

READING = {
    "_local_scalar_dense": "item",
    "equal": "equal",
    "allclose": "allclose",
    "is_nonzero": "bool",
    "nonzero": "nonzero",
    "masked_select": "masked_select",
    "_unique2": "unique",
    "unique_consecutive": "unique",
    "unique_dim": "unique",
    "bincount": "bincount",
    "repeat_interleave": "repeat_interleave",
    "_linalg_check_errors": "linalg",
}
"""operators after which the host has to wait for the device, because what they return or its shape is needed at once"""

NO_KERNEL = {
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "detach",
    "detach_",
    "alias",
    "set_",
}
NO_KERNEL |= {
    "lift_fresh",
    "_unsafe_view",
    "resize_",
    "_reshape_alias",
    "is_pinned",
    "result_type",
    "_local_scalar_dense",
}

CONJUGATES = {"pinverse", "linalg_pinv", "linalg_lstsq", "linalg_matrix_sqrth", "linalg_polar"}
CONJUGATES |= {"fft_hfft", "fft_hfft2", "fft_hfftn", "fft_ihfft", "fft_ihfft2", "fft_ihfftn"}
"""operators made of others, among them a conjugate that is left for the next one to compute"""

BITS: dict[Any, int] = {}
"""of the operators met so far"""


def classify(func: Any) -> int:
    """The bits of an operator, found once."""
    name = func._schema.name
    short = name.rpartition("::")[2]
    bits = LEARNED
    if torch.Tag.nondeterministic_seeded in func.tags:
        bits |= SEEDED
        if any(a.name == "generator" for a in func._schema.arguments):
            bits |= TAKES_GENERATOR
    if short in READING:
        bits |= READS
    if name in rules.ALWAYS:
        bits |= ALWAYS
    if short in ("clone", "_to_copy"):
        bits |= MOVES
    if short in NO_KERNEL or func.is_view:
        bits |= QUIET
    if short.lstrip("_").removeprefix("unsafe_").removesuffix("_") in ("index", "index_put", "index_put_impl"):
        bits |= INDEXES
    if lower_precision.is_widened(func):
        bits |= WIDENS
    if short in ("copy_", "_foreach_copy_", "set_"):
        bits |= KEEPS
    if any(a.name == "device" for a in func._schema.arguments):
        bits |= TAKES_DEVICE
    if short in CONJUGATES:
        bits |= LAZY
    # Without autograd (inference mode) composite operators arrive whole; their parts carry the checks.
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    if (
        name.startswith("aten::")
        and has_kernel(func.name(), "CompositeImplicitAutograd")
        and not has_kernel(func.name(), "CPU")
    ):
        bits |= IMPLICIT if bits & ALSO_ON_CPU else IMPLICIT | LAZY
    BITS[func] = bits
    return bits


# -- what both the virtual device and the watcher of a real one note -------------------------------------------------


def moved_bytes(target: Tensor, source: Tensor, from_device: bool, non_blocking: bool) -> int:
    """What crosses the bus: another dtype is converted to on the host, unless that would make it wait."""
    return target.numel() * (target if from_device == non_blocking else source).element_size()


def log_indices(log: Recorder, func: Any, args: Any, device: int, index_of: Callable[[Tensor], int]) -> None:
    """Indexing a tensor on a device: the host has to count a mask's true elements; indices on the host are copied."""
    given = [index for index in args[1] if isinstance(index, Tensor)]
    is_mask = [index.dtype in (torch.bool, torch.uint8) for index in given]
    if is_mask == [True] and "put" in func._schema.name and index_of(given[0]) == device:
        value = args[2]
        if value.numel() == 1 and index_of(value) < 0:
            return  # `x[mask] = 1.0` is a masked fill, which needs no count
    for index, mask in zip(given, is_mask, strict=True):
        if index_of(index) >= 0:
            if mask:
                log.sync("boolean mask", device)
        elif mask:
            for _ in range(index.dim()):
                log.copy(-1, device, 8 * int(torch.count_nonzero(index)))
        else:
            log.copy(-1, device, index.numel() * index.element_size())
