"""Draw the units of a fully connected network in columns, with the weights of one unit marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Circle

from course_lib.plots.style import BLUE, FAINT, GRAY, INK, Canvas, sheet, styled

COLUMN, ROW, RADIUS = 2.6, 0.47, 0.17
"""distance between neighbors, and of a unit; in inches"""
ABOVE = 3
"""units that are drawn above the dots; below them stands the last one"""
MARKED = 1
"""the unit of the second column whose weights are marked"""


@styled
def dense_network(layers: Mapping[str, int], weights: Sequence[str]) -> Canvas:
    """Draw `layers`, each a name and its number of units, from left to right; every unit shows its index.

    weights: what to write between two neighboring layers, as in `["W1", "W2"]`. Of a layer with more than five units
    the first three and the last are drawn. Raises ValueError if there are not two layers or more, with one text less.
    """
    if len(layers) < 2 or len(weights) != len(layers) - 1:
        raise ValueError(f"dense_network: {len(layers)} layers need {len(layers) - 1} texts, and at least two layers")
    sizes = list(layers.values())
    height = (ABOVE + 1) * ROW
    figure, axes = sheet(-COLUMN / 2, COLUMN * (len(sizes) - 0.5), -height - 0.7, 0.85)
    columns = [_spots(size, height) for size in sizes]
    for place, (name, spots) in enumerate(zip(layers, columns, strict=True)):
        x = place * COLUMN
        axes.text(x, 0.5, name, ha="center", va="center", fontweight="bold")
        for unit, y in spots.items():
            _draw_unit(axes, (x, y), unit, marked=place == 1 and unit == MARKED)
            for start in columns[place - 1].values() if place else ():
                _draw_weight(axes, (x - COLUMN, start), (x, y), marked=place == 1 and unit == MARKED)
        if len(spots) < sizes[place]:
            axes.text(x, -ABOVE * ROW, "\N{VERTICAL ELLIPSIS}", ha="center", va="center", fontsize=15, color=GRAY)
    for place, text in enumerate(weights):
        axes.text((place + 0.5) * COLUMN, -height - 0.42, text, ha="center", va="center", color=INK)
    names = " and ".join(filter(None, [", ".join(list(layers)[:-1]), list(layers)[-1]]))
    figure.description = (
        f"Fully connected network, from left to right: {names}; between them {', then '.join(weights)}. "
        f"Every unit is connected to all of the layer before it; marked are the weights of unit {MARKED} "
        "of the second column."
    )
    return figure


def _spots(size: int, height: float) -> dict[int, float]:
    """The units to draw, with their height; the first is at the top."""
    drawn = range(size) if size <= ABOVE + 2 else [*range(ABOVE), size - 1]
    step = height / (ABOVE + 1)
    if size <= ABOVE + 2:
        top = (height - (size - 1) * step) / 2
        return {unit: -top - unit * step for unit in drawn}
    return {unit: -height if unit == size - 1 else -unit * step for unit in drawn}


def _draw_unit(axes: Axes, at: tuple[float, float], unit: int, *, marked: bool) -> None:
    face = "#e3eff7" if marked else "white"
    circle = Circle(at, RADIUS, facecolor=face, edgecolor=BLUE if marked else INK, linewidth=1.4, zorder=3)
    axes.add_patch(circle)
    axes.text(*at, str(unit), ha="center", va="center", fontsize=9, zorder=4)


def _draw_weight(axes: Axes, start: tuple[float, float], end: tuple[float, float], *, marked: bool) -> None:
    across, down = zip(start, end, strict=True)
    axes.plot(
        across, down, color=BLUE if marked else FAINT, linewidth=1.8 if marked else 1.0, zorder=2 if marked else 1
    )
