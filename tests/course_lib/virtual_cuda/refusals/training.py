"""Rows: gradients, optimizers, checkpoints: what a training program does besides computing."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn

from tests.course_lib.virtual_cuda.refusals.cases import (
    COPY,
    ENGINE,
    ITERATOR,
    PYTHON,
    SAME,
    VARIABLE,
    Table,
    allowed,
    cuda,
    generated,
    issue,
    iterator,
    native,
    raises,
    says,
)

table = Table()
row = table.row
TYPES = "attempting to assign a gradient with device type '{}' to a tensor with device type '{}'."


@row(says(TYPES.format("cpu", "cuda")), VARIABLE)
def cpu_gradient_assigned_to_a_device_parameter() -> Tensor:
    """A gradient is where its parameter is."""
    parameter = nn.Parameter(cuda(3))
    parameter.grad = torch.ones(3)
    return parameter


@row(says(TYPES.format("cuda", "cpu")), VARIABLE)
def device_gradient_assigned_to_a_cpu_parameter() -> Tensor:
    """The other way round."""
    parameter = nn.Parameter(torch.ones(3))
    parameter.grad = cuda(3)
    return parameter


@row(says("attempting to assign a gradient located on device with index '1'"), VARIABLE, devices=2)
def gradient_of_another_device_assigned() -> Tensor:
    """Between two devices."""
    parameter = nn.Parameter(torch.ones(3, device="cuda:0"))
    parameter.grad = torch.ones(3, device="cuda:1")
    return parameter


@row(allowed(), VARIABLE)
def device_gradient_assigned_to_a_device_parameter() -> Tensor:
    """As it should be."""
    parameter = nn.Parameter(cuda(3))
    parameter.grad = cuda(3)
    return parameter.grad


@row(says("invalid gradient at index 0 - expected device cuda:0 but got cpu"), ENGINE)
def backward_from_a_cpu_gradient() -> Tensor:
    """The gradient that one begins with is where the output is."""
    parameter = cuda(3).requires_grad_()
    (parameter * 2).backward(torch.ones(3))
    return parameter


@row(
    raises("RuntimeError", "Function .*returned an invalid gradient at index 0 - expected device cuda:0 but got cpu"),
    ENGINE,
)
def own_function_with_a_cpu_gradient() -> Tensor:
    """A backward pass by hand that forgets the device."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, value: Tensor) -> Tensor:
            return value * 2

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Tensor:
            return torch.full(gradient.shape, 2.0)

    parameter = cuda(3).requires_grad_()
    Double.apply(parameter).sum().backward()
    return parameter


@row(allowed(), ENGINE)
def backward_from_a_cpu_number() -> Tensor:
    """But a number is moved there."""
    parameter = cuda(3).requires_grad_()
    parameter.square().sum().backward(torch.tensor(1.0))
    assert parameter.grad is not None
    return parameter.grad


@row(allowed("cpu"), COPY)
def gradient_through_a_copy_to_the_device() -> Tensor:
    """A copy's gradient is copied back."""
    parameter = torch.ones(3, requires_grad=True)
    (parameter.cuda() * 2).sum().backward()
    assert parameter.grad is not None
    return parameter.grad


@row(allowed(), COPY)
def gradient_through_a_copy_to_the_cpu() -> Tensor:
    """In either direction."""
    parameter = cuda(3).requires_grad_()
    (parameter.cpu() * 2).sum().backward()
    assert parameter.grad is not None
    return parameter.grad


@row(raises("RuntimeError", "a leaf Variable that requires grad is being used in an in-place operation"), SAME)
def parameter_changed_in_place() -> Tensor:
    """The same error as on the CPU."""
    parameter: Tensor = nn.Parameter(cuda(3))
    parameter += 1
    return parameter


@row(raises("ValueError", "can't optimize a non-leaf Tensor"), PYTHON)
def optimizer_of_a_copy() -> Tensor:
    """A copy on the device is no parameter."""
    copy = torch.ones(3, requires_grad=True).cuda()
    torch.optim.SGD([copy], lr=0.1)
    return copy


@row(allowed(), PYTHON)
def optimizer_made_before_the_model_is_moved() -> Tensor:
    """Parameters keep their identity."""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.cuda()
    model(cuda(3, 2)).sum().backward()
    before = model.weight.detach().clone()
    optimizer.step()
    assert not torch.equal(before, model.weight)
    return model.weight


def _stepped(make: Callable[..., torch.optim.Optimizer], **settings: Any) -> Tensor:
    """A parameter on the device after two steps."""
    parameter = nn.Parameter(cuda(3))
    optimizer = make([parameter], lr=0.1, **settings)
    for _ in range(2):
        optimizer.zero_grad()
        parameter.square().sum().backward()
        optimizer.step()
    return parameter


@row(allowed(), PYTHON)
def adam_whose_step_is_on_the_cpu() -> Tensor:
    """The number of steps is a CPU tensor beside state on the device."""
    return _stepped(torch.optim.Adam)


@row(allowed(), PYTHON)
def adam_one_parameter_at_a_time() -> Tensor:
    """Without foreach."""
    return _stepped(torch.optim.Adam, foreach=False)


@row(iterator(), ITERATOR)
def optimizer_state_left_on_the_cpu() -> Tensor:
    """The model moved after the first step, the momentum did not."""
    parameter = nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([parameter], lr=0.1, momentum=0.9, foreach=False)
    parameter.square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    parameter.data = parameter.data.cuda()
    parameter.square().sum().backward()
    optimizer.step()
    return parameter


@row(allowed(), PYTHON)
def optimizer_state_loaded_from_the_cpu() -> Tensor:
    """`load_state_dict` puts the state where the parameters are."""
    first = nn.Parameter(torch.ones(3))
    one = torch.optim.SGD([first], lr=0.1, momentum=0.9)
    first.square().sum().backward()
    one.step()
    second = nn.Parameter(cuda(3))
    other = torch.optim.SGD([second], lr=0.1, momentum=0.9)
    other.load_state_dict(one.state_dict())
    second.square().sum().backward()
    other.step()
    return other.state[second]["momentum_buffer"]


@row(allowed(), PYTHON)
def clipping_gradients_on_two_devices() -> Tensor:
    """Norms are gathered on the first parameter's device."""
    parameters = [nn.Parameter(cuda(3)), nn.Parameter(torch.ones(3))]
    for parameter in parameters:
        parameter.square().sum().backward()
    return nn.utils.clip_grad_norm_(parameters, 1.0)


@row(iterator(), ITERATOR)
def moving_average_kept_on_the_cpu() -> Tensor:
    """A copy of the model that follows it from afar."""
    average, parameter = torch.ones(3), nn.Parameter(cuda(3))
    return average.mul_(0.9).add_(parameter.detach(), alpha=0.1)


@row(raises("TypeError", "Found two parameters on different devices, this is currently not supported"), PYTHON)
def vector_of_parameters_on_two_devices() -> Tensor:
    """One layer stayed behind."""
    return nn.utils.parameters_to_vector([nn.Parameter(cuda(3)), nn.Parameter(torch.ones(3))])


@row(allowed(), PYTHON)
def copy_of_a_model() -> Tensor:
    """A deep copy is where the model is."""
    return copy.deepcopy(nn.Linear(2, 1).cuda()).weight


# -- checkpoints -----------------------------------------------------------------------------------------------------


@row(allowed(), PYTHON)
def weights_loaded_from_the_cpu() -> Tensor:
    """Loading copies."""
    model = nn.Linear(2, 1).cuda()
    model.load_state_dict(nn.Linear(2, 1).state_dict())
    return model.weight


@row(allowed("cpu"), PYTHON)
def weights_loaded_from_the_device() -> Tensor:
    """In either direction."""
    model = nn.Linear(2, 1)
    model.load_state_dict(nn.Linear(2, 1).cuda().state_dict())
    return model.weight


def _saved(value: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return buffer


@row(allowed(), PYTHON)
def checkpoint_of_the_device() -> Tensor:
    """Tensors come back to where they were."""
    return torch.load(_saved({"weight": cuda(3)}))["weight"]


@row(allowed("cpu"), PYTHON)
def checkpoint_of_the_device_for_the_cpu() -> Tensor:
    """Or to where they are wanted."""
    return torch.load(_saved(cuda(3)), map_location="cpu")


@row(allowed(), PYTHON)
def checkpoint_of_the_cpu_for_the_device() -> Tensor:
    """In either direction."""
    return torch.load(_saved(torch.ones(3)), map_location="cuda")


@row(
    raises(
        "RuntimeError", r"Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False"
    ),
    issue("hkchengrex/Cutie/issues/37"),
)
def checkpoint_of_the_device_without_one() -> Tensor:
    """A laptop, without `map_location`."""
    saved = _saved(cuda(3))
    with mock.patch("torch.cuda.is_available", return_value=False):
        return torch.load(saved)


@row(
    raises("RuntimeError", r"Attempting to deserialize object on CUDA device 63 but torch\.cuda\.device_count\(\) is"),
    PYTHON,
)
def checkpoint_for_a_device_that_does_not_exist() -> Tensor:
    """Fewer devices than where it was saved."""
    return torch.load(_saved(cuda(3)), map_location="cuda:63")


@row(generated("mat1", "cuda:0", "cpu", "wrapper_CUDA_addmm"), PYTHON)
def model_loaded_to_the_cpu_and_used_on_the_device() -> Tensor:
    """Loading weights does not move a model."""
    model = nn.Linear(2, 1)
    model.load_state_dict(torch.load(_saved(nn.Linear(2, 1).cuda().state_dict())))
    return model(cuda(3, 2))


@row(
    raises("RuntimeError", r"[Mm]odule must have its parameters and buffers on device cuda:0 \(device_ids\[0\]\)"),
    PYTHON,
    devices=2,
)
def data_parallel_of_a_cpu_model() -> Tensor:
    """Replicas are made from the first device."""
    return nn.DataParallel(nn.Linear(2, 1), device_ids=[0, 1])(cuda(4, 2))


@row(raises("ValueError", "batch_sizes should always be on CPU"), PYTHON)
def packed_sequence_by_hand_on_the_device() -> Tensor:
    """Sizes of batches belong to the host."""
    return nn.utils.rnn.PackedSequence(cuda(3, 2), torch.tensor([2, 1], device="cuda")).data


@row(
    says("expected device cuda:0 but got device cpu for value tensor"),
    native("aten/src/ATen/native/TensorAdvancedIndexing.cpp", "_index_put_impl_"),
)
def accumulating_cpu_values_at_indices() -> Tensor:
    """Histograms by `index_put_`."""
    target = torch.zeros(3, device="cuda")
    return target.index_put_((torch.tensor([0, 0], device="cuda"),), torch.ones(2), accumulate=True)
