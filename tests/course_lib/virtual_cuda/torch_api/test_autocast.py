"""autocast("cuda") in a program: its spellings and its state, the numbers of a training run, and what it saves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import F, Tensor, lazy, nn, torch

amp_ops = lazy("course_lib.virtual_cuda.torch_api.amp_ops")

ByHand, Network, Plain, Product = lazy("tests.course_lib.virtual_cuda.networks", "ByHand Network Plain Product")

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    with virtual_cuda.session(devices=2, same_numbers=True, quiet=True):
        torch.manual_seed(0)
        yield


def product(dtype: torch.dtype | None = None) -> Tensor:
    """An operator that runs in the region's dtype."""
    x = torch.ones(2, 2, device="cuda", dtype=dtype)
    return x @ x


SPELLINGS: dict[str, Callable[[], Any]] = {
    'torch.autocast("cuda")': lambda: torch.autocast("cuda"),
    "torch.autocast(device_type=)": lambda: torch.autocast(device_type="cuda", dtype=torch.float16),
    "torch.autocast(device.type)": lambda: torch.autocast(torch.device("cuda:1").type, enabled=True),
    'torch.autocast("cuda:1")': lambda: torch.autocast("cuda:1", torch.float16),
    'torch.autocast("cuda:0")': lambda: torch.autocast("cuda:0", dtype=torch.float16),
    "torch.amp.autocast": lambda: torch.amp.autocast("cuda"),
    "torch.cuda.amp.autocast": lambda: torch.cuda.amp.autocast(),
    "torch.cuda.amp.autocast(True)": lambda: torch.cuda.amp.autocast(True, torch.float16),
    "torch.cuda.amp.autocast_mode": lambda: torch.cuda.amp.autocast_mode.autocast(),
}


@pytest.mark.filterwarnings("ignore:.*torch.cuda.amp.autocast:FutureWarning")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_region_in_every_spelling_as_context_and_as_decorator(spelling: str) -> None:
    assert not torch.is_autocast_enabled("cuda")
    with SPELLINGS[spelling]():
        assert product().dtype is torch.float16
        assert torch.is_autocast_enabled("cuda") and torch.is_autocast_enabled()
    assert product().dtype is torch.float32
    assert SPELLINGS[spelling]()(product)().dtype is torch.float16
    assert not torch.is_autocast_enabled("cuda")


def test_the_old_spelling_warns_in_torchs_own_words() -> None:
    with pytest.warns(FutureWarning) as notes:
        torch.cuda.amp.autocast()
    assert [str(note.message) for note in notes] == [
        "`torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` instead."
    ]


def test_the_dtype_is_float16_unless_another_is_asked_for() -> None:
    assert torch.get_autocast_dtype("cuda") is torch.float16
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert torch.get_autocast_dtype("cuda") is torch.bfloat16 and product().dtype is torch.bfloat16
        with torch.autocast("cuda", dtype=torch.float16):
            assert product().dtype is torch.float16
        assert product().dtype is torch.bfloat16
    assert torch.get_autocast_dtype("cuda") is torch.float16
    torch.set_autocast_dtype("cuda", torch.bfloat16)
    try:
        with torch.autocast("cuda"):
            assert product().dtype is torch.bfloat16
    finally:
        torch.set_autocast_dtype("cuda", torch.float16)
    assert torch.cuda.is_bf16_supported() and torch.amp.is_autocast_available("cuda")


def test_a_region_inside_a_region_may_be_off() -> None:
    with torch.autocast("cuda"):
        with torch.autocast("cuda", enabled=False):
            assert not torch.is_autocast_enabled("cuda") and product().dtype is torch.float32
            with torch.autocast("cuda"):
                assert product().dtype is torch.float16
            with pytest.raises(RuntimeError, match="same dtype"):
                product() @ product(torch.float16)
        assert (product() @ product(torch.float16)).dtype is torch.float16


def test_an_exception_leaves_the_region() -> None:
    with pytest.raises(ZeroDivisionError), torch.autocast("cuda"), torch.autocast("cuda", enabled=False):
        _ = 1 / 0
    assert not torch.is_autocast_enabled("cuda") and product().dtype is torch.float32

    @torch.autocast("cuda")
    def shapes_do_not_fit() -> Tensor:
        return torch.ones(2, 3, device="cuda") @ torch.ones(2, 3, device="cuda")

    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        shapes_do_not_fit()
    assert product().dtype is torch.float32


def test_another_thread_is_in_no_region() -> None:
    found: list[torch.dtype] = []
    with torch.autocast("cuda"):
        thread = threading.Thread(target=lambda: found.append(product().dtype))
        thread.start()
        thread.join()
    assert found == [torch.float32]


@pytest.mark.parametrize("enabled", [True, False])
def test_a_weight_is_cast_once_in_a_region_unless_the_cache_is_off(enabled: bool) -> None:
    weight = torch.ones(3, 3, device="cuda", requires_grad=True)
    x = torch.ones(2, 3, device="cuda")
    with torch.autocast("cuda", cache_enabled=enabled):
        assert torch.is_autocast_cache_enabled() is enabled
        copies = {(x @ weight).grad_fn.next_functions[1][0] for _ in range(3)}  # type: ignore[union-attr]
    assert len(copies) == (1 if enabled else 3)
    with torch.autocast("cuda", cache_enabled=enabled):
        assert (x @ weight).grad_fn.next_functions[1][0] not in copies  # type: ignore[union-attr]


def test_a_weight_changed_between_regions_is_cast_anew() -> None:
    weight = torch.ones(2, 2, device="cuda", requires_grad=True)
    x = torch.ones(1, 2, device="cuda")
    for factor in (2.0, 4.0):
        with torch.autocast("cuda"):
            assert (x @ weight).tolist() == [[factor, factor]]
        with torch.no_grad():
            weight.mul_(2)


def test_a_region_for_the_cpu_leaves_the_device_alone() -> None:
    on_cpu = torch.ones(2, 2)
    with torch.autocast("cpu"):
        assert (on_cpu @ on_cpu).dtype is torch.bfloat16 and product().dtype is torch.float32
        with torch.autocast("cuda"):
            assert (on_cpu @ on_cpu).dtype is torch.bfloat16 and product().dtype is torch.float16
    with torch.autocast("cuda"):
        assert (on_cpu @ on_cpu).dtype is torch.float32


def test_binary_cross_entropy_is_refused_and_only_in_the_region() -> None:
    p, y = torch.rand(2, 3, device="cuda")
    for call in (F.binary_cross_entropy, nn.BCELoss()):
        with torch.autocast("cuda"), pytest.raises(RuntimeError) as refusal:
            call(p, y)
        assert str(refusal.value) == amp_ops.BANNED_TEXT
        with torch.autocast("cuda"), torch.autocast("cuda", enabled=False):
            assert torch.equal(call(p, y).cpu(), call(p.cpu(), y.cpu()))
    with torch.autocast("cuda"):
        assert F.binary_cross_entropy(p.cpu(), y.cpu()).dtype is torch.float32


def test_a_custom_function_with_and_without_inputs_cast() -> None:
    a = torch.randn(3, 3, device="cuda", dtype=torch.float16, requires_grad=True)
    b = torch.randn(3, 3, device="cuda", requires_grad=True)
    with torch.autocast("cuda"):
        out = Product.apply(a, b)
    assert out.dtype is torch.float32 and torch.equal(out, a.float() @ b)
    out.sum().backward()
    assert Product.seen == [(torch.float32, False)] * 2
    assert a.grad is not None and a.grad.dtype is torch.float16
    with torch.autocast("cuda"):
        out = Plain.apply(a, b)
    assert out.dtype is torch.float16
    out.sum().backward()
    assert Plain.seen == [(True, torch.float16)] and b.grad is not None and b.grad.dtype is torch.float32


def trained(model: nn.Module, device: str, lower: torch.dtype | None) -> tuple[list[float], list[Tensor]]:
    """Losses of thirty steps on batches that can be learned, and the parameters then."""
    torch.manual_seed(0)
    for module in model.children():
        module.reset_parameters()  # type: ignore[operator]
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    patterns, losses = torch.randn(3, 1, 6, 6), []
    for _ in range(30):
        y = torch.randint(3, (16,))
        x = patterns[y] + 0.5 * torch.randn(16, 1, 6, 6)
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=lower, enabled=lower is not None):
            loss = model(x.to(device), y.to(device))
        assert loss.dtype is torch.float32
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.detach().cpu() for p in model.parameters()]


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_a_training_run_has_the_losses_of_the_casts_written_by_hand(precision: str) -> None:
    lower = getattr(torch, precision)
    expected, parameters = trained(ByHand(lower), "cpu", None)
    found, ours = trained(Network(), "cuda", lower)
    assert found == pytest.approx(expected, abs=1e-4)
    for one, other in zip(ours, parameters, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    single, _ = trained(Network(), "cuda", None)
    assert found != single and found == pytest.approx(single, rel=0.2, abs=0.02)
    assert sum(found[-5:]) < 0.2 * sum(found[:5])


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_sums_are_rounded_once_at_the_end(precision: str) -> None:
    lower = getattr(torch, precision)
    x = torch.randn(200, 10).mul_(2).to(lower)
    picture, grid = torch.randn(2, 3, 5, 5).to(lower), (torch.rand(2, 4, 4, 2) * 2 - 1).to(lower)
    cases: list[tuple[str, Callable[..., Tensor], list[Tensor]]] = [
        ("log_softmax", lambda v: v.log_softmax(1), [x]),
        ("logit", lambda v: v.logit(0.1), [x.sigmoid()]),
        ("product", torch.mm, [x, x.T]),
        ("grid_sample", lambda v, g: F.grid_sample(v, g, align_corners=False), [picture, grid]),
        ("bicubic", lambda v: F.interpolate(v, scale_factor=2, mode="bicubic"), [picture]),
        ("adaptive pool", lambda v: F.adaptive_avg_pool3d(v, 2), [picture]),
    ]
    for name, call, given in cases:
        found = call(*[one.cuda() for one in given])
        assert torch.equal(found.cpu(), call(*[one.float() for one in given]).to(lower)), name


def test_parameters_gradients_and_optimizer_state_stay_float32() -> None:
    model = nn.Linear(4, 3).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    with torch.autocast("cuda"):
        out = model(torch.randn(5, 4, device="cuda"))
    assert out.dtype is torch.float16
    out.float().square().mean().backward()
    optimizer.step()
    for parameter in model.parameters():
        kept = [parameter, parameter.grad, *optimizer.state[parameter].values()]
        assert {one.dtype for one in kept if one is not None} == {torch.float32}


def test_a_number_beyond_the_range_is_infinite_and_a_small_one_zero() -> None:
    big = torch.full((2, 2), 300.0, device="cuda")
    with torch.autocast("cuda"):
        assert (big @ big).isinf().all()
        assert not ((big / 2) @ (big / 2)).isinf().any()
        assert not (big @ (big * 1e-12)).any()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert not (big @ big).isinf().any()


def test_activations_take_half_the_memory() -> None:
    layers = [layer for _ in range(8) for layer in (nn.Linear(64, 64), nn.ReLU())]
    model = nn.Sequential(*layers).cuda()
    x = torch.randn(4096, 64, device="cuda")

    def activations(lower: torch.dtype | None) -> int:
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        with torch.autocast("cuda", dtype=lower, enabled=lower is not None):
            out = model(x)
        kept = torch.cuda.memory_allocated() - before
        # One layer's input and output are there twice at the peak of the pass.
        assert kept <= torch.cuda.max_memory_allocated() - before <= 1.5 * kept
        del out
        assert torch.cuda.memory_allocated() == before
        return kept

    single = activations(None)
    assert single >= 8 * x.nbytes
    for lower in (torch.float16, torch.bfloat16):
        assert 0.45 < activations(lower) / single < 0.6
