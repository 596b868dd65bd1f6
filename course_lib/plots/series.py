"""Several curves over one axis, each labeled at its right end: for what has no kind of figure of its own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogFormatter, MaxNLocator
from numpy.typing import ArrayLike

from course_lib.plots.style import SERIES_STYLES, Canvas, canvas, styled

LINE_HEIGHT_POINTS = 15.0
"""how far apart two labels must stand to be read"""
PLAIN_UP_TO = 1e3
"""largest by smallest: up to here a logarithmic axis is labeled in plain numbers, beyond it in powers of ten"""


@styled
def lines(
    x: ArrayLike,
    series: Mapping[str, ArrayLike],
    *,
    xlabel: str,
    ylabel: str,
    logx: bool = False,
    logy: bool = False,
    markers: bool = False,
    ylim: tuple[float, float] | None = None,
) -> Canvas:
    """Draw each of `series` (label -> `(k,)`, NaN where nothing is known) over `x`, `(k,)`. At most five.

    markers: a mark on each point, for values that were measured one by one.
    ylim: bottom and top of the figure; what lies outside is described, but not drawn.
    """
    if not 1 <= len(series) <= len(SERIES_STYLES):
        raise ValueError(f"lines: {len(series)} series; one figure tells between 1 and {len(SERIES_STYLES)} apart")
    across = np.asarray(x, dtype=float)
    figure, (axes,) = canvas(7.5, 3.9)
    axes.set_xscale("log" if logx else "linear")
    axes.set_yscale("log" if logy else "linear")
    ends, sentences = [], []
    for look, (label, values) in zip(SERIES_STYLES, series.items(), strict=False):
        y = np.asarray(values, dtype=float)
        axes.plot(across, y, color=look.color, linestyle=look.linestyle, marker=look.marker if markers else "")
        known = np.flatnonzero(np.isfinite(y))
        first, last = known[0], known[-1]
        ends.append((across[last], y[last], label, look.color))
        sentences.append(f"{label}: from {y[first]:.3g} at {across[first]:.3g} to {y[last]:.3g} at {across[last]:.3g}")
        sentences[-1] += f", least {y[known].min():.3g}, largest {y[known].max():.3g}"
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.margins(x=0.02)
    if ylim:
        axes.set_ylim(*ylim)
    for axis, is_log in ((axes.xaxis, logx), (axes.yaxis, logy)):
        if is_log:
            _label_plainly(axis)
    if not logx and np.array_equal(across, np.round(across)):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _label_ends(axes, ends)
    figure.description = f"{ylabel} against {xlabel}. {'; '.join(sentences)}."
    return figure


class _Plain(LogFormatter):
    """Labels the ticks that matplotlib chooses to label, as numbers that are written out: 0.2 and not 2 × 10⁻¹."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def _label_plainly(axis: Axis) -> None:
    """Plain numbers on a short logarithmic axis, on its small ticks too where there is room."""
    low, high = axis.get_data_interval()
    if low > 0 and high / low <= PLAIN_UP_TO:
        axis.set_major_formatter(_Plain())
        axis.set_minor_formatter(_Plain(labelOnlyBase=False, minor_thresholds=(2, 1)))


def _label_ends(axes: Axes, ends: list[tuple[float, float, str, str]]) -> None:
    """Labels at the right ends, in the lines' colors; those that would cover each other share the space around."""
    axes.autoscale_view()
    per_point = axes.figure.dpi / 72
    ends = sorted(ends, key=lambda end: end[1])
    heights = [axes.transData.transform((x, y))[1] / per_point for x, y, _, _ in ends]
    for (x, y, label, color), height, place in zip(ends, heights, _spread(heights), strict=True):
        axes.annotate(label, (x, y), (9, place - height), textcoords="offset points", va="center", color=color)


def _spread(heights: list[float]) -> list[float]:
    """Heights at least a line apart, in the same order, each group of neighbors moved as little as it can be.

    heights: ascending. Labels that touch form a group, which is centered on the mean of where its members belong.
    """
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while len(groups) > 1 and _lowest(groups[-1]) < _lowest(groups[-2]) + len(groups[-2]) * LINE_HEIGHT_POINTS:
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_lowest(group) + index * LINE_HEIGHT_POINTS for group in groups for index in range(len(group))]


def _lowest(group: list[float]) -> float:
    return sum(group) / len(group) - (len(group) - 1) * LINE_HEIGHT_POINTS / 2
