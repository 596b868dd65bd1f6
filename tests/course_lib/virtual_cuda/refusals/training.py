"""Rows: gradients, optimizers, checkpoints: what a training program does besides computing."""

from __future__ import annotations

import copy
import io
import operator
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
row, add = table.row, table.add
# A row takes two lines or three; ruff would give each of its parts one.
# fmt: off
TYPES = "attempting to assign a gradient with device type '{}' to a tensor with device type '{}'."

def assigned(value: Tensor, gradient: Tensor) -> Tensor:
    """A parameter whose gradient was assigned."""
    parameter = nn.Parameter(value)
    parameter.grad = gradient
    return parameter

def gradient_of(value: Tensor, backward: Callable[[Tensor], None]) -> Any:
    """The gradient of a leaf after a backward pass."""
    backward(value.requires_grad_())
    return value.grad

add("cpu_gradient_assigned_to_a_device_parameter", "A gradient is where its parameter is.",
    says(TYPES.format("cpu", "cuda")), lambda: assigned(cuda(3), torch.ones(3)), VARIABLE)
add("device_gradient_assigned_to_a_cpu_parameter", "The other way round.", says(TYPES.format("cuda", "cpu")),
    lambda: assigned(torch.ones(3), cuda(3)), VARIABLE)
add("gradient_of_another_device_assigned", "Between two devices.",
    says("attempting to assign a gradient located on device with index '1'"),
    lambda: assigned(torch.ones(3, device="cuda:0"), torch.ones(3, device="cuda:1")), VARIABLE, devices=2)
add("device_gradient_assigned_to_a_device_parameter", "As it should be.", allowed(),
    lambda: assigned(cuda(3), cuda(3)).grad, VARIABLE)
add("backward_from_a_cpu_gradient", "The gradient that one begins with is where the output is.",
    says("invalid gradient at index 0 - expected device cuda:0 but got cpu"),
    lambda: gradient_of(cuda(3), lambda x: (x * 2).backward(torch.ones(3))), ENGINE)

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

add("backward_from_a_cpu_number", "But a number is moved there.", allowed(),
    lambda: gradient_of(cuda(3), lambda x: x.square().sum().backward(torch.tensor(1.0))), ENGINE)
add("gradient_through_a_copy_to_the_device", "A copy's gradient is copied back.", allowed("cpu"),
    lambda: gradient_of(torch.ones(3), lambda x: (x.cuda() * 2).sum().backward()), COPY)
add("gradient_through_a_copy_to_the_cpu", "In either direction.", allowed(),
    lambda: gradient_of(cuda(3), lambda x: (x.cpu() * 2).sum().backward()), COPY)
add("parameter_changed_in_place", "The same error as on the CPU.",
    raises("RuntimeError", "a leaf Variable that requires grad is being used in an in-place operation"),
    lambda: operator.iadd(nn.Parameter(cuda(3)), 1), SAME)
add("optimizer_of_a_copy", "A copy on the device is no parameter.",
    raises("ValueError", "can't optimize a non-leaf Tensor"),
    lambda: torch.optim.SGD([torch.ones(3, requires_grad=True).cuda()], lr=0.1), PYTHON)

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

add("adam_whose_step_is_on_the_cpu", "The number of steps is a CPU tensor beside state on the device.", allowed(),
    lambda: _stepped(torch.optim.Adam), PYTHON)
add("adam_one_parameter_at_a_time", "Without foreach.", allowed(),
    lambda: _stepped(torch.optim.Adam, foreach=False), PYTHON)

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

add("moving_average_kept_on_the_cpu", "A copy of the model that follows it from afar.", iterator(),
    lambda: torch.ones(3).mul_(0.9).add_(nn.Parameter(cuda(3)).detach(), alpha=0.1), ITERATOR)
add("vector_of_parameters_on_two_devices", "One layer stayed behind.",
    raises("TypeError", "Found two parameters on different devices, this is currently not supported"),
    lambda: nn.utils.parameters_to_vector([nn.Parameter(cuda(3)), nn.Parameter(torch.ones(3))]), PYTHON)
add("copy_of_a_model", "A deep copy is where the model is.", allowed(),
    lambda: copy.deepcopy(nn.Linear(2, 1).cuda()).weight, PYTHON)

# checkpoints
def loaded(model: nn.Linear, state: dict[str, Any]) -> nn.Linear:
    """The model, with the weights of another."""
    model.load_state_dict(state)
    return model

add("weights_loaded_from_the_cpu", "Loading copies.", allowed(),
    lambda: loaded(nn.Linear(2, 1).cuda(), nn.Linear(2, 1).state_dict()).weight, PYTHON)
add("weights_loaded_from_the_device", "In either direction.", allowed("cpu"),
    lambda: loaded(nn.Linear(2, 1), nn.Linear(2, 1).cuda().state_dict()).weight, PYTHON)

def _saved(value: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return buffer

add("checkpoint_of_the_device", "Tensors come back to where they were.", allowed(),
    lambda: torch.load(_saved({"weight": cuda(3)}))["weight"], PYTHON)
add("checkpoint_of_the_device_for_the_cpu", "Or to where they are wanted.", allowed("cpu"),
    lambda: torch.load(_saved(cuda(3)), map_location="cpu"), PYTHON)
add("checkpoint_of_the_cpu_for_the_device", "In either direction.", allowed(),
    lambda: torch.load(_saved(torch.ones(3)), map_location="cuda"), PYTHON)

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

add("checkpoint_for_a_device_that_does_not_exist", "Fewer devices than where it was saved.",
    raises("RuntimeError", r"Attempting to deserialize object on CUDA device 63 but torch\.cuda\.device_count\(\) is"),
    lambda: torch.load(_saved(cuda(3)), map_location="cuda:63"), PYTHON)
add("model_loaded_to_the_cpu_and_used_on_the_device", "Loading weights does not move a model.",
    generated("mat1", "cuda:0", "cpu", "addmm"),
    lambda: loaded(nn.Linear(2, 1), torch.load(_saved(nn.Linear(2, 1).cuda().state_dict())))(cuda(3, 2)), PYTHON)
add("data_parallel_of_a_cpu_model", "Replicas are made from the first device.",
    raises("RuntimeError", r"[Mm]odule must have its parameters and buffers on device cuda:0 \(device_ids\[0\]\)"),
    lambda: nn.DataParallel(nn.Linear(2, 1), device_ids=[0, 1])(cuda(4, 2)), PYTHON, devices=2)
add("packed_sequence_by_hand_on_the_device", "Sizes of batches belong to the host.",
    raises("ValueError", "batch_sizes should always be on CPU"),
    lambda: nn.utils.rnn.PackedSequence(cuda(3, 2), torch.tensor([2, 1], device="cuda")).data, PYTHON)
add("accumulating_cpu_values_at_indices", "Histograms by `index_put_`.",
    says("expected device cuda:0 but got device cpu for value tensor"),
    lambda: cuda(3).index_put_((torch.tensor([0, 0], device="cuda"),), torch.ones(2), accumulate=True),
    native("aten/src/ATen/native/TensorAdvancedIndexing.cpp", "_index_put_impl_"))
