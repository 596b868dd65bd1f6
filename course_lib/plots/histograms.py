"""Histograms in a grid, all over the same range: what becomes of a distribution from layer to layer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from course_lib.plots.style import GRAY, SERIES_STYLES, Canvas, canvas, styled

BINS = 61
"""an odd number, so that 0 lies in the middle of a bin"""


@styled
def histograms(rows: Mapping[str, Mapping[str, ArrayLike]], *, xlabel: str, limit: float) -> Canvas:
    """A histogram of each array of numbers from -limit to limit, with its standard deviation and what lies outside.

    rows: label of the row -> label of the column -> numbers of any shape; all rows have the same columns. At most five
    rows. Each panel has its own vertical scale.
    """
    if not 1 <= len(rows) <= len(SERIES_STYLES):
        raise ValueError(f"histograms: {len(rows)} rows; one figure takes between 1 and {len(SERIES_STYLES)}")
    columns = len(next(iter(rows.values())))
    figure, _ = canvas(2.1 * columns, 0.5 + 1.35 * len(rows), panels=0)
    grid = figure.subplots(len(rows), columns, sharex=True, squeeze=False)
    sentences = []
    for axes_row, look, (row, panels) in zip(grid, SERIES_STYLES, rows.items(), strict=False):
        parts = []
        for axes, (column, numbers) in zip(axes_row, panels.items(), strict=True):
            values = np.asarray(numbers, dtype=float).ravel()
            inside = values[np.abs(values) <= limit]
            heights, *_ = axes.hist(inside, bins=BINS, range=(-limit, limit), color=look.color)
            axes.set_ylim(0, 1.5 * max(1.0, np.max(heights)))  # room for two lines of text
            axes.set_yticks([])
            axes.grid(False)
            spread = values.std()
            said = f"std {spread:.2g}" if spread < 100 else f"std {spread:.0f}"
            outside = 1 - len(inside) / len(values)
            if outside >= 0.005:
                said += f"\n{outside:.0%} outside" if outside < 0.99 else "\nmore than 99% outside"
            axes.text(0.98, 0.97, said, transform=axes.transAxes, ha="right", va="top", fontsize=8)
            parts.append(f"{column} {said.replace(chr(10), ', ')}")
        axes_row[0].set_ylabel(row.replace(" ", "\n"), color=look.color)
        sentences.append(f"{row}: {'; '.join(parts)}")
    for axes, column in zip(grid[0], next(iter(rows.values())), strict=True):
        axes.set_title(column)
        axes.tick_params(labelcolor=GRAY)
    figure.supxlabel(xlabel, fontsize=10)
    figure.description = f"Histograms of {xlabel}, from {-limit:g} to {limit:g}. {'. '.join(sentences)}."
    return figure
