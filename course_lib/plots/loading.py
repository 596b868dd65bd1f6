"""Pictures of loading: color images in a row, and who loaded what when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from course_lib.plots.style import SERIES_STYLES, Canvas, canvas, frame_image, styled


@styled
def color_row(images: Mapping[str, ArrayLike]) -> Canvas:
    """Small color images side by side; values below 0 and above 1 are cut. `images`: label -> `(3, height, width)`."""
    arrays = {label: np.asarray(image, dtype=float) for label, image in images.items()}
    figure, panels = canvas(min(9.0, 1.25 * len(arrays) + 0.2), 1.6, panels=len(arrays))
    for axes, (label, array) in zip(panels, arrays.items(), strict=True):
        axes.imshow(array.transpose(1, 2, 0).clip(0, 1), interpolation="nearest")
        axes.set_title(label, fontsize=9.5, loc="center", pad=5)
        frame_image(axes)
    parts = [
        f"{label}, {array.shape[1]} by {array.shape[2]}, mean red {r:.2f}, green {g:.2f}, blue {b:.2f}"
        for label, array in arrays.items()
        for r, g, b in [array.mean(axis=(1, 2))]
    ]
    figure.description = f"{len(arrays)} color images side by side: {'; '.join(parts)}."
    return figure


@styled
def timeline(spans: Mapping[str, Sequence[tuple[float, float]]], *, xlabel: str) -> Canvas:
    """One row for each label of `spans`, with a bar from begin to end for each of its spans; time runs from 0."""
    figure, (axes,) = canvas(8.2, 0.42 * len(spans) + 1.0)
    for row, times in enumerate(spans.values()):
        look = SERIES_STYLES[row % len(SERIES_STYLES)]
        bars = [(begin, end - begin) for begin, end in times]
        axes.broken_barh(bars, (row - 0.35, 0.7), facecolor=look.color, edgecolor="white", linewidth=1)
    axes.set_yticks(range(len(spans)), list(spans))
    axes.set_ylim(len(spans) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_locator(MaxNLocator(8))
    axes.set_xlabel(xlabel)
    rows = [
        f"{label}: {len(times)} spans from {times[0][0]:.3g} to {max(end for _, end in times):.3g}"
        for label, times in spans.items()
    ]
    figure.description = f"Who was busy when, {xlabel}. {'; '.join(rows)}."
    return figure


@styled
def class_counts(counts: Mapping[str, Sequence[float]], *, xlabel: str = "class", ylabel: str = "examples") -> Canvas:
    """How many of each class, a panel for each label of `counts`; the number of a class is its place from 0 on."""
    figure, panels = canvas(min(9.0, 3.0 * len(counts)), 2.6, panels=len(counts))
    for axes, (label, values), look in zip(panels, counts.items(), SERIES_STYLES, strict=False):
        axes.bar(range(len(values)), list(values), color=look.color)
        axes.set_title(label)
        axes.set_xlabel(xlabel)
        axes.set_xticks(range(len(values)))
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, 1.05 * max(map(max, counts.values())))
    panels[0].set_ylabel(ylabel)
    rows = [f"{label}: {', '.join(f'{value:.3g}' for value in values)}" for label, values in counts.items()]
    figure.description = f"{ylabel} for each {xlabel}, from 0 on. {'; '.join(rows)}."
    return figure
