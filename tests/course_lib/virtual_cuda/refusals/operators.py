"""Rows: arithmetic, comparisons, products of matrices, and functions of several tensors."""

from __future__ import annotations

import operator

import torch

from tests.course_lib.virtual_cuda.refusals.cases import (
    FAKE,
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
add = table.add
# A row takes two lines or three; ruff would give each of its parts one.
# fmt: off
# operators ------------------------------------------------------------------------------------------------------------
add("device_plus_cpu", "Elementwise operators name CUDA first.", iterator(), lambda: cuda(3) + torch.ones(3), ITERATOR)
add("cpu_plus_device", "In either order.", iterator(), lambda: torch.ones(3) + cuda(3), ITERATOR)
add("one_device_plus_another", "Between two devices the first argument comes first.", iterator("cuda:0", "cuda:1"),
    lambda: torch.ones(3, device="cuda:0") + torch.ones(3, device="cuda:1"), ITERATOR, devices=2)
add("cpu_vector_plus_device_scalar", "A number on the device is not one for the CPU.", iterator(),
    lambda: torch.ones(3) + torch.tensor(1.0, device="cuda"), ITERATOR)
add("device_vector_plus_cpu_scalar", "A number on the CPU is one for the device.", allowed(),
    lambda: cuda(3) + torch.tensor(1.0), ITERATOR)
add("cpu_scalar_minus_device_vector", "On either side.", allowed(), lambda: torch.tensor(1.0) - cuda(3), ITERATOR)
add("device_scalar_plus_cpu_scalar", "Of two numbers the one on the device decides.", allowed(),
    lambda: torch.tensor(1.0, device="cuda") + torch.tensor(1.0), ITERATOR)
add("device_vector_plus_cpu_vector_of_one", "A vector with one element is no number.", iterator(),
    lambda: cuda(3) + torch.ones(1), ITERATOR)
add("device_vector_plus_scalar_of_another_device", "Only the CPU's numbers follow.", iterator("cuda:0", "cuda:1"),
    lambda: torch.ones(3, device="cuda:0") + torch.tensor(1.0, device="cuda:1"), ITERATOR, devices=2)
add("python_number_times_device", "Python's numbers are on no device.", allowed(),
    lambda: 2 * cuda(3) / 4 - 1, ITERATOR)
add("cpu_added_into_device", "In place.", iterator(), lambda: cuda(3).add_(torch.ones(3)), ITERATOR)
add("device_added_into_cpu", "In place, the other way round.", iterator(),
    lambda: torch.ones(3).add_(cuda(3)), ITERATOR)
add("running_total_on_the_cpu", "The total of losses begins on the CPU and is written to: it does not follow.",
    iterator(), lambda: operator.iadd(torch.tensor(0.0), number()), ITERATOR)
add("running_total_from_a_python_number",
    "A total that begins as a Python number is on the device after the first step.",
    allowed(), lambda: 0.0 + number() + number(), ITERATOR)
add("cpu_number_multiplied_into_device", "In place, by a number.", allowed(),
    lambda: cuda(3).mul_(torch.tensor(2.0)), ITERATOR)
add("sum_written_to_the_cpu", "`out=` must be on the device.", iterator(),
    lambda: torch.add(cuda(3), cuda(3), out=torch.empty(3)), ITERATOR)
add("cpu_sum_written_to_the_device", "`out=`, the other way round.", iterator(),
    lambda: torch.add(torch.ones(3), torch.ones(3), out=torch.empty(3, device="cuda")), ITERATOR)
add("product_written_to_the_cpu", "`out=` is checked first.", generated("self", "cuda:0", "cpu", "mm_out_out"),
    lambda: torch.mm(cuda(2, 2), cuda(2, 2), out=torch.empty(2, 2)))
add("equality_of_mixed", "Accuracy: predictions on the device, labels on the CPU.", iterator(),
    lambda: cuda(4, 3).argmax(1) == torch.zeros(4, dtype=torch.long), ITERATOR)
add("comparison_with_a_cpu_number", "A threshold.", allowed(), lambda: cuda(3) > torch.tensor(0.5), ITERATOR)
add("logical_and_of_mixed", "Masks.", iterator(),
    lambda: torch.logical_and(cuda(3) > 0, torch.ones(3, dtype=torch.bool)), ITERATOR)
add("bitwise_and_of_mixed", "Masks, by an operator.", iterator(),
    lambda: (cuda(3) > 0) & torch.ones(3, dtype=torch.bool), ITERATOR)
add("power_with_cpu_exponents", "Two arrays.", iterator(), lambda: cuda(3) ** torch.ones(3), ITERATOR)
add("power_of_a_cpu_number", "A number raised to an array.", allowed(), lambda: torch.tensor(2.0) ** cuda(3), ITERATOR)
add("maximum_of_mixed", "Two arrays.", iterator(), lambda: torch.maximum(cuda(3), torch.zeros(3)), ITERATOR)
add("maximum_with_a_cpu_number", "An array and a number.", allowed(),
    lambda: torch.maximum(cuda(3), torch.tensor(0.0)), ITERATOR)
add("clamp_with_a_cpu_number", "Not everything elementwise is TensorIterator's: this check lets no number pass.",
    generated("min", "cpu", "cuda:0", "clamp_Tensor"), lambda: torch.clamp(cuda(3), min=torch.tensor(0.0)))
add("nextafter_with_a_cpu_number", "Another such operator.", generated("other", "cpu", "cuda:0", "nextafter"),
    lambda: torch.nextafter(cuda(3), torch.tensor(0.0)), FAKE)
add("lerp_with_a_cpu_weight", "A number between.", allowed(),
    lambda: torch.lerp(cuda(3), cuda(3), torch.tensor(0.5)), ITERATOR)
add("addcmul_with_two_cpu_numbers", "One number may follow, not two.",
    says("Trying to pass too many CPU scalars to non-CPU kernel!"),
    lambda: torch.addcmul(cuda(3), torch.tensor(2.0), torch.tensor(3.0)), ITERATOR)
add("where_with_a_cpu_condition", "All three.", iterator(),
    lambda: torch.where(torch.ones(3, dtype=torch.bool), cuda(3), cuda(3)), ITERATOR)
add("where_with_a_cpu_array", "All three.", iterator(),
    lambda: torch.where(cuda(3) > 0, cuda(3), torch.zeros(3)), ITERATOR)
add("where_with_a_cpu_number", "Numbers follow.", allowed(),
    lambda: torch.where(cuda(3) > 0, cuda(3), torch.tensor(0.0)),
    native("aten/src/ATen/native/TensorCompare.cpp", "where_self_out"))
add("where_with_two_cpu_numbers", "Here even two.", allowed(),
    lambda: torch.where(cuda(3) > 0, torch.tensor(1.0), torch.tensor(0.0)),
    native("aten/src/ATen/native/TensorCompare.cpp", "where_self_out"))
add("foreach_add_of_mixed_lists", "Element by element of the lists.", iterator(),
    lambda: torch._foreach_add([cuda(3)], [torch.ones(3)])[0], ITERATOR)
add("allclose_of_mixed", "It compares element by element.", iterator(),
    lambda: torch.tensor(torch.allclose(cuda(3), torch.zeros(3))), ITERATOR)
add("equal_of_mixed", "It has a check of its own.", generated("other", "cpu", "cuda:0", "_equal"),
    lambda: torch.tensor(torch.equal(cuda(3), torch.zeros(3))))

# functions ------------------------------------------------------------------------------------------------------------

# matrices
add("matrix_product_with_a_cpu_matrix", "`@`.", generated("mat2", "cpu", "cuda:0", "mm"),
    lambda: cuda(2, 3) @ torch.randn(3, 4))
add("matrix_product_of_a_cpu_matrix", "`@`, the other way round.", generated("mat2", "cuda:0", "cpu", "mm"),
    lambda: torch.randn(2, 3) @ cuda(3, 4))
add("batched_product_with_a_cpu_batch", "Batches of matrices.", generated("mat2", "cpu", "cuda:0", "bmm"),
    lambda: torch.bmm(cuda(2, 3, 4), torch.randn(2, 4, 3)))
add("matmul_with_a_cpu_batch", "Batches by `matmul`.", generated("mat2", "cpu", "cuda:0", "bmm"),
    lambda: torch.matmul(cuda(2, 3, 4), torch.randn(2, 4, 3)))
add("matrix_times_a_cpu_vector", "The product is put where the vector is, so it is the matrix that is elsewhere.",
    generated("mat", "cuda:0", "cpu", "addmv_"), lambda: torch.mv(cuda(2, 3), torch.randn(3)),
    native("aten/src/ATen/native/Blas.cpp", "mv"))
add("addmm_with_a_cpu_summand", "The first argument decides which device is the common one.",
    generated("mat1", "cuda:0", "cpu", "addmm"), lambda: torch.addmm(torch.zeros(2, 4), cuda(2, 3), cuda(3, 4)))
add("addmm_with_a_cpu_matrix", "And the first that differs is named.", generated("mat2", "cpu", "cuda:0", "addmm"),
    lambda: torch.addmm(cuda(2, 4), cuda(2, 3), torch.randn(3, 4)))
add("baddbmm_with_a_cpu_batch", "Names are those of the operator.", generated("batch2", "cpu", "cuda:0", "baddbmm"),
    lambda: torch.baddbmm(cuda(2, 3, 3), cuda(2, 3, 4), torch.randn(2, 4, 3)))
add("einsum_of_mixed", "A batched product inside.", generated("mat2", "cpu", "cuda:0", "bmm"),
    lambda: torch.einsum("ij,jk->ik", cuda(2, 3), torch.randn(3, 4)))
add("kronecker_product_of_mixed", "An elementwise product inside.", iterator(),
    lambda: torch.kron(cuda(2, 2), torch.eye(2)), ITERATOR)
add("outer_product_of_mixed", "An elementwise product inside.", iterator(),
    lambda: torch.outer(cuda(3), torch.ones(3)), ITERATOR)
add("distances_to_cpu_points", "Nearest neighbors.", generated("x2", "cpu", "cuda:0", "__cdist_forward"),
    lambda: torch.cdist(cuda(4, 2), torch.randn(3, 2)))
add("solving_for_a_cpu_side", "Linear equations.", generated("B", "cpu", "cuda:0", "_linalg_solve_ex"),
    lambda: torch.linalg.solve(torch.eye(2, device="cuda"), torch.ones(2, 1)))
add("cross_product_of_mixed", "In space.", generated("other", "cpu", "cuda:0", "linalg_cross"),
    lambda: torch.linalg.cross(cuda(2, 3), torch.randn(2, 3)))

# lists of tensors
add("cat_of_mixed", "The method's name has changed, the argument's has not.",
    generated("tensors", "cpu", "cuda:0", "cat"), lambda: torch.cat([cuda(2), torch.ones(2)]),
    issue("phil-bergmann/tracking_wo_bnw/issues/172"))
add("cat_of_mixed_cpu_first", "The first tensor's device is the common one.",
    generated("tensors", "cuda:0", "cpu", "cat"), lambda: torch.cat([torch.ones(2), cuda(2)]))
add("stack_of_mixed", "It concatenates inside.", generated("tensors", "cpu", "cuda:0", "cat"),
    lambda: torch.stack([cuda(2), torch.ones(2)]))
add("hstack_of_mixed", "And so does this.", generated("tensors", "cpu", "cuda:0", "cat"),
    lambda: torch.hstack([cuda(2), torch.ones(2)]))
add("builtin_sum_of_losses", "Python's sum begins with the number 0.", allowed(),
    lambda: sum([number(), number(), number()]), ITERATOR)
add("meshgrid_of_mixed", "Axes of a grid.", says("meshgrid expects all tensors to have the same device"),
    lambda: torch.meshgrid(cuda(2), torch.ones(3), indexing="ij")[0],
    native("aten/src/ATen/native/TensorShape.cpp", "meshgrid"))
add("block_diagonal_of_mixed", "Blocks.",
    says("torch.block_diag: input tensors must all be on the same device. Input 0 is on device "
         "cuda:0 and input 1 is on "),
    lambda: torch.block_diag(cuda(2, 2), torch.eye(2)),
    native("aten/src/ATen/native/TensorShape.cpp", "block_diag_cpu"))

# searching and counting
add("bucketize_with_cpu_boundaries", "Boundaries made by `linspace`.",
    generated("boundaries", "cpu", "cuda:0", "Tensor_bucketize"),
    lambda: torch.bucketize(cuda(3), torch.linspace(-1, 1, 5)))
add("searchsorted_of_cpu_values", "A sorted sequence on the device.",
    generated("self", "cpu", "cuda:0", "Tensor_searchsorted"),
    lambda: torch.searchsorted(torch.arange(5.0, device="cuda"), torch.ones(3)))
add("isin_with_cpu_elements", "A set.", generated("test_elements", "cpu", "cuda:0", "isin_Tensor_Tensor"),
    lambda: torch.isin(torch.arange(3, device="cuda"), torch.tensor([1])))
add("bincount_with_cpu_weights", "Counting with weights.", generated("weights", "cpu", "cuda:0", "_bincount"),
    lambda: torch.bincount(torch.tensor([0, 1, 1], device="cuda"), torch.ones(3)))
add("histogram_written_to_the_cpu", "`out=` on the other device.", generated("self", "cuda:0", "cpu", "out_histc_out"),
    lambda: torch.histc(cuda(10), bins=4, min=-1, max=1, out=torch.empty(4)))
add("quantile_with_cpu_fractions", "Even a 0-dimensional one.",
    says("quantile() q tensor must be on the same device as the input tensor"),
    lambda: torch.quantile(cuda(10), torch.tensor(0.5)), native("aten/src/ATen/native/Sorting.cpp", "quantile_checks"))
add("splitting_at_device_indices", "The host must know where to cut.",
    says("tensor_split expected tensor_indices_or_sections to be on cpu, but it's on cuda:0"),
    lambda: torch.tensor_split(cuda(4), torch.tensor([1, 2], device="cuda"))[0], INDEXING)
add("spectrum_with_a_cpu_window", "Audio: the window stayed behind.",
    says("stft input and window must be on the same device but got self on cuda:0 and window on cpu"),
    lambda: torch.stft(cuda(64), n_fft=16, window=torch.hann_window(16), return_complex=True),
    native("aten/src/ATen/native/SpectralOps.cpp", "stft"))
