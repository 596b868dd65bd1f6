"""The log as a figure: what the host, the copies and the devices do at the same time, and where the host stands still.

Lanes lie under each other against one clock, the logical one of `schedule.py`. Everything has a name beside it, and
the totals stand at the right end of each lane, so that the figure reads the same for one step and for fifty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from course_lib.plots.style import BLUE, FAINT, GRAY, GREEN, ORANGE, PURPLE, VERMILLION, Canvas, canvas, styled
from course_lib.virtual_cuda.log.recorder import Recorder
from course_lib.virtual_cuda.log.records import DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE
from course_lib.virtual_cuda.views.report import count, size
from course_lib.virtual_cuda.views.schedule import Schedule, Span, schedule

WIDTH = 9.6
"""inches, of which the lanes take about two thirds"""
PIXELS = 620
"""about how many the lanes are wide: nothing finer can be seen"""
HEIGHT = 0.56
"""of a lane's bars, where lanes are 1 apart"""
FEW = 10
"""labels that a lane has room for"""
CHARACTER = 5.6
"""pixels, about, of a small label"""
DIRECTIONS = {
    HOST_TO_DEVICE: ("copies to device", BLUE),
    DEVICE_TO_DEVICE: ("between devices", PURPLE),
    DEVICE_TO_HOST: ("copies to host", ORANGE),
}


@dataclass(frozen=True)
class Lane:
    """One row of the figure."""

    name: str
    color: str
    spans: Sequence[Span]
    totals: tuple[str, str]
    kind: str


@styled
def timeline(log: Recorder, last: int | None = None, *, since: float = 0.0, labels: bool = True) -> Canvas:
    """Host, copies and devices of a log against time; of its `last` steps only, or from second `since` on.

    Without `labels`, only kernels have their names, and the totals at the right say the rest.

    Kernels are in it if they were traced: `virtual_cuda.enable(trace=True)` or `with log.tracing():`.
    """
    plan = schedule(log, last, since)
    lanes = list(_lanes(plan))
    figure, (axes,) = canvas(WIDTH, 1.55 + 0.56 * len(lanes))
    unit, scale = _unit(plan.end - plan.begin)
    clock = _Clock(plan.begin, scale, max(plan.end - plan.begin, 1e-9))
    _draw_steps(axes, plan, clock, len(lanes))
    for row, lane in enumerate(lanes):
        if lane.kind == "host":
            axes.barh(row, clock.length * scale, HEIGHT, left=0, color=FAINT, zorder=2)
        _draw_bars(axes, lane, row, clock)
        if labels or lane.kind == "kernel":
            _draw_labels(axes, lane, row, clock)
        axes.annotate(
            f"{lane.totals[0]}\n{lane.totals[1]}",
            (1, row),
            (10, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            linespacing=1.35,
        )
    axes.set_yticks(range(len(lanes)), [lane.name for lane in lanes])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(lanes) - 0.45, -0.62)
    axes.set_xlim(0, clock.length * scale)
    axes.set_xlabel(f"time in {unit}")
    axes.annotate(
        _note(log, plan), (0, 0), (0, -38), xycoords="axes fraction", textcoords="offset points", va="top", fontsize=8
    )
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    figure.description = _description(plan, lanes)
    return figure


@dataclass(frozen=True)
class _Clock:
    begin: float
    scale: float
    length: float

    def at(self, seconds: float) -> float:
        return (seconds - self.begin) * self.scale

    def pixels(self, seconds: float) -> float:
        return seconds / self.length * PIXELS


def _lanes(plan: Schedule) -> Sequence[Lane]:
    waits = plan.waits
    striped = f"{count(len(waits), 'wait')}{' (striped)' if waits else ''}"
    lanes = [Lane("host", VERMILLION, waits, (striped, f"{plan.busy(waits):.0%} of the time"), "host")]

    def copies(way: str) -> None:
        spans = plan.copies.get(way)
        if spans:
            name, color = DIRECTIONS[way]
            total = size(sum(s.nbytes for s in spans))
            lanes.append(Lane(name, color, spans, (count(len(spans), "copy", "copies"), total), "copy"))

    copies(HOST_TO_DEVICE)
    for device, spans in sorted(plan.kernels.items()):
        busy = f"works {plan.busy(spans):.0%} of the time"
        lanes.append(Lane(device, GREEN, spans, (count(len(spans), "kernel"), busy), "kernel"))
    copies(DEVICE_TO_DEVICE)
    copies(DEVICE_TO_HOST)
    return lanes


def merged(spans: Sequence[Span], gap: float) -> list[tuple[float, float]]:
    """Spans nearer to each other than `gap` drawn as one: no eye can tell them apart."""
    found: list[tuple[float, float]] = []
    for span in spans:
        if found and span.begin - found[-1][1] < gap:
            found[-1] = found[-1][0], max(found[-1][1], span.end)
        else:
            found.append((span.begin, span.end))
    return found


def _draw_bars(axes: Axes, lane: Lane, row: int, clock: _Clock) -> None:
    pixel = clock.length / PIXELS
    bars = merged(lane.spans, pixel / 2)
    wide = [b for b in bars if b[1] - b[0] > 6 * pixel]
    narrow = [b for b in bars if b[1] - b[0] <= 6 * pixel]
    # A copy of two numbers is over in no time; it is drawn wide enough to be seen.
    _add(axes, [(b, max(e, b + 1.6 * pixel)) for b, e in narrow], row, clock, facecolors=lane.color)
    if lane.kind == "host":
        _add(axes, wide, row, clock, facecolors="#fbe3d3", edgecolors=lane.color, linewidths=0.6, hatch="/////")
    else:
        _add(axes, wide, row, clock, facecolors=lane.color)
        edges = [s.begin for s in lane.spans if s.end - s.begin > 6 * pixel]
        axes.vlines([clock.at(e) for e in edges], row - HEIGHT / 2, row + HEIGHT / 2, "white", linewidth=0.8, zorder=4)


def _add(axes: Axes, bars: Sequence[tuple[float, float]], row: int, clock: _Clock, **look: Any) -> None:
    top, bottom = row - HEIGHT / 2, row + HEIGHT / 2
    sides = [(clock.at(begin), clock.at(end)) for begin, end in bars]
    shapes = [[(left, top), (right, top), (right, bottom), (left, bottom)] for left, right in sides]
    axes.add_collection(PolyCollection(shapes, zorder=3, **{"linewidths": 0, **look}))


def _draw_labels(axes: Axes, lane: Lane, row: int, clock: _Clock) -> None:
    """Operators inside the bars that have room for them; copies' bytes and what a wait is for beside theirs."""
    if lane.kind == "kernel":
        for span in lane.spans:
            if CHARACTER * len(span.label) + 10 <= clock.pixels(span.end - span.begin):
                middle = clock.at((span.begin + span.end) / 2)
                axes.text(middle, row, span.label, ha="center", va="center", fontsize=7.5, color="white", zorder=5)
        return
    groups = grouped(lane.spans, 24 * clock.length / PIXELS)
    if len(groups) > FEW:
        return
    taken: list[tuple[float, float]] = []
    # The longest first: if two labels fight for room, it is the one that matters.
    for group in sorted(groups, key=lambda g: g[0].begin - max(s.end for s in g)):
        text = _group_label(lane, group)
        width = CHARACTER * len(text) + 6
        begin, end = (clock.pixels(s - clock.begin) for s in (group[0].begin, max(s.end for s in group)))
        if lane.kind == "copy":
            left, height, where = end + 5, float(row), "center"
            starts = (clock.pixels(g[0].begin - clock.begin) for g in groups)
            free = not any(begin < start < left + width for start in starts)
        else:
            left, height, where = min(begin, PIXELS - width), row + HEIGHT / 2 + 0.04, "top"
            free = len(group) <= FEW
        if free and left + width <= PIXELS + 6 and not any(a < left + width and left < b for a, b in taken):
            axes.text(left / PIXELS * clock.length * clock.scale, height, text, va=where, fontsize=7.5)
            taken.append((left, left + width))


def grouped(spans: Sequence[Span], gap: float) -> list[list[Span]]:
    """Spans nearer to each other than `gap` share a label."""
    found: list[list[Span]] = []
    for span in spans:
        if found and span.begin - found[-1][-1].end < gap:
            found[-1].append(span)
        else:
            found.append([span])
    return found


def _group_label(lane: Lane, group: Sequence[Span]) -> str:
    if lane.kind == "copy":
        total = size(sum(s.nbytes for s in group))
        return total if len(group) == 1 else f"{len(group)} copies, {total}"
    longest = max(group, key=lambda s: s.end - s.begin)
    return longest.label if len(group) == 1 else f"{longest.label} and {len(group) - 1} more"


def _draw_steps(axes: Axes, plan: Schedule, clock: _Clock, lanes: int) -> None:
    """Every other step lies on a faint band; as many are numbered as there is room for, long ones in any case."""
    if not plan.steps:
        return
    typical = sorted(clock.pixels(s.end - s.begin) for s in plan.steps)[len(plan.steps) // 2]
    long = CHARACTER * max(len(s.label) for s in plan.steps) + 8 < typical
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 1000, 10**9) if n * typical > (0 if long else 26))
    taken = -1e9
    for index, step in enumerate(plan.steps):
        left, right = clock.at(step.begin), clock.at(step.end)
        if index % 2 == 0:
            axes.axvspan(left, right, color="#f4f6f8", zorder=0, linewidth=0)
        number = step.label.rpartition(" ")[2]
        middle = (clock.pixels(step.begin - clock.begin) + clock.pixels(step.end - clock.begin)) / 2
        needed = CHARACTER * len(number) + 8
        wide = clock.pixels(step.end - step.begin) > needed
        if (wide or int(number) % every == 0) and middle - taken > needed:
            taken = middle
            text = step.label if long else number
            axes.annotate(
                text,
                ((left + right) / 2, 1),
                (0, 2),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=GRAY,
            )
    if not long:
        name = plan.steps[0].label.rpartition(" ")[0]
        axes.annotate(
            name,
            (0, 1),
            (-6, 2),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=GRAY,
        )


def _unit(seconds: float) -> tuple[str, float]:
    return ("s", 1.0) if seconds >= 2 else ("ms", 1e3) if seconds >= 2e-3 else ("µs", 1e6)


def _note(log: Recorder, plan: Schedule) -> str:
    if log.is_virtual:
        text = "The device is virtual: durations are the CPU's, placed as an asynchronous device would place them."
    else:
        text = "Kernels are as long as their launches took; how long the GPU worked on them is not measured."
    if not plan.kernels:
        text += "\nKernels were not traced: virtual_cuda.enable(trace=True), or with log.tracing():"
    dropped = log.kernels.dropped + log.copies.dropped + log.syncs.dropped
    return f"{text}\n{dropped:,} records in the middle were dropped." if dropped else text


def _description(plan: Schedule, lanes: Sequence[Lane]) -> str:
    length = plan.end - plan.begin
    said = "; ".join(f"{lane.name}: {lane.totals[0]}, {lane.totals[1]}" for lane in lanes)
    steps = f" over {count(len(plan.steps), 'step')}" if plan.steps else ""
    return f"Timeline of {length * 1e3:.3g} ms{steps}, a lane for the host, the copies and each device. {said}."
