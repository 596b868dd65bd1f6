"""The figures of the class report, as SVG that stands inside the page and takes its colors from the style sheet.

Matplotlib draws with stand-in colors; each is then replaced by the style sheet's variable of that name, so
that one drawing serves a light screen, a dark one and paper. No word of a student's goes into a figure.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from autograder.records import Verdict
from autograder.report import words
from autograder.report.sanitize import one_line, visible
from autograder.report.summary import ItemSummary, Scores

TONES = {
    "passed": "passed",
    "partial": "partly passed",
    "failed": "failed",
    "limit": "limit or crash",
    "absent": "not attempted or run",
    "open": "still open",
}
"""the style sheet's verdict colors, in the order in which bars are stacked, with the words of the legend"""

_STAND_INS = {name: f"#fe01{index:02x}" for index, name in enumerate(("ink", "muted", "line", "card", "link", *TONES))}
_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "class report",
    "text.color": _STAND_INS["ink"],
    "axes.labelcolor": _STAND_INS["ink"],
    "axes.edgecolor": _STAND_INS["muted"],
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "xtick.color": _STAND_INS["muted"],
    "ytick.color": _STAND_INS["muted"],
    "xtick.labelcolor": _STAND_INS["ink"],
    "ytick.labelcolor": _STAND_INS["ink"],
    "legend.frameon": False,
}
_ID = re.compile(r'(\bid="|href="#|url\(#)')


def bins(scores: Scores) -> list[tuple[float, float, int]]:
    """(from, to, number of submissions) of each bar of the histogram: tenths of the points there are."""
    # The scores of an assignment that gives extra points may lie above the maximum; they have a right to a bar.
    top = max(scores.max_score, scores.highest, 1e-9)
    edges = np.linspace(min(0.0, scores.lowest), top, 11)
    counts, _ = np.histogram(scores.values, bins=edges)
    return [(float(a), float(b), int(n)) for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True)]


def histogram(scores: Scores) -> Markup:
    """How many submissions have how many points, with the median."""
    described = (
        f"Histogram of {words.plural(len(scores.values), 'score')} from {words.points(scores.lowest)} to "
        f"{words.points(scores.highest)} of {words.points(scores.max_score)} points; "
        f"the median is {words.points(scores.median)}."
    )
    with rc_context(_STYLE):
        figure, axes = _canvas(7.6, 2.9)
        behind = {"boxstyle": "square,pad=0.1", "facecolor": _STAND_INS["card"], "edgecolor": "none"}
        for left, right, count in bins(scores):
            axes.bar(left, count, width=(right - left) * 0.94, align="edge", color=_STAND_INS["link"])
            if count:
                place = ((left + right) / 2, count)
                # Before the median's line, which may run through the number.
                axes.annotate(
                    *(str(count), place, (0, 4)), textcoords="offset points", ha="center", fontsize=9, bbox=behind
                )
        axes.axvline(scores.median, color=_STAND_INS["ink"], linestyle=(0, (4, 3)), linewidth=1.2)
        axes.annotate(
            f"median {words.points(scores.median)}",
            (scores.median, 1.0),
            (0, 4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
        axes.set_xlabel("points")
        axes.set_ylabel("submissions")
        axes.margins(x=0.01, y=0.16)
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        return _inline(figure, "scores", described)


def stacked_bars(items: Sequence[ItemSummary], names: Sequence[str]) -> Markup:
    """How each graded cell ended over the class, one bar a cell, as shares of the submissions."""
    described = "Bars of how each part ended over the class. " + " ".join(
        f"{name}: {', '.join(f'{count} {TONES[tone]}' for tone, count in tones(item.verdicts).items())}."
        for name, item in zip(names, items, strict=True)
    )
    with rc_context(_STYLE):
        figure, axes = _canvas(7.6, 1.15 + 0.42 * len(items))
        for row, item in enumerate(items):
            _bar(axes, row, tones(item.verdicts))
        shown = {tone for item in items for tone in tones(item.verdicts)}
        for tone in (t for t in TONES if t in shown):
            axes.barh(0, 0, color=_STAND_INS[tone], label=TONES[tone])
        axes.set_yticks(range(len(items)), [one_line(name, 34) for name in names], parse_math=False)
        axes.set_ylim(len(items) - 0.4, -0.6)
        axes.set_xlim(0, 100)
        axes.set_xlabel("% of graded submissions; the numbers are submissions")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        figure.legend(loc="outside upper left", ncols=len(shown) or 1, fontsize=9, handlelength=1, columnspacing=1.4)
        return _inline(figure, "parts", described)


def tones(verdicts: Mapping[Verdict, int]) -> dict[str, int]:
    """Verdicts counted by the color they share, in the order of the bars, without those that did not occur."""
    counts = {tone: sum(n for v, n in verdicts.items() if words.VERDICT_STYLES[v].tone == tone) for tone in TONES}
    return {tone: count for tone, count in counts.items() if count}


def _bar(axes: Axes, row: int, counts: Mapping[str, int]) -> None:
    total, left = sum(counts.values()), 0.0
    for tone, count in counts.items():
        width = 100 * count / total
        axes.barh(row, width, left=left, height=0.66, color=_STAND_INS[tone], edgecolor=_STAND_INS["card"], linewidth=1)
        if width >= 4:
            axes.text(left + width / 2, row, str(count), ha="center", va="center", fontsize=9, color=_STAND_INS["card"])
        left += width


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure of so many inches, drawn without pyplot, so that no global figure is left behind."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    return figure, figure.add_subplot()


def _inline(figure: Figure, name: str, described: str) -> Markup:
    """The figure as an SVG element: its own ids, the style sheet's colors, and words for those who do not see it."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        # The page's own fonts draw the text; that matplotlib's lacks a letter of a name does not matter.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(buffer, format="svg", metadata={"Creator": None, "Date": None, "Format": None, "Type": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<style.*?</style>|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Each figure starts counting its ids afresh; two on one page would share them.
    svg = _ID.sub(rf"\g<1>{name}-", svg)
    for variable, color in _STAND_INS.items():
        svg = svg.replace(color, f"var(--{variable})")
    view = re.search(r'viewBox="[^"]*"', svg)
    start = f'<svg {view.group() if view else ""} role="img" aria-label="{escape(visible(described))}" xmlns:xlink="http://www.w3.org/1999/xlink">'
    return Markup(start + svg[svg.index(">") + 1 :])
