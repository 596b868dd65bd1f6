"""Pictures of convolutions: a kernel on its way over an image, channels that are summed, what a value depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from course_lib.plots.style import FAINT, GRAY, INK, SERIES_STYLES, Canvas, canvas, frame_image, sheet, styled, times

CELL = 0.36
"""side of a cell that holds a number, in inches"""
SIGNED = "PuOr"
"""orange below 0, white at 0, purple above"""


@styled
def kernel_steps(
    image: ArrayLike, kernel: ArrayLike, places: Sequence[tuple[int, int]], *, padding: int = 0, stride: int = 1
) -> Canvas:
    """Draw a convolution in numbers: the image, the kernel, and the result of every place where the kernel fits.

    image, kernel: `(height, width)` whole numbers. places: row and column of results to frame, each with its window.
    padding: zeros at each border, hatched.
    """
    pixels, weights = np.pad(np.asarray(image, dtype=float), padding), np.asarray(kernel, dtype=float)
    windows = np.lib.stride_tricks.sliding_window_view(pixels, weights.shape)[::stride, ::stride]
    result = (windows * weights).sum(axis=(2, 3))
    gap, tall = 0.75, pixels.shape[0] * CELL
    arrays = {"image": pixels, "kernel": weights, "result": result}
    width = sum(array.shape[1] * CELL for array in arrays.values()) + 2 * gap + 0.3
    figure, axes = sheet(0, width, -tall - 0.5, 0)
    left, corners = 0.15, {}
    for name, array in arrays.items():
        top = -0.35 - (tall - array.shape[0] * CELL) / 2
        corners[name] = left, top
        _numbers(axes, array, left, top, signed=name != "image")
        title = f"{name}, {times(array.shape)}"
        if padding and name == "image":
            title = f"{name}, {times(np.shape(image))}, with padding: {times(array.shape)}"
            _hatch_border(axes, array.shape, padding, left, top)
        axes.text(left, top + 0.12, title, va="center", fontsize=9.5, weight="bold")
        left += array.shape[1] * CELL + gap
        if name != "result":
            sign = "\N{ASTERISK OPERATOR}" if name == "image" else "="
            axes.text(left - gap / 2, -0.35 - tall / 2, sign, ha="center", va="center", fontsize=15)
    for (row, column), look in zip(places, SERIES_STYLES, strict=False):
        frame: dict[str, Any] = {"fill": False, "edgecolor": look.color, "linestyle": look.linestyle, "linewidth": 2.4}
        for name, step, (rows, columns) in (("image", stride, weights.shape), ("result", 1, (1, 1))):
            x, y = corners[name]
            corner = (x + column * step * CELL, y - (row * step + rows) * CELL)
            axes.add_patch(Rectangle(corner, columns * CELL, rows * CELL, **frame))
    said = [f"the window at row {r * stride} and column {c * stride} gives {result[r, c]:g}" for r, c in places]
    if padding or stride > 1:
        said.insert(0, f"padding {padding}, included in the image, and stride {stride}")
    shapes = [f"{name} {array.shape[0]} by {array.shape[1]}" for name, array in arrays.items()]
    figure.description = f"A convolution in numbers: {', '.join(shapes)}; {'; '.join(said)}."
    return figure


@styled
def channel_sum(image: ArrayLike, parts: Mapping[str, ArrayLike], total: ArrayLike) -> Canvas:
    """Draw how one filter reads a color image: the image, what each channel contributes, and their sum.

    image: `(3, height, width)` from 0 to 1. parts: label -> `(height, width)`; total: the sum of the parts. All maps
    have one scale: white is 0, purple above, orange below.
    """
    maps = {label: np.asarray(part, dtype=float) for label, part in parts.items()} | {"sum": np.asarray(total)}
    most = max(np.abs(array).max() for array in maps.values())
    figure, panels = canvas(1.5 * (len(maps) + 1), 1.75, panels=len(maps) + 1)
    panels[0].imshow(np.asarray(image, dtype=float).transpose(1, 2, 0).clip(0, 1), interpolation="nearest")
    panels[0].set_title("photo", fontsize=9.5, loc="center", pad=5)
    for place, (axes, (label, array)) in enumerate(zip(panels[1:], maps.items(), strict=True)):
        axes.imshow(array, cmap=SIGNED, vmin=-most, vmax=most, interpolation="nearest")
        axes.set_title(label, fontsize=9.5, loc="center", pad=5)
        sign = "=" if label == "sum" else "+" if place else "→"
        axes.text(-0.14, 0.5, sign, transform=axes.transAxes, ha="center", va="center", fontsize=13)
    for axes in panels:
        frame_image(axes)
    said = [f"{label} from {array.min():.2f} to {array.max():.2f}" for label, array in maps.items()]
    figure.description = f"One filter on a color photo, channel by channel: {'; '.join(said)}."
    return figure


@styled
def receptive_fields(image: ArrayLike, fields: Mapping[str, tuple[int, int, int]]) -> Canvas:
    """Draw on an image which pixels single values depend on: `fields`: label -> first row, first column, side."""
    pixels = np.asarray(image, dtype=float)
    figure, (axes,) = canvas(6.2, 3.2)
    figure.set_layout_engine("none")
    axes.set_position((0.02, 0.02, 0.5, 0.96))
    axes.imshow(pixels, cmap="Greys", alpha=0.55, interpolation="nearest")
    frame_image(axes)
    for (label, (row, column, side)), look in zip(fields.items(), SERIES_STYLES, strict=False):
        corner = (column - 0.5, row - 0.5)
        axes.add_patch(
            Rectangle(
                corner, side, side, fill=False, edgecolor=look.color, linestyle=look.linestyle, linewidth=2.2,
                label=f"{label}: {times((side, side))} pixels",
            )
        )  # fmt: skip
    axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), handlelength=2.6, handleheight=1.4, labelspacing=1.0)
    said = [f"{label}: {side} by {side} pixels from row {r} and column {c}" for label, (r, c, side) in fields.items()]
    figure.description = (
        f"What a single value depends on, drawn on an image of {pixels.shape[0]} by {pixels.shape[1]} pixels. "
        f"{'; '.join(said)}."
    )
    return figure


@styled
def image_grid(rows: Mapping[str, Sequence[ArrayLike]], *, signed: bool = False) -> Canvas:
    """Draw a row of small images for each label of `rows`, all on one scale: `(height, width)` each.

    With `signed`, white is 0, purple is above and orange below; otherwise white is the least value and black the
    largest. Rows may differ in length.
    """
    arrays = {label: [np.asarray(image, dtype=float) for image in images] for label, images in rows.items()}
    every = [image for images in arrays.values() for image in images]
    most, least = max(image.max() for image in every), min(image.min() for image in every)
    if signed:
        most = max(most, -least)
        least = -most
    columns = max(map(len, arrays.values()))
    side = min(0.95, 8.2 / columns)
    margin = 0.085 * max(map(len, arrays)) + 0.25
    figure, axes = sheet(0, margin + columns * side + 0.1, -len(arrays) * side - 0.1, 0)
    for line, (label, images) in enumerate(arrays.items()):
        top = -0.05 - line * side
        axes.text(0.1, top - side / 2, label, va="center", fontsize=9.5)
        for column, image in enumerate(images):
            x = margin + column * side
            box = (x + 0.04, x + side - 0.04, top - side + 0.04, top - 0.04)
            style: dict[str, Any] = {"cmap": SIGNED if signed else "Greys", "interpolation": "nearest"}
            axes.imshow(image, extent=box, vmin=least, vmax=most, aspect="auto", **style)
            frame = Rectangle((box[0], box[2]), box[1] - box[0], box[3] - box[2], fill=False, edgecolor=FAINT)
            axes.add_patch(frame)
    axes.set_xlim(0, margin + columns * side + 0.1)  # which the images have changed
    axes.set_ylim(-len(arrays) * side - 0.1, 0)
    said = [
        f"{label}: {len(images)} of {images[0].shape[0]} by {images[0].shape[1]}, largest "
        f"{', '.join(f'{image.max():.2f}' for image in images)}"
        for label, images in arrays.items()
    ]
    figure.description = f"{len(arrays)} rows of small images. {'; '.join(said)}."
    return figure


def _hatch_border(axes: Axes, shape: tuple[int, ...], padding: int, left: float, top: float) -> None:
    """Hatch the outer cells of a grid, and draw a line along what they enclose."""
    for row, column in np.ndindex(*shape):
        inside = all(padding <= place < side - padding for place, side in zip((row, column), shape, strict=True))
        if not inside:
            corner = (left + column * CELL, top - (row + 1) * CELL)
            axes.add_patch(Rectangle(corner, CELL, CELL, fill=False, edgecolor=FAINT, hatch="////", linewidth=0))
    height, width = (side - 2 * padding for side in shape)
    corner = (left + padding * CELL, top - (padding + height) * CELL)
    axes.add_patch(Rectangle(corner, width * CELL, height * CELL, fill=False, edgecolor=GRAY, linewidth=1.2))


def _numbers(axes: Axes, array: NDArray[Any], left: float, top: float, *, signed: bool) -> None:
    """A grid of cells, shaded by their values, which stand in them; `top` is its upper edge."""
    import matplotlib

    most = max(np.abs(array).max(), 1.0)
    shades = matplotlib.colormaps[SIGNED if signed else "Greys"]
    for (row, column), value in np.ndenumerate(array):
        shade = shades(0.5 + 0.4 * value / most) if signed else shades(0.6 * value / most)
        x, y = left + column * CELL, top - (row + 1) * CELL
        axes.add_patch(Rectangle((x, y), CELL, CELL, facecolor=shade, edgecolor=FAINT, linewidth=0.6))
        dark = np.dot(shade[:3], (0.299, 0.587, 0.114)) < 0.5
        ink = "white" if dark else GRAY if value == 0 else INK
        axes.text(x + CELL / 2, y + CELL / 2, f"{value:g}", ha="center", va="center", fontsize=8.5, color=ink)
