"""Rows: numpy, pinned memory, random numbers, names of devices: where the host meets the device."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split

from tests.course_lib.virtual_cuda.refusals.cases import (
    COPY,
    GENERATOR,
    ITERATOR,
    PYTHON,
    SAME,
    Table,
    allowed,
    cuda,
    issue,
    native,
    number,
    raises,
    says,
)

table = Table()
row, add = table.row, table.add
# A row takes two lines or three; ruff would give each of its parts one.
# fmt: off
NUMPY = raises(
    "TypeError",
    r"can't convert cuda:0 device type tensor to numpy\. Use Tensor\.cpu\(\) to copy the tensor to host memory first\.",
)
TO_NUMPY = "https://github.com/pytorch/pytorch/blob/main/torch/csrc/utils/tensor_numpy.cpp (tensor_to_numpy)"
ONLY_CUDA = says("Expected a 'cuda' device type for generator but found 'cpu'")
ONLY_CPU = says("Expected a 'cpu' device type for generator but found 'cuda'")

def tensor(array: Any) -> Tensor:
    """A numpy array as a tensor."""
    return torch.as_tensor(array)

add("numpy_of_a_device_tensor", "Memory of the device is not the host's.", NUMPY,
    lambda: tensor(cuda(3).numpy()), TO_NUMPY)
add("numpy_of_a_device_tensor_that_requires_grad", "The device is checked before the graph.", NUMPY,
    lambda: tensor(cuda(3).requires_grad_().numpy()), TO_NUMPY)
add("numpy_of_a_copy_that_requires_grad", "After `.cpu()` it is the graph's turn.",
    says("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."),
    lambda: tensor(cuda(3).requires_grad_().cpu().numpy()), TO_NUMPY)
add("numpy_by_force", "`force=True` does all of it.", allowed("cpu"),
    lambda: tensor(cuda(3).requires_grad_().numpy(force=True)), TO_NUMPY)
add("asarray_of_a_device_tensor", "numpy asks the tensor.", NUMPY, lambda: tensor(np.asarray(cuda(3))), PYTHON)
add("array_of_device_losses", "A list of losses that were never read.", NUMPY,
    lambda: tensor(np.array([number(), number()])), PYTHON)
add("numpy_function_of_a_device_tensor", "Any function of numpy's.", NUMPY, lambda: tensor(np.sqrt(cuda(3))), PYTHON)
add("numpy_sum_with_a_device_tensor", "With an array beside it.", NUMPY,
    lambda: tensor(np.add(np.ones(3), cuda(3))), PYTHON)
add("numpy_array_at_device_indices", "numpy makes an array of the indices.", NUMPY,
    lambda: tensor(np.arange(4)[torch.tensor([1, 2], device="cuda")]), PYTHON)
add("device_tensor_times_a_numpy_array", "numpy makes an array of the other factor.", NUMPY,
    lambda: tensor(cuda(3) * np.ones(3)), PYTHON)
add("numpy_of_a_copy_on_the_cpu", "As the message says.", allowed("cpu"), lambda: tensor(cuda(3).cpu().numpy()), COPY)
add("tensor_of_a_list_of_device_numbers", "Each is read.", allowed("cpu"),
    lambda: torch.tensor([number(), number()]), native("torch/csrc/utils/tensor_new.cpp", "recursive_store"))
add("tensor_of_a_device_tensor", "A copy beside it.", allowed(),
    lambda: torch.as_tensor(cuda(3)), native("torch/csrc/utils/tensor_new.cpp", "internal_new_from_data"))
add("python_number_of_a_device_tensor", "Reading is always allowed.", allowed("cpu"),
    lambda: torch.tensor([float(number()), cuda(1).item(), cuda(2).tolist()[0]]),
    native("aten/src/ATen/native/Scalar.cpp", "item"))
add("largest_of_device_numbers", "Python's `max`, `min` and `sorted` compare one with another and read the answer.",
    allowed(), lambda: max(sorted([number(), number()])), ITERATOR)

@row(allowed("cpu"), PYTHON)

def text_of_a_device_number() -> Tensor:
    """Formatting reads, too."""
    loss = torch.tensor(0.25, device="cuda")
    return torch.tensor(float(f"{loss:.2f}"))

add("device_tensor_from_numpy", "Into the device, any way that says so.", allowed(),
    lambda: torch.from_numpy(np.ones(3)).to("cuda"), PYTHON)

# pinned memory
add("pinning_a_device_tensor", "Only the host's memory can be pinned.",
    says("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"), lambda: cuda(3).pin_memory(),
    issue("unit8co/darts/issues/436"))
add("pinning_whole_numbers_of_the_device", "The type is named.",
    says("cannot pin 'torch.cuda.LongTensor' only dense CPU tensors can be pinned"),
    lambda: torch.zeros(3, dtype=torch.long, device="cuda").pin_memory(), issue("DavidWBressler/GCNN/issues/2"))
add("loader_that_pins_device_tensors", "A data set on the device, and `pin_memory=True`.",
    says("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"),
    lambda: next(iter(DataLoader(TensorDataset(cuda(4, 2)), batch_size=2, pin_memory=True)))[0],
    issue("scverse/scvi-tools/issues/1713"))
add("pinned_memory_asked_of_the_device", "When it is made.", says("Only dense CPU tensors can be pinned"),
    lambda: torch.empty(3, device="cuda", pin_memory=True), native("aten/src/ATen/cuda/EmptyTensor.cpp", "empty_cuda"))
add("pinning_a_cpu_tensor", "It stays on the CPU.", allowed("cpu"),
    lambda: torch.ones(3).pin_memory(), native("aten/src/ATen/native/Memory.cpp", "pin_memory"))
add("copy_without_waiting", "From memory that is not pinned, too.", allowed(),
    lambda: torch.ones(3).to("cuda", non_blocking=True), COPY)

# random numbers
add("device_numbers_from_a_cpu_generator", "Each device has its generators.", ONLY_CUDA,
    lambda: torch.randn(3, device="cuda", generator=torch.Generator()), GENERATOR)
add("device_permutation_from_a_cpu_generator", "Shuffling.", ONLY_CUDA,
    lambda: torch.randperm(3, device="cuda", generator=torch.Generator()), issue("NarcissusEx/CuNeRF/issues/8"))
add("cpu_numbers_from_a_device_generator", "The other way round.", ONLY_CPU,
    lambda: torch.randn(3, generator=torch.Generator("cuda")), issue("pytorch/pytorch/issues/98792"))
add("device_normal_in_place_from_a_cpu_generator", "In place.", ONLY_CUDA,
    lambda: torch.empty(3, device="cuda").normal_(generator=torch.Generator()), GENERATOR)
add("device_draws_from_a_cpu_generator", "Probabilities on the device.", ONLY_CUDA,
    lambda: torch.bernoulli(torch.full((3,), 0.5, device="cuda"), generator=torch.Generator()), GENERATOR)
add("device_numbers_from_a_device_generator", "As it should be.", allowed(),
    lambda: torch.rand(3, device="cuda", generator=torch.Generator("cuda").manual_seed(1)), GENERATOR)

@row(ONLY_CUDA, issue("pytorch/pytorch/issues/62152"))

def shuffling_loader_under_a_default_device() -> Tensor:
    """The sampler's generator is the CPU's, its permutation goes to the default device."""
    data = TensorDataset(torch.ones(4, 2, device="cpu"))
    torch.set_default_device("cuda")
    try:
        return next(iter(DataLoader(data, batch_size=2, shuffle=True)))[0]
    finally:
        torch.set_default_device(None)

@row(ONLY_CPU, issue("pytorch/pytorch/issues/98792"))

def loader_with_a_device_generator() -> Tensor:
    """Without a default device the permutation is the CPU's."""
    data = TensorDataset(torch.ones(4, 2))
    loader = DataLoader(data, batch_size=2, shuffle=True, generator=torch.Generator("cuda"))
    return next(iter(loader))[0]

@row(ONLY_CPU, PYTHON)

def data_split_by_a_device_generator() -> Tensor:
    """Indices are drawn on the CPU."""
    data = TensorDataset(torch.ones(4, 2))
    return random_split(data, [3, 1], generator=torch.Generator("cuda"))[0][0][0]

# names of devices

add("device_that_does_not_exist", "Fewer devices than the program thinks.",
    raises("RuntimeError", r"CUDA error: invalid device ordinal\b"), lambda: torch.ones(3).to("cuda:63"),
    issue("yandex-research/tab-ddpm/issues/20"))
add("device_called_gpu", "torch's name is cuda.",
    raises("RuntimeError", "Expected one of cpu, cuda, .* device type at start of device string: gpu"),
    lambda: torch.ones(3).to(torch.device("gpu")), SAME)
add("device_with_a_broken_number", "A number is what follows the colon.",
    raises("RuntimeError", r"Invalid device string: 'cuda:x'|invalid device string"),
    lambda: torch.ones(3, device="cuda:x"), SAME)
add("cuda_method_with_the_cpu", "`.cuda()` goes to CUDA.",
    raises("RuntimeError", "^Invalid device, must be cuda device$"), lambda: torch.ones(3).cuda("cpu"),
    native("tools/autograd/templates/python_variable_methods.cpp", "THPVariable_cuda"))
add("legacy_constructor_for_the_device", "`torch.Tensor` makes CPU tensors.",
    raises("RuntimeError", r"legacy constructor expects device type: cpu but device type: cuda was passed"),
    lambda: torch.Tensor(3, device="cuda"), native("torch/csrc/utils/tensor_new.cpp", "check_legacy_ctor_device"))
add("legacy_tensor_of_the_device", "Old programs choose a type.", allowed(),
    lambda: torch.cuda.FloatTensor([1.0, 2.0]), native("torch/csrc/tensor/python_tensor.cpp", "Tensor_new"))

@row(allowed(), native("tools/autograd/templates/python_variable_methods.cpp", "THPVariable_type"))

def legacy_type_of_the_device() -> Tensor:
    """Or change it."""
    changed: Any = torch.ones(2).type(torch.cuda.FloatTensor)
    return changed

# programs around a training
if importlib.util.find_spec("matplotlib"):

    @row(NUMPY, "matplotlib: it makes an array of what it is to draw")
    def matplotlib_line_of_a_device_tensor() -> Tensor:
        """A curve of something that is still on the device."""
        from matplotlib.figure import Figure

        return tensor(Figure().add_subplot().plot(cuda(3))[0].get_ydata())

if hasattr(os, "fork"):

    @row(raises("RuntimeError", "Cannot re-initialize CUDA in forked subprocess"), PYTHON)
    def data_set_that_uses_the_device_in_a_worker() -> Tensor:
        """A worker that is forked cannot use the device that its parent uses."""
        loader = DataLoader(InWorker(), num_workers=1, multiprocessing_context="fork")
        return next(iter(loader))

class InWorker(Dataset[Tensor]):
    """Each sample is moved when it is asked for."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Tensor:
        return torch.ones(3).to("cuda")
