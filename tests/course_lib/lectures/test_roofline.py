"""Counts are those of the definition, rates follow from them, a roof is the lower of its two limits."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from course_lib.lectures import roofline
from course_lib.lectures.roofline import Point, Roof


@pytest.mark.parametrize(
    ("kind", "size", "operations", "nbytes"),
    [("matmul", 10, 2_000, 1_200), ("matvec", 10, 200, 480), ("add", 10, 10, 120), ("add", 1, 1, 12)],
)
def test_operations_and_bytes_are_counted(kind: str, size: int, operations: int, nbytes: int) -> None:
    assert roofline.counts(kind, size) == (operations, nbytes)


@pytest.mark.slow
def test_torch_counts_the_same_operations() -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    for kind, other in (("matmul", torch.ones(7, 7)), ("matvec", torch.ones(7, 1))):
        with FlopCounterMode(display=False) as counter:
            torch.ones(7, 7) @ other
        assert counter.get_total_flops() == roofline.counts(kind, 7)[0]


def test_an_unknown_kind_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="no kind 'sort'; there are 'matmul', 'matvec' and 'add'"):
        roofline.counts("sort", 3)


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


def test_a_roof_is_the_lower_of_two_limits() -> None:
    roof = Roof("here", flops=100.0, bandwidth=10.0)
    assert roof.ridge == 10
    assert [roof.at(x) for x in (0.1, 1, 10, 100)] == [1, 10, 100, 100]


def test_a_roof_without_bandwidth_is_level_and_has_no_ridge() -> None:
    roof = Roof("here", flops=100.0, bandwidth=None)
    assert roof.at(0.001) == 100
    with pytest.raises(ValueError, match="here: its bandwidth is not known"):
        _ = roof.ridge


def test_the_measured_roof_takes_the_best_rate_and_the_largest_sums_bandwidth() -> None:
    points = [
        Point("add", 10, 10, 120, 1e-6),
        Point("add", 1000, 1000, 12_000, 1e-3),
        Point("matmul", 10, 2000, 1200, 1e-6),
    ]
    roof = roofline.measured_roof("here", points)
    assert (roof.flops, roof.bandwidth) == pytest.approx((2e9, 12e6))


def test_the_clock_is_read_from_what_the_system_says(tmp_path: Path) -> None:
    told = tmp_path / "cpuinfo"
    told.write_text("processor\t: 0\ncpu MHz\t\t: 2596.150\ncpu MHz\t\t: 100.0\n", encoding="utf-8")
    assert roofline._cpu_clock_hz(told) == pytest.approx(2.59615e9)
    told.write_text("BogoMIPS : 50\n", encoding="utf-8")
    assert roofline._cpu_clock_hz(told) is None
    assert roofline._cpu_clock_hz(tmp_path / "absent") is None


@pytest.mark.slow
def test_the_paper_limit_of_a_cpu_grows_with_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(roofline, "_cpu_clock_hz", lambda: 3e9)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    limit = roofline.paper_limit()
    assert limit is not None and limit.flops == 4 * 3e9 * 64 and limit.bandwidth is None
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "DEFAULT")
    assert roofline.paper_limit() is None


def _gpu(**changed: object) -> SimpleNamespace:
    a100 = {
        "name": "A100",
        "major": 8,
        "minor": 0,
        "multi_processor_count": 108,
        "clock_rate": 1_410_000,
        "memory_clock_rate": 1_215_000,
        "memory_bus_width": 5120,
    }
    return SimpleNamespace(**{**a100, **changed})


def test_the_paper_limit_of_a_gpu_is_that_of_its_data_sheet() -> None:
    limit = roofline._gpu_limit(_gpu())
    assert limit is not None and limit.bandwidth is not None
    assert limit.flops == pytest.approx(19.5e12, rel=0.01)
    assert limit.bandwidth == pytest.approx(1555e9, rel=0.01)


@pytest.mark.parametrize("unknown", [{"major": 99}, {"clock_rate": 0}])
def test_a_gpu_that_is_not_known_has_no_paper_limit(unknown: dict[str, int]) -> None:
    assert roofline._gpu_limit(_gpu(**unknown)) is None


def test_a_gpu_that_does_not_tell_its_memory_clock_has_only_the_one_limit() -> None:
    limit = roofline._gpu_limit(_gpu(memory_clock_rate=0))
    assert limit is not None and limit.bandwidth is None
