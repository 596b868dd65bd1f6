"""Functions of two coordinates as colored squares, for what one unit or a whole network answers in the plane."""

from __future__ import annotations

from collections.abc import Mapping

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
