"""Memory of the virtual devices, and the errors of a device that is too small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, torch

Ledger, segment_size, words = lazy("course_lib.virtual_cuda.core.ledger", "Ledger segment_size words")
MIB = 1 << 20

pytestmark = pytest.mark.slow

SPELLINGS = [None, 0, "cuda", "cuda:0", "torch.device"]


@pytest.fixture
def small() -> Iterator[Any]:
    """One virtual device of 64 MiB."""
    with virtual_cuda.session(memory=64 * MIB, force=True, quiet=True) as log:
        yield log


def block(mebibytes: int) -> torch.Tensor:
    """So much memory on the device."""
    return torch.empty(mebibytes * MIB, dtype=torch.uint8, device="cuda")


@pytest.mark.parametrize("device", SPELLINGS)
def test_every_function_takes_every_spelling_of_a_device(device: Any, cuda: Any) -> None:
    device = torch.device("cuda:0") if device == "torch.device" else device
    kept = torch.ones(1000, device="cuda")
    assert torch.cuda.memory_allocated(device) == torch.cuda.max_memory_allocated(device) == 4096
    assert torch.cuda.memory_reserved(device) == torch.cuda.max_memory_reserved(device) == 2 * MIB
    assert torch.cuda.mem_get_info(device) == ((16 << 30) - 2 * MIB, 16 << 30)
    assert torch.cuda.memory_stats(device)["requested_bytes.all.current"] == 4000
    assert "4096 B" in torch.cuda.memory_summary(device)
    assert torch.cuda.get_device_properties(device).total_memory == 16 << 30
    assert torch.accelerator.memory_allocated(device) == 4096
    assert torch.cuda.memory_allocated(1) == 0
    torch.cuda.reset_peak_memory_stats(device)
    del kept


def test_bytes_are_those_of_live_storages(cuda: Any) -> None:
    x = torch.ones(300, device="cuda")
    view = x[:10]
    assert torch.cuda.memory_allocated() == 1536
    del x
    assert torch.cuda.memory_allocated() == 1536
    del view
    assert torch.cuda.memory_allocated() == 0
    assert torch.cuda.max_memory_allocated() == 1536
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == 0


def test_a_device_counts_its_own(cuda: Any) -> None:
    kept = torch.ones(1, device="cuda:1")
    assert (torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1)) == (0, 512)
    with torch.cuda.device(1):
        assert torch.cuda.memory_allocated() == kept.untyped_storage().nbytes() + 508


def test_memory_does_not_grow_from_step_to_step(cuda: Any) -> None:
    weight, seen = torch.ones(8, device="cuda", requires_grad=True), []
    for _ in range(300):
        weight.grad = None
        (weight * 2).sum().backward()
        seen.append(torch.cuda.memory_allocated())
    assert len(set(seen[100:])) == 1


def test_segments_are_those_of_the_caching_allocator(cuda: Any) -> None:
    sizes = [segment_size(n) // MIB for n in (1, MIB, MIB + 1, 10 * MIB - 1, 10 * MIB, 11 * MIB)]
    assert sizes == [2, 2, 20, 20, 10, 12]
    assert [words(n) for n in (512, 1536, 20 * MIB, 3 << 29)] == ["512 bytes", "1.50 KiB", "20.00 MiB", "1.50 GiB"]
    blocks, reserved = [], []
    for mebibytes in (3, 3, 31):
        blocks.append(block(mebibytes))
        reserved.append(torch.cuda.memory_reserved() // MIB)
    del blocks[-1]
    assert [*reserved, torch.cuda.memory_reserved() // MIB] == [20, 20, 52, 52]
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == 20 * MIB and torch.cuda.max_memory_reserved() == 52 * MIB
    stats = torch.cuda.memory_stats()
    assert (stats["segment.all.current"], stats["num_device_alloc"], stats["num_device_free"]) == (1, 2, 1)
    assert stats["allocation.large_pool.allocated"] == 3 and stats["allocation.small_pool.allocated"] == 0


def test_the_limit_raises_in_cuda_s_words(small: Any) -> None:
    kept = block(40)
    with pytest.raises(torch.cuda.OutOfMemoryError) as caught:
        block(30)
    assert str(caught.value).startswith(
        "CUDA out of memory. Tried to allocate 30.00 MiB. GPU 0 has a total capacity of 64.00 MiB of which 24.00 MiB "
        "is free. Including non-PyTorch memory, this process has 40.00 MiB memory in use. Of the allocated memory "
        "40.00 MiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated."
    )
    assert torch.cuda.memory_stats()["num_ooms"] == 1
    assert torch.cuda.memory_allocated() == kept.nbytes
    del kept
    assert block(30).nbytes == 30 * MIB, "half of it fits"


TOO_MUCH: tuple[Callable[[], object], ...] = (
    lambda: torch.zeros(1 << 40, device="cuda"),
    lambda: torch.randn(1 << 20, 1 << 20, device="cuda"),
    lambda: torch.full((1 << 40,), 2.0, device=0),
    lambda: torch.eye(1 << 20, device="cuda"),
    lambda: torch.ones(1, device="cuda").expand(1 << 40).contiguous(),
    lambda: torch.ones(1 << 20, device="cuda").outer(torch.ones(1 << 20, device="cuda")),
    lambda: torch.zeros(1, device="cuda").new_zeros(1 << 40),
)


@pytest.mark.parametrize("memory", [None, 64 * MIB])
def test_more_than_the_host_has_is_the_device_s_error(memory: int | None) -> None:
    with virtual_cuda.session(memory=memory, force=True, quiet=True):
        for ask in TOO_MUCH:
            with pytest.raises(torch.OutOfMemoryError, match=r"CUDA out of memory\. Tried to allocate 40..\.00 GiB"):
                ask()
            assert torch.cuda.memory_allocated() == 0
    with pytest.raises(RuntimeError, match="DefaultCPUAllocator"):
        torch.zeros(1 << 50)


def test_a_fraction_of_the_device_is_a_limit(cuda: Any) -> None:
    torch.cuda.set_per_process_memory_fraction(0.001)
    assert torch.cuda.get_per_process_memory_fraction() == 0.001
    with pytest.raises(torch.OutOfMemoryError, match=r"16\.38 MiB allowed"):
        block(20)
    with pytest.raises(ValueError, match="Invalid fraction value"):
        torch.cuda.set_per_process_memory_fraction(1.5)
    with pytest.raises(TypeError, match="must be `float`"):
        torch.cuda.set_per_process_memory_fraction(1)


def test_cached_segments_are_given_up_before_a_request_fails(small: Any) -> None:
    del_me = block(40)
    del del_me
    kept = block(50)
    stats = torch.cuda.memory_stats()
    assert (stats["num_alloc_retries"], stats["num_ooms"]) == (1, 0)
    assert torch.cuda.memory_reserved() == kept.nbytes


def test_the_ledger_s_high_mark_is_apart_from_the_program_s_peak() -> None:
    ledger = Ledger(0)
    ledger.take(1000)
    ledger.give(1000)
    assert (ledger.take_high(), ledger.take_high(), ledger.peak) == (1024, 0, 1024)
    ledger.reset_totals()
    assert ledger.stats()["allocation"]["all"] == {"current": 0, "peak": 1, "allocated": 0, "freed": 0}
