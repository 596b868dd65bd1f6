"""The log says what crossed the bus, what the host waited for, and on which line of the program."""

from __future__ import annotations

import gc
import json
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from course_lib import virtual_cuda
from course_lib.virtual_cuda import Log
from tests.course_lib.virtual_cuda.lazy import nn, torch

pytestmark = pytest.mark.slow

HERE = Path(__file__).name


@pytest.fixture
def log() -> Iterator[Log]:
    with virtual_cuda.session(quiet=True, force=True) as log:
        yield log


def line_of(function: Any) -> str:
    """Where the body of a one-line function is."""
    return f"{HERE}:{function.__code__.co_firstlineno}"


READS = {
    "item": (lambda x: x.sum().item(), ["item"]),
    "float": (lambda x: float(x.sum()), ["item"]),
    "int": (lambda x: int(x.sum()), ["item"]),
    "bool": (lambda x: bool(x.sum() > 0), ["item"]),
    "if tensor": (lambda x: 1 if x.sum() > 0 else 0, ["item"]),
    "formatting a number": (lambda x: f"{x.sum():.3f}", ["item"]),
    "membership": (lambda x: 7.0 in x, ["item"]),
    "indexing with a number on the device": (lambda x: x[x.sum().long() * 0], ["item"]),
    "tolist": (lambda x: x.tolist(), ["tolist"]),
    "repr": (lambda x: repr(x), ["print"]),
    "str": (lambda x: str(x), ["print"]),
    "formatting a tensor": (lambda x: f"{x}", ["print"]),
    "print of a list of tensors": (lambda x: str([x, x]), ["print", "print"]),
    "cpu": (lambda x: x.cpu(), ["copy to host"]),
    "to cpu": (lambda x: x.to("cpu"), ["copy to host"]),
    "numpy by force": (lambda x: x.numpy(force=True), ["copy to host"]),
    "copy_ into a host tensor": (lambda x: torch.empty(2, 3).copy_(x), ["copy to host"]),
    "nonzero": (lambda x: x.nonzero(), ["nonzero"]),
    "where with one argument": (lambda x: torch.where(x > 0), ["nonzero"]),
    "a mask as index": (lambda x: x[x > 0], ["boolean mask"]),
    "assignment of a tensor through a mask": (lambda x: x.__setitem__(x > 9, x[:0].flatten()), ["boolean mask"]),
    "masked_select": (lambda x: x.masked_select(x > 0), ["masked_select"]),
    "unique": (lambda x: x.unique(), ["unique"]),
    "equal": (lambda x: torch.equal(x, x), ["equal"]),
    "allclose": (lambda x: torch.allclose(x, x), ["allclose"]),
    "inverse, which must not be singular": (lambda x: torch.linalg.inv(x @ x.T), ["linalg"]),
    "one-hot rows of as many classes as there are": (lambda x: nn.functional.one_hot(x.long()), ["item"]),
    "synchronize": (lambda x: torch.cuda.synchronize(), ["synchronize"]),
}


@pytest.mark.parametrize("inference", [False, True], ids=["", "inference"])
@pytest.mark.parametrize("name", READS)
def test_a_read_makes_the_host_wait_once_and_is_found_at_its_line(log: Log, name: str, inference: bool) -> None:
    program, expected = READS[name]
    with torch.inference_mode(inference):
        x = torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 4.0]], device="cuda")
        log.clear()
        program(x)
    assert [(sync.what, sync.where) for sync in log.syncs] == [(what, line_of(program)) for what in expected]


FREE = {
    "arithmetic": lambda x: (x @ x.T).relu().sum(),
    "comparison": lambda x: x > 0,
    "shape": lambda x: (x.shape, x.device, x.dtype, x.numel(), len(x), x.is_cuda),
    "a number assigned through a mask": lambda x: x.__setitem__(x > 5, 0.0),
    "where with three arguments": lambda x: torch.where(x > 0, x, 0.0),
    "indexing with numbers on the device": lambda x: x[torch.zeros(1, dtype=torch.long, device="cuda")],
    "iteration": lambda x: [row for row in x],
    "a factory on the device": lambda x: torch.zeros(3, device="cuda"),
    "one-hot rows of a known number of classes": lambda x: nn.functional.one_hot(x.long(), num_classes=5),
    "clipping gradients": lambda x: nn.utils.clip_grad_norm_([x], 1.0),
}


@pytest.mark.parametrize("name", FREE)
def test_what_stays_on_the_device_makes_nobody_wait(log: Log, name: str) -> None:
    x = torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 4.0]], device="cuda")
    log.clear()
    FREE[name](x)
    assert not log.syncs and not log.copies


def test_reading_a_host_tensor_is_nobody_s_business(log: Log) -> None:
    x = torch.randn(3)
    repr(x), x.sum().item(), x.tolist(), x[x > 0], x.to("cpu")
    assert not log.syncs and not log.copies and not log.launches


TO, BACK = "host to device", "device to host"
COPIES = {
    "to": (lambda: torch.ones(4, 3).to("cuda"), TO, 48, True),
    "cuda": (lambda: torch.ones(4, 3).cuda(), TO, 48, True),
    "to with a dtype": (lambda: torch.ones(4, 3).to("cuda", torch.float32), TO, 48, True),
    "tensor from numbers": (lambda: torch.tensor([1, 2], device="cuda"), TO, 16, True),
    "copy_": (lambda: torch.empty(5, device="cuda").copy_(torch.ones(5)), TO, 20, True),
    "pinned": (lambda: torch.ones(3).pin_memory().to("cuda"), TO, 12, True),
    "non_blocking": (lambda: torch.ones(3).to("cuda", non_blocking=True), TO, 12, True),
    "pinned and non_blocking": (lambda: torch.ones(3).pin_memory().to("cuda", non_blocking=True), TO, 12, False),
    "pinned, non_blocking copy_": (
        *(lambda: torch.empty(3, device="cuda").copy_(torch.ones(3).pin_memory(), non_blocking=True), TO, 12, False),
    ),
    "host indices": (lambda: torch.ones(4, device="cuda")[torch.tensor([0, 2])], TO, 16, True),
    "cpu": (lambda: torch.ones(6, device="cuda").cpu(), BACK, 24, True),
    "to the host, non_blocking": (lambda: torch.ones(6, device="cuda").to("cpu", non_blocking=True), BACK, 24, False),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_has_a_direction_a_size_and_a_line(log: Log, name: str) -> None:
    program, direction, nbytes, blocking = COPIES[name]
    program()
    [copy] = log.copies
    assert (copy.direction, copy.nbytes, copy.blocking) == (direction, nbytes, blocking)
    assert {copy.source, copy.target} == {"cpu", "cuda:0"}
    assert copy.where.startswith(f"{HERE}:")
    assert (copy.took_s > 0) == (name != "host indices"), "those are copied within the indexing"
    waits = ["copy to host"] if direction == "device to host" and blocking else []
    assert [sync.what for sync in log.syncs] == waits


def test_a_transfer_is_not_a_kernel(log: Log) -> None:
    x = torch.ones(3).cuda()
    torch.empty(3).copy_(x)
    assert log.launches.total() == 0
    x.clone()
    assert log.launches.total() == 1


def test_copies_between_devices_do_not_stop_the_host() -> None:
    with virtual_cuda.session(devices=2, quiet=True, force=True) as log:
        torch.ones(3, device="cuda:0").to("cuda:1")
        [copy] = log.copies
    assert (copy.source, copy.target, copy.direction, copy.blocking) == ("cuda:0", "cuda:1", "device to device", False)
    assert not log.syncs


def test_the_gradient_of_a_transfer_is_a_transfer_back(log: Log) -> None:
    x = torch.ones(5, requires_grad=True)
    (x.cuda() * 2).sum().backward()
    assert [copy.direction for copy in log.copies] == ["host to device", "device to host"]
    assert log.syncs[0].where == log.copies[1].where


def test_moving_a_model_copies_every_parameter_and_buffer_once(log: Log) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    expected = sorted(t.numel() * t.element_size() for t in model.state_dict().values())
    model.cuda()
    model.cuda()
    assert sorted(copy.nbytes for copy in log.copies) == expected
    assert len({copy.where for copy in log.copies}) == 1


def _train(log: Log, steps: int, *, leak: bool = False) -> float:
    torch.manual_seed(0)
    model = nn.Linear(8, 4).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    kept = []
    total = 0.0
    for _ in range(steps):
        with log.step():
            batch = torch.randn(16, 8).cuda()
            loss = model(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            if leak:
                kept.append(batch)
    return total


def test_steps_sum_up_what_happened_within_them(log: Log) -> None:
    _train(log, 5)
    steps = list(log.steps)
    assert [(s.name, s.number) for s in steps] == [("step", n) for n in range(5)]
    for step in steps:
        assert step.copies == {TO: 1, BACK: 0, "device to device": 0} and step.nbytes[TO] == 16 * 8 * 4
        assert step.syncs == {"item": 1} and step.waits == 2
    # The first step has one less: momentum is a copy of the gradient, not yet a sum.
    assert len({s.launches for s in steps[1:]}) == 1
    assert sum(s.launches for s in steps) == log.launches.total()


def test_the_memory_of_a_step_is_the_ledger_s(log: Log) -> None:
    with log.step():
        a = torch.empty(1000, device="cuda")
        b = torch.empty(5000, device="cuda")
        del b
    with log.step():
        c = torch.empty(10, device="cuda")
    first, second = log.steps
    assert first.memory == (4096,) and first.peak == (4096 + 20480,)
    assert second.memory == (4096 + 512,) and second.peak == (4096 + 512,), "each step has its own peak"
    assert torch.cuda.max_memory_allocated() == 4096 + 20480, "the program's own peak is left alone"
    assert a.is_cuda and c.is_cuda


def test_an_outer_step_sees_the_peaks_of_the_inner_ones(log: Log) -> None:
    with log.step("epoch"):
        for size in (1000, 3000, 2000):
            with log.step("batch"):
                torch.empty(size, device="cuda")
    batches = [("batch", 0, 4096), ("batch", 1, 12288), ("batch", 2, 8192)]
    assert [(s.name, s.number, *s.peak) for s in log.steps] == [*batches, ("epoch", 0, 12288)]


def test_a_leak_shows_in_the_memory_of_the_steps(log: Log) -> None:
    _train(log, 6, leak=True)
    used = [s.memory[0] for s in log.steps]
    assert used[-1] - used[-2] == 512 and used == sorted(used)


def test_marks_cut_a_step_into_phases(log: Log) -> None:
    x = torch.randn(4, 4).cuda().requires_grad_()
    for _ in range(2):
        with log.step():
            log.mark("forward")
            loss = (x @ x).sum()
            log.mark("backward")
            loss.backward()
            log.mark("read")
            loss.item()
    phases = ("forward", "backward", "read", "step")
    assert [(s.name, s.number) for s in log.steps] == [(name, n) for n in range(2) for name in phases]
    for n in range(2):
        *parts, whole = list(log.steps)[4 * n : 4 * n + 4]
        assert sum(p.launches for p in parts) == whole.launches > 0
        assert [p.syncs for p in parts] == [{}, {}, {"item": 1}]


def test_marks_alone_make_steps_of_a_loop(log: Log) -> None:
    for _ in range(3):
        log.mark()
        torch.ones(1).cuda().item()
    assert [(s.number, s.waits) for s in log.steps] == [(0, 2), (1, 2), (2, 2)]
    assert [m.where for m in log.marks] == [log.marks[0].where] * 3


def test_a_step_that_fails_is_closed(log: Log) -> None:
    with pytest.raises(ZeroDivisionError), log.step():
        torch.ones(1).cuda()
        1 / 0  # noqa: B018
    assert [s.waits for s in log.steps] == [1]


def test_clear_forgets_everything_and_an_open_step_goes_on(log: Log) -> None:
    with log.step():
        torch.ones(100).cuda().sum().item()
        log.clear()
        assert not log.copies and not log.syncs and not log.launches and not log.counts and log.now() < 1
        torch.ones(1).cuda()
    [step] = log.steps
    assert step.copies["host to device"] == 1 and step.syncs == {} and step.launches == 0


def test_records_are_plain_data_in_the_order_of_events(log: Log) -> None:
    with log.step():
        log.mark("forward")
        x = torch.ones(2).cuda()
        y = x.sum()
        y.item()
    records = json.loads(json.dumps(log.records()))
    assert [r["kind"] for r in records] == ["mark", "copy", "sync", "step", "step"]
    assert [r["at_s"] for r in records[:3]] == sorted(r["at_s"] for r in records[:3])
    copy, sync = records[1:3]
    assert copy["code"] == "x = torch.ones(2).cuda()" and copy["direction"] == "host to device"
    assert sync["code"] == "y.item()" and sync["device"] == "cuda:0" and sync["step"] == 0


def test_kernels_have_times_only_while_tracing(log: Log) -> None:
    x = torch.ones(3, 3, device="cuda")
    (x @ x).relu()
    assert not log.kernels
    with log.tracing():
        (x @ x).relu()
        torch.ones(3) + 1
    (x @ x).relu()
    assert [(k.operator, k.device) for k in log.kernels] == [("aten::mm", "cuda:0"), ("aten::relu", "cuda:0")]
    assert all(k.took_s > 0 for k in log.kernels)


def test_tracing_ends_with_the_session_and_leaves_no_trace() -> None:
    from course_lib.virtual_cuda.core.dispatch import Dispatch

    before = Dispatch.__torch_dispatch__
    with virtual_cuda.session(trace=True, quiet=True, force=True) as log:
        torch.ones(3, device="cuda") + 1
    assert len(log.kernels) == log.launches.total() > 0
    assert Dispatch.__torch_dispatch__ is before


def test_a_kernel_is_placed_on_its_own_device() -> None:
    with virtual_cuda.session(devices=2, trace=True, quiet=True, force=True) as log:
        x = torch.ones(3, device="cuda:1")
        torch._foreach_add_([x, x], 1.0)
        x + 1
    assert {k.device for k in log.kernels} == {"cuda:1"}


def _run_file(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    exec(compile(text, str(path), "exec"), {})


def test_a_library_s_line_is_not_the_program_s(log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "far_away.py").write_text("def read(x):\n    return x.item()\n")
    monkeypatch.syspath_prepend(packages)
    text = "import torch\nimport far_away\n\nfar_away.read(torch.ones(1, device='cuda'))\n"
    _run_file(tmp_path, "train.py", text)
    assert [(s.where, log.sites.by_name[s.where].code) for s in log.syncs] == [("train.py:4", text.splitlines()[3])]


def test_files_of_one_name_are_told_apart(log: Log, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        _run_file(tmp_path, f"{folder}/train.py", "import torch\ntorch.ones(1, device='cuda').item()\n")
    assert [s.where for s in log.syncs] == ["train.py:2", "b/train.py:2"]


def test_counts_stay_exact_when_records_are_dropped() -> None:
    log = Log(kept=10)
    for n in range(1000):
        with log.step():
            log.copy(-1, 0, n)
            log.sync("item", 0)
    assert log.copies.total == 1000 and log.copies.dropped == 980 and len(log.copies) == 20
    assert [c.nbytes for c in log.copies] == [*range(10), *range(990, 1000)]
    assert (log.total("copies"), log.total("bytes"), log.total("syncs", "item")) == (1000, sum(range(1000)), 1000)
    assert [s.number for s in log.steps] == [*range(10), *range(990, 1000)]
    [copied, read] = [log.counts[p] for p in log.counts]
    assert copied == read == 1000


def test_ten_thousand_steps_take_no_more_memory_than_three_thousand() -> None:
    log = Log()

    def steps(number: int) -> int:
        for _ in range(number):
            with log.step():
                log.copy(-1, 0, 4)
                log.copy(0, -1, 4)
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        full = steps(3_000)
        assert steps(7_000) - full < 20_000
    finally:
        tracemalloc.stop()


def test_a_program_that_generates_code_does_not_fill_the_log() -> None:
    from course_lib.virtual_cuda.log import recorder as module

    log = Log()
    for n in range(module.MOST_PLACES + 100):
        log._sync("item", f"generated_{n}.py:1", 0.0, 0)
    assert len(log.counts) == module.MOST_PLACES + 1 and sum(log.counts.values()) == module.MOST_PLACES + 100


def test_no_launch_is_lost_when_threads_run_side_by_side(log: Log) -> None:
    x = torch.ones(2, device="cuda")

    def work() -> None:
        for _ in range(300):
            x + 1
            x.cpu()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        log.clear()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert log.launches == {torch.ops.aten.add.Tensor: 1200}
    assert log.copies.total == log.syncs.total == 1200 == log.total("copies", "device to host")


def test_threads_that_ended_leave_nothing_behind_but_their_counts(log: Log) -> None:
    def dispatchers() -> int:
        gc.collect()
        return sum(type(one).__name__ == "Dispatch" for one in gc.get_objects())

    x = torch.ones(2, device="cuda")
    log.clear()
    before = dispatchers()  # other tests' threads may have some
    for _ in range(50):
        thread = threading.Thread(target=lambda: x + 1)
        thread.start()
        thread.join()
    assert log.launches.total() == 50
    assert len(log._counters) == 1
    assert dispatchers() <= before + 1
