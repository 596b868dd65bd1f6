"""Photographs as a program sees them: arrays of bytes with the color last, each under its name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from course_lib.plots.style import Canvas, canvas, styled

MOST = 6
"""photographs side by side"""


@styled
def photos(pictures: Mapping[str, ArrayLike], *, height: float = 2.3) -> Canvas:
    """Color pictures side by side, drawn `height` inches tall. `pictures`: title -> `(height, width, 3)`, uint8.

    Raises ValueError for another shape or dtype: matplotlib would draw floats on another scale, and a `(3, h, w)`
    array not at all.
    """
    arrays = {title: np.asarray(picture) for title, picture in pictures.items()}
    if not 1 <= len(arrays) <= MOST:
        raise ValueError(f"photos: {len(arrays)} pictures; one figure shows between 1 and {MOST}")
    for title, array in arrays.items():
        if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8:
            raise ValueError(
                f"photos: {title!r} has shape {array.shape} and dtype {array.dtype}; a picture here is (height, width, "
                "3) in uint8."
            )
    ratios = [array.shape[1] / array.shape[0] for array in arrays.values()]
    figure, panels = canvas(height * sum(ratios) + 0.15 * len(arrays), height + 0.3, panels=len(arrays))
    for axes, (title, array) in zip(panels, arrays.items(), strict=True):
        axes.imshow(array, interpolation="nearest")
        axes.set_title(title, fontsize=9.5, loc="center", pad=5)
        axes.set_axis_off()
    shown = "a color picture" if len(arrays) == 1 else f"{len(arrays)} color pictures side by side"
    figure.description = f"{shown}: " + "; ".join(
        f"{title}, {array.shape[0]} by {array.shape[1]} pixels, mean red {r:.0f}, green {g:.0f}, blue {b:.0f}"
        for title, array in arrays.items()
        for r, g, b in [array.mean(axis=(0, 1))]
    )
    figure.description += "."
    return figure
