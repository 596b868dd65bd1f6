"""The recorder for a real GPU notes the same events as the virtual device's log.

No GPU is needed: torch's FakeTensor dispatches the operators that a CUDA tensor would, without data, so a program on
fake CUDA tensors stands for one on a GPU; and what needs data is compared on the virtual device itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from course_lib import virtual_cuda
from course_lib.virtual_cuda import Log
from course_lib.virtual_cuda.core.patches import Patches
from tests.course_lib.virtual_cuda.lazy import lazy, nn, torch

FakeTensorMode = lazy("torch._subclasses.fake_tensor", "FakeTensorMode")
ShapeEnv = lazy("torch.fx.experimental.symbolic_shapes", "ShapeEnv")
GpuMemory, _keep_peaks = lazy("course_lib.virtual_cuda.torch_api.watcher", "GpuMemory _keep_peaks")

pytestmark = pytest.mark.slow


@contextmanager
def like_a_gpu() -> Iterator[Log]:
    shapes = ShapeEnv(allow_scalar_outputs=True, allow_dynamic_output_shape_ops=True)
    with FakeTensorMode(shape_env=shapes, allow_non_fake_inputs=True), virtual_cuda.observe() as log:
        yield log


def events(log: Log) -> dict[str, Any]:
    """What must be equal: everything but times, and memory, which the virtual device alone has here."""
    return {
        "copies": [(c.source, c.target, c.nbytes, c.blocking, c.non_blocking, c.where, c.step) for c in log.copies],
        "syncs": [(s.what, s.where, s.step) for s in log.syncs],
        "launches": log.launches,
        "steps": [(s.name, s.number, s.copies, s.nbytes, s.syncs, s.waiting_copies, s.launches) for s in log.steps],
        "counts": log.counts,
        "bytes": log.nbytes,
    }


def classifier(log: Log) -> None:
    """Forward passes of a small network, its losses read in different ways."""
    model = nn.Sequential(nn.Linear(3, 8, device="cuda"), nn.ReLU(), nn.Linear(8, 2, device="cuda"))
    labels = torch.tensor([1, 0, 1, 1], device="cuda")
    for _ in range(3):
        with log.step():
            batch = torch.randn(4, 3).to("cuda")
            log.mark("forward")
            loss = nn.functional.cross_entropy(model(batch), labels)
            log.mark("read")
            loss.item()
            loss.cpu()


def convolutions(log: Log) -> None:
    """A small image network, at once with a dtype and a device."""
    images = torch.zeros(2, 3, 8, 8, dtype=torch.uint8)
    images.to("cuda", torch.float16, non_blocking=True).to("cpu", torch.float64, non_blocking=True)
    x = images.to("cuda", torch.float32)
    x.to("cpu", torch.float64)
    x = nn.functional.max_pool2d(nn.Conv2d(3, 4, 3, device="cuda")(x).relu(), 2)
    x.flatten(1).softmax(1).argmax(1).cpu()


def reads(log: Log) -> None:
    """Reads whose result's shape depends on the data, and printing."""
    x = torch.randn(4, 3).cuda()
    x[x > 0]
    x.nonzero()
    x.masked_select(x > 0)
    repr(x)
    torch.unique(x)
    x[x > 1] = 0.0
    x[torch.tensor([0, 2])]


def transfers(log: Log) -> None:
    """Copies that write into what is there, and such as are not waited for."""
    x = torch.ones(4, 3).cuda()
    host = torch.empty(4, 3)
    host.copy_(x)
    x.copy_(host)
    x.to("cpu", non_blocking=True)
    torch.ones(5).to("cuda", non_blocking=True)
    torch._foreach_copy_([host, torch.empty(4, 3)], [x, x])
    x.clone(), x.double(), x.to("cuda"), x.cpu().cpu()
    torch.as_tensor([1.0, 2.0], device="cuda")
    torch.zeros(3, device="cuda")


def inference(log: Log) -> None:
    """Without autograd torch dispatches composite operators whole."""
    model = nn.Linear(3, 2, device="cuda")
    with torch.inference_mode():
        out = model(torch.randn(4, 3).to("cuda"))
        out.sum().item()
        out.cpu()


@pytest.mark.parametrize("program", [classifier, convolutions, reads, transfers, inference])
def test_a_watched_gpu_and_the_virtual_device_tell_the_same(program: Callable[[Log], None]) -> None:
    if not torch.backends.cuda.is_built():
        pytest.skip("FakeTensor cannot play a GPU for this build")
    with virtual_cuda.session(quiet=True, force=True) as virtual:
        program(virtual)
    with like_a_gpu() as watched:
        program(watched)
    assert events(watched) == events(virtual)
    assert virtual.copies and virtual.launches


def test_what_needs_data_and_backward_passes_are_noted_alike() -> None:
    """Both recorders at the same time, on tensors of the virtual device; nothing is copied after the beginning."""
    with virtual_cuda.session(quiet=True, force=True) as virtual, virtual_cuda.observe() as watched:
        model = nn.Sequential(nn.Linear(3, 8, device="cuda"), nn.ReLU(), nn.Linear(8, 2, device="cuda"))
        x, y = torch.randn(4, 3, device="cuda"), torch.zeros(4, dtype=torch.long, device="cuda")
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            loss.item()
        loss = loss.detach()
        x.tolist(), repr(x), float(loss), bool(loss > 0), f"{loss:.2f}", torch.equal(x, x)
        torch.cuda.synchronize()
    one, other = events(watched), events(virtual)
    for kind in ("syncs", "launches"):
        assert one[kind] == other[kind]
    assert len(virtual.syncs) == 9 and virtual.launches


def test_what_torch_reads_to_print_a_tensor_is_one_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_reading(tensor: Any) -> str:  # as torch's own does where there is data
        tensor.nonzero(), tensor.masked_select(tensor > 0)
        return "tensor"

    monkeypatch.setattr(torch.Tensor, "__repr__", by_reading)
    with like_a_gpu() as log:
        x = torch.ones(3, device="cuda")
        log.clear()
        torch.Tensor.__repr__(x)
    assert [one.what for one in log.syncs] == ["print"]


def test_threads_are_watched_as_well() -> None:
    import threading

    with like_a_gpu() as log:
        x = torch.ones(3, device="cuda")
        log.clear()

        def work() -> None:
            x + 1

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert log.launches == {torch.ops.aten.add.Tensor: 1}


def test_watching_changes_nothing_and_leaves_nothing_behind() -> None:
    import threading

    watched = (
        (torch.Tensor, "tolist"),
        (torch.Tensor, "__repr__"),
        (torch.cuda, "synchronize"),
        (torch, "tensor"),
        (torch, "as_tensor"),
        (threading.Thread, "_bootstrap_inner"),
    )
    before = [(owner, name, getattr(owner, name)) for owner, name in watched]
    x = torch.arange(3.0)
    with virtual_cuda.observe() as log:
        assert x.tolist() == [0.0, 1.0, 2.0] and repr(x) == "tensor([0., 1., 2.])"
        assert torch.tensor([1, 2]).tolist() == [1, 2]
        assert not virtual_cuda.is_enabled() and not torch.cuda.is_available()
    assert not log.syncs and not log.copies and not log.launches and not log.is_virtual
    assert all(getattr(owner, name) is value for owner, name, value in before)


def test_the_program_s_peak_is_not_disturbed_by_the_log_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU there is one counter of peak memory for both; the virtual device's stands in for it."""
    with virtual_cuda.session(quiet=True, force=True) as log:
        patches, gauges = Patches(), [GpuMemory(0)]
        _keep_peaks(gauges, patches)
        try:
            torch.empty(1000, device="cuda")
            assert gauges[0].take_high() == 4096
            kept = torch.empty(10, device="cuda")
            assert gauges[0].take_high() == 512
            assert torch.cuda.max_memory_allocated() == 4096
            torch.cuda.reset_peak_memory_stats()
            assert torch.cuda.max_memory_allocated("cuda:0") == 512
        finally:
            patches.undo()
        assert kept.is_cuda and log.memory() == (512,)
