"""What a machine can do, measured in a second: matrix products and element-wise sums at growing size, and their limits.

A *roofline* needs two numbers of a device: how many operations it does in a second, and how many bytes it moves.
Work of few operations per byte is held by the second, work of many by the first. Times are the best of several runs,
since whatever disturbs a run makes it longer.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLOAT32_BYTES = 4
LEAST_S = 1e-3
"""what is timed together lasts at least this long, far more than a clock's tick"""
ENOUGH_S, MOST_REPEATS = 0.1, 50
"""what is short is timed more often than asked for: until this much time has gone by, or this many times"""
PER_CYCLE = {"AVX512": 64, "AVX2": 32}
"""float32 operations of one core in one cycle, at most: two multiply-add units of 16 or 8 numbers"""
LANES = {7: 64, 8: 128, 9: 128, 10: 128, 12: 128}
"""float32 units of one multiprocessor, by the first number of an NVIDIA GPU's compute capability"""


@dataclass(frozen=True)
class Point:
    """One operation of one size, timed."""

    kind: str
    """`matmul`, `matvec` or `add`"""
    size: int
    """rows of the square matrices, or elements of the vectors"""
    operations: float
    """floating-point operations"""
    nbytes: float
    """bytes that must be read or written at least once"""
    seconds: float

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.operations / self.nbytes

    @property
    def flops(self) -> float:
        """Operations per second."""
        return self.operations / self.seconds

    @property
    def bandwidth(self) -> float:
        """Bytes per second."""
        return self.nbytes / self.seconds


@dataclass(frozen=True)
class Roof:
    """The two limits of a device."""

    name: str
    flops: float
    """operations per second"""
    bandwidth: float | None
    """bytes per second; None where nobody says"""

    @property
    def ridge(self) -> float:
        """Operations per byte from which on arithmetic is the limit and no longer memory."""
        if self.bandwidth is None:
            raise ValueError(f"{self.name}: its bandwidth is not known, so neither is the ridge")
        return self.flops / self.bandwidth

    def at(self, intensity: float) -> float:
        """Operations per second that work of this intensity can reach at most."""
        return self.flops if self.bandwidth is None else min(self.flops, intensity * self.bandwidth)


def counts(kind: str, size: int) -> tuple[int, int]:
    """Operations and least bytes, in float32. `matmul` `(n, n) @ (n, n)`, `matvec` `(n, n) @ (n,)`, `add` `(n,)`."""
    if kind == "matmul":
        return 2 * size**3, 3 * size**2 * FLOAT32_BYTES
    if kind == "matvec":
        return 2 * size**2, (size**2 + 2 * size) * FLOAT32_BYTES
    if kind == "add":
        return size, 3 * size * FLOAT32_BYTES
    raise ValueError(f"roofline: no kind {kind!r}; there are 'matmul', 'matvec' and 'add'")


def measure(kind: str, sizes: Iterable[int], device: str = "cpu", repeats: int = 5) -> list[Point]:
    """Time `kind` at each of `sizes`, in float32, on as many threads as torch uses."""
    import torch

    wait = torch.cuda.synchronize if device.startswith("cuda") else _nothing
    points = []
    for size in sizes:
        operations, nbytes = counts(kind, size)
        run = _operation(torch, kind, size, device)
        points.append(Point(kind, size, operations, nbytes, _best_seconds(run, wait, repeats)))
    return points


def measured_roof(name: str, points: Iterable[Point]) -> Roof:
    """The best rates among `points`: what this device is known to reach.

    The bandwidth is that of the largest `add`, whose vectors should be too large for any cache.
    """
    points = list(points)
    largest = max((p for p in points if p.kind == "add"), key=lambda p: p.size)
    return Roof(name, max(p.flops for p in points), largest.bandwidth)


def paper_limit(device: str = "cpu") -> Roof | None:
    """What the hardware can do on paper: units, times clock, times two for multiply and add. None where it is not said.

    A CPU may run faster than the clock it names; a virtual machine may name any clock.
    """
    import torch

    if device.startswith("cuda"):
        return _gpu_limit(torch.cuda.get_device_properties(torch.device(device)))
    per_cycle = PER_CYCLE.get(torch.backends.cpu.get_cpu_capability().split("_")[0])
    clock = _cpu_clock_hz()
    if per_cycle is None or clock is None:
        return None
    threads = torch.get_num_threads()
    name = f"{threads} x {clock / 1e9:.2f} GHz x {per_cycle} operations per cycle"
    return Roof(name, threads * clock * per_cycle, None)


def _gpu_limit(properties: Any) -> Roof | None:
    """From what the driver says about the GPU; clocks are in kHz, and memory moves data twice in each cycle."""
    lanes = LANES.get(properties.major)
    if (properties.major, properties.minor) == (8, 0):
        lanes = 64
    clock = getattr(properties, "clock_rate", None)
    if lanes is None or not clock:
        return None
    memory, width = (getattr(properties, name, None) for name in ("memory_clock_rate", "memory_bus_width"))
    bandwidth = 2 * memory * 1e3 * width / 8 if memory and width else None
    units = properties.multi_processor_count * lanes
    name = f"{properties.name}: {units:,} units x {clock / 1e6:.2f} GHz x 2"
    return Roof(name, units * clock * 1e3 * 2, bandwidth)


def _cpu_clock_hz(cpuinfo: Path = Path("/proc/cpuinfo")) -> float | None:
    """The clock that the system names, where it names one."""
    try:
        found = re.search(r"^cpu MHz\s*:\s*([\d.]+)", cpuinfo.read_text(encoding="utf-8"), flags=re.MULTILINE)
    except OSError:
        return None
    return float(found.group(1)) * 1e6 if found else None


def _operation(torch: Any, kind: str, size: int, device: str) -> Callable[[], object]:
    """The operation on made inputs, writing into a result that is there, so that no memory is asked for meanwhile."""
    if kind == "add":
        a, b, c = (torch.ones(size, device=device) for _ in range(3))
        return lambda: torch.add(a, b, out=c)
    matrix = torch.ones(size, size, device=device)
    if kind == "matvec":
        vector, result = torch.ones(size, device=device), torch.empty(size, device=device)
        return lambda: torch.mv(matrix, vector, out=result)
    other, product = torch.ones(size, size, device=device), torch.empty(size, size, device=device)
    return lambda: torch.mm(matrix, other, out=product)


def _best_seconds(run: Callable[[], object], wait: Callable[[], object], repeats: int) -> float:
    """Seconds of one run. Short ones are timed by the hundred, and over again: on a busy machine most are disturbed."""
    run()
    number = 1
    while (best := _seconds(run, wait, number)) < LEAST_S:
        number *= 2
    total, timed = best, 1
    while timed < repeats or (total < ENOUGH_S and timed < MOST_REPEATS):
        took = _seconds(run, wait, number)
        best, total, timed = min(best, took), total + took, timed + 1
    return best / number


def _seconds(run: Callable[[], object], wait: Callable[[], object], number: int) -> float:
    wait()
    start = time.perf_counter()
    for _ in range(number):
        run()
    wait()
    return time.perf_counter() - start


def _nothing() -> None:
    """Stands in where nothing needs waiting for."""
