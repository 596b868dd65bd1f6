"""The one verb of the wire on the student's modules, optimizers, datasets and generators, in a real kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autograder.errors import BadReply, StudentError
from autograder.judge.student import KernelSide
from autograder.kernels.replay import StudentKernel
from autograder.kernels.session import Kernel
from autograder.kernels.zygote import Zygote
from autograder.protocol.wire import Handle, Tensor
from autograder.records import Limits, PlannedCell, SubmittedNotebook

pytestmark = pytest.mark.slow

STUDENT = """
import torch
from torch import nn
from torch.utils.data import Dataset

class Net(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, 1, bias=False)
    def forward(self, x):
        return self.second(torch.relu(self.first(x)))

class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr, beta):
        super().__init__(params, dict(lr=lr, beta=beta))
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                v = self.state[p].setdefault("v", torch.zeros_like(p))
                v.mul_(group["beta"]).add_(p.grad)
                p.sub_(group["lr"] * v)

class Squares(Dataset):
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i):
        if not 0 <= i < self.n: raise IndexError(i)
        return torch.tensor([float(i)]), i * i

def clip_in_place(gradients, limit):
    for g in gradients: g.clamp_(-limit, limit)
"""


@pytest.fixture(scope="module")
def side(torch_zygote: Zygote) -> Iterator[KernelSide]:
    limits = Limits(cell_s=30, notebook_s=200, memory_bytes=1 << 30)
    plan = (PlannedCell(STUDENT, "student", "net"),)
    student = StudentKernel(lambda: Kernel(torch_zygote, limits), SubmittedNotebook("n", plan))
    with contextlib.closing(student):  # a kernel left open hangs the test worker when it ends
        student.run()
        assert student.runs[0].error == ""
        yield KernelSide(student)


def build_net(ns: Any, inputs: int, hidden: int, state: Any) -> Any:
    net = ns.Net(inputs, hidden)
    net.load_state_dict(state)
    return ns.keep(net)


def forward_and_gradients(ns: Any, net: Any, x: Any) -> Any:
    net.zero_grad()
    out = net(x)
    out.sum().backward()
    return out, {name: p.grad for name, p in net.named_parameters()}, x.grad


def state_of(ns: Any, net: Any) -> Any:
    return dict(net.state_dict()), {n: tuple(p.shape) for n, p in net.named_parameters()}


def trajectory(ns: Any, start: Any, gradients: Any, lr: float, beta: float) -> Any:
    import torch

    p = torch.nn.Parameter(start)
    optimizer = ns.Momentum([p], lr=lr, beta=beta)
    steps = []
    for gradient in gradients:
        p.grad = gradient.clone()
        optimizer.step()
        steps.append(p.detach().clone())
    return steps


def batches(ns: Any, n: int, size: int) -> Any:
    from torch.utils.data import DataLoader

    data = ns.Squares(n)
    return len(data), data[2], [batch for batch in DataLoader(data, batch_size=size)]


def beyond_the_end(ns: Any, n: int) -> Any:
    return ns.Squares(n)[n]


def clip(ns: Any, gradients: Any, limit: float) -> None:
    ns.clip_in_place(gradients, limit)


def tensor(array: Any, dtype: str = "float32", **facts: Any) -> Tensor:
    return Tensor(np.asarray(array, dtype=dtype), "torch", dtype, **facts)


RNG = np.random.default_rng(0)
SHAPES = {"first.weight": (3, 2), "first.bias": (3,), "second.weight": (1, 3)}
STATE = {name: RNG.normal(size=shape).astype("float32") for name, shape in SHAPES.items()}
X = RNG.normal(size=(4, 2)).astype("float32")


def made(side: KernelSide) -> Handle:
    handle = side.run(build_net, inputs=2, hidden=3, state={k: tensor(v) for k, v in STATE.items()})
    assert isinstance(handle, Handle) and handle.type_name == "Net"
    return handle


def test_a_modules_forward_and_gradients_are_those_of_a_numpy_oracle(side: KernelSide) -> None:
    out, gradients, dx = side.run(forward_and_gradients, net=made(side), x=tensor(X, requires_grad=True))
    hidden = X @ STATE["first.weight"].T + STATE["first.bias"]
    dhidden = (hidden > 0) * STATE["second.weight"]
    assert (out.framework, out.dtype, out.requires_grad, out.array.shape) == ("torch", "float32", True, (4, 1))
    np.testing.assert_allclose(out.array, np.maximum(hidden, 0) @ STATE["second.weight"].T, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(gradients["first.weight"].array, dhidden.T @ X, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gradients["first.bias"].array, dhidden.sum(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dx.array, dhidden @ STATE["first.weight"], rtol=1e-4, atol=1e-5)


def test_a_modules_state_comes_back_as_it_was_sent(side: KernelSide) -> None:
    state, shapes = side.run(state_of, net=made(side))
    assert shapes == SHAPES
    assert {k: v.array.tolist() for k, v in state.items()} == {k: v.tolist() for k, v in STATE.items()}


def test_a_module_outlives_the_call_and_is_gone_once_released(side: KernelSide) -> None:
    handle = made(side)
    first = side.run(forward_and_gradients, net=handle, x=tensor(X))[0]
    second = side.run(forward_and_gradients, net=handle, x=tensor(X))[0]
    assert first.array.tolist() == second.array.tolist()
    side.release([handle.number])
    with pytest.raises(BadReply, match="behind a handle is gone"):
        side.run(state_of, net=handle)


def test_an_optimizers_trajectory_is_that_of_a_numpy_oracle(side: KernelSide) -> None:
    start = np.array([1.0, -2.0], dtype="float64")
    gradients = [RNG.normal(size=2) for _ in range(5)]
    sent = [tensor(g, "float64") for g in gradients]
    steps = side.run(trajectory, start=tensor(start, "float64"), gradients=sent, lr=0.1, beta=0.9)
    p, v, wanted = start, np.zeros(2), []
    for gradient in gradients:
        v = 0.9 * v + gradient
        p = p - 0.1 * v
        wanted.append(p)
    assert len(steps) == 5 and steps[0].dtype == "float64"
    np.testing.assert_allclose([s.array for s in steps], wanted, rtol=1e-12)


def test_a_dataset_answers_by_length_by_index_and_through_a_loader(side: KernelSide) -> None:
    length, (x, y), loaded = side.run(batches, n=5, size=2)
    assert length == 5 and x.array.tolist() == [2.0] and y == 4
    got = [(bx.array.ravel().tolist(), by.array.tolist()) for bx, by in loaded]
    assert got == [([0, 1], [0, 1]), ([2, 3], [4, 9]), ([4], [16])]
    with pytest.raises(StudentError, match="IndexError: 5"):
        side.run(beyond_the_end, n=5)


def test_tensors_changed_in_place_are_seen_afterwards(side: KernelSide) -> None:
    gradients = [tensor([5.0, -0.5]), tensor([[-9.0]])]
    side.run(clip, gradients=gradients, limit=1.0)
    after = side.calls[-1].after["gradients"]
    assert [g.array.tolist() for g in after] == [[1.0, -0.5], [[-1.0]]]
    assert gradients[0].array.tolist() == [5.0, -0.5], "the judge's own is as it was"


def look_around(ns: Any) -> Any:
    import os
    import sys

    ours = ("autograder.judge", "autograder.grading", "checks", "_pytest")
    return [n for n in sys.modules if n.startswith(ours)] + [n for n in os.environ if "AUTOGRADER" in n]


def test_a_probe_sees_no_module_of_the_judge_and_no_check(side: KernelSide) -> None:
    assert side.run(look_around) == []
