"""Threads, loaders, several devices at once, and processes that were forked."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, nn, torch

parallel = lazy("torch.nn.parallel")
comm = lazy("torch.nn.parallel.comm")
DataLoader, Dataset, TensorDataset = lazy("torch.utils.data", "DataLoader Dataset TensorDataset")

networks = lazy("tests.course_lib.virtual_cuda.networks")

pytestmark = pytest.mark.slow

FORKS = "fork" in multiprocessing.get_all_start_methods()


class Worker:
    """A thread that does what it is given, and was there before."""

    def __init__(self) -> None:
        self.given: queue.Queue[Any] = queue.Queue()
        self.done: queue.Queue[Any] = queue.Queue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        for call in iter(self.given.get, None):
            try:
                self.done.put(call())
            except Exception as error:
                self.done.put(error)

    def do(self, call: Callable[[], Any]) -> Any:
        """The result, or the error."""
        self.given.put(call)
        return self.done.get(timeout=30)


@pytest.fixture
def worker() -> Iterator[Worker]:
    """Started before virtual CUDA is on."""
    one = Worker()
    yield one
    one.given.put(None)


def test_a_new_thread_sees_the_devices_and_starts_on_the_first(cuda: Any) -> None:
    torch.cuda.set_device(1)
    with ThreadPoolExecutor(1) as pool:
        device, index = pool.submit(
            lambda: ((torch.ones(2, device="cuda") * 2).device, torch.cuda.current_device())
        ).result()
    assert (device, index, torch.cuda.current_device()) == (torch.device("cuda:0"), 0, 1)


def test_a_mixture_is_refused_in_a_new_thread_that_names_no_device(cuda: Any) -> None:
    x = torch.ones(2, device="cuda")
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="Expected all tensors to be on the same dev"):
        pool.submit(lambda: x + torch.ones(2)).result()


@pytest.mark.parametrize(
    "name_a_device",
    [
        lambda: torch.ones(2).to("cuda"),
        lambda: torch.ones(2).cuda(),
        lambda: torch.ones(2, device="cuda"),
        lambda: torch.cuda.current_device(),
        lambda: torch.cuda.set_device(0),
    ],
)
def test_an_older_thread_sees_the_devices_once_it_names_one(name_a_device: Any, worker: Worker, cuda: Any) -> None:
    x = torch.ones(2, device="cuda")
    worker.do(name_a_device)
    assert worker.do(lambda: (x * 2).device) == torch.device("cuda:0")
    assert isinstance(worker.do(lambda: x + torch.ones(2)), RuntimeError)


def test_a_thread_that_goes_on_afterwards_works_on_the_cpu_and_again_on_the_next_devices(worker: Worker) -> None:
    for _ in range(3):
        with virtual_cuda.session(force=True, quiet=True):
            assert worker.do(lambda: (torch.ones(2).cuda() * 2).device) == torch.device("cuda:0")
        assert worker.do(lambda: (torch.ones(2) * 2).tolist()) == [2, 2]


FORKED = pytest.mark.skipif(not FORKS, reason="cannot fork")


@pytest.mark.parametrize(
    ("workers", "persistent"), [(0, False), pytest.param(2, False, marks=FORKED), pytest.param(2, True, marks=FORKED)]
)
def test_pinned_loaders(workers: int, persistent: bool, cuda: Any) -> None:
    data = TensorDataset(torch.arange(12.0))
    loader = DataLoader(data, batch_size=4, pin_memory=True, num_workers=workers, persistent_workers=persistent)
    for _ in range(2 if persistent else 1):
        seen = []
        for (batch,) in loader:
            assert batch.is_pinned() and not batch.is_cuda
            seen += batch.to("cuda", non_blocking=True).tolist()
        assert seen == list(range(12))
    assert {copy.blocking for copy in cuda.copies if copy.target == "cuda:0"} == {False}


@pytest.mark.skipif(not FORKS, reason="cannot fork")
@pytest.mark.parametrize(
    ("data", "words"),
    [("Touches", "Cannot re-initialize CUDA in forked subprocess"), ("Holds", "CUDA error: initialization error")],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_forked_worker_may_not_use_the_device(data: str, words: str, cuda: Any) -> None:
    loader = DataLoader(getattr(networks, data)(), num_workers=1, multiprocessing_context="fork")
    with pytest.raises(RuntimeError, match=words):
        list(loader)
    assert torch.ones(2, device="cuda").is_cuda


def trained(devices: int, device_ids: list[int] | None) -> list[torch.Tensor]:
    """Parameters and their gradients after three steps."""
    with virtual_cuda.session(devices=devices, same_numbers=True, force=True, quiet=True):
        torch.manual_seed(0)
        model: Any = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).double().cuda()
        wrapped = model if device_ids is None else nn.DataParallel(model, device_ids)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for _ in range(3):
            x, y = torch.randn(10, 6, dtype=torch.float64), torch.randn(10, 3, dtype=torch.float64)
            optimizer.zero_grad()
            out = wrapped(x.cuda())
            assert out.device == torch.device("cuda:0")
            nn.functional.mse_loss(out, y.cuda()).backward()
            optimizer.step()
        assert all(p.grad.device == p.device == torch.device("cuda:0") for p in model.parameters())
        return [t.detach().cpu() for p in model.parameters() for t in (p, p.grad)]


def test_data_parallel_on_two_devices_is_one_device() -> None:
    for one, other in zip(trained(1, None), trained(2, [0, 1]), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_data_parallel_replicas_are_on_their_devices(cuda: Any) -> None:
    seen = []

    class Says(nn.Module):
        """Notes where it was called."""

        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))
            self.register_buffer("scale", torch.ones(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append((x.device, self.weight.device, self.scale.device, torch.cuda.current_device(), len(x)))
            return x * self.weight * self.scale

    nn.DataParallel(Says().cuda())(torch.ones(5, 2, device="cuda"))
    assert sorted(seen, key=str) == [(torch.device(f"cuda:{i}"),) * 3 + (i, rows) for i, rows in ((0, 3), (1, 2))]
    with pytest.raises(RuntimeError, match="module must have its parameters and buffers on device cuda:0"):
        nn.DataParallel(Says())(torch.ones(5, 2))


def test_the_parts_of_data_parallel(cuda: Any) -> None:
    model = nn.Linear(3, 2).cuda()
    x = torch.randn(5, 3, device="cuda", requires_grad=True)
    replicas = parallel.replicate(model, [0, 1])
    parts = parallel.scatter(x, [0, 1])
    assert [p.device.index for p in parts] == [r.weight.device.index for r in replicas] == [0, 1]
    out = parallel.gather(parallel.parallel_apply(replicas, parts), 0)
    assert torch.allclose(out, model(x)) and out.device == torch.device("cuda:0")
    out.sum().backward()
    assert x.grad.device == model.weight.grad.device == torch.device("cuda:0")
    assert torch.allclose(x.grad, model.weight.sum(0).expand(5, 3))
    assert torch.allclose(parallel.data_parallel(model, x, [0, 1]), model(x))


def test_communication_between_devices(cuda: Any) -> None:
    x = torch.arange(6.0, device="cuda")
    copies = comm.broadcast(x, [0, 1])
    assert [c.device.index for c in copies] == [0, 1] and torch.equal(copies[1].cpu(), x.cpu())
    coalesced = comm.broadcast_coalesced([x, x + 1], [0, 1])
    assert [[t.device.index for t in row] for row in coalesced] == [[0, 0], [1, 1]]
    assert comm.reduce_add(copies, 1).tolist() == (2 * x).tolist()
    (summed,) = comm.reduce_add_coalesced([[c] for c in copies], 0)
    assert summed.device == x.device and summed.tolist() == (2 * x).tolist()
    parts = comm.scatter(x, [0, 1], chunk_sizes=[2, 4])
    assert [(len(p), p.device.index) for p in parts] == [(2, 0), (4, 1)]
    assert comm.gather(parts, destination="cuda:1").device == torch.device("cuda:1")
    assert comm.gather(parts, destination="cpu").tolist() == x.tolist()
    out = (torch.zeros(2, device="cuda:0"), torch.zeros(4, device="cuda:1"))
    comm.scatter(x, out=out)
    assert comm.gather(out, out=torch.zeros(6, device="cuda")).tolist() == x.tolist()
    comm.broadcast(x, out=[target := torch.zeros(6, device="cuda:1")])
    assert target.tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="Expected all input tensors to be CUDA tensors"):
        comm.gather([torch.ones(2)])


def test_two_threads_draw_and_allocate_at_the_same_time(cuda: Any) -> None:
    def work(index: int) -> None:
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.cuda.device(index % 2))
            for _ in range(100):
                x = torch.randn(10, device="cuda")
                assert (x @ x).device.index == index % 2

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))
    assert torch.cuda.memory_allocated(0) == torch.cuda.memory_allocated(1) == 0


def test_tensors_of_the_device_do_not_leave_the_process(cuda: Any) -> None:
    with pytest.raises(RuntimeError, match="cannot share a CUDA storage"):
        torch.multiprocessing.reductions.reduce_tensor(torch.ones(2, device="cuda"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_children_of_a_forking_server_may_use_the_device() -> None:
    program = """
import os, torch
from course_lib import virtual_cuda
virtual_cuda.enable(quiet=True, forks=True)
held = torch.ones(3, device="cuda")
child = os.fork()
if child == 0:
    made = held + torch.ones(3).to("cuda")
    os._exit(0 if made.is_cuda and made.tolist() == [2.0] * 3 and torch.cuda.memory_allocated() == 1024 else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
