"""What `torch.nn.parallel` asks C++ for: copies to and from several devices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime

Tensor = torch.Tensor


def _chunks(tensors: Sequence[Tensor], limit: int) -> list[list[int]]:
    """Which tensors are packed together: those of one type, in order, up to `limit` bytes; by their places."""
    made: list[list[int]] = []
    growing: dict[Any, tuple[list[int], int]] = {}
    for place, tensor in enumerate(tensors):
        kind = tensor.dtype, tensor.layout
        chunk, size = growing.pop(kind, ([], 0))
        chunk.append(place)
        size += tensor.numel() * tensor.element_size()
        if size >= limit:
            made.append(chunk)
        else:
            growing[kind] = chunk, size
    return made + [chunk for chunk, _ in growing.values()]


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace the C++ of `torch.nn.parallel.comm`, and the sharing of CUDA memory between processes."""

    def at(tensor: Tensor, index: int) -> Tensor:
        return tensor.to(runtime.device(runtime.checked(index) if index >= 0 else -1), non_blocking=True)

    def broadcast(tensor: Tensor, devices: Sequence[int]) -> list[Tensor]:
        return [at(tensor, index) for index in devices]

    def broadcast_out(tensor: Tensor, out: Sequence[Tensor]) -> list[Tensor]:
        for position, target in enumerate(out):
            if not target.is_cuda:
                raise RuntimeError(
                    f"Expected all output tensors to be CUDA tensors, but output tensor at index {position} "
                    f"has device '{target.device}'"
                )
            if target.shape != tensor.shape:
                raise RuntimeError(
                    f"Expected all output tensors to have same shape as the source tensor {list(tensor.shape)}, but "
                    f"output tensor at index {position} has shape {list(target.shape)}"
                )
            target.copy_(tensor, non_blocking=True)
        return list(out)

    def broadcast_coalesced(tensors: Sequence[Tensor], devices: Sequence[int], buffer_size: int) -> list[list[Tensor]]:
        for tensor in tensors:
            if tensor.get_device() != devices[0]:
                raise RuntimeError("all tensors must be on devices[0]: " + str(devices[0]))
        chunks = _chunks(tensors, buffer_size)

        def packed(index: int) -> list[Tensor]:
            """Copies on another device, which go over in one flat tensor for each chunk, as C++ does it."""
            sent: dict[int, Tensor] = {}
            for chunk in chunks:
                if tensors[chunk[0]].layout is not torch.strided:
                    sent.update((place, at(tensors[place].detach(), index)) for place in chunk)
                    continue
                flat = at(torch.cat([tensors[place].detach().reshape(-1) for place in chunk]), index)
                parts = flat.split([tensors[place].numel() for place in chunk])
                # `data`: the parts share memory, but no version, so that one may be changed in place.
                sent.update((p, part.view(tensors[p].shape).data) for p, part in zip(chunk, parts, strict=True))
            return [sent[place] for place in range(len(tensors))]

        # The first device's are the given tensors themselves, but for autograd: they must not share its bookkeeping.
        return [[t.detach() for t in tensors] if index == devices[0] else packed(index) for index in devices]

    def scatter(
        tensor: Tensor, devices: Sequence[int], chunk_sizes: Sequence[int] | None, dim: int, streams: Any
    ) -> list[Tensor]:
        if not devices:
            raise RuntimeError("Expected at least one device to scatter to")
        if chunk_sizes is None:
            parts = tensor.chunk(len(devices), dim)
        else:
            if len(chunk_sizes) != len(devices):
                raise RuntimeError(
                    "Expected devices and chunk_sizes to be of same length, but got "
                    f"len(devices) = {len(devices)} and len(chunk_sizes) = {len(chunk_sizes)}"
                )
            parts = tensor.split_with_sizes(list(chunk_sizes), dim)
        return [at(part, index) for part, index in zip(parts, devices, strict=False)]

    def scatter_out(tensor: Tensor, out: Sequence[Tensor], dim: int, streams: Any) -> list[Tensor]:
        if not out:
            raise RuntimeError("Expected at least one output tensor to scatter to")
        for target, part in zip(out, tensor.split([o.size(dim) for o in out], dim), strict=True):
            target.copy_(part, non_blocking=True)
        return list(out)

    def gather(tensors: Sequence[Tensor], dim: int, destination: int | None) -> Tensor:
        if not tensors:
            raise RuntimeError("Expected at least one tensor to gather from")
        for position, tensor in enumerate(tensors):
            if not tensor.is_cuda:
                raise RuntimeError(
                    f"Expected all input tensors to be CUDA tensors, but tensor at index {position} has device "
                    f"'{tensor.device}'"
                )
        index = runtime.here.device if destination is None else destination
        return torch.cat([at(tensor, index) for tensor in tensors], dim)

    def gather_out(tensors: Sequence[Tensor], out: Tensor, dim: int) -> Tensor:
        return out.copy_(gather(tensors, dim, out.get_device()))

    for name, value in {
        "_broadcast": broadcast,
        "_broadcast_out": broadcast_out,
        "_broadcast_coalesced": broadcast_coalesced,
        "_scatter": scatter,
        "_scatter_out": scatter_out,
        "_gather": gather,
        "_gather_out": gather_out,
    }.items():
        patches.set(torch._C, name, value)

    def share(self: Any, *args: Any) -> Any:
        raise RuntimeError(
            f"Virtual CUDA cannot share a CUDA storage of {math.ceil(self.nbytes() / 1024)} KiB with another process; "
            "send tensor.cpu(), or make the tensor there."
        )

    patches.set(torch.UntypedStorage, "_share_cuda_", share)
