"""Tensors grouped by device: what the optimizers' foreach implementations ask C++, which sees one device only."""

from __future__ import annotations

from typing import Any

import torch

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime
from course_lib.virtual_cuda.core.storage import index_of

Group = tuple[list[list[Any]], list[int]]


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace the one function that optimizers, gradient clipping and weight averaging group by."""
    original = torch._C._group_tensors_by_device_and_dtype

    def group(lists: list[list[Any]], with_indices: bool = False) -> dict[tuple[torch.device, torch.dtype], Group]:
        """As torch's: the lists' rows by the device and dtype of the first list's tensor."""
        found: dict[tuple[torch.device, torch.dtype], Group] = {}
        for (device, dtype), (columns, indices) in original(lists, with_indices).items():
            at = [index_of(tensor) for tensor in columns[0] if tensor is not None] if device.type == "cpu" else []
            for index in dict.fromkeys(at):
                rows = [row for row, other in enumerate(at) if other == index]
                part = [[column[row] for row in rows] if column else [] for column in columns]
                found[runtime.device(index), dtype] = part, [indices[row] for row in rows] if with_indices else []
            if not at:
                found[device, dtype] = columns, indices
        return found

    patches.set(torch._C, "_group_tensors_by_device_and_dtype", group)
