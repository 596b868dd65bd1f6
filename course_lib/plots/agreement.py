"""How far several frameworks are from one another, and how the time of each is made up."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from course_lib.plots.style import FAINT, INK, SERIES_STYLES, Canvas, canvas, styled

FILLS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")
HATCHES = ("", "///", "...", "xxx")


@styled
def agreement(
    x: ArrayLike,
    differences: Mapping[str, Mapping[str, ArrayLike]],
    allowed: Mapping[str, ArrayLike] | None = None,
    *,
    xlabel: str,
    ylabel: str,
    markers: bool = True,
) -> Canvas:
    """A panel for each of `differences` (title -> label -> `(k,)`, at least 0), on one logarithmic scale.

    allowed: title -> `(k,)`, the limit in that panel, a broken line. What is exactly 0 stands on a line at the bottom.
    markers: a mark on each point. At most five labels in a panel, named above. Raises ValueError for more, and where
    limits are given but a title has none.
    """
    too_many = any(len(group) > len(SERIES_STYLES) for group in differences.values())
    if too_many or (allowed is not None and differences.keys() != allowed.keys()):
        raise ValueError(f"agreement: at most {len(SERIES_STYLES)} labels in a panel, and a limit for each panel")
    across = np.asarray(x, dtype=float)
    known = [np.asarray(y, dtype=float) for group in differences.values() for y in group.values()]
    least = min((y[y > 0].min() for y in known if (y > 0).any()), default=1e-16)
    zero = 10 ** (np.floor(np.log10(least)) - 1)
    figure, panels = canvas(8.6, 4.0, panels=len(differences))
    sentences = []
    for axes, (title, group) in zip(panels, differences.items(), strict=True):
        axes.set_yscale("log")
        axes.axhline(zero, color=FAINT, linewidth=1.2)
        for look, (label, values) in zip(SERIES_STYLES, group.items(), strict=False):
            y = np.asarray(values, dtype=float)
            drawn = np.where(y > 0, y, zero)
            axes.plot(
                across,
                drawn,
                color=look.color,
                marker=look.marker if markers else "",
                linestyle=look.linestyle,
                linewidth=1.2,
                label=label,
            )
            sentences.append(f"{title}, {label}: largest {y.max():.1g}".removeprefix(", "))
        if allowed is not None:
            limit = np.asarray(allowed[title], dtype=float)
            axes.plot(across, limit, color=INK, linestyle=(0, (4, 3)), linewidth=1.4)
            axes.annotate(
                "allowed", (across[0], limit[0]), (0, 6), textcoords="offset points", ha="left", va="bottom", color=INK
            )
            sentences.append(f"{title}, allowed: {limit.min():.1g} to {limit.max():.1g}")
        axes.set_title(title)
        axes.set_xlabel(xlabel)
    for axes in panels[1:]:
        axes.sharey(panels[0])
        axes.tick_params(labelleft=False)
    _, high = panels[0].get_ylim()
    top = max([high, *(float(np.max(np.asarray(limit))) for limit in (allowed or {}).values())])
    panels[0].set_ylim(zero / 3, top * 3)
    powers = np.arange(np.floor(np.log10(zero)) + 1, np.floor(np.log10(top * 3)) + 1)
    panels[0].set_yticks(10.0 ** powers[:: 2 if len(powers) > 9 else 1])  # none where the 0 stands
    panels[0].annotate("0", (0, zero), (-6, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                       ha="right", va="center", color=INK)  # fmt: skip
    panels[0].set_ylabel(ylabel)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    figure.description = f"{ylabel} against {xlabel}, logarithmic. {'; '.join(sentences)}."
    return figure
