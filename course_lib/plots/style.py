"""One look for every figure of the course, and a figure that can say in words what it shows.

Colors are those of Okabe and Ito, which stay apart for color-blind readers. No figure tells two things
apart by color alone: each series also has its own marker, line style and label. A `Canvas` is drawn
without pyplot, so that nothing is shown twice and no global figure is left behind.
"""

from __future__ import annotations

import base64
import functools
import html
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ParamSpec

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

P = ParamSpec("P")

DOTS_PER_INCH = 144
"""more than a notebook shows an inch as, so that figures stay sharp on dense screens"""
SHOWN_PER_INCH = 90

INK = "#222222"
GRAY = "#8a8a8a"
FAINT = "#d9d9d9"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
ORANGE = "#E69F00"


@dataclass(frozen=True)
class SeriesStyle:
    """How one series is drawn."""

    color: str
    marker: str
    linestyle: str | tuple[int, tuple[int, ...]]


SERIES_STYLES = (
    SeriesStyle(BLUE, "o", "-"),
    SeriesStyle(VERMILLION, "s", (0, (5, 2))),
    SeriesStyle(GREEN, "^", (0, (1, 1))),
    SeriesStyle(PURPLE, "D", (0, (5, 1, 1, 1))),
    SeriesStyle(ORANGE, "v", (0, (3, 1))),
)
"""in this order: the first series of any figure is blue, with circles, on a full line"""

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRAY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#ececec",
    "grid.linewidth": 0.8,
    "xtick.color": GRAY,
    "ytick.color": GRAY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "figure.facecolor": "white",
}


class Canvas(Figure):
    """A matplotlib figure that carries its description and shows itself as an image with alternative text."""

    description: str = ""
    """what the figure shows, in words: the alternative text in a notebook, on a web page, for a screen reader"""

    def png(self) -> bytes:
        """The figure as the bytes of a PNG file."""
        buffer = io.BytesIO()
        with rc_context(STYLE):
            self.savefig(buffer, format="png", dpi=DOTS_PER_INCH, metadata={"Description": self.description})
        return buffer.getvalue()

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """What Jupyter shows, as `shown` makes it."""
        width, height = (round(inches * SHOWN_PER_INCH) for inches in self.get_size_inches())
        return shown(self.png(), self.description, width, height)


def shown(png: bytes, description: str, width: int, height: int) -> tuple[dict[str, str], dict[str, Any]]:
    """What Jupyter shows of an image: HTML carries the description everywhere, the plain PNG is for tools.

    width, height: in the pixels of a web page; the image itself may be finer.
    """
    image = base64.b64encode(png).decode("ascii")
    alt = html.escape(description, quote=True)
    tag = f'<img alt="{alt}" width="{width}" style="max-width: 100%" src="data:image/png;base64,{image}">'
    data = {"text/plain": description, "text/html": tag, "image/png": image}
    return data, {"image/png": {"alt": description, "width": width, "height": height}}


def canvas(width: float = 7.5, height: float = 4.0, panels: int = 1) -> tuple[Canvas, list[Axes]]:
    """An empty figure in the course's style with `panels` axes side by side. Sizes in inches."""
    with rc_context(STYLE):
        figure = Canvas(figsize=(width, height), layout="constrained")
        axes = [figure.add_subplot(1, panels, index + 1) for index in range(panels)]
    return figure, axes


def sheet(left: float, right: float, bottom: float, top: float) -> tuple[Canvas, Axes]:
    """A figure without axes on which one unit is one inch, from `left` to `right` and from `bottom` to `top`."""
    figure, (axes,) = canvas(right - left, top - bottom)
    figure.set_layout_engine("none")
    axes.set_position((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    return figure, axes


def frame_image(axes: Axes) -> None:
    """For the panel of an image: no ticks, no grid, and a faint frame."""
    axes.grid(False)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)


def times(shape: Iterable[int]) -> str:
    """A shape as it is read: 3 × 4."""
    return " \N{MULTIPLICATION SIGN} ".join(map(str, shape))


def styled(draw: Callable[P, Canvas]) -> Callable[P, Canvas]:
    """Run a drawing function under the course's style, and leave the reader's own settings as they were."""

    @functools.wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> Canvas:
        with rc_context(STYLE):
            return draw(*args, **kwargs)

    return in_style
