"""Look at a classifier: what it says of single images, its weights as pictures, and which classes it mixes up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from course_lib.plots.style import (
    BLUE,
    FAINT,
    GRAY,
    INK,
    SERIES_STYLES,
    VERMILLION,
    Canvas,
    canvas,
    frame_image,
    styled,
)

SIGNED = LinearSegmentedColormap.from_list("signed", [VERMILLION, "white", BLUE])
"""below zero, zero, above zero"""
ERRORS = LinearSegmentedColormap.from_list("errors", ["white", VERMILLION])


@styled
def scored_images(
    images: ArrayLike, scores: ArrayLike, labels: Sequence[int], titles: Sequence[str], *, ylabel: str
) -> Canvas:
    """Images side by side, each with a bar for the score of every class below it; the true class has a hatched bar.

    images: `(n, height, width)`, drawn white at 0 and black at 1. scores: `(n, classes)`. labels: the true classes.
    """
    pictures, heights = np.asarray(images, dtype=float), np.asarray(scores, dtype=float)
    count, classes = heights.shape
    figure, _ = canvas(min(9.2, 2.9 * count + 0.6), 3.9, panels=0)
    grid = figure.add_gridspec(2, count, height_ratios=(1.25, 1.6))
    first: Axes | None = None
    sentences = []
    for column, (picture, bars, label, title) in enumerate(zip(pictures, heights, labels, titles, strict=True)):
        above = figure.add_subplot(grid[0, column])
        above.imshow(picture, cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
        above.set_title(title, fontsize=9.5, loc="center", pad=6)
        frame_image(above)
        axes = figure.add_subplot(grid[1, column], sharey=first)
        for name, value in enumerate(bars):
            true = name == label
            axes.bar(
                name, value, 0.75, color=VERMILLION if true else BLUE, hatch="///" if true else "", edgecolor="white"
            )
        axes.axhline(0, color=GRAY, linewidth=0.8)
        axes.set_xticks(range(classes), [str(name) for name in range(classes)], fontsize=8.5)
        axes.get_xticklabels()[label].set_fontweight("bold")
        axes.set_xlabel("class (true one in bold)")
        axes.grid(axis="x", visible=False)
        if first is None:
            first = axes
            axes.set_ylabel(ylabel)
        else:
            axes.tick_params(labelleft=False)
        best = int(bars.argmax())
        sentences.append(
            f"{' '.join(title.split())}: true class {label} has {bars[label]:.2f}, "
            f"class {best} has the most, {bars[best]:.2f}"
        )
    figure.description = f"{count} images with bars of {ylabel} for {classes} classes. {'; '.join(sentences)}."
    return figure


@styled
def weight_images(weights: Mapping[str, ArrayLike], *, columns: int = 5) -> Canvas:
    """Weights as pictures on one scale for all: blue where positive, orange where negative, white at zero.

    weights: label -> `(height, width)`.
    """
    pictures = {label: np.asarray(picture, dtype=float) for label, picture in weights.items()}
    limit = max(float(np.abs(picture).max()) for picture in pictures.values())
    rows = math.ceil(len(pictures) / columns)
    figure, _ = canvas(1.45 * columns + 0.9, 1.62 * rows, panels=0)
    panels = [figure.add_subplot(rows, columns, place + 1) for place in range(len(pictures))]
    for axes, (label, picture) in zip(panels, pictures.items(), strict=True):
        drawn = axes.imshow(picture, cmap=SIGNED, vmin=-limit, vmax=limit, interpolation="nearest")
        axes.set_title(label, fontsize=10, loc="center", pad=4)
        frame_image(axes)
    figure.colorbar(drawn, ax=panels, label="weight", shrink=0.8, pad=0.02)
    parts = [f"{label} from {picture.min() + 0:.2g} to {picture.max() + 0:.2g}" for label, picture in pictures.items()]
    figure.description = f"Weights drawn as images, blue positive and orange negative. {'; '.join(parts)}."
    return figure


@styled
def confusion(counts: ArrayLike) -> Canvas:
    """A confusion matrix with its numbers: rows are true classes, columns predicted ones, mistakes in orange.

    counts: `(classes, classes)` of whole numbers.
    """
    table = np.asarray(counts)
    classes = len(table)
    mistakes = table - np.diag(np.diag(table))
    figure, (axes,) = canvas(5.4, 4.7)
    axes.imshow(mistakes, cmap=ERRORS, vmin=0, vmax=1.5 * max(mistakes.max(), 1))
    for row, column in np.ndindex(table.shape):
        right = row == column
        if table[row, column] or right:
            weight = "bold" if right else "normal"
            axes.text(column, row, str(table[row, column]), ha="center", va="center", color=INK, weight=weight)
        if right:
            axes.add_patch(Rectangle((row - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=GRAY, linewidth=0.8))
    axes.set_xticks(range(classes))
    axes.set_yticks(range(classes))
    axes.tick_params(length=0)
    axes.grid(False)
    axes.set_xlabel("predicted class")
    axes.set_ylabel("true class")
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)
    worst = np.argsort(mistakes, axis=None, kind="stable")[::-1][:3]
    most = [divmod(int(place), classes) for place in worst]
    said = "; ".join(f"{table[pair]} times true {pair[0]}, predicted {pair[1]}" for pair in most if mistakes[pair])
    figure.description = (
        f"Confusion matrix of {classes} classes: {np.trace(table)} of {table.sum()} on the diagonal. "
        f"Most frequent mistakes: {said or 'none'}."
    )
    return figure


@styled
def line_panels(
    x: ArrayLike,
    panels: Mapping[str, Mapping[str, ArrayLike]],
    *,
    xlabel: str,
    ylim: tuple[float, float] | None = None,
) -> Canvas:
    """Curves over the same axis in panels side by side, each with an axis and a legend of its own.

    x: `(k,)`. panels: label of the vertical axis -> label of the curve -> `(k,)`. ylim: one range for all panels.
    """
    across = np.asarray(x, dtype=float)
    figure, drawn = canvas(8.8, 3.6, panels=len(panels))
    sentences = []
    for axes, (ylabel, curves) in zip(drawn, panels.items(), strict=True):
        for look, (label, values) in zip(SERIES_STYLES, curves.items(), strict=False):
            y = np.asarray(values, dtype=float)
            axes.plot(across, y, color=look.color, linestyle=look.linestyle, label=label)
            sentences.append(f"{ylabel}, {label}: from {y[0]:.3g} to {y[-1]:.3g}, least {y.min():.3g}")
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.margins(x=0.02)
        if ylim is not None:
            axes.set_ylim(ylim)
        if np.array_equal(across, np.round(across)):
            axes.xaxis.set_major_locator(MaxNLocator(nbins=10 if len(panels) < 4 else 3, integer=True))
        axes.legend()
    figure.description = f"{len(panels)} panels of curves against {xlabel}. {'; '.join(sentences)}."
    return figure
