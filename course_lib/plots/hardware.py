"""Machines: their roofline, the four steps of a computation on a device, and how long a framework lived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from course_lib.lectures.roofline import Point, Roof
from course_lib.plots.style import BLUE, GRAY, GREEN, INK, ORANGE, SERIES_STYLES, VERMILLION, Canvas, canvas, styled

ABOVE = 1.6
"""how far the axis goes beyond the highest roof"""


@styled
def roofline(points: Mapping[str, Sequence[Point]], roofs: Sequence[Roof]) -> Canvas:
    """Operations per second against operations per byte: what was measured (label -> points), under roofs.

    At most five kinds of points. The first roof is drawn heavily; a roof without a bandwidth is a level line.
    """
    figure, (axes,) = canvas(8.2, 4.4)
    axes.set_xscale("log")
    axes.set_yscale("log")
    every = [p for group in points.values() for p in group]
    ridges = [r.ridge for r in roofs if r.bandwidth is not None]
    low, high = min(p.intensity for p in every) / 2, 4 * max([*(p.intensity for p in every), *ridges])
    across = np.geomspace(low, high, 200)
    said = []
    for number, roof in enumerate(roofs):
        look: dict[str, Any] = {"color": INK, "linewidth": 2.2} if number == 0 else {"color": GRAY, "linewidth": 1.2}
        axes.plot(across, [roof.at(x) for x in across], linestyle="-" if number == 0 else (0, (5, 3)), zorder=2, **look)
        aside = (-2, -12 if number == 0 else 5)
        axes.annotate(roof.name, (high, roof.flops), aside, textcoords="offset points", ha="right", fontsize=9)
        slope = "" if roof.bandwidth is None else f", {roof.bandwidth:.2g} bytes/s, ridge at {roof.ridge:.3g} per byte"
        said.append(f"roof {roof.name}: {roof.flops:.2g} operations/s{slope}")
    for look_of, (label, group) in zip(SERIES_STYLES, points.items(), strict=False):
        x, y = [p.intensity for p in group], [p.flops for p in group]
        axes.plot(x, y, color=look_of.color, marker=look_of.marker, linestyle=":", linewidth=1, label=label, zorder=3)
        said.append(f"{label}: from {y[0]:.2g} operations/s at {x[0]:.2g} per byte to {y[-1]:.2g} at {x[-1]:.2g}")
    axes.set_ylim(min(p.flops for p in every) / 2, ABOVE * max([*(r.flops for r in roofs), *(p.flops for p in every)]))
    axes.set_xlim(low, high)
    axes.set_xlabel("arithmetic intensity: operations per byte")
    axes.set_ylabel("operations per second")
    axes.legend(loc="lower right")
    figure.description = f"Roofline on logarithmic scales. {'; '.join(said)}."
    return figure


class Life(NamedTuple):
    """A framework's life, for `lifelines`."""

    name: str
    first: int
    """year of its first release"""
    last: int | None
    """year in which its development ended; None: it goes on"""
    note: str
    """who made it, or what became of it, in a few words"""


@styled
def lifelines(lives: Sequence[Life], today: int) -> Canvas:
    """A bar for each life, the oldest on top, with an arrow where it goes on."""
    figure, (axes,) = canvas(9.2, 0.9 + 0.3 * len(lives))
    ordered = sorted(lives, key=lambda life: (life.first, life.name))
    for row, life in enumerate(ordered):
        end = today if life.last is None else life.last
        color = BLUE if life.last is None else GRAY
        axes.barh(row, max(end - life.first, 0.3), 0.56, left=life.first, color=color, zorder=2)
        axes.annotate(life.name, (life.first, row), (-5, 0), textcoords="offset points", ha="right", va="center")
        if life.last is None:
            axes.plot(end + 0.25, row, marker=">", color=color, markersize=6, zorder=3)
        text = life.note if life.last is None else f"{life.last}: {life.note}"
        place = (12 if life.last is None else 5, 0)
        axes.annotate(text, (end, row), place, textcoords="offset points", va="center", fontsize=8.5, color=INK)
    axes.set_ylim(len(ordered) - 0.4, -0.7)
    axes.set_xlim(min(life.first for life in lives) - 5, today + 13)
    axes.set_xticks([year for year in range(1980, today + 1, 5) if year >= min(life.first for life in lives)])
    axes.set_yticks([])
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("year")
    spans = [f"{life.name} {life.first} to {life.last or 'today'}" for life in ordered]
    figure.description = f"Bars over the years, oldest on top; an arrow means that it goes on. {'; '.join(spans)}."
    return figure


@styled
def four_steps(labels: Sequence[str]) -> Canvas:
    """Host above, device below, and between them the four steps; `labels`: what is written at each of the four."""
    if len(labels) != 4:
        raise ValueError(f"four_steps: {len(labels)} labels; there are four steps")
    figure, (axes,) = canvas(8.6, 3.7)
    axes.set_axis_off()
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 60)
    _box(axes, 46, "host: CPU and its memory", VERMILLION)
    _box(axes, 4, "device: GPU and its memory", GREEN)
    into, launch, run, out = 14, 36, 64, 88
    for place, tip, color, dashes in ((into, 16, BLUE, "-"), (launch, 16, GRAY, (0, (3, 2))), (out, 45.5, ORANGE, "-")):
        ends = [(place, 61.5 - tip), (place, tip)]
        look: dict[str, Any] = {"color": color, "linewidth": 2.2, "linestyle": dashes}
        axes.add_patch(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=18, **look))
    for column in range(12):
        for line in range(3):
            axes.add_patch(Rectangle((run - 11.2 + 1.9 * column, 5.2 + 3 * line), 1.3, 1.9, color=GREEN, lw=0))
    places = ((into + 1.5, 31, "left"), (launch + 1.5, 31, "left"), (run, 19.5, "center"), (out - 1.5, 31, "right"))
    for number, ((x, y, side), label) in enumerate(zip(places, labels, strict=True), start=1):
        axes.text(x, y, f"{number}  {label}", va="center", ha=side, fontsize=9, linespacing=1.4)
    steps = "; ".join(f"step {n}: {' '.join(label.split())}" for n, label in enumerate(labels, start=1))
    figure.description = f"Host above, device below, four arrows between them. {steps}."
    return figure


def _box(axes: Axes, bottom: float, name: str, color: str) -> None:
    axes.add_patch(FancyBboxPatch((2, bottom), 96, 10, boxstyle="round,pad=0.6", fc="#fafafa", ec=color, lw=1.6))
    axes.text(4, bottom + 5, name, va="center", color=INK, fontsize=10)


@styled
def launches(kinds: Mapping[str, Sequence[tuple[float, float, str]]], *, ylabel: str) -> Canvas:
    """What came out when: kind -> (year, value, name), on a logarithmic axis, every point with its name."""
    figure, (axes,) = canvas(7.5, 3.9)
    axes.set_yscale("log")
    said = []
    for look, (kind, rows) in zip(SERIES_STYLES, kinds.items(), strict=False):
        years, values, names = zip(*sorted(rows), strict=True)
        axes.plot(years, values, color=look.color, marker=look.marker, linestyle=look.linestyle, label=kind)
        for year, value, name in rows:
            axes.annotate(name, (year, value), (6, -13), textcoords="offset points", fontsize=8.5)
        points = [f"{name} {value:.3g} in {int(year)}" for year, value, name in zip(years, values, names, strict=True)]
        said.append(f"{kind}: {', '.join(points)}")
    axes.margins(x=0.12, y=0.14)
    axes.set_xlabel("year of launch")
    axes.set_ylabel(ylabel)
    axes.legend(loc="upper left")
    figure.description = f"{ylabel} against the year of launch. {'; '.join(said)}."
    return figure
