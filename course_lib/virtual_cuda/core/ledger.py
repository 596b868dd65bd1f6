"""The memory of a virtual device, counted as CUDA's caching allocator counts.

Tensors live in the host's memory; what is kept here is the bookkeeping: each request rounded up to 512 bytes, taken
from segments of 2 MiB (requests up to 1 MiB), 20 MiB (below 10 MiB) or its own size rounded up to 2 MiB, which stay
reserved when the tensor is freed. Blocks are not placed, so there is no fragmentation.
"""

from __future__ import annotations

import collections
import re
import threading
from typing import Any, ClassVar

import torch

BLOCK = 512
"""bytes: every request is rounded up to a multiple of this"""
MIB = 1 << 20
CAPACITY = 16 << 30
"""bytes that a device without a limit says it has"""
NOTHING = {"current": 0, "peak": 0, "allocated": 0, "freed": 0}
BATCH = 4096
"""events that may wait to be counted while nobody asks"""


HOST_FAILED = re.compile(r"DefaultCPUAllocator: .* memory: you tried to allocate (\d+) bytes")


class Segments:
    """Reserved memory for requests of one class of sizes."""

    __slots__ = ("reserved", "sizes", "used")

    def __init__(self) -> None:
        self.used = self.reserved = 0
        self.sizes: list[int] = []

    def add(self, request: int) -> int:
        """Reserve one segment more, for a request that found no room; its size."""
        size = segment_size(request)
        self.sizes.append(size)
        self.reserved += size
        return size

    def trim(self) -> list[int]:
        """Give back segments that nothing in use needs; their sizes."""
        given_back = []
        for size in sorted(self.sizes, reverse=True):
            if self.reserved - size >= self.used:
                self.sizes.remove(size)
                self.reserved -= size
                given_back.append(size)
        return given_back


class Pool:
    """The requests of one pool, or of all: bytes as counted, bytes as asked for, and how many."""

    __slots__ = (
        *("size", "size_peak", "size_in", "size_out"),
        *("asked", "asked_peak", "asked_in", "asked_out"),
        *("count", "count_peak", "count_in", "count_out"),
        *("reserved", "reserved_peak", "reserved_in", "reserved_out"),
        *("segments", "segments_peak", "segments_in", "segments_out"),
    )
    KINDS: ClassVar = {
        "allocated_bytes": "size",
        "requested_bytes": "asked",
        "allocation": "count",
        "reserved_bytes": "reserved",
        "segment": "segments",
    }

    def __init__(self) -> None:
        self.size = self.size_peak = self.size_in = self.size_out = 0
        self.asked = self.asked_peak = self.asked_in = self.asked_out = 0
        self.count = self.count_peak = self.count_in = self.count_out = 0
        self.reserved = self.reserved_peak = self.reserved_in = self.reserved_out = 0
        self.segments = self.segments_peak = self.segments_in = self.segments_out = 0

    def take(self, size: int, asked: int) -> None:
        """One request more."""
        self.size_in += size
        self.asked_in += asked
        self.count_in += 1
        self.size = now = self.size + size
        if now > self.size_peak:
            self.size_peak = now
        self.asked = now = self.asked + asked
        if now > self.asked_peak:
            self.asked_peak = now
        self.count = now = self.count + 1
        if now > self.count_peak:
            self.count_peak = now

    def give(self, size: int, asked: int) -> None:
        """One request less."""
        self.size -= size
        self.asked -= asked
        self.count -= 1
        self.size_out += size
        self.asked_out += asked
        self.count_out += 1

    def reserve(self, nbytes: int, segments: int) -> None:
        """So many bytes more in segments; less if negative."""
        self.reserved += nbytes
        self.segments += segments
        if nbytes > 0:
            self.reserved_in += nbytes
            self.segments_in += segments
            self.reserved_peak = max(self.reserved_peak, self.reserved)
            self.segments_peak = max(self.segments_peak, self.segments)
        else:
            self.reserved_out -= nbytes
            self.segments_out -= segments

    def reset_peaks(self) -> None:
        """Start new peaks from now."""
        for name in self.KINDS.values():
            setattr(self, f"{name}_peak", getattr(self, name))

    def reset_totals(self) -> None:
        """Forget what came and went before now."""
        for name in self.KINDS.values():
            setattr(self, f"{name}_in", 0)
            setattr(self, f"{name}_out", 0)

    def report(self, kind: str) -> dict[str, int]:
        """One kind as `torch.cuda.memory_stats` has it."""
        name = self.KINDS[kind]
        ends = {"current": "", "peak": "_peak", "allocated": "_in", "freed": "_out"}
        return {word: getattr(self, name + end) for word, end in ends.items()}


class Ledger:
    """The memory of one virtual device, in bytes."""

    def __init__(self, index: int, limit: int | None = None) -> None:
        self.index = index
        self.limit = limit
        """bytes beyond which an allocation fails; None: never"""
        self.capacity = limit or CAPACITY
        self.fraction = 1.0
        """of the capacity that this process may use"""
        self.retries = self.failures = 0
        self._all, self._small, self._large = Pool(), Pool(), Pool()
        self._segments = Segments(), Segments(), Segments()
        self._high = 0
        self.mark: Any = None
        """what a storage of so many bytes on this device is marked with: a class of `storage.Mark`"""
        # Freeing happens in __del__, at any moment and in any thread: a deque's append is safe there, a lock is not.
        # An allocation is a positive number, a freed one negative; they are counted when somebody asks.
        self._events: collections.deque[int] = collections.deque()
        self._lock = threading.Lock()

    # -- what tensors tell -------------------------------------------------------------------------------------------

    def take(self, nbytes: int) -> None:
        """Count an allocation. Raises torch.OutOfMemoryError beyond the limit."""
        if self.limit is not None:
            self.make_room(nbytes)
        self._events.append(nbytes)
        if self.limit is not None or len(self._events) > BATCH:
            self._count()

    def give(self, nbytes: int) -> None:
        """Count a freed allocation; safe in a finalizer."""
        self._events.append(-nbytes)

    def make_room(self, nbytes: int) -> None:
        """Raise torch.OutOfMemoryError if so much more would be beyond the limit."""
        if self.limit is not None and self.allocated() + rounded(nbytes) > self.limit:
            raise self.out_of_memory(nbytes)

    def out_of_memory(self, nbytes: int) -> torch.OutOfMemoryError:
        """The error for a request that cannot be met, in CUDA's words; it is counted."""
        self.empty_cache()
        self.retries += 1
        self.failures += 1
        in_use, reserved = self.allocated(), self.reserved()
        allowed = f"{words(int(self.capacity * self.fraction))} allowed; " if self.fraction < 1 else ""
        return torch.OutOfMemoryError(
            f"CUDA out of memory. Tried to allocate {words(segment_size(rounded(nbytes)))}. GPU {self.index} has a "
            f"total capacity of {words(self.capacity)} of which {words(max(self.capacity - reserved, 0))} is free. "
            f"Including non-PyTorch memory, this process has {words(reserved)} memory in use. {allowed}Of the "
            f"allocated memory {words(in_use)} is allocated by PyTorch, and {words(max(reserved - in_use, 0))} is "
            "reserved by PyTorch but unallocated. (virtual CUDA)"
        )

    def reword(self, error: RuntimeError) -> None:
        """If `error` says that the host had no memory, raise what the device would have said."""
        found = HOST_FAILED.search(str(error))
        if found:
            raise self.out_of_memory(int(found[1])) from error

    # -- what it answers ---------------------------------------------------------------------------------------------

    def allocated(self) -> int:
        """Bytes in live storages, each rounded up to 512."""
        self._count()
        return self._all.size

    def reserved(self) -> int:
        """Bytes in segments, in use or not."""
        self._count()
        return self._all.reserved

    @property
    def peak(self) -> int:
        """The most bytes in use so far, or since `reset_peak()`."""
        self._count()
        return self._all.size_peak

    def take_high(self) -> int:
        """The most bytes in use since the last call of this; counting begins anew from what is in use now."""
        self._count()
        high, self._high = self._high, self._all.size
        return high

    def stats(self) -> dict[str, Any]:
        """As `torch.cuda.memory_stats_as_nested_dict()`."""
        self._count()
        pools = {"all": self._all, "small_pool": self._small, "large_pool": self._large}
        found: dict[str, Any] = {kind: {name: pool.report(kind) for name, pool in pools.items()} for kind in Pool.KINDS}
        # Nothing waits for another stream, so what is allocated is active, and blocks are not split.
        found["active"], found["active_bytes"] = found["allocation"], found["allocated_bytes"]
        for kind in ("inactive_split", "inactive_split_bytes"):
            found[kind] = {name: dict(NOTHING) for name in pools}
        found["oversize_allocations"], found["oversize_segments"] = dict(NOTHING), dict(NOTHING)
        return found | {
            "num_alloc_retries": self.retries,
            "num_ooms": self.failures,
            "num_oom_rejections": 0,
            "num_sync_all_streams": 0,
            "num_device_alloc": self._all.segments_in,
            "num_device_free": self._all.segments_out,
            "max_split_size": -1,
            "reserved_bytes_by_private_pools": {},
        }

    # -- what programs ask for ---------------------------------------------------------------------------------------

    def empty_cache(self) -> None:
        """Give back the segments that nothing is in."""
        self._count()
        with self._lock:
            self._trim()

    def _trim(self) -> None:
        for segments, pool in zip(self._segments, (self._small, self._large, self._large), strict=True):
            for size in segments.trim():
                pool.reserve(-size, -1)
                self._all.reserve(-size, -1)

    def reset_peak(self) -> None:
        """Start new peaks from what is in use now."""
        self._count()
        for pool in (self._all, self._small, self._large):
            pool.reset_peaks()

    def reset_totals(self) -> None:
        """Forget what was allocated and freed in total, and the failures."""
        self._count()
        self.retries = self.failures = 0
        for pool in (self._all, self._small, self._large):
            pool.reset_totals()

    def allow(self, fraction: float) -> None:
        """Limit this process to a fraction of the device."""
        self.fraction = fraction
        self.limit = int(self.capacity * fraction)

    def after_fork(self, usable: bool) -> None:
        """In a child process: another thread of the parent may have held the lock. Not `usable`: nothing is given."""
        self._lock = threading.Lock()
        if not usable:
            self.take = _not_in_child  # type: ignore[method-assign]

    def _count(self) -> None:
        """Count what has happened since the last time, in order."""
        if not self._events:
            return
        with self._lock:
            while self._events:
                nbytes = self._events.popleft()
                size = rounded(abs(nbytes))
                pool = self._small if size <= MIB else self._large
                segments = self._segments[0 if size <= MIB else 1 if size < 10 * MIB else 2]
                if nbytes < 0:
                    pool.give(size, -nbytes)
                    self._all.give(size, -nbytes)
                    segments.used -= size
                    continue
                pool.take(size, nbytes)
                self._all.take(size, nbytes)
                if self._all.size > self._high:
                    self._high = self._all.size
                if segments.used + size > segments.reserved:
                    if self.limit is not None and self._all.reserved + segment_size(size) > self.limit:
                        self.retries += 1
                        self._trim()
                    made = segments.add(size)
                    pool.reserve(made, 1)
                    self._all.reserve(made, 1)
                segments.used += size


def _not_in_child(nbytes: int) -> None:
    words = (
        "CUDA error: initialization error\n(virtual CUDA: this process was forked from the one that uses the device)"
    )
    raise getattr(torch, "AcceleratorError", RuntimeError)(words)


def rounded(nbytes: int) -> int:
    """A request as it is counted: a multiple of 512 bytes."""
    return (nbytes + BLOCK - 1) // BLOCK * BLOCK


def segment_size(size: int) -> int:
    """Bytes of the segment that is reserved for a request of `size` bytes."""
    if size <= MIB:
        return 2 * MIB
    if size < 10 * MIB:
        return 20 * MIB
    return (size + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)


def words(size: int) -> str:
    """`20.00 MiB`, as the CUDA allocator writes sizes."""
    if size < 1 << 10:
        return f"{size} bytes"
    for unit, shift in (("GiB", 30), ("MiB", 20)):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.2f} {unit}"
    return f"{size / (1 << 10):.2f} KiB"
