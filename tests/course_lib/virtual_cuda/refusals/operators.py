"""Rows: arithmetic and comparisons, element by element."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tests.course_lib.virtual_cuda.refusals.cases import (
    FAKE,
    ITERATOR,
    Table,
    allowed,
    cuda,
    generated,
    iterator,
    native,
    number,
    says,
)

table = Table()
row = table.row


@row(iterator(), ITERATOR)
def device_plus_cpu() -> Tensor:
    """Elementwise operators name CUDA first."""
    return cuda(3) + torch.ones(3)


@row(iterator(), ITERATOR)
def cpu_plus_device() -> Tensor:
    """In either order."""
    return torch.ones(3) + cuda(3)


@row(iterator("cuda:0", "cuda:1"), ITERATOR, devices=2)
def one_device_plus_another() -> Tensor:
    """Between two devices the first argument comes first."""
    return torch.ones(3, device="cuda:0") + torch.ones(3, device="cuda:1")


@row(iterator(), ITERATOR)
def cpu_vector_plus_device_scalar() -> Tensor:
    """A number on the device is not one for the CPU."""
    return torch.ones(3) + torch.tensor(1.0, device="cuda")


@row(allowed(), ITERATOR)
def device_vector_plus_cpu_scalar() -> Tensor:
    """A number on the CPU is one for the device."""
    return cuda(3) + torch.tensor(1.0)


@row(allowed(), ITERATOR)
def cpu_scalar_minus_device_vector() -> Tensor:
    """On either side."""
    return torch.tensor(1.0) - cuda(3)


@row(allowed(), ITERATOR)
def device_scalar_plus_cpu_scalar() -> Tensor:
    """Of two numbers the one on the device decides."""
    return torch.tensor(1.0, device="cuda") + torch.tensor(1.0)


@row(iterator(), ITERATOR)
def device_vector_plus_cpu_vector_of_one() -> Tensor:
    """A vector with one element is no number."""
    return cuda(3) + torch.ones(1)


@row(iterator("cuda:0", "cuda:1"), ITERATOR, devices=2)
def device_vector_plus_scalar_of_another_device() -> Tensor:
    """Only the CPU's numbers follow."""
    return torch.ones(3, device="cuda:0") + torch.tensor(1.0, device="cuda:1")


@row(allowed(), ITERATOR)
def python_number_times_device() -> Tensor:
    """Python's numbers are on no device."""
    return 2 * cuda(3) / 4 - 1


@row(iterator(), ITERATOR)
def cpu_added_into_device() -> Tensor:
    """In place."""
    return cuda(3).add_(torch.ones(3))


@row(iterator(), ITERATOR)
def device_added_into_cpu() -> Tensor:
    """In place, the other way round."""
    return torch.ones(3).add_(cuda(3))


@row(iterator(), ITERATOR)
def running_total_on_the_cpu() -> Tensor:
    """The total of losses begins on the CPU and is written to: it does not follow."""
    total = torch.tensor(0.0)
    total += number()
    return total


@row(allowed(), ITERATOR)
def running_total_from_a_python_number() -> Tensor:
    """A total that begins as a Python number is on the device after the first step."""
    total: Any = 0.0
    for _ in range(2):
        total = total + number()
    return total


@row(allowed(), ITERATOR)
def cpu_number_multiplied_into_device() -> Tensor:
    """In place, by a number."""
    return cuda(3).mul_(torch.tensor(2.0))


@row(iterator(), ITERATOR)
def sum_written_to_the_cpu() -> Tensor:
    """`out=` must be on the device."""
    return torch.add(cuda(3), cuda(3), out=torch.empty(3))


@row(iterator(), ITERATOR)
def cpu_sum_written_to_the_device() -> Tensor:
    """`out=`, the other way round."""
    return torch.add(torch.ones(3), torch.ones(3), out=torch.empty(3, device="cuda"))


@row(generated("self", "cuda:0", "cpu", "wrapper_CUDA_mm_out_out"))
def product_written_to_the_cpu() -> Tensor:
    """`out=` is checked first."""
    return torch.mm(cuda(2, 2), cuda(2, 2), out=torch.empty(2, 2))


@row(iterator(), ITERATOR)
def equality_of_mixed() -> Tensor:
    """Accuracy: predictions on the device, labels on the CPU."""
    return cuda(4, 3).argmax(1) == torch.zeros(4, dtype=torch.long)


@row(allowed(), ITERATOR)
def comparison_with_a_cpu_number() -> Tensor:
    """A threshold."""
    return cuda(3) > torch.tensor(0.5)


@row(iterator(), ITERATOR)
def logical_and_of_mixed() -> Tensor:
    """Masks."""
    return torch.logical_and(cuda(3) > 0, torch.ones(3, dtype=torch.bool))


@row(iterator(), ITERATOR)
def bitwise_and_of_mixed() -> Tensor:
    """Masks, by an operator."""
    return (cuda(3) > 0) & torch.ones(3, dtype=torch.bool)


@row(iterator(), ITERATOR)
def power_with_cpu_exponents() -> Tensor:
    """Two arrays."""
    return cuda(3) ** torch.ones(3)


@row(allowed(), ITERATOR)
def power_of_a_cpu_number() -> Tensor:
    """A number raised to an array."""
    return torch.tensor(2.0) ** cuda(3)


@row(iterator(), ITERATOR)
def maximum_of_mixed() -> Tensor:
    """Two arrays."""
    return torch.maximum(cuda(3), torch.zeros(3))


@row(allowed(), ITERATOR)
def maximum_with_a_cpu_number() -> Tensor:
    """An array and a number."""
    return torch.maximum(cuda(3), torch.tensor(0.0))


@row(generated("min", "cpu", "cuda:0", "wrapper_CUDA_clamp_Tensor"))
def clamp_with_a_cpu_number() -> Tensor:
    """Not everything elementwise is TensorIterator's: this check lets no number pass."""
    return torch.clamp(cuda(3), min=torch.tensor(0.0))


@row(generated("other", "cpu", "cuda:0", "wrapper_CUDA_nextafter"), FAKE)
def nextafter_with_a_cpu_number() -> Tensor:
    """Another such operator."""
    return torch.nextafter(cuda(3), torch.tensor(0.0))


@row(allowed(), ITERATOR)
def lerp_with_a_cpu_weight() -> Tensor:
    """A number between."""
    return torch.lerp(cuda(3), cuda(3), torch.tensor(0.5))


@row(says("Trying to pass too many CPU scalars to non-CPU kernel!"), ITERATOR)
def addcmul_with_two_cpu_numbers() -> Tensor:
    """One number may follow, not two."""
    return torch.addcmul(cuda(3), torch.tensor(2.0), torch.tensor(3.0))


@row(iterator(), ITERATOR)
def where_with_a_cpu_condition() -> Tensor:
    """All three."""
    return torch.where(torch.ones(3, dtype=torch.bool), cuda(3), cuda(3))


@row(iterator(), ITERATOR)
def where_with_a_cpu_array() -> Tensor:
    """All three."""
    return torch.where(cuda(3) > 0, cuda(3), torch.zeros(3))


@row(allowed(), native("aten/src/ATen/native/TensorCompare.cpp", "where_self_out"))
def where_with_a_cpu_number() -> Tensor:
    """Numbers follow."""
    return torch.where(cuda(3) > 0, cuda(3), torch.tensor(0.0))


@row(allowed(), native("aten/src/ATen/native/TensorCompare.cpp", "where_self_out"))
def where_with_two_cpu_numbers() -> Tensor:
    """Here even two."""
    return torch.where(cuda(3) > 0, torch.tensor(1.0), torch.tensor(0.0))


@row(iterator(), ITERATOR)
def foreach_add_of_mixed_lists() -> Tensor:
    """Element by element of the lists."""
    return torch._foreach_add([cuda(3)], [torch.ones(3)])[0]


@row(iterator(), ITERATOR)
def allclose_of_mixed() -> Tensor:
    """It compares element by element."""
    return torch.tensor(torch.allclose(cuda(3), torch.zeros(3)))


@row(generated("other", "cpu", "cuda:0", "wrapper_CUDA__equal"))
def equal_of_mixed() -> Tensor:
    """It has a check of its own."""
    return torch.tensor(torch.equal(cuda(3), torch.zeros(3)))
