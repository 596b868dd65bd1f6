"""Lines against an axis: how a loss falls, how an error depends on a step, how a cost grows with size.

Each function knows its axes, so that a notebook gives only what it measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from course_lib.plots.style import (
    BLUE,
    FAINT,
    GRAY,
    INK,
    SERIES_STYLES,
    VERMILLION,
    Canvas,
    SeriesStyle,
    canvas,
    styled,
)

TOP, RIGHT = ("data", "axes fraction"), ("axes fraction", "data")
"""coordinates for a label on the frame: one from the data, the other from the frame"""


@styled
def loss_curves(losses: Mapping[str, ArrayLike], *, log: bool = True, ylabel: str = "loss") -> Canvas:
    """Losses against update steps. `losses`: label -> `(steps,)`, measured before each update."""
    figure, (axes,) = canvas(7.0, 3.6)
    for look, (label, values) in zip(SERIES_STYLES, losses.items(), strict=False):
        series = np.asarray(values, dtype=float)
        axes.plot(series, color=look.color, linestyle=look.linestyle)
        _label_end(axes, len(series) - 1, series[-1], label, look)
    if log:
        axes.set_yscale("log")
    axes.set_xlabel("updates done")
    axes.set_ylabel(f"{ylabel}{' (log scale)' if log else ''}")
    axes.margins(x=0.02)
    ends = [f"{label} goes from {np.asarray(v)[0]:.3g} to {np.asarray(v)[-1]:.3g}" for label, v in losses.items()]
    figure.description = f"Line plot of {ylabel} against updates. {'; '.join(ends)}."
    return figure


@styled
def step_errors(steps: ArrayLike, errors: Mapping[str, Mapping[str, ArrayLike]]) -> Canvas:
    """Relative error of a derivative against step size, a panel for each group, the best step of each method marked.

    `steps`: `(k,)`, positive. `errors`: panel title -> label -> `(k,)`; NaN where nothing was measured.
    """
    x = np.asarray(steps, dtype=float)
    figure, panels = canvas(8.6, 3.9, panels=len(errors))
    sentences = []
    for axes, (title, group) in zip(panels, errors.items(), strict=True):
        for look, (label, values) in zip(SERIES_STYLES, group.items(), strict=False):
            y = np.asarray(values, dtype=float)
            axes.loglog(x, y, label=label, color=look.color, marker=look.marker, markevery=4, linestyle=look.linestyle)
            best = int(np.nanargmin(y))
            axes.plot(x[best], y[best], marker="o", markersize=13, fillstyle="none", color=look.color)
            sentences.append(f"{title}, {label}: least error {y[best]:.1g} at step {x[best]:.1g}")
        axes.set_title(title)
        axes.set_xlabel("step $h$")
    panels[0].legend(loc="lower left")
    for axes in panels[1:]:
        axes.sharey(panels[0])
        axes.tick_params(labelleft=False)
    panels[0].set_ylabel("relative error of the derivative")
    figure.description = (
        "Error against step size on logarithmic scales; every curve is a valley. " + "; ".join(sentences) + "."
    )
    return figure


@styled
def scaling(
    sizes: ArrayLike,
    costs: Mapping[str, ArrayLike],
    *,
    xlabel: str,
    ylabel: str,
    logx: bool = True,
) -> Canvas:
    """Measured costs against problem size on logarithmic axes, each line labeled at its right end.

    `sizes`: `(k,)`; `costs`: label -> `(k,)`, NaN where nothing was measured; the labels carry the units.
    """
    x = np.asarray(sizes, dtype=float)
    figure, (axes,) = canvas(7.5, 3.9)
    axes.set_yscale("log")
    if logx:
        axes.set_xscale("log")
    sentences = []
    for look, (label, values) in zip(SERIES_STYLES, costs.items(), strict=False):
        y = np.asarray(values, dtype=float)
        measured = np.flatnonzero(np.isfinite(y))
        axes.plot(x, y, color=look.color, marker=look.marker, linestyle=look.linestyle)
        first, last = measured[0], measured[-1]
        _label_end(axes, x[last], y[last], label, look)
        sentences.append(f"{label}: from {y[first]:.3g} at {x[first]:.3g} to {y[last]:.3g} at {x[last]:.3g}")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    figure.description = f"{ylabel} against {xlabel}. {'; '.join(sentences)}."
    return figure


@styled
def descent(
    grid: ArrayLike,
    expected: Callable[[Any], Any],
    batches: Sequence[NDArray[Any]],
    path: ArrayLike,
    *,
    best: float,
) -> Canvas:
    """Stochastic descent on one parameter: each batch's own loss, their expectation, and the parameter over time.

    `grid`: `(k,)` values of the parameter; `expected`: parameter -> expected loss; `batches`: losses `(k,)` of
    single batches on the grid; `path`: `(steps,)` parameters visited; `best`: the parameter of least expected loss.
    """
    x, visited = np.asarray(grid, dtype=float), np.asarray(path, dtype=float)
    figure, (left, right) = canvas(8.6, 3.8, panels=2)
    for index, batch in enumerate(batches):
        lowest = int(np.argmin(batch))
        names = ("one batch", "its lowest point") if index == 0 else (None, None)
        left.plot(x, batch, color=FAINT, linewidth=1.1, label=names[0])
        left.plot(x[lowest], batch[lowest], "o", color=GRAY, markersize=4, label=names[1], zorder=3)
    left.plot(x, expected(x), color=BLUE, linewidth=2.4, label="expected loss", zorder=4)
    left.axvline(best, ymax=0.7, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
    left.annotate(r"$\theta^*$", (best, 0.7), (0, 2), xycoords=TOP, textcoords="offset points", ha="center")
    left.set_ylim(0, 1.2 * float(np.max(expected(x))))
    left.set_xlabel(r"parameter $\theta$")
    left.set_ylabel("loss")
    left.legend(loc="upper center", frameon=True, framealpha=1, edgecolor="none").set_zorder(5)
    right.plot(visited, color=VERMILLION, marker="s", markersize=2.5, linewidth=1.0)
    right.axhline(best, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
    right.annotate(r"$\theta^*$", (1, best), (4, 0), xycoords=RIGHT, textcoords="offset points", va="center")
    right.set_xlabel("updates done")
    right.set_ylabel(r"parameter $\theta$")
    figure.description = (
        f"Left: the losses of {len(batches)} batches, each with its own lowest point, lie around the expected loss, "
        f"which is least at {best:.3g}. Right: the parameter starts at {visited[0]:.3g}; "
        f"after {len(visited) - 1} updates it is {visited[-1]:.3g}."
    )
    return figure


def _label_end(axes: Axes, x: float, y: float, label: str, look: SeriesStyle) -> None:
    """The label of a line stands at its right end, in its color: no legend to look up."""
    axes.annotate(label, (x, y), (9, 0), textcoords="offset points", va="center", color=look.color)
