"""DataParallel on two virtual devices, beyond the plain case of `test_threads`: buffers, autocast, what is gathered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import Tensor, nn, torch

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def devices() -> Iterator[Any]:
    with virtual_cuda.session(devices=2, same_numbers=True, quiet=True) as log:
        torch.manual_seed(0)
        yield log


def test_batch_normalization_counts_the_part_of_the_first_device() -> None:
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3)).cuda()
    x = torch.randn(6, 1, 5, 5, device="cuda")
    parts = [model[0](part) for part in x.chunk(2)]
    out = nn.DataParallel(model)(x)
    # Each device normalizes its own part, and only the first one's statistics are kept: its buffers are the model's.
    alone = nn.BatchNorm2d(3).cuda()
    assert torch.equal(out[:3], alone(parts[0]))
    for name, buffer in alone.named_buffers():
        assert torch.equal(getattr(model[1], name), buffer) and buffer.device == torch.device("cuda:0")
    assert torch.allclose(out[3:], nn.BatchNorm2d(3).cuda()(parts[1]), atol=1e-6)
    model.eval()
    assert torch.allclose(nn.DataParallel(model)(x), model(x), atol=1e-6)


def test_weights_go_over_packed_into_one_tensor_for_each_type_and_buffer(devices: Any) -> None:
    many = [torch.full((2, k + 1), float(k), device="cuda") for k in range(5)]
    many.insert(2, torch.arange(3, device="cuda"))
    with devices.step("all"):
        _, sent = torch.nn.parallel.comm.broadcast_coalesced(many, [0, 1])
    with devices.step("in buffers of 20 bytes"):
        torch.nn.parallel.comm.broadcast_coalesced(many, [0, 1], 20)
    assert [step.copies["device to device"] for step in devices.steps] == [2, 5]
    assert all(torch.equal(a.cpu(), b.cpu()) and b.device.index == 1 for a, b in zip(many, sent, strict=True))
    sent[0].add_(1)
    assert sent[1]._version == 0, "they share memory, not versions"


def test_a_region_reaches_the_threads_of_the_replicas() -> None:
    seen: list[Any] = []

    class Says(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            out = super().forward(x)
            seen.append((out.device.index, out.dtype))
            return out

    wrapped = nn.DataParallel(Says(4, 2).cuda())
    x = torch.ones(4, 4, device="cuda")
    with torch.autocast("cuda"):
        assert wrapped(x).dtype is torch.float16
    assert wrapped(x).dtype is torch.float32
    assert sorted(seen, key=str) == sorted(
        [(index, dtype) for index in (0, 1) for dtype in (torch.float16, torch.float32)], key=str
    )


def test_what_is_scattered_and_gathered_may_be_nested() -> None:
    class Nested(nn.Module):
        def forward(self, x: dict[str, Tensor], *, factor: float, more: list[Tensor]) -> dict[str, Any]:
            assert x["a"].device == more[0].device
            return {"product": x["a"] * factor, "both": (more[0], x["a"].sum())}

    x, more = torch.arange(4.0, device="cuda"), [torch.ones(4, 2, device="cuda")]
    with pytest.warns(UserWarning, match="Was asked to gather along dimension 0, but all input tensors were scalars"):
        out = nn.DataParallel(Nested())({"a": x}, factor=2.0, more=more)
    assert out["product"].tolist() == [0, 2, 4, 6] and out["both"][0].shape == (4, 2)
    assert out["both"][1].tolist() == [1, 5] and out["both"][1].device == torch.device("cuda:0")


def test_a_batch_of_one_stays_on_the_first_device_and_an_error_comes_from_its_replica() -> None:
    class Fails(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            if x.device.index == 1:
                raise ValueError("not here")
            return x

    wrapped = nn.DataParallel(Fails())
    assert wrapped(torch.ones(1, 2, device="cuda")).device == torch.device("cuda:0")
    with pytest.raises(ValueError, match=r"Caught ValueError in replica 1 on device 1(.|\n)*not here"):
        wrapped(torch.ones(2, 2, device="cuda"))


def test_a_replicas_parameters_may_not_meet_a_tensor_of_the_first_device() -> None:
    class Holds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = torch.ones(2, device="cuda:0")  # neither parameter nor buffer: it is not replicated

        def forward(self, x: Tensor) -> Tensor:
            return x * self.scale

    with pytest.raises(RuntimeError, match="found at least two devices, cuda:1 and cuda:0!"):
        nn.DataParallel(Holds())(torch.ones(2, 2, device="cuda"))
