"""Ten thousand steps leave nothing behind: no marks, no records beyond the limit, no memory of the process."""

from __future__ import annotations

import gc
import os
from typing import Any

import psutil
import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, nn, torch

_get_current_dispatch_mode_stack = lazy("torch.utils._python_dispatch", "_get_current_dispatch_mode_stack")
gradients = lazy("course_lib.virtual_cuda.core.gradients")
patches = lazy("course_lib.virtual_cuda.core.patches")
storage = lazy("course_lib.virtual_cuda.core.storage")

pytestmark = pytest.mark.slow

STEPS = 10_000


def marks() -> int:
    """How many storages are on a device."""
    gc.collect()
    return sum(issubclass(type(one), storage.Mark) for one in gc.get_objects())


def resident() -> int:
    """Bytes of memory that this process has."""
    return psutil.Process(os.getpid()).memory_info().rss


@pytest.mark.exhaustive
def test_ten_thousand_training_steps_with_everything_do_not_grow() -> None:
    with virtual_cuda.session(same_numbers=True, force=True, quiet=True) as log:
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 1)).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        data = torch.randn(16, 4), torch.randn(16, 1)
        seen: list[tuple[int, int, int]] = []

        def step(number: int) -> None:
            x, y = data[0].cuda(), data[1].to("cuda", non_blocking=True)
            if number % 4 == 0:
                with torch.autocast("cuda", dtype=torch.bfloat16):
                    loss = nn.functional.mse_loss(model(x), y)
            else:
                loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if number % 50 == 0:
                loss.item()
            if number % 500 == 0:
                with pytest.raises(RuntimeError, match="on the same device"):
                    model(data[0])

        for number in range(STEPS):
            step(number)
            if number in (2_000, STEPS - 1):
                seen.append((marks(), torch.cuda.memory_allocated(), resident()))
        (marks_early, bytes_early, resident_early), (marks_late, bytes_late, resident_late) = seen
        assert marks_late == marks_early
        assert bytes_late == bytes_early
        assert torch.cuda.max_memory_allocated() < 10 * bytes_late
        assert resident_late - resident_early < 20 << 20, f"grew by {(resident_late - resident_early) >> 20} MiB"
        assert sum(log.launches.values()) > 10 * STEPS
        assert len(_get_current_dispatch_mode_stack()) == 1
        assert not gradients._watched


@pytest.mark.long
def test_sessions_leave_no_runtime_behind() -> None:
    def once() -> None:
        with virtual_cuda.session(force=True, quiet=True):
            x = torch.ones(3, device="cuda", requires_grad=True)
            (x * 2).sum().backward()

    def kept() -> tuple[int, int]:
        gc.collect()
        held = gc.get_objects()
        return sum(type(o).__name__ == "Runtime" for o in held), sum(type(o) is patches.Patches for o in held)

    for _ in range(3):
        once()
    before = kept()
    for _ in range(5):
        once()
    assert kept() == before


def test_garbage_in_cycles_gives_its_memory_back_when_it_is_collected() -> None:
    with virtual_cuda.session(force=True, quiet=True):
        before = torch.cuda.memory_allocated()
        one: list[Any] = [torch.ones(1024, device="cuda")]
        one.append(one)
        assert torch.cuda.memory_allocated() == before + 4096
        del one
        gc.collect()
        assert torch.cuda.memory_allocated() == before
