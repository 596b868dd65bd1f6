"""A few values with names, as horizontal bars, or several values under each name, as dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_lib.plots.style import BLUE, INK, VERMILLION, Canvas, canvas, styled


@styled
def bars(values: Mapping[str, float], *, xlabel: str, limit: float | None = None) -> Canvas:
    """A bar for each of `values` (label -> at least 0), in their order from the top, its value written at its end.

    limit: a line across all bars, where something ends; it is named in the description.
    """
    if not values:
        raise ValueError("bars: no values; one bar at least is needed")
    figure, (axes,) = canvas(7.5, 0.9 + 0.42 * len(values))
    for row, value in enumerate(values.values()):
        axes.barh(row, value, 0.6, color=BLUE, zorder=2)
        axes.annotate(_number(value), (value, row), (5, 0), textcoords="offset points", va="center", color=INK)
    if limit is not None:
        axes.axvline(limit, color=INK, linewidth=1.2, linestyle=(0, (4, 3)), zorder=3)
    axes.set_yticks(range(len(values)), list(values))
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.set_xlim(0, 1.12 * max([*values.values(), limit or 0]) or 1)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(xlabel)
    said = "; ".join(f"{label}: {_number(value)}" for label, value in values.items())
    figure.description = f"Bars, {xlabel}. {said}." + ("" if limit is None else f" A line at {_number(limit)}.")
    return figure


@styled
def dots(values: Mapping[str, Sequence[float]], *, xlabel: str, yours: Mapping[str, float] | None = None) -> Canvas:
    """A row of dots for each label, one for each repetition, equal ones side by side, and a line at their mean.

    yours: for some of the labels, what the reader's own run gave; a triangle above the dots, not part of the mean.
    """
    if not values or not all(map(len, values.values())):
        raise ValueError("dots: no values; one label with one value at least is needed")
    figure, (axes,) = canvas(7.5, 0.9 + 0.55 * len(values))
    means = [sum(found) / len(found) for found in values.values()]
    for row, (found, mean) in enumerate(zip(values.values(), means, strict=True)):
        for place, value in enumerate(found):
            before, same = list(found[:place]).count(value), list(found).count(value)
            axes.plot(value, row + 0.17 * (before - (same - 1) / 2), "o", color=BLUE, markersize=6.5, zorder=3)
        axes.plot([mean, mean], [row - 0.4, row + 0.4], color=VERMILLION, linewidth=2, zorder=2)
    rows = [
        f"{label}: {', '.join(map(_number, sorted(found)))}; mean {_number(mean)}"
        for (label, found), mean in zip(values.items(), means, strict=True)
    ]
    for label, value in (yours or {}).items():
        row = list(values).index(label)
        axes.plot(value, row - 0.42, "v", color=INK, markersize=8, zorder=4)
        rows[row] += f"; your run {_number(value)}"
    axes.set_yticks(range(len(values)), list(values))
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"{xlabel}; lines: means" + ("; triangles: your runs" if yours else ""))
    figure.description = f"Dots, {xlabel}. {'. '.join(rows)}."
    return figure


def _number(value: float) -> str:
    """Three digits, without exponents for large numbers."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
