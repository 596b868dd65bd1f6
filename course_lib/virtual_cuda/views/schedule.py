"""When things would happen if the device were one: a logical clock over what was recorded.

The virtual device runs every operator at once, in the host's own time. Here each keeps its measured duration, but is
put where an asynchronous device would run it: the host only launches it and goes on; a device works through what it
was given in order; and the host stops where the program asks for a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from course_lib.virtual_cuda.log.recorder import Recorder
from course_lib.virtual_cuda.log.records import Copy, Kernel, Step, Sync


class Span(NamedTuple):
    """A stretch of one lane; logical seconds."""

    begin: float
    end: float
    label: str
    """a kernel's operator, a copy's place, what a wait is for"""
    nbytes: int = 0


@dataclass
class Schedule:
    """Lanes of spans, in order of their time."""

    kernels: dict[str, list[Span]] = field(default_factory=dict)
    """by device"""
    copies: dict[str, list[Span]] = field(default_factory=dict)
    """by direction"""
    waits: list[Span] = field(default_factory=list)
    """of the host"""
    steps: list[Span] = field(default_factory=list)
    begin: float = 0.0
    end: float = 0.0
    """of the program's own time on the host, and of everything launched by then"""

    def busy(self, spans: list[Span]) -> float:
        """The share of the time that spans cover."""
        length = self.end - self.begin
        return sum(s.end - s.begin for s in spans) / length if length else 0.0


class _Event(NamedTuple):
    begin: float
    """measured seconds"""
    end: float
    order: int
    """of events that begin together: a step's end, a step's beginning, what happened"""
    what: Copy | Kernel | Sync | tuple[str, int]


def schedule(log: Recorder, last: int | None = None, since: float = 0.0) -> Schedule:
    """The recorded events on the logical clock; of the `last` steps only, or from second `since` of the log on."""
    made = Schedule()
    steps = outermost(log)
    if last is not None:
        steps = steps[-last:]
        since = steps[0].began_s if steps else since
    until = steps[-1].ended_s if last is not None and steps else float("inf")
    events = [e for e in sorted(_events(log, steps)) if since <= e.begin and e.end <= until]
    if not events:
        return made
    host = before = made.begin = events[0].begin
    free: dict[str, float] = {}
    begun: dict[int, float] = {}
    for event in events:
        # What the host did by itself since the last event takes its own time on either clock.
        host += max(0.0, event.begin - before)
        before = max(before, event.end)
        what, took = event.what, event.end - event.begin
        if isinstance(what, Kernel):
            start = max(host, free.get(what.device, host))
            free[what.device] = start + took
            made.kernels.setdefault(what.device, []).append(Span(start, start + took, what.operator.split("::")[-1]))
        elif isinstance(what, Copy):
            ends = [name for name in (what.source, what.target) if name != "cpu"]
            staged = what.blocking and what.non_blocking and what.source == "cpu"
            if staged:  # the host is busy until the data lie in a pinned buffer; what the device does is not waited for
                made.waits.append(Span(host, host + took, f"staging, {what.where}"))
                host += took
            start = max([host, *(free.get(name, host) for name in ends)])
            free.update(dict.fromkeys(ends, start + took))
            made.copies.setdefault(what.direction, []).append(Span(start, start + took, what.where, what.nbytes))
            if what.blocking and not staged:
                made.waits.append(Span(host, start + took, f"copy, {what.where}"))
                host = start + took
        elif isinstance(what, Sync):
            names = [what.device] if what.device else list(free)
            done = max([host, *(free.get(name, host) for name in names)])
            made.waits.append(Span(host, done, f"{what.what}, {what.where}"))
            host = done
        else:
            name, number = what
            if number in begun:
                made.steps.append(Span(begun.pop(number), host, name))
            else:
                begun[number] = host
    made.end = max([host, *free.values()])
    return made


def outermost(log: Recorder) -> list[Step]:
    """The steps of the name that there is most of, without the phases inside them."""
    steps = list(log.steps)
    inner = {id(a) for a in steps for b in steps if a is not b and b.began_s <= a.began_s and a.ended_s <= b.ended_s}
    return sorted((s for s in steps if id(s) not in inner), key=lambda s: s.began_s)


def _events(log: Recorder, steps: list[Step]) -> Iterator[_Event]:
    for kernel in log.kernels:
        yield _Event(kernel.began_s, kernel.began_s + kernel.took_s, 2, kernel)
    for copy in log.copies:
        yield _Event(copy.at_s - copy.took_s, copy.at_s, 2, copy)
    for sync in log.syncs:
        if sync.what != "copy to host":  # the copy itself makes the host wait
            yield _Event(sync.at_s, sync.at_s, 2, sync)
    for number, step in enumerate(steps):
        yield _Event(step.began_s, step.began_s, 1, (f"{step.name} {step.number}", number))
        yield _Event(step.ended_s, step.ended_s, 0, (f"{step.name} {step.number}", number))
