"""Counts are those of the definition, rates follow from them, a roof is the lower of its two limits."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from course_lib.lectures import roofline
from course_lib.lectures.roofline import Point, Roof


@pytest.mark.parametrize(("kind", "size", "operations", "nbytes"), [
    ("matmul", 10, 2_000, 1_200), ("matvec", 10, 200, 480), ("add", 10, 10, 120), ("add", 1, 1, 12),
])  # fmt: skip
def test_operations_and_bytes_are_counted(kind: str, size: int, operations: int, nbytes: int) -> None:
    assert roofline.counts(kind, size) == (operations, nbytes)
    with pytest.raises(ValueError, match="no kind 'sort'; there are 'matmul', 'matvec' and 'add'"):
        roofline.counts("sort", size)


@pytest.mark.slow
def test_torch_counts_the_same_operations() -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    for kind, other in (("matmul", torch.ones(7, 7)), ("matvec", torch.ones(7, 1))):
        with FlopCounterMode(display=False) as counter:
            torch.ones(7, 7) @ other
        assert counter.get_total_flops() == roofline.counts(kind, 7)[0]


def test_rates_follow_from_counts_and_time() -> None:
    point = Point("add", 100, operations=100, nbytes=1200, seconds=0.5)
    assert (point.intensity, point.flops, point.bandwidth) == (1 / 12, 200, 2400)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["matmul", "matvec", "add"])
def test_every_size_is_measured_once_and_more_work_takes_longer(kind: str) -> None:
    pytest.importorskip("torch")
    sizes = {"matmul": [4, 256], "matvec": [4, 1024], "add": [10, 3_000_000]}[kind]
    small, large = roofline.measure(kind, sizes, repeats=3)
    assert (small.kind, small.size, large.size) == (kind, *sizes)
    assert 0 < small.seconds < large.seconds < 1


@pytest.mark.slow
def test_the_results_of_what_is_timed_are_right() -> None:
    torch = pytest.importorskip("torch")
    for kind, expected in (("matmul", 5.0), ("matvec", 5.0), ("add", 2.0)):
        result = roofline._operation(torch, kind, 5, "cpu")()
        assert isinstance(result, torch.Tensor) and bool((result == expected).all())


def test_a_roof_is_the_lower_of_two_limits_and_level_without_bandwidth() -> None:
    roof = Roof("here", flops=100.0, bandwidth=10.0)
    assert roof.ridge == 10
    assert [roof.at(x) for x in (0.1, 1, 10, 100)] == [1, 10, 100, 100]
    level = Roof("here", flops=100.0, bandwidth=None)
    assert level.at(0.001) == 100
    with pytest.raises(ValueError, match="here: its bandwidth is not known"):
        _ = level.ridge


def test_the_measured_roof_takes_the_best_rate_and_the_largest_sums_bandwidth() -> None:
    sums = Point("add", 10, 10, 120, 1e-6), Point("add", 1000, 1000, 12_000, 1e-3)
    roof = roofline.measured_roof("here", [*sums, Point("matmul", 10, 2000, 1200, 1e-6)])
    assert (roof.flops, roof.bandwidth) == pytest.approx((2e9, 12e6))


@pytest.mark.slow
@pytest.mark.parametrize(("cpuinfo", "capability", "flops"), [
    ("processor\t: 0\ncpu MHz\t\t: 2596.150\ncpu MHz\t\t: 100.0\n", "AVX512", 4 * 2.59615e9 * 64),
    ("cpu MHz : 3000.0\n", "DEFAULT", None), ("BogoMIPS : 50\n", "AVX512", None), ("", "AVX512", None),
])  # fmt: skip
def test_the_paper_limit_of_a_cpu_follows_from_its_clock_and_threads_as_far_as_they_are_known(
    cpuinfo: str, capability: str, flops: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(path: Path, **options: Any) -> str:
        if not cpuinfo:
            raise FileNotFoundError(path)
        return cpuinfo

    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_text", told)
        limit = roofline.paper_limit()
    assert (limit.flops if limit else None) == (flops and pytest.approx(flops))
    assert limit is None or limit.bandwidth is None


A100 = {"name": "A100", "major": 8, "minor": 0, "multi_processor_count": 108, "clock_rate": 1_410_000}
A100 |= {"memory_clock_rate": 1_215_000, "memory_bus_width": 5120}


@pytest.mark.slow
@pytest.mark.parametrize(("changed", "flops", "bandwidth"), [
    ({}, 19.5e12, 1555e9), ({"memory_clock_rate": 0}, 19.5e12, None), ({"major": 99}, None, None),
    ({"clock_rate": 0}, None, None),
])  # fmt: skip
def test_the_paper_limit_of_a_gpu_is_that_of_its_data_sheet_as_far_as_it_is_known(
    changed: dict[str, int], flops: float | None, bandwidth: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(**A100 | changed))
    limit = roofline.paper_limit("cuda")
    assert (limit.flops if limit else None) == (flops and pytest.approx(flops, rel=0.01))
    assert (limit.bandwidth if limit else None) == (bandwidth and pytest.approx(bandwidth, rel=0.01))
