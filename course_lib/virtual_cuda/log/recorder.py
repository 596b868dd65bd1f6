"""What a program did with its device: copies, moments at which the host waited, kernels, memory; in all and by step.

Counts are exact however long the program runs; of the single records the first and the last are kept. A kernel costs
the log one increment of a counter, so that only `tracing()` pays for the times of kernels.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self

from course_lib.virtual_cuda.log.records import (
    DIRECTIONS,
    HOST_TO_DEVICE,
    Copy,
    FirstAndLast,
    Kernel,
    Mark,
    Place,
    Step,
    Sync,
    device_name,
    direction,
)
from course_lib.virtual_cuda.log.sites import Sites

KEPT = 1_000
"""records of each kind that are kept from the beginning, and as many from the end"""
KEPT_KERNELS = 20_000
MOST_PLACES = 5_000
"""beyond it, places are counted together: only a program that keeps generating code has so many"""


class Gauge(Protocol):
    """The memory of one device."""

    def allocated(self) -> int:
        """Bytes in use now."""

    def take_high(self) -> int:
        """The most bytes in use since the last call; counting begins anew from what is in use now."""


class Recorder:
    """What happened in one session, or since `clear()`. `views.log.Log` is one that can be looked at."""

    def __init__(self, kept: int = KEPT) -> None:
        self.began = time.perf_counter()
        self.sites = Sites()
        self.gauges: Sequence[Gauge] = ()
        """the memory of each device"""
        self.copies: FirstAndLast[Copy] = FirstAndLast(kept)
        self.syncs: FirstAndLast[Sync] = FirstAndLast(kept)
        self.marks: FirstAndLast[Mark] = FirstAndLast(kept)
        self.kernels: FirstAndLast[Kernel] = FirstAndLast(KEPT_KERNELS)
        """operators in the order in which they were run, with their times: only those run while tracing"""
        self.counts: Counter[Place] = Counter()
        """how often, of everything that was copied or waited for; never dropped"""
        self.nbytes: Counter[Place] = Counter()
        """bytes copied, likewise"""
        self.unchecked: Counter[str] = Counter()
        """operators that got tensors on different devices and that no rule is known for: allowed"""
        self.is_tracing = False
        self.switch_tracing: Callable[[bool], None] = lambda on: None
        """has the device tell of its kernels, or not; set by the device"""
        self.on_wait: list[Callable[[str, int | None], None]] = []
        """called whenever the host waits: what for, and for which device (None: the current one)"""
        self.is_virtual = True
        """False: a real GPU was watched"""
        self._steps: FirstAndLast[Step] = FirstAndLast(kept)
        self._numbers: Counter[str] = Counter()
        self._open: list[_Open] = []
        self._marked: _Open | None = None
        self._sums: Counter[tuple[str, str]] = Counter()
        self._launches: Counter[Any] = Counter()
        self._counters: list[Counter[Any]] = []
        self._lock = threading.RLock()

    # -- what is told to the log -------------------------------------------------------------------------------------

    def now(self) -> float:
        """Seconds since the log began."""
        return time.perf_counter() - self.began

    def copy(
        self,
        source: int,
        target: int,
        nbytes: int,
        *,
        blocking: bool = True,
        non_blocking: bool = False,
        took_s: float = 0.0,
    ) -> None:
        """Note a copy between devices that is done now, devices given by index (-1: the host).

        `blocking`: whether it holds the host up; `non_blocking`: what the program asked for.
        """
        site, now = self.sites.here().name, self.now()
        names = device_name(source), device_name(target)
        way = direction(*names)
        with self._lock:
            record = Copy(*names, nbytes, site, now, blocking, non_blocking, took_s, self._step_number())
            self.copies.append(record)
            place = self._place(Place("copy", f"{names[0]} to {names[1]}", site, blocking, non_blocking))
            self.counts[place] += 1
            self.nbytes[place] += nbytes
            self._sums["copies", way] += 1
            self._sums["bytes", way] += nbytes
            if blocking and way == HOST_TO_DEVICE:
                self._sums["waiting", ""] += 1
            if blocking and target < 0:
                self._sync("copy to host", site, now, source)

    def sync(self, what: str, device: int | None = None) -> None:
        """Note that the host waits for a device (None: the current one)."""
        site, now = self.sites.here().name, self.now()
        with self._lock:
            self._sync(what, site, now, device)

    def _sync(self, what: str, where: str, now: float, device: int | None) -> None:
        name = None if device is None else device_name(device)
        self.syncs.append(Sync(what, where, now, name, self._step_number()))
        self.counts[self._place(Place("sync", what, where, True))] += 1
        self._sums["syncs", what] += 1
        for listener in self.on_wait:
            listener(what, device)

    def _place(self, place: Place) -> Place:
        return place if place in self.counts or len(self.counts) < MOST_PLACES else place._replace(where="elsewhere")

    def launch_counter(self) -> Counter[Any]:
        """Where the calling thread counts the operators that its devices run; no other thread may write there."""
        mine: Counter[Any] = Counter()
        with self._lock:
            self._counters.append(mine)
        return mine

    def give_back(self, counter: Counter[Any]) -> None:
        """The thread that counted here ends."""
        with self._lock:
            kept = [one for one in self._counters if one is not counter]
            if len(kept) < len(self._counters):
                self._counters = kept
                self._launches.update(counter)

    def kernel(self, operator: Any, device: int, began_s: float) -> None:
        """Note one operator that has just been run, while tracing."""
        took = self.now() - began_s
        with self._lock:
            name = operator._schema.name
            self.kernels.append(Kernel(name, device_name(device), began_s, took, self._step_number()))

    # -- what the program says ---------------------------------------------------------------------------------------

    def mark(self, name: str = "step") -> None:
        """Something of this name begins here, and ends at the next mark of whatever name.

        `log.mark()` as the first line of a training loop's body makes every pass a step;
        `log.mark("forward")`, `log.mark("backward")`... make steps of the phases.
        """
        site = self.sites.here().name
        with self._lock:
            self._end_marked()
            self._marked = self._begin(name)
            self.marks.append(Mark(name, self._marked.began_s, site))

    @contextlib.contextmanager
    def step(self, name: str = "step") -> Iterator[None]:
        """`with log.step():` makes one step of a block; its sums are `log.steps[-1]` afterwards. May be nested."""
        with self._lock:
            opened = self._begin(name)
        try:
            yield
        finally:
            with self._lock:
                # A mark inside the block means a phase of it.
                if self._marked in self._open[self._open.index(opened) :]:
                    self._end_marked()
                self._steps.append(self._end(opened))

    @contextlib.contextmanager
    def tracing(self) -> Iterator[Self]:
        """While it lasts, every operator that a device runs is recorded with its times: `log.kernels`."""
        before = self.is_tracing
        self.trace(True)
        try:
            yield self
        finally:
            self.trace(before)

    def trace(self, on: bool) -> None:
        """Switch the recording of kernels on or off."""
        self.is_tracing = on
        self.switch_tracing(on)

    def clear(self) -> None:
        """Forget everything and start the clock anew. A `with log.step():` around it counts from here."""
        with self._lock:
            self.began = time.perf_counter()
            for kept in (self.copies, self.syncs, self.marks, self.kernels, self._steps):
                kept.clear()
            sums = (self.counts, self.nbytes, self.unchecked, self._numbers, self._sums)
            for counter in (*sums, self._launches, *self._counters):
                counter.clear()
            if self._marked is not None:
                self._end(self._marked)
                self._marked = None
            self._fold_peaks()
            for one in self._open:
                self._numbers[one.name] = one.number + 1
                one.began_s, one.sums, one.launches, one.peak = 0.0, Counter(), 0, [g.allocated() for g in self.gauges]

    # -- what it answers ---------------------------------------------------------------------------------------------

    @property
    def launches(self) -> Counter[Any]:
        """Operators run by the devices, by operator: kernels, or small groups of them."""
        with self._lock:
            found = self._launches.copy()
            for counter in self._counters:
                found.update(dict(counter))
        return found

    @property
    def steps(self) -> FirstAndLast[Step]:
        """The steps that ended so far. One begun by a mark ends here if nothing else has ended it."""
        with self._lock:
            self._end_marked()
        return self._steps

    def memory(self) -> tuple[int, ...]:
        """Bytes in use now, on each device."""
        return tuple(gauge.allocated() for gauge in self.gauges)

    def total(self, kind: str, what: str = "") -> int:
        """A sum over the session. `kind`: `copies` or `bytes`, `what`: a direction; `syncs`, `what`: what was wanted.

        Without `what`: over all of them.
        """
        with self._lock:
            return sum(n for (k, w), n in self._sums.items() if k == kind and what in ("", w))

    def records(self) -> list[dict[str, Any]]:
        """Everything kept, in the order of its time, as plain dictionaries that `json.dumps` takes.

        `kind` says which record it is: `copy`, `sync`, `kernel`, `mark`, `step`; the rest are its fields, and the
        `code` of the line where there is one.
        """
        found: list[tuple[float, dict[str, Any]]] = []
        steps = self.steps
        with self._lock:
            for kind, records in (("mark", self.marks), ("copy", self.copies), ("sync", self.syncs)):
                found += ((r.at_s, _as_dictionary(kind, r)) for r in records)
            found += ((r.began_s, _as_dictionary("kernel", r)) for r in self.kernels)
            found += ((r.ended_s, _as_dictionary("step", r)) for r in steps)
        for _, record in found:
            if record["kind"] == "copy":
                record["direction"] = direction(record["source"], record["target"])
            if "where" in record:
                site = self.sites.by_name.get(record["where"])
                record["code"] = site.code if site else ""
        return [record for _, record in sorted(found, key=lambda pair: pair[0])]

    # -- steps -------------------------------------------------------------------------------------------------------

    def _step_number(self) -> int | None:
        innermost = self._open[-1] if self._open else None
        return None if innermost is None else innermost.number

    def _begin(self, name: str) -> _Open:
        self._fold_peaks()
        opened = _Open(
            name,
            self._numbers[name],
            self.now(),
            self._sums.copy(),
            self.launches.total(),
            [g.allocated() for g in self.gauges],
        )
        self._numbers[name] += 1
        self._open.append(opened)
        return opened

    def _end_marked(self) -> None:
        if self._marked is not None:
            opened, self._marked = self._marked, None
            self._steps.append(self._end(opened))

    def _end(self, opened: _Open) -> Step:
        self._fold_peaks()
        self._open.remove(opened)
        sums = self._sums - opened.sums
        return Step(
            opened.name,
            opened.number,
            opened.began_s,
            self.now(),
            copies={way: sums["copies", way] for way in DIRECTIONS},
            nbytes={way: sums["bytes", way] for way in DIRECTIONS},
            syncs={what: n for (kind, what), n in sums.items() if kind == "syncs"},
            waiting_copies=sums["waiting", ""],
            launches=self.launches.total() - opened.launches,
            memory=self.memory(),
            peak=tuple(opened.peak),
        )

    def _fold_peaks(self) -> None:
        """Each open step has seen the peak since the last beginning or end of any step."""
        high = [gauge.take_high() for gauge in self.gauges]
        for opened in self._open:
            opened.peak = [max(pair) for pair in zip(opened.peak, high, strict=True)]


@dataclasses.dataclass(eq=False)
class _Open:
    """A step that has begun, and the sums before it."""

    name: str
    number: int
    began_s: float
    sums: Counter[tuple[str, str]]
    launches: int
    peak: list[int]


def _as_dictionary(kind: str, record: Any) -> dict[str, Any]:
    return {"kind": kind, **{field.name: getattr(record, field.name) for field in dataclasses.fields(record)}}
