"""Paths over a landscape of two parameters: where each optimizer went on the same loss, one panel for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from course_lib.plots.style import GRAY, INK, SERIES_STYLES, Canvas, SeriesStyle, canvas, styled

COLUMNS = 3
LEVELS = 9
LOWEST_LEVEL = 1e-3
"""the innermost contour, as a part of the highest loss in view"""


@styled
def surface_paths(
    loss: Callable[[Any, Any], Any],
    paths: Mapping[str, ArrayLike],
    *,
    across: tuple[float, float],
    up: tuple[float, float],
    best: tuple[float, float] = (0.0, 0.0),
    names: tuple[str, str] = ("first parameter", "second parameter"),
    panel_height: float = 2.1,
) -> Canvas:
    """Draw each of `paths` (label -> `(steps + 1, 2)`, the start first) on the contours of `loss`, a panel for each.

    loss: two arrays of parameters -> losses of the same shape, not negative. `across` and `up`: the range in view;
    a path that leaves it is cut off there. `best`: where the loss is least.
    """
    columns = min(COLUMNS, len(paths))
    rows = math.ceil(len(paths) / columns)
    figure, first_row = canvas(8.6, panel_height * rows + 0.3, panels=columns)
    panels = _grid(figure, first_row, rows, columns, len(paths))
    sentences = []
    for index, ((label, values), axes) in enumerate(zip(paths.items(), panels, strict=True)):
        path = np.asarray(values, dtype=float)
        _contours(axes, loss, across, up)
        _path(axes, path, best, SERIES_STYLES[index % len(SERIES_STYLES)])
        axes.set_title(label)
        axes.set_xlim(across)
        axes.set_ylim(up)
        if index + columns >= len(paths):
            axes.set_xlabel(names[0])
        else:
            axes.tick_params(labelbottom=False)
        if index % columns == 0:
            axes.set_ylabel(names[1])
        else:
            axes.tick_params(labelleft=False)
        sentences.append(_sentence(label, path, loss))
    figure.description = (
        f"Contours of a loss over two parameters, least at {_point(best)}, with one path in each panel. "
        f"{'; '.join(sentences)}."
    )
    return figure


def _grid(figure: Figure, first_row: list[Axes], rows: int, columns: int, wanted: int) -> list[Axes]:
    """As many panels as are wanted, row by row; `canvas` lays out one row, and more rows replace it."""
    if rows == 1:
        return first_row
    for axes in first_row:
        axes.remove()
    return [figure.add_subplot(rows, columns, index + 1) for index in range(wanted)]


def _contours(
    axes: Axes, loss: Callable[[Any, Any], Any], across: tuple[float, float], up: tuple[float, float]
) -> None:
    first, second = np.meshgrid(np.linspace(*across, 161), np.linspace(*up, 161))
    heights = np.asarray(loss(first, second), dtype=float)
    levels = np.geomspace(LOWEST_LEVEL * heights.max(), heights.max(), LEVELS)
    axes.contourf(first, second, heights, levels=[0, *levels], cmap="Greys_r", alpha=0.35, extend="max")
    axes.contour(first, second, heights, levels=levels, colors=GRAY, linewidths=0.5)
    axes.grid(False)


def _path(axes: Axes, path: NDArray[Any], best: tuple[float, float], look: SeriesStyle) -> None:
    axes.plot(*best, marker="+", color=INK, markersize=11, markeredgewidth=1.4, linestyle="", zorder=3)
    axes.plot(path[:, 0], path[:, 1], color=look.color, linewidth=1.2, marker="o", markersize=2.2, zorder=4)
    axes.plot(*path[0], marker="o", markersize=8, fillstyle="none", color=INK, linestyle="", zorder=5)
    axes.plot(
        *path[-1], marker=look.marker, markersize=7, color=look.color, markeredgecolor=INK, linestyle="", zorder=6
    )


def _sentence(label: str, path: NDArray[Any], loss: Callable[[Any, Any], Any]) -> str:
    start, end = (float(loss(*point)) for point in (path[0], path[-1]))
    return f"{label}: {len(path) - 1} steps from {_point(path[0])} to {_point(path[-1])}, loss {start:.3g} to {end:.3g}"


def _point(point: ArrayLike) -> str:
    first, second = np.asarray(point, dtype=float)
    return f"({first:.3g}, {second:.3g})"
