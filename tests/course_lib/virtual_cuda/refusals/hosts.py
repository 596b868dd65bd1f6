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
row = table.row
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


@row(NUMPY, TO_NUMPY)
def numpy_of_a_device_tensor() -> Tensor:
    """Memory of the device is not the host's."""
    return tensor(cuda(3).numpy())


@row(NUMPY, TO_NUMPY)
def numpy_of_a_device_tensor_that_requires_grad() -> Tensor:
    """The device is checked before the graph."""
    return tensor(cuda(3).requires_grad_().numpy())


@row(says("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."), TO_NUMPY)
def numpy_of_a_copy_that_requires_grad() -> Tensor:
    """After `.cpu()` it is the graph's turn."""
    return tensor(cuda(3).requires_grad_().cpu().numpy())


@row(allowed("cpu"), TO_NUMPY)
def numpy_by_force() -> Tensor:
    """`force=True` does all of it."""
    return tensor(cuda(3).requires_grad_().numpy(force=True))


@row(NUMPY, PYTHON)
def asarray_of_a_device_tensor() -> Tensor:
    """numpy asks the tensor."""
    return tensor(np.asarray(cuda(3)))


@row(NUMPY, PYTHON)
def array_of_device_losses() -> Tensor:
    """A list of losses that were never read."""
    return tensor(np.array([number(), number()]))


@row(NUMPY, PYTHON)
def numpy_function_of_a_device_tensor() -> Tensor:
    """Any function of numpy's."""
    return tensor(np.sqrt(cuda(3)))


@row(NUMPY, PYTHON)
def numpy_sum_with_a_device_tensor() -> Tensor:
    """With an array beside it."""
    return tensor(np.add(np.ones(3), cuda(3)))


@row(NUMPY, PYTHON)
def numpy_array_at_device_indices() -> Tensor:
    """numpy makes an array of the indices."""
    return tensor(np.arange(4)[torch.tensor([1, 2], device="cuda")])


@row(NUMPY, PYTHON)
def device_tensor_times_a_numpy_array() -> Tensor:
    """numpy makes an array of the other factor."""
    return tensor(cuda(3) * np.ones(3))


@row(allowed("cpu"), COPY)
def numpy_of_a_copy_on_the_cpu() -> Tensor:
    """As the message says."""
    return tensor(cuda(3).cpu().numpy())


@row(allowed("cpu"), native("torch/csrc/utils/tensor_new.cpp", "recursive_store"))
def tensor_of_a_list_of_device_numbers() -> Tensor:
    """Each is read."""
    return torch.tensor([number(), number()])


@row(allowed(), native("torch/csrc/utils/tensor_new.cpp", "internal_new_from_data"))
def tensor_of_a_device_tensor() -> Tensor:
    """A copy beside it."""
    return torch.as_tensor(cuda(3))


@row(allowed("cpu"), native("aten/src/ATen/native/Scalar.cpp", "item"))
def python_number_of_a_device_tensor() -> Tensor:
    """Reading is always allowed."""
    return torch.tensor([float(number()), cuda(1).item(), cuda(2).tolist()[0]])


@row(allowed(), ITERATOR)
def largest_of_device_numbers() -> Tensor:
    """Python's `max`, `min` and `sorted` compare one with another and read the answer."""
    return max(sorted([number(), number()]))


@row(allowed("cpu"), PYTHON)
def text_of_a_device_number() -> Tensor:
    """Formatting reads, too."""
    loss = torch.tensor(0.25, device="cuda")
    return torch.tensor(float(f"{loss:.2f}"))


@row(allowed(), PYTHON)
def device_tensor_from_numpy() -> Tensor:
    """Into the device, any way that says so."""
    return torch.from_numpy(np.ones(3)).to("cuda")


# -- pinned memory ---------------------------------------------------------------------------------------------------


@row(
    says("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"), issue("unit8co/darts/issues/436")
)
def pinning_a_device_tensor() -> Tensor:
    """Only the host's memory can be pinned."""
    return cuda(3).pin_memory()


@row(
    says("cannot pin 'torch.cuda.LongTensor' only dense CPU tensors can be pinned"),
    issue("DavidWBressler/GCNN/issues/2"),
)
def pinning_whole_numbers_of_the_device() -> Tensor:
    """The type is named."""
    return torch.zeros(3, dtype=torch.long, device="cuda").pin_memory()


@row(
    says("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"),
    issue("scverse/scvi-tools/issues/1713"),
)
def loader_that_pins_device_tensors() -> Tensor:
    """A data set on the device, and `pin_memory=True`."""
    return next(iter(DataLoader(TensorDataset(cuda(4, 2)), batch_size=2, pin_memory=True)))[0]


@row(says("Only dense CPU tensors can be pinned"), native("aten/src/ATen/cuda/EmptyTensor.cpp", "empty_cuda"))
def pinned_memory_asked_of_the_device() -> Tensor:
    """When it is made."""
    return torch.empty(3, device="cuda", pin_memory=True)


@row(allowed("cpu"), native("aten/src/ATen/native/Memory.cpp", "pin_memory"))
def pinning_a_cpu_tensor() -> Tensor:
    """It stays on the CPU."""
    return torch.ones(3).pin_memory()


@row(allowed(), COPY)
def copy_without_waiting() -> Tensor:
    """From memory that is not pinned, too."""
    return torch.ones(3).to("cuda", non_blocking=True)


# -- random numbers --------------------------------------------------------------------------------------------------


@row(ONLY_CUDA, GENERATOR)
def device_numbers_from_a_cpu_generator() -> Tensor:
    """Each device has its generators."""
    return torch.randn(3, device="cuda", generator=torch.Generator())


@row(ONLY_CUDA, issue("NarcissusEx/CuNeRF/issues/8"))
def device_permutation_from_a_cpu_generator() -> Tensor:
    """Shuffling."""
    return torch.randperm(3, device="cuda", generator=torch.Generator())


@row(ONLY_CPU, issue("pytorch/pytorch/issues/98792"))
def cpu_numbers_from_a_device_generator() -> Tensor:
    """The other way round."""
    return torch.randn(3, generator=torch.Generator("cuda"))


@row(ONLY_CUDA, GENERATOR)
def device_normal_in_place_from_a_cpu_generator() -> Tensor:
    """In place."""
    return torch.empty(3, device="cuda").normal_(generator=torch.Generator())


@row(ONLY_CUDA, GENERATOR)
def device_draws_from_a_cpu_generator() -> Tensor:
    """Probabilities on the device."""
    return torch.bernoulli(torch.full((3,), 0.5, device="cuda"), generator=torch.Generator())


@row(allowed(), GENERATOR)
def device_numbers_from_a_device_generator() -> Tensor:
    """As it should be."""
    return torch.rand(3, device="cuda", generator=torch.Generator("cuda").manual_seed(1))


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


# -- names of devices ------------------------------------------------------------------------------------------------


@row(
    raises("RuntimeError", r"CUDA error: invalid device ordinal\b"),
    issue("yandex-research/tab-ddpm/issues/20"),
)
def device_that_does_not_exist() -> Tensor:
    """Fewer devices than the program thinks."""
    return torch.ones(3).to("cuda:63")


@row(raises("RuntimeError", "Expected one of cpu, cuda, .* device type at start of device string: gpu"), SAME)
def device_called_gpu() -> Tensor:
    """torch's name is cuda."""
    return torch.ones(3).to(torch.device("gpu"))


@row(raises("RuntimeError", r"Invalid device string: 'cuda:x'|invalid device string"), SAME)
def device_with_a_broken_number() -> Tensor:
    """A number is what follows the colon."""
    return torch.ones(3, device="cuda:x")


@row(
    raises("RuntimeError", "^Invalid device, must be cuda device$"),
    native("tools/autograd/templates/python_variable_methods.cpp", "THPVariable_cuda"),
)
def cuda_method_with_the_cpu() -> Tensor:
    """`.cuda()` goes to CUDA."""
    return torch.ones(3).cuda("cpu")


@row(
    raises("RuntimeError", r"legacy constructor expects device type: cpu but device type: cuda was passed"),
    native("torch/csrc/utils/tensor_new.cpp", "check_legacy_ctor_device"),
)
def legacy_constructor_for_the_device() -> Tensor:
    """`torch.Tensor` makes CPU tensors."""
    return torch.Tensor(3, device="cuda")


@row(allowed(), native("torch/csrc/tensor/python_tensor.cpp", "Tensor_new"))
def legacy_tensor_of_the_device() -> Tensor:
    """Old programs choose a type."""
    return torch.cuda.FloatTensor([1.0, 2.0])


@row(allowed(), native("tools/autograd/templates/python_variable_methods.cpp", "THPVariable_type"))
def legacy_type_of_the_device() -> Tensor:
    """Or change it."""
    changed: Any = torch.ones(2).type(torch.cuda.FloatTensor)
    return changed


# -- programs around a training --------------------------------------------------------------------------------------


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
