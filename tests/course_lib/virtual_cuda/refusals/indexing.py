"""Rows: indices, masks, and writing through them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tests.course_lib.virtual_cuda.refusals.cases import (
    COPY,
    CUDA_INDEXING,
    INDEXING,
    ITERATOR,
    Table,
    allowed,
    cuda,
    generated,
    issue,
    iterator,
    native,
    number,
    says,
)

table = Table()
row = table.row
WRONG = "indices should be either on cpu or on the same device as the indexed tensor (cpu)"


def numbers(*values: int, device: str = "cpu") -> Tensor:
    """Indices."""
    return torch.tensor(values, device=device)


def mask(*values: bool, device: str = "cpu") -> Tensor:
    """A mask."""
    return torch.tensor(values, device=device)


@row(says(WRONG), issue("jayliu0313/Shape-Guided/issues/11"))
def cpu_tensor_at_device_indices() -> Tensor:
    """The table is on the CPU, the indices are on the device."""
    return torch.arange(4)[numbers(1, 2, device="cuda")]


@row(allowed(), INDEXING)
def device_tensor_at_cpu_indices() -> Tensor:
    """The other way round is welcome."""
    return cuda(4)[numbers(1, 2)]


@row(says(WRONG), issue("modelscope/modelscope/issues/220"))
def cpu_schedule_at_device_steps() -> Tensor:
    """A diffusion model's schedule made by `linspace`."""
    return torch.linspace(0, 1, 10)[torch.randint(0, 10, (3,), device="cuda")]


@row(says(WRONG), INDEXING)
def cpu_tensor_through_a_device_mask() -> Tensor:
    """Masks are indices."""
    return torch.arange(3)[mask(True, False, True, device="cuda")]


@row(allowed(), INDEXING)
def device_tensor_through_a_cpu_mask() -> Tensor:
    """A mask made by numpy."""
    return cuda(3)[mask(True, False, True)]


@row(says(WRONG.replace("(cpu)", "(cuda:0)")), INDEXING, devices=2)
def device_tensor_at_indices_of_another_device() -> Tensor:
    """Only the CPU's indices follow."""
    return torch.ones(3, device="cuda:0")[numbers(1, device="cuda:1")]


@row(allowed("cpu"), INDEXING)
def cpu_tensor_at_a_device_number() -> Tensor:
    """A 0-dimensional integer is read, and then it is a number."""
    return torch.arange(3)[torch.tensor(1, device="cuda")]


@row(allowed("cpu"), COPY)
def device_number_written_to_the_cpu() -> Tensor:
    """Writing at a place is copying."""
    target = torch.zeros(3)
    target[0] = number()
    return target


@row(allowed(), COPY)
def cpu_slice_written_to_the_device() -> Tensor:
    """And so is writing a slice."""
    target = cuda(4)
    target[1:3] = torch.zeros(2)
    return target


@row(iterator(), ITERATOR)
def cpu_values_written_at_indices() -> Tensor:
    """Through indices the values must be on the device."""
    target = cuda(4)
    target[numbers(0, 1, device="cuda")] = torch.zeros(2)
    return target


@row(iterator(), ITERATOR)
def device_values_written_into_cpu() -> Tensor:
    """And so they must on the CPU."""
    target = torch.zeros(4)
    target[numbers(0, 1)] = cuda(2)
    return target


@row(allowed(), INDEXING)
def cpu_number_written_at_indices() -> Tensor:
    """But for numbers."""
    target = cuda(4)
    target[numbers(0, 1)] = torch.tensor(0.0)
    return target


@row(allowed("cpu"), INDEXING)
def device_number_written_at_cpu_indices() -> Tensor:
    """Either way."""
    target = torch.zeros(4)
    target[numbers(0, 1)] = number()
    return target


@row(allowed(), INDEXING)
def python_number_written_through_a_cpu_mask() -> Tensor:
    """A mask from the CPU, a number from Python."""
    target = cuda(3)
    target[mask(True, False, True)] = 0.0
    return target


@row(iterator(), ITERATOR)
def index_put_of_cpu_values() -> Tensor:
    """The operator itself."""
    return cuda(4).index_put((numbers(0, 1, device="cuda"),), torch.zeros(2))


@row(generated("index", "cpu", "cuda:0", "wrapper_CUDA__index_select"))
def index_select_with_cpu_indices() -> Tensor:
    """Unlike square brackets, a function with a name wants its indices on the device."""
    return cuda(4, 2).index_select(0, numbers(0, 1))


@row(generated("index", "cpu", "cuda:0", "wrapper_CUDA_gather"))
def gather_with_cpu_indices() -> Tensor:
    """Reinforcement learning: the actions stayed behind."""
    return cuda(2, 3).gather(1, torch.zeros(2, 1, dtype=torch.long))


@row(generated("index", "cpu", "cuda:0", "wrapper_CUDA_scatter_src"))
def scatter_with_cpu_indices() -> Tensor:
    """Writing at indices."""
    return cuda(2, 3).scatter(1, torch.zeros(2, 1, dtype=torch.long), cuda(2, 1))


@row(generated("src", "cpu", "cuda:0", "wrapper_CUDA_scatter__src"))
def scatter_of_cpu_values() -> Tensor:
    """Writing CPU values, in place."""
    return cuda(2, 3).scatter_(1, torch.zeros(2, 1, dtype=torch.long, device="cuda"), torch.ones(2, 1))


@row(generated("index", "cpu", "cuda:0", "wrapper_CUDA_scatter_add"))
def scatter_add_with_cpu_indices() -> Tensor:
    """Graph networks: the edges stayed behind."""
    return cuda(2, 3).scatter_add(1, torch.zeros(2, 1, dtype=torch.long), cuda(2, 1))


@row(generated("index", "cpu", "cuda:0", "wrapper_CUDA_index_add"))
def index_add_with_cpu_indices() -> Tensor:
    """Adding rows."""
    return cuda(3, 2).index_add(0, numbers(0, 1), cuda(2, 2))


@row(generated("source", "cpu", "cuda:0", "wrapper_CUDA_index_copy"))
def index_copy_of_cpu_values() -> Tensor:
    """Copying rows is no `copy_`."""
    return cuda(3, 2).index_copy(0, numbers(0, 1, device="cuda"), torch.ones(2, 2))


@row(iterator(), ITERATOR)
def index_fill_with_cpu_indices() -> Tensor:
    """Filling rows."""
    return cuda(3, 2).index_fill(0, numbers(0, 1), 1.0)


@row(generated("index", "cpu", "cuda:0", "wrapper_CUDA__take"))
def take_with_cpu_indices() -> Tensor:
    """Indices into the flat tensor."""
    return cuda(4).take(numbers(0, 1))


@row(
    says(
        "Expected tensor to have cuda:0 Device, but got tensor with cpu Device (while checking arguments for "
        "torch.take_along_dim():)"
    ),
    native("aten/src/ATen/native/TensorAdvancedIndexing.cpp", "take_along_dim"),
)
def take_along_dim_with_cpu_indices() -> Tensor:
    """It looks before it gathers."""
    return torch.take_along_dim(cuda(2, 3), torch.zeros(2, 1, dtype=torch.long), 1)


@row(
    says("expected self and mask to be on the same device, but got mask on cpu and self on cuda:0"),
    issue("WenjieDu/PyPOTS/issues/3"),
)
def masked_fill_with_a_cpu_mask() -> Tensor:
    """Attention by hand, the causal mask stayed behind."""
    return cuda(3).masked_fill(mask(True, False, True), 0.0)


@row(
    says("expected self and mask to be on the same device, but got mask on cpu and self on cuda:0"),
    issue("BindsNET/bindsnet/issues/569"),
)
def masked_fill_in_place_with_a_cpu_mask() -> Tensor:
    """In place."""
    return cuda(3).masked_fill_(mask(True, False, True), 0.0)


@row(says("expected self and mask to be on the same device, but got mask on cuda:0 and self on cpu"), CUDA_INDEXING)
def masked_fill_of_the_cpu_through_a_device_mask() -> Tensor:
    """The other way round."""
    return torch.ones(3).masked_fill(mask(True, False, True, device="cuda"), 0.0)


@row(
    says("expected self and mask to be on the same device, but got mask on cuda:0 and self on cuda:1"),
    issue("unslothai/unsloth/issues/4041"),
    devices=2,
)
def masked_fill_through_the_mask_of_another_device() -> Tensor:
    """Between two devices."""
    return torch.ones(2, device="cuda:1").masked_fill(mask(True, False, device="cuda:0"), 0.0)


@row(allowed(), CUDA_INDEXING)
def masked_fill_with_a_cpu_number() -> Tensor:
    """The value is read."""
    return cuda(3).masked_fill(mask(True, False, True, device="cuda"), torch.tensor(0.0))


@row(generated("mask", "cpu", "cuda:0", "wrapper_CUDA__masked_select"))
def masked_select_with_a_cpu_mask() -> Tensor:
    """Unlike square brackets."""
    return cuda(3).masked_select(mask(True, False, True))


@row(generated("mask", "cpu", "cuda:0", "wrapper_CUDA__masked_scatter_"))
def masked_scatter_with_a_cpu_mask() -> Tensor:
    """Writing through a mask."""
    return cuda(3).masked_scatter(mask(True, False, True), cuda(3))


@row(generated("index", "cpu", "cuda:0", "wrapper_CUDA__put_"))
def put_with_cpu_indices() -> Tensor:
    """Writing into the flat tensor."""
    return cuda(4).put_(numbers(0, 1), cuda(2))


@row(allowed(), COPY)
def copy_from_the_cpu() -> Tensor:
    """Copying is what crosses devices."""
    return cuda(3).copy_(torch.ones(3))


@row(allowed("cpu"), COPY)
def copy_to_the_cpu() -> Tensor:
    """In either direction."""
    return torch.ones(3).copy_(cuda(3))


@row(allowed(), COPY)
def copy_between_devices() -> Tensor:
    """And from device to device."""
    return cuda(3).copy_(torch.ones(3, device="cuda:0"))


@row(allowed(), COPY)
def foreach_copy_from_the_cpu() -> Tensor:
    """Many at once."""
    target = [cuda(3), cuda(2)]
    torch._foreach_copy_(target, [torch.ones(3), torch.ones(2)])
    return target[0]


@row(allowed(), INDEXING)
def device_rows_in_a_cpu_order() -> Tensor:
    """Shuffling data on the device."""
    return cuda(4, 2)[torch.randperm(4)]


@row(allowed("cpu"), native("torch/csrc/autograd/python_variable_indexing.cpp", "THPVariable_getitem"))
def list_at_a_device_number() -> Tensor:
    """Python asks for a number, and reads it."""
    return [torch.zeros(1), torch.ones(1)][torch.tensor(1, device="cuda")]


@row(allowed("cpu"), COPY)
def list_with_a_device_number_in_it() -> Tensor:
    """`in` compares one by one; numbers may be anywhere."""
    values: list[Any] = [number(), 1.0]
    return torch.tensor([torch.tensor(1.0) in values, 2 in torch.arange(3, device="cuda")])
