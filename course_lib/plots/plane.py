"""The plane: functions of two coordinates as colored squares, and points of two classes at different places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from numpy.typing import ArrayLike

from course_lib.plots.style import BLUE, INK, VERMILLION, Canvas, canvas, styled

COLORS = LinearSegmentedColormap.from_list("orange, white, blue", [VERMILLION, "white", BLUE])


@styled
def plane_maps(maps: Mapping[str, ArrayLike], *, edge: float = 6.0) -> Canvas:
    """Draw each of `maps`, label -> `(rows, columns)` from -1 to 1, as a square; a line where it is 0. At most four.

    The first row is the upper edge, where x2 = `edge`; the first column the left one, where x1 = -`edge`.
    """
    if not 1 <= len(maps) <= 4:
        raise ValueError(f"plane_maps: {len(maps)} maps; one figure has room for 1 to 4")
    figure, panels = canvas(2.5 * len(maps), 2.9, panels=len(maps))
    said = []
    for axes, (label, values) in zip(panels, maps.items(), strict=True):
        shown = np.asarray(values, dtype=float)
        if shown.ndim != 2:
            raise ValueError(f"plane_maps: {label!r} has the shape {shown.shape}; a map has rows and columns")
        axes.imshow(shown, cmap=COLORS, vmin=-1, vmax=1, extent=(-edge, edge, -edge, edge))
        if shown.min() < 0 < shown.max():
            x1, x2 = np.linspace(-edge, edge, shown.shape[1]), np.linspace(edge, -edge, shown.shape[0])
            axes.contour(x1, x2, shown, levels=[0], colors=[INK], linewidths=1)
        axes.grid(visible=False)
        axes.set_title(label, fontsize=9.5)
        axes.set_xlabel("x1")
        axes.set_xticks([-edge, 0, edge])
        axes.set_yticks([-edge, 0, edge])
        said.append(f"{label}: from {shown.min():.2g} to {shown.max():.2g}, positive on {np.mean(shown > 0):.0%} of it")
    panels[0].set_ylabel("x2")
    figure.description = f"Maps of the plane, orange below zero and blue above. {'; '.join(said)}."
    return figure


@styled
def plane_points(places: Mapping[str, ArrayLike], labels: ArrayLike, *, axes: Sequence[str] = ("x1", "x2")) -> Canvas:
    """Draw the same points at each of `places`, title -> `(n, 2)`, side by side. At most four.

    labels: (n,), positive for a blue circle, else an orange square. axes: the names of the first panel's two axes; the
    others have those of two units.
    """
    if not 1 <= len(places) <= 4:
        raise ValueError(f"plane_points: {len(places)} panels; one figure has room for 1 to 4")
    positive = np.asarray(labels) > 0
    figure, panels = canvas(3.0 * len(places), 3.2, panels=len(places))
    said = []
    for number, (panel, (title, given)) in enumerate(zip(panels, places.items(), strict=True)):
        points = np.asarray(given, dtype=float)
        if points.shape != (len(positive), 2):
            raise ValueError(f"plane_points: {title!r} has the shape {points.shape}, not ({len(positive)}, 2)")
        for of_class, color, marker in ((positive, BLUE, "o"), (~positive, VERMILLION, "s")):
            shown = points[of_class]
            panel.scatter(shown[:, 0], shown[:, 1], s=14, color=color, marker=marker, linewidths=0)
        panel.set_title(title, fontsize=9.5)
        first, second = axes if number == 0 else ("unit 1", "unit 2")
        panel.set_xlabel(first)
        panel.set_ylabel(second)
        centers = [
            " and ".join(f"{value:.2g}" for value in points[of_class].mean(axis=0))
            for of_class in (positive, ~positive)
        ]
        said.append(f"{title}: the mean of the blue ones at {centers[0]}, of the orange ones at {centers[1]}")
    count = f"{positive.sum()} blue and {(~positive).sum()} orange"
    many = f"The same points, {count}, at different places"
    figure.description = f"{many if len(places) > 1 else f'{count} points'}. {'; '.join(said)}."
    return figure
