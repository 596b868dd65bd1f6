"""How long a step of the playground takes with its picture, beside the same picture redrawn by matplotlib, in one run.

    python benchmarks/playground.py [--out FILE] [--rounds N]

Both train one epoch and end with the bytes of a PNG file of the same size in pixels and of the same contents: a map for
each neuron, a line for each weight, the boundary, the points and the losses. Processor time, the best of the rounds and
their median; figures of a shared machine wander, so read the ratios.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from course_lib.playground import FEATURES, Playground
from course_lib.playground import picture as drawing
from course_lib.plots.style import BLUE, GREEN, INK, VERMILLION

BOARDS: dict[str, dict[str, Any]] = {
    "circle, 4 units": {"data": "circle", "hidden": (4,)},
    "spiral, 8 + 8 + 6 units": {"data": "spiral", "hidden": (8, 8, 6)},
    "the largest, batches of 1": {"data": "spiral", "hidden": (8,) * 6, "features": tuple(FEATURES), "batch": 1},
}


def main() -> None:
    """Measure each board both ways and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    found = {}
    print(f"{'milliseconds of one core, epoch and redraw':42}{'ours':>8}{'median':>8}{'matplotlib':>12}{'ratio':>8}")
    for name, settings in BOARDS.items():
        board = Playground(**settings).run(20)
        artist = Matplotlib(board)
        ours = _times(lambda board=board: _ours(board), options.rounds)
        theirs = _times(lambda artist=artist: artist.frame(), max(3, options.rounds // 3))
        row = {"ours_ms": min(ours), "ours_median_ms": statistics.median(ours), "matplotlib_ms": min(theirs)}
        found[name] = {**row, "ratio": row["matplotlib_ms"] / row["ours_ms"]}
        print(f"{name:42}{row['ours_ms']:8.1f}{row['ours_median_ms']:8.1f}{row['matplotlib_ms']:12.1f}", end="")
        print(f"{found[name]['ratio']:8.1f}")
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def _times(call: Callable[[], object], rounds: int) -> list[float]:
    call()  # fonts and tables are loaded at the first picture
    taken = []
    for _ in range(rounds):
        started = time.process_time()
        call()
        taken.append(1000 * (time.process_time() - started))
    return taken


def _ours(board: Playground) -> tuple[bytes, bytes]:
    board.step()
    frame = drawing.draw(board)
    return frame.network.png(), frame.output.png()


class Matplotlib:
    """The same picture with matplotlib as one would write it for speed: made once, then only its data are changed."""

    def __init__(self, board: Playground) -> None:
        self.board = board
        width, height = drawing.NETWORK_WIDTH + drawing.OUTPUT_WIDTH, drawing.HEIGHT
        self.figure = Figure(figsize=(width / 100, height / 100), dpi=100 * drawing.SCALE)
        colors = LinearSegmentedColormap.from_list("", [VERMILLION, "white", BLUE])
        *maps, scores = drawing._maps(board)
        columns = [*maps, drawing._leaning(scores)]
        across = np.linspace(0.08, 0.56, len(columns))
        self.images, self.places = [], []
        for x, layer in zip(across, columns, strict=True):
            heights = [1 - y / height for y in drawing._heights(len(layer))]
            self.places.append([(x, y) for y in heights])
            for y, values in zip(heights, layer, strict=True):
                axes = self.figure.add_axes((x, y - 0.045, 0.042, 0.09), xticks=[], yticks=[])
                self.images.append(axes.imshow(values, cmap=colors, vmin=-1, vmax=1))
        behind = self.figure.add_axes((0, 0, 1, 1), xlim=(0, 1), ylim=(0, 1), zorder=-1)
        behind.axis("off")
        self.lines = behind.add_collection(LineCollection([]))
        self.large = self.figure.add_axes((0.68, 0.3, 0.3, 0.63))
        extent = (-6, 6, -6, 6)
        self.map = self.large.imshow(
            columns[-1][0], cmap=colors, vmin=-1, vmax=1, extent=extent, interpolation="bilinear"
        )
        for label, color, marker in ((1, BLUE, "o"), (-1, VERMILLION, "D")):
            points = board.data.train[board.data.train_labels == label]
            self.large.scatter(*points.T, s=18, c=color, marker=marker, edgecolors="white", linewidths=0.6)
        self.curves = self.figure.add_axes((0.68, 0.05, 0.3, 0.17))
        self.losses = [
            self.curves.plot([], [], color=color, linestyle=style, label=label)[0]
            for color, style, label in ((INK, "-", "training loss"), (GREEN, "--", "test loss"))
        ]
        self.curves.legend(frameon=False, fontsize=7)
        self.contour: Any = None

    def frame(self) -> bytes:
        """Train one epoch and draw."""
        board = self.board
        board.step()
        *maps, scores = drawing._maps(board)
        columns = [*maps, drawing._leaning(scores)]
        for image, values in zip(self.images, (unit for layer in columns for unit in layer), strict=True):
            image.set_data(values)
        self.map.set_data(columns[-1][0])
        if self.contour is not None:
            self.contour.remove()
        centers = np.linspace(-6, 6, drawing.GRID)
        self.contour = self.large.contour(centers, -centers, scores[0], levels=[0], colors=[INK])
        segments, widths, colors, styles = [], [], [], []
        for left, right, weights in zip(self.places[:-1], self.places[1:], board.network.weights, strict=True):
            for (i, j), weight in np.ndenumerate(weights):
                segments.append([(left[i][0] + 0.042, left[i][1]), right[j]])
                widths.append(0.3 + min(abs(weight), 4.0))
                colors.append(BLUE if weight > 0 else VERMILLION)
                styles.append("-" if weight > 0 else "--")
        self.lines.set_segments(segments)
        self.lines.set(linewidths=widths, colors=colors, linestyles=styles)
        for line, values in zip(self.losses, (board.history.train, board.history.test), strict=True):
            line.set_data(range(len(values)), values)
        self.curves.relim()
        self.curves.autoscale_view()
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", pil_kwargs={"compress_level": 1})
        return buffer.getvalue()


if __name__ == "__main__":
    main()
