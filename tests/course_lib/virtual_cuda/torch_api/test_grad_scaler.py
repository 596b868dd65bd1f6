"""GradScaler on the virtual devices. The oracle is torch's own scaler for the CPU, and the rule written out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import F, nn, torch

pytestmark = pytest.mark.slow


@pytest.fixture
def cuda() -> Iterator[Any]:
    with virtual_cuda.session(devices=2, same_numbers=True, quiet=True) as log:
        torch.manual_seed(0)
        yield log


def run(device: str, make: Callable[..., Any], optimizer: Callable[..., Any], clip: bool = False) -> list[Any]:
    """Twelve steps; the gradients of the third and the eighth overflow. What there is to see after each of them."""
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2)).to(device)
    steps, scaler = optimizer(model.parameters()), make(device, growth_interval=3, init_scale=2.0**8)
    seen: list[Any] = []
    for step in range(12):
        steps.zero_grad()
        loss = model(torch.randn(6, 5).to(device)).square().mean()
        scaler.scale(loss * (math.inf if step in (2, 7) else 1)).backward()
        if clip:
            scaler.unscale_(steps)
            seen.append(nn.utils.clip_grad_norm_(model.parameters(), 0.1, error_if_nonfinite=False))
        scaler.step(steps)
        scaler.update()
        seen += [scaler.get_scale(), scaler._growth_tracker, *(p.detach().clone() for p in model.parameters())]
    return seen


OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam, foreach": lambda p: torch.optim.Adam(p, lr=0.01, foreach=True),
    "Adam, fused": lambda p: torch.optim.Adam(p, lr=0.01, fused=True),
    "AdamW, fused": lambda p: torch.optim.AdamW(p, lr=0.01, fused=True),
    "SGD, fused": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, fused=True),
}


@pytest.mark.parametrize("clip", [False, True], ids=["", "clipped"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_scales_steps_and_skips_as_torchs_scaler_on_the_cpu(
    optimizer: str, clip: bool, same_numbers: Callable[..., None]
) -> None:
    same_numbers(lambda device: run(device, torch.amp.GradScaler, OPTIMIZERS[optimizer], clip))


def test_the_scale_halves_after_an_overflow_and_doubles_after_an_interval(cuda: Any) -> None:
    seen = run("cuda", torch.amp.GradScaler, OPTIMIZERS["SGD"])
    rows = [seen[n : n + 6] for n in range(0, len(seen), 6)]
    #                                   inf                      inf
    assert [math.log2(row[0]) for row in rows] == [8, 8, 7, 7, 7, 8, 8, 7, 7, 7, 8, 8]
    for step in (2, 7):
        assert all(torch.equal(a, b) for a, b in zip(rows[step][2:], rows[step - 1][2:], strict=True)), "was skipped"


@pytest.mark.filterwarnings("ignore:.*torch.cuda.amp.GradScaler:FutureWarning")
def test_both_spellings_and_a_scaler_that_is_off(cuda: Any) -> None:
    with pytest.warns(FutureWarning, match=r"`torch.cuda.amp.GradScaler\(args...\)` is deprecated"):
        old = torch.cuda.amp.GradScaler()
    new = torch.amp.GradScaler("cuda")
    assert old.is_enabled() and new.is_enabled() and old.state_dict() == new.state_dict()
    assert old.get_scale() == new.get_scale() == torch.amp.GradScaler().get_scale() == 2.0**16
    off = torch.amp.GradScaler("cuda", enabled=False)
    loss = torch.ones((), device="cuda")
    assert off.scale(loss) is loss and off.get_scale() == 1 and off.state_dict() == {}
    assert new.scale([loss, loss.to("cuda:1")])[1].device == torch.device("cuda:1")


def test_several_optimizers_skip_each_for_itself_and_share_the_scale(cuda: Any) -> None:
    one, other = (nn.Parameter(torch.ones(2, device="cuda")) for _ in range(2))
    optimizers = [torch.optim.SGD([p], lr=0.1) for p in (one, other)]
    scaler = torch.amp.GradScaler("cuda", init_scale=8.0)
    scaler.scale(one.sum()).backward()
    scaler.scale(other.sum() * math.inf).backward()
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()
    assert one.tolist() == pytest.approx([0.9, 0.9]) and other.tolist() == [1, 1]
    assert scaler.get_scale() == 4


@pytest.mark.parametrize("bad", [None, 0, 1])
def test_an_overflow_on_any_device_skips_the_step_on_all(bad: int | None, cuda: Any) -> None:
    parameters = [nn.Parameter(torch.ones(2, device=f"cuda:{index}")) for index in (0, 1)]
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    scaler = torch.amp.GradScaler("cuda", init_scale=8.0)
    for index, parameter in enumerate(parameters):
        scaler.scale(parameter.sum() * (math.inf if index == bad else 1.0)).backward()
    scaler.unscale_(optimizer)
    found = scaler._found_inf_per_device(optimizer)
    assert {device: (one.device, one.item()) for device, one in found.items()} == {
        torch.device("cuda", index): (torch.device("cuda", index), float(index == bad)) for index in (0, 1)
    }
    scaler.step(optimizer)
    scaler.update()
    for parameter in parameters:
        assert parameter.tolist() == pytest.approx([0.9, 0.9] if bad is None else [1, 1])
    assert scaler.get_scale() == (8 if bad is None else 4)


def test_the_scale_comes_down_until_the_gradients_of_a_float16_loss_fit(cuda: Any) -> None:
    model = nn.Sequential(nn.Linear(20, 50), nn.ReLU(), nn.Linear(50, 3)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**24)
    centers, losses, scales = 2 * torch.randn(3, 20), [], []
    for _ in range(40):
        y = torch.randint(3, (32,))
        x = centers[y] + torch.randn(32, 20)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda"):
            loss = F.cross_entropy(model(x.cuda()), y.cuda())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
        scales.append(scaler.get_scale())
    skipped = sum(b < a for a, b in zip([2.0**24, *scales], scales, strict=False))
    assert 1 <= skipped < 12 and scales[-1] == 2.0 ** (24 - skipped)
    assert all(map(math.isfinite, losses)) and sum(losses[-5:]) < 0.2 * sum(losses[:5])


def test_a_gradient_that_float16_cannot_hold_survives_by_its_scale(cuda: Any) -> None:
    weight = nn.Parameter(torch.ones(4, 4, device="cuda"))
    for scale, lost in ((1.0, True), (2.0**16, False)):
        weight.grad = None
        with torch.autocast("cuda"):
            out = torch.eye(4, device="cuda") @ weight
        (out.float().sum() * 1e-8 * scale).backward()
        assert weight.grad is not None and bool((weight.grad == 0).all()) is lost
        torch.testing.assert_close(
            weight.grad / scale, torch.full_like(weight, 0.0 if lost else 1e-8), rtol=1e-3, atol=0
        )


def test_a_step_waits_for_the_device_once_for_each_that_has_gradients(cuda: Any) -> None:
    parameter = nn.Parameter(torch.ones(2, device="cuda"))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(3):
        scaler.scale(parameter.sum()).backward()
        before = cuda.total("syncs")
        scaler.step(optimizer)
        assert cuda.total("syncs") - before == 1
        scaler.update()
        assert cuda.total("syncs") - before == 1
