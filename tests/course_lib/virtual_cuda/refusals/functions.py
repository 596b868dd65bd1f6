"""Rows: products of matrices, and functions of several tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tests.course_lib.virtual_cuda.refusals.cases import (
    INDEXING,
    ITERATOR,
    TORCHGEN,
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


@row(generated("mat", "cuda:0", "cpu", "wrapper_CUDA_addmv_"), native("aten/src/ATen/native/Blas.cpp", "mv"))
def matrix_times_a_cpu_vector() -> Tensor:
    """The product is put where the vector is, so it is the matrix that is elsewhere."""
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
    """Nearest neighbors."""
    return torch.cdist(cuda(4, 2), torch.randn(3, 2))


@row(generated("B", "cpu", "cuda:0", "wrapper_CUDA__linalg_solve_ex"), TORCHGEN)
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


@row(
    says("meshgrid expects all tensors to have the same device"),
    native("aten/src/ATen/native/TensorShape.cpp", "meshgrid"),
)
def meshgrid_of_mixed() -> Tensor:
    """Axes of a grid."""
    return torch.meshgrid(cuda(2), torch.ones(3), indexing="ij")[0]


@row(
    says(
        "torch.block_diag: input tensors must all be on the same device. Input 0 is on device cuda:0 and input 1 is on "
    ),
    native("aten/src/ATen/native/TensorShape.cpp", "block_diag_cpu"),
)
def block_diagonal_of_mixed() -> Tensor:
    """Blocks."""
    return torch.block_diag(cuda(2, 2), torch.eye(2))


# -- searching and counting ------------------------------------------------------------------------------------------


@row(generated("boundaries", "cpu", "cuda:0", "wrapper_CUDA_Tensor_bucketize"))
def bucketize_with_cpu_boundaries() -> Tensor:
    """Boundaries made by `linspace`."""
    return torch.bucketize(cuda(3), torch.linspace(-1, 1, 5))


@row(generated("self", "cpu", "cuda:0", "wrapper_CUDA_Tensor_searchsorted"))
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


@row(generated("self", "cuda:0", "cpu", "wrapper_CUDA_out_histc_out"), TORCHGEN)
def histogram_written_to_the_cpu() -> Tensor:
    """`out=` on the other device."""
    return torch.histc(cuda(10), bins=4, min=-1, max=1, out=torch.empty(4))


@row(
    says("quantile() q tensor must be on the same device as the input tensor"),
    native("aten/src/ATen/native/Sorting.cpp", "quantile_checks"),
)
def quantile_with_cpu_fractions() -> Tensor:
    """Even a 0-dimensional one."""
    return torch.quantile(cuda(10), torch.tensor(0.5))


@row(says("tensor_split expected tensor_indices_or_sections to be on cpu, but it's on cuda:0"), INDEXING)
def splitting_at_device_indices() -> Tensor:
    """The host must know where to cut."""
    return torch.tensor_split(cuda(4), torch.tensor([1, 2], device="cuda"))[0]


@row(
    says("stft input and window must be on the same device but got self on cuda:0 and window on cpu"),
    native("aten/src/ATen/native/SpectralOps.cpp", "stft"),
)
def spectrum_with_a_cpu_window() -> Tensor:
    """Audio: the window stayed behind."""
    return torch.stft(cuda(64), n_fft=16, window=torch.hann_window(16), return_complex=True)
