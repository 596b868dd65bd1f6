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
row, add = table.row, table.add
# A row takes two lines or three; ruff would give each of its parts one.
# fmt: off
WRONG = "indices should be either on cpu or on the same device as the indexed tensor (cpu)"

def numbers(*values: int, device: str = "cpu") -> Tensor:
    """Indices."""
    return torch.tensor(values, device=device)

def mask(*values: bool, device: str = "cpu") -> Tensor:
    """A mask."""
    return torch.tensor(values, device=device)

def written(target: Tensor, at: Any, value: Any) -> Tensor:
    """The target after `target[at] = value`."""
    target[at] = value
    return target

add("cpu_tensor_at_device_indices", "The table is on the CPU, the indices are on the device.", says(WRONG),
    lambda: torch.arange(4)[numbers(1, 2, device="cuda")], issue("jayliu0313/Shape-Guided/issues/11"))
add("device_tensor_at_cpu_indices", "The other way round is welcome.", allowed(),
    lambda: cuda(4)[numbers(1, 2)], INDEXING)
add("cpu_schedule_at_device_steps", "A diffusion model's schedule made by `linspace`.", says(WRONG),
    lambda: torch.linspace(0, 1, 10)[torch.randint(0, 10, (3,), device="cuda")],
    issue("modelscope/modelscope/issues/220"))
add("cpu_tensor_through_a_device_mask", "Masks are indices.", says(WRONG),
    lambda: torch.arange(3)[mask(True, False, True, device="cuda")], INDEXING)
add("device_tensor_through_a_cpu_mask", "A mask made by numpy.", allowed(),
    lambda: cuda(3)[mask(True, False, True)], INDEXING)
add("device_tensor_at_indices_of_another_device", "Only the CPU's indices follow.",
    says(WRONG.replace("(cpu)", "(cuda:0)")), lambda: torch.ones(3, device="cuda:0")[numbers(1, device="cuda:1")],
    INDEXING, devices=2)
add("cpu_tensor_at_a_device_number", "A 0-dimensional integer is read, and then it is a number.", allowed("cpu"),
    lambda: torch.arange(3)[torch.tensor(1, device="cuda")], INDEXING)
add("device_number_written_to_the_cpu", "Writing at a place is copying.", allowed("cpu"),
    lambda: written(torch.zeros(3), 0, number()), COPY)
add("cpu_slice_written_to_the_device", "And so is writing a slice.", allowed(),
    lambda: written(cuda(4), slice(1, 3), torch.zeros(2)), COPY)
add("cpu_values_written_at_indices", "Through indices the values must be on the device.", iterator(),
    lambda: written(cuda(4), numbers(0, 1, device="cuda"), torch.zeros(2)), ITERATOR)
add("device_values_written_into_cpu", "And so they must on the CPU.", iterator(),
    lambda: written(torch.zeros(4), numbers(0, 1), cuda(2)), ITERATOR)
add("cpu_number_written_at_indices", "But for numbers.", allowed(),
    lambda: written(cuda(4), numbers(0, 1), torch.tensor(0.0)), INDEXING)
add("device_number_written_at_cpu_indices", "Either way.", allowed("cpu"),
    lambda: written(torch.zeros(4), numbers(0, 1), number()), INDEXING)
add("python_number_written_through_a_cpu_mask", "A mask from the CPU, a number from Python.", allowed(),
    lambda: written(cuda(3), mask(True, False, True), 0.0), INDEXING)
add("index_put_of_cpu_values", "The operator itself.", iterator(),
    lambda: cuda(4).index_put((numbers(0, 1, device="cuda"),), torch.zeros(2)), ITERATOR)
add("index_select_with_cpu_indices", "Unlike square brackets, a function with a name wants its indices on the device.",
    generated("index", "cpu", "cuda:0", "_index_select"), lambda: cuda(4, 2).index_select(0, numbers(0, 1)))
add("gather_with_cpu_indices", "Reinforcement learning: the actions stayed behind.",
    generated("index", "cpu", "cuda:0", "gather"), lambda: cuda(2, 3).gather(1, torch.zeros(2, 1, dtype=torch.long)))
add("scatter_with_cpu_indices", "Writing at indices.", generated("index", "cpu", "cuda:0", "scatter_src"),
    lambda: cuda(2, 3).scatter(1, torch.zeros(2, 1, dtype=torch.long), cuda(2, 1)))
add("scatter_of_cpu_values", "Writing CPU values, in place.", generated("src", "cpu", "cuda:0", "scatter__src"),
    lambda: cuda(2, 3).scatter_(1, torch.zeros(2, 1, dtype=torch.long, device="cuda"), torch.ones(2, 1)))
add("scatter_add_with_cpu_indices", "Graph networks: the edges stayed behind.",
    generated("index", "cpu", "cuda:0", "scatter_add"),
    lambda: cuda(2, 3).scatter_add(1, torch.zeros(2, 1, dtype=torch.long), cuda(2, 1)))
add("index_add_with_cpu_indices", "Adding rows.", generated("index", "cpu", "cuda:0", "index_add"),
    lambda: cuda(3, 2).index_add(0, numbers(0, 1), cuda(2, 2)))
add("index_copy_of_cpu_values", "Copying rows is no `copy_`.", generated("source", "cpu", "cuda:0", "index_copy"),
    lambda: cuda(3, 2).index_copy(0, numbers(0, 1, device="cuda"), torch.ones(2, 2)))
add("index_fill_with_cpu_indices", "Filling rows.", iterator(),
    lambda: cuda(3, 2).index_fill(0, numbers(0, 1), 1.0), ITERATOR)
add("take_with_cpu_indices", "Indices into the flat tensor.", generated("index", "cpu", "cuda:0", "_take"),
    lambda: cuda(4).take(numbers(0, 1)))
add("take_along_dim_with_cpu_indices", "It looks before it gathers.",
    says("Expected tensor to have cuda:0 Device, but got tensor with cpu Device (while checking arguments for "
         "torch.take_along_dim():)"),
    lambda: torch.take_along_dim(cuda(2, 3), torch.zeros(2, 1, dtype=torch.long), 1),
    native("aten/src/ATen/native/TensorAdvancedIndexing.cpp", "take_along_dim"))
add("masked_fill_with_a_cpu_mask", "Attention by hand, the causal mask stayed behind.",
    says("expected self and mask to be on the same device, but got mask on cpu and self on cuda:0"),
    lambda: cuda(3).masked_fill(mask(True, False, True), 0.0), issue("WenjieDu/PyPOTS/issues/3"))
add("masked_fill_in_place_with_a_cpu_mask", "In place.",
    says("expected self and mask to be on the same device, but got mask on cpu and self on cuda:0"),
    lambda: cuda(3).masked_fill_(mask(True, False, True), 0.0), issue("BindsNET/bindsnet/issues/569"))
add("masked_fill_of_the_cpu_through_a_device_mask", "The other way round.",
    says("expected self and mask to be on the same device, but got mask on cuda:0 and self on cpu"),
    lambda: torch.ones(3).masked_fill(mask(True, False, True, device="cuda"), 0.0), CUDA_INDEXING)
add("masked_fill_through_the_mask_of_another_device", "Between two devices.",
    says("expected self and mask to be on the same device, but got mask on cuda:0 and self on cuda:1"),
    lambda: torch.ones(2, device="cuda:1").masked_fill(mask(True, False, device="cuda:0"), 0.0),
    issue("unslothai/unsloth/issues/4041"), devices=2)
add("masked_fill_with_a_cpu_number", "The value is read.", allowed(),
    lambda: cuda(3).masked_fill(mask(True, False, True, device="cuda"), torch.tensor(0.0)), CUDA_INDEXING)
add("masked_select_with_a_cpu_mask", "Unlike square brackets.", generated("mask", "cpu", "cuda:0", "_masked_select"),
    lambda: cuda(3).masked_select(mask(True, False, True)))
add("masked_scatter_with_a_cpu_mask", "Writing through a mask.", generated("mask", "cpu", "cuda:0", "_masked_scatter_"),
    lambda: cuda(3).masked_scatter(mask(True, False, True), cuda(3)))
add("put_with_cpu_indices", "Writing into the flat tensor.", generated("index", "cpu", "cuda:0", "_put_"),
    lambda: cuda(4).put_(numbers(0, 1), cuda(2)))
add("copy_from_the_cpu", "Copying is what crosses devices.", allowed(), lambda: cuda(3).copy_(torch.ones(3)), COPY)
add("copy_to_the_cpu", "In either direction.", allowed("cpu"), lambda: torch.ones(3).copy_(cuda(3)), COPY)
add("copy_between_devices", "And from device to device.", allowed(),
    lambda: cuda(3).copy_(torch.ones(3, device="cuda:0")), COPY)

@row(allowed(), COPY)

def foreach_copy_from_the_cpu() -> Tensor:
    """Many at once."""
    target = [cuda(3), cuda(2)]
    torch._foreach_copy_(target, [torch.ones(3), torch.ones(2)])
    return target[0]

add("device_rows_in_a_cpu_order", "Shuffling data on the device.", allowed(),
    lambda: cuda(4, 2)[torch.randperm(4)], INDEXING)
add("list_at_a_device_number", "Python asks for a number, and reads it.", allowed("cpu"),
    lambda: [torch.zeros(1), torch.ones(1)][torch.tensor(1, device="cuda")],
    native("torch/csrc/autograd/python_variable_indexing.cpp", "THPVariable_getitem"))
add("list_with_a_device_number_in_it", "`in` compares one by one; numbers may be anywhere.", allowed("cpu"),
    lambda: torch.tensor([torch.tensor(1.0) in [number(), 1.0], 2 in torch.arange(3, device="cuda")]), COPY)
