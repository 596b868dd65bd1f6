"""Rows: arithmetic, comparisons, matrices, and functions of several tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course_lib.virtual_cuda.refusals.cases import (
    BINARY,
    FAKE,
    INDEXING,
    ITERATOR,
    Table,
    allowed,
    generated,
    issue,
    iterator,
    raises,
    says,
)
from course_lib.virtual_cuda.refusals.layers import cuda, number

table = Table()
row = table.row

# -- element by element ----------------------------------------------------------------------------------------------


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


@row(allowed(), BINARY)
def where_with_a_cpu_number() -> Tensor:
    """Numbers follow."""
    return torch.where(cuda(3) > 0, cuda(3), torch.tensor(0.0))


@row(allowed(), BINARY)
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


# -- matrices --------------------------------------------------------------------------------------------------------


@row(generated("mat2", "cpu", "cuda:0", "wrapper_CUDA_mm"))
def matrix_product_with_a_cpu_matrix() -> Tensor:
    """`@`."""
    return cuda(2, 3) @ torch.randn(3, 4)


@row(generated("mat2", "cuda:0", "cpu", "wrapper_CUDA_mm"))
def matrix_product_of_a_cpu_matrix() -> Tensor:
    """`@`, the other way round."""
    return torch.randn(2, 3) @ cuda(3, 4)


@row(generated("mat2", "cpu", "cuda:0", "wrapper_CUDA_bmm"))
def batched_product_with_a_cpu_batch() -> Tensor:
    """Batches of matrices."""
    return torch.bmm(cuda(2, 3, 4), torch.randn(2, 4, 3))


@row(generated("mat2", "cpu", "cuda:0", "wrapper_CUDA_bmm"))
def matmul_with_a_cpu_batch() -> Tensor:
    """Batches by `matmul`."""
    return torch.matmul(cuda(2, 3, 4), torch.randn(2, 4, 3))


@row(raises("RuntimeError", r"Expected all tensors to be on the same device, .* method wrapper_CUDA_addmv_\)"), BINARY)
def matrix_times_a_cpu_vector() -> Tensor:
    """A vector."""
    return torch.mv(cuda(2, 3), torch.randn(3))


@row(generated("mat1", "cuda:0", "cpu", "wrapper_CUDA_addmm"))
def addmm_with_a_cpu_summand() -> Tensor:
    """The first argument decides which device is the common one."""
    return torch.addmm(torch.zeros(2, 4), cuda(2, 3), cuda(3, 4))


@row(generated("mat2", "cpu", "cuda:0", "wrapper_CUDA_addmm"))
def addmm_with_a_cpu_matrix() -> Tensor:
    """And the first that differs is named."""
    return torch.addmm(cuda(2, 4), cuda(2, 3), torch.randn(3, 4))


@row(generated("batch2", "cpu", "cuda:0", "wrapper_CUDA_baddbmm"))
def baddbmm_with_a_cpu_batch() -> Tensor:
    """Names are those of the operator."""
    return torch.baddbmm(cuda(2, 3, 3), cuda(2, 3, 4), torch.randn(2, 4, 3))


@row(generated("mat2", "cpu", "cuda:0", "wrapper_CUDA_bmm"))
def einsum_of_mixed() -> Tensor:
    """A batched product inside."""
    return torch.einsum("ij,jk->ik", cuda(2, 3), torch.randn(3, 4))


@row(iterator(), ITERATOR)
def kronecker_product_of_mixed() -> Tensor:
    """An elementwise product inside."""
    return torch.kron(cuda(2, 2), torch.eye(2))


@row(iterator(), ITERATOR)
def outer_product_of_mixed() -> Tensor:
    """An elementwise product inside."""
    return torch.outer(cuda(3), torch.ones(3))


@row(generated("x2", "cpu", "cuda:0", "wrapper_CUDA___cdist_forward"))
def distances_to_cpu_points() -> Tensor:
    """Nearest neighbours."""
    return torch.cdist(cuda(4, 2), torch.randn(3, 2))


@row(generated("B", "cpu", "cuda:0", "wrapper_CUDA__linalg_solve_ex"), BINARY)
def solving_for_a_cpu_side() -> Tensor:
    """Linear equations."""
    return torch.linalg.solve(torch.eye(2, device="cuda"), torch.ones(2, 1))


@row(generated("other", "cpu", "cuda:0", "wrapper_CUDA_linalg_cross"))
def cross_product_of_mixed() -> Tensor:
    """In space."""
    return torch.linalg.cross(cuda(2, 3), torch.randn(2, 3))


# -- lists of tensors ------------------------------------------------------------------------------------------------


@row(generated("tensors", "cpu", "cuda:0", "wrapper_CUDA_cat"), issue("phil-bergmann/tracking_wo_bnw/issues/172"))
def cat_of_mixed() -> Tensor:
    """The method's name has changed, the argument's has not."""
    return torch.cat([cuda(2), torch.ones(2)])


@row(generated("tensors", "cuda:0", "cpu", "wrapper_CUDA_cat"))
def cat_of_mixed_cpu_first() -> Tensor:
    """The first tensor's device is the common one."""
    return torch.cat([torch.ones(2), cuda(2)])


@row(generated("tensors", "cpu", "cuda:0", "wrapper_CUDA_cat"))
def stack_of_mixed() -> Tensor:
    """It concatenates inside."""
    return torch.stack([cuda(2), torch.ones(2)])


@row(generated("tensors", "cpu", "cuda:0", "wrapper_CUDA_cat"))
def hstack_of_mixed() -> Tensor:
    """And so does this."""
    return torch.hstack([cuda(2), torch.ones(2)])


@row(allowed(), ITERATOR)
def builtin_sum_of_losses() -> Tensor:
    """Python's sum begins with the number 0."""
    losses: Any = [number(), number(), number()]
    return sum(losses)


@row(says("meshgrid expects all tensors to have the same device"), BINARY)
def meshgrid_of_mixed() -> Tensor:
    """Axes of a grid."""
    return torch.meshgrid(cuda(2), torch.ones(3), indexing="ij")[0]


@row(says("torch.block_diag: input tensors must all be on the same device."), BINARY)
def block_diagonal_of_mixed() -> Tensor:
    """Blocks."""
    return torch.block_diag(cuda(2, 2), torch.eye(2))


# -- searching and counting ------------------------------------------------------------------------------------------


@row(generated("boundaries", "cpu", "cuda:0", "wrapper_CUDA_Tensor_bucketize_Tensor"))
def bucketize_with_cpu_boundaries() -> Tensor:
    """Boundaries made by `linspace`."""
    return torch.bucketize(cuda(3), torch.linspace(-1, 1, 5))


@row(generated("self", "cpu", "cuda:0", "wrapper_CUDA_Tensor_searchsorted_Tensor"))
def searchsorted_of_cpu_values() -> Tensor:
    """A sorted sequence on the device."""
    return torch.searchsorted(torch.arange(5.0, device="cuda"), torch.ones(3))


@row(generated("test_elements", "cpu", "cuda:0", "wrapper_CUDA_isin_Tensor_Tensor"))
def isin_with_cpu_elements() -> Tensor:
    """A set."""
    return torch.isin(torch.arange(3, device="cuda"), torch.tensor([1]))


@row(generated("weights", "cpu", "cuda:0", "wrapper_CUDA__bincount"))
def bincount_with_cpu_weights() -> Tensor:
    """Counting with weights."""
    return torch.bincount(torch.tensor([0, 1, 1], device="cuda"), torch.ones(3))


@row(generated("self", "cuda:0", "cpu", "wrapper_CUDA_out_histc_out_out"), BINARY)
def histogram_written_to_the_cpu() -> Tensor:
    """`out=` on the other device."""
    return torch.histc(cuda(10), bins=4, min=-1, max=1, out=torch.empty(4))


@row(says("quantile() q tensor must be on the same device as the input tensor"), BINARY)
def quantile_with_cpu_fractions() -> Tensor:
    """Even a 0-dimensional one."""
    return torch.quantile(cuda(10), torch.tensor(0.5))


@row(says("tensor_split expected tensor_indices_or_sections to be on cpu, but it's on cuda:0"), INDEXING)
def splitting_at_device_indices() -> Tensor:
    """The host must know where to cut."""
    return torch.tensor_split(cuda(4), torch.tensor([1, 2], device="cuda"))[0]


@row(says("stft input and window must be on the same device but got self on cuda:0 and window on cpu"), BINARY)
def spectrum_with_a_cpu_window() -> Tensor:
    """Audio: the window stayed behind."""
    return torch.stft(cuda(64), n_fft=16, window=torch.hann_window(16), return_complex=True)
