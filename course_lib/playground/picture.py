"""The playground as an image: neurons in columns with what each one sees, the boundary, the losses.

It is composed from NumPy arrays and Pillow's lines and text, because a frame must take less than a tenth of a second;
matplotlib needs several times as long (`benchmarks/playground.py`). All lengths here are in pixels of a web page; the
image has SCALE times as many, so that it stays sharp on dense screens.
"""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import to_hex, to_rgb
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from course_lib.playground.board import Board
from course_lib.playground.data import EDGE, Array, features
from course_lib.plots.style import BLUE, FAINT, GRAY, GREEN, INK, VERMILLION, shown

SCALE = 2
HEIGHT, NETWORK_WIDTH, OUTPUT_WIDTH = 470, 640, 360
UNIT = 42
"""side of a neuron's map"""
MAP, MAP_LEFT, MAP_TOP = 296, 44, 28
"""the large map: side and corner"""
CURVES_TOP, CURVES_HEIGHT = 376, 76
GRID = UNIT * SCALE
"""points across and down at which the network is asked"""
RADIUS = 3.2
"""of a data point"""

DOTS = "#b8b8b8"
"""of weights that are zero: there, but faint"""

SIGNS = {"x1": "x₁", "x2": "x₂", "x1^2": "x₁²", "x2^2": "x₂²", "x1*x2": "x₁x₂", "sin x1": "sin x₁", "sin x2": "sin x₂"}


@dataclass(frozen=True)
class Picture:
    """An image that shows itself in a notebook, with its description as alternative text."""

    image: Image.Image
    description: str

    def png(self) -> bytes:
        """The image as the bytes of a PNG file of 256 colors: half the time and size of one of all colors."""
        buffer = io.BytesIO()
        few = self.image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(buffer, format="png", compress_level=1)
        return buffer.getvalue()

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """What Jupyter shows."""
        width, height = (size // SCALE for size in self.image.size)
        return shown(self.png(), self.description, width, height)


@dataclass(frozen=True)
class Frame:
    """One moment of a board, in two parts, so that a narrow window can show them below each other."""

    network: Picture
    output: Picture

    def whole(self) -> Picture:
        """The two parts side by side, as one picture."""
        both = Image.new("RGB", ((NETWORK_WIDTH + OUTPUT_WIDTH) * SCALE, HEIGHT * SCALE), "white")
        both.paste(self.network.image, (0, 0))
        both.paste(self.output.image, (NETWORK_WIDTH * SCALE, 0))
        return Picture(both, f"{self.network.description} {self.output.description}")


@dataclass(frozen=True)
class View:
    """How a board is looked at."""

    show_test: bool = False
    """the test points too, as outlines"""
    discretize: bool = False
    """two colors only: which class is chosen, or which sign, not how surely"""
    unit: tuple[int, int] | None = None
    """the one whose map is the large one and whose weights are written down: layer, from 0 for the features to the
    output, and place in it from 1; the output and no weights where there is none"""


def draw(board: Board, view: View = View()) -> Frame:
    """Draw the board as it is now. ValueError if it has no unit as `view.unit`."""
    *maps, scores = _maps(board)
    maps.append(scores if board.regression else _leaning(scores))
    if view.unit is not None:
        check_unit(board, view.unit)
    layer, place = view.unit or (len(maps) - 1, 1)
    large = maps[layer][place - 1]
    if layer == len(maps) - 1:
        large = scores[0]  # made coarser by colors only after it is drawn finely
    if view.discretize:
        maps = [np.where(values > 0, 1.0, -1.0) for values in maps]
    return Frame(
        Picture(_network(board, maps, view.unit), _describe_network(board) + _describe_unit(board, view.unit)),
        Picture(_output(board, large, layer == len(maps) - 1, view), _describe_output(board)),
    )


def check_unit(board: Board, unit: tuple[int, int]) -> None:
    """Refuse, in words, a unit that the picture of `board` does not have."""
    sizes = [len(board.settings.features), *board.settings.hidden, 1]
    layer, place = unit
    if not (0 <= layer < len(sizes) and 1 <= place <= sizes[layer]):
        raise ValueError(f"Playground: there is no unit {unit}; layers 0 to {len(sizes) - 1} have {sizes} units")


def unit_name(board: Board, unit: tuple[int, int]) -> str:
    """What the picture and the buttons call it."""
    layer, place = unit
    if layer == 0:
        return SIGNS[board.settings.features[place - 1]]
    return "output" if layer > len(board.settings.hidden) else f"layer {layer}, unit {place}"


def places(board: Board) -> list[list[tuple[float, float]]]:
    """The upper left corner of each feature's, unit's and the output's map, in pixels of a web page, by layers."""
    sizes = [len(board.settings.features), *board.settings.hidden, 1]
    across = np.linspace(84, NETWORK_WIDTH - 52, len(sizes))
    return [
        [(x - UNIT / 2, y - UNIT / 2) for y in _heights(size)] for x, size in zip(across.tolist(), sizes, strict=True)
    ]


def side_by_side(boards: Mapping[str, Board], *, show_test: bool = False) -> Picture:
    """The large maps of several boards, label -> board, three in a row, each with its points and its test loss."""
    tile, gap, title = 224, 16, 24
    columns, rows = min(3, len(boards)), math.ceil(len(boards) / 3)
    size = (columns * (tile + gap) - gap, rows * (tile + title + gap) - gap)
    image = Image.new("RGB", (size[0] * SCALE, size[1] * SCALE), "white")
    pen = ImageDraw.Draw(image)
    said = []
    for place, (label, board) in enumerate(boards.items()):
        x, y = place % 3 * (tile + gap), place // 3 * (tile + title + gap)
        large = draw(board, View(show_test)).output.image.crop(_box(MAP_LEFT, MAP_TOP, MAP, MAP))
        image.paste(large.resize((tile * SCALE, tile * SCALE), Image.Resampling.LANCZOS), _box(x, y + title, 0, 0)[:2])
        pen.rectangle(_box(x, y + title, tile, tile), outline=INK, width=SCALE)
        _text(pen, (x, y + title / 2), label, INK, "lm")
        _text(pen, (x + tile, y + title / 2), f"test loss {_short(board.test_loss)}", INK, "rm")
        right = "" if board.regression else f", {board.accuracy:.1%} of the test points right"
        said.append(f"{label}: test loss {_short(board.test_loss)}{right}")
    return Picture(image, f"The outputs' maps of {len(boards)} networks with the training points. {'; '.join(said)}.")


# What every neuron sees


@functools.cache
def _grid() -> Array:
    """The points `(GRID * GRID, 2)` at the centers of the pixels of a map, row by row from the top."""
    centers = ((np.arange(GRID) + 0.5) / GRID * 2 - 1) * EDGE
    across, up = np.meshgrid(centers, -centers)
    return np.stack([across.ravel(), up.ravel()], axis=1).astype(np.float32)


@functools.lru_cache(maxsize=8)
def _grid_features(names: tuple[str, ...]) -> Array:
    return features(_grid(), names)


def _maps(board: Board) -> list[Array]:
    """For the features and each layer the maps `(units, GRID, GRID)`, from -1 to 1; the last are the output's scores.

    What is bounded keeps its scale. A feature, a ReLU or linear unit is divided by its own largest value.
    """
    with np.errstate(all="ignore"):
        layers = board.network.forward(_grid_features(board.settings.features))
        maps = []
        for place, values in enumerate(layers):
            values = np.nan_to_num(values.T.reshape(-1, GRID, GRID), posinf=1e30, neginf=-1e30)
            hidden = 0 < place < len(layers) - 1
            if hidden and board.settings.activation == "sigmoid":
                values = 2 * values - 1
            elif place == 0 or (hidden and board.settings.activation != "tanh"):
                largest = np.abs(values).max(axis=(1, 2), keepdims=True)
                values = values / np.where(largest > 0, largest, 1)
            maps.append(values)
    return maps


def _leaning(scores: Array) -> Array:
    """From -1, surely class -1, to 1, surely class +1: twice the probability of class +1, less 1."""
    return np.tanh(scores / 2)


@functools.cache
def _shades() -> NDArray[np.uint8]:
    """256 colors from vermillion by way of white to blue."""
    t = np.linspace(-1, 1, 256)[:, None]
    ends = np.where(t < 0, to_rgb(VERMILLION), to_rgb(BLUE))
    shades: NDArray[np.uint8] = np.round(255 * (1 - np.abs(t) ** 0.8 * 0.62 * (1 - ends))).astype(np.uint8)
    return shades


def _colored(values: Array) -> NDArray[np.uint8]:
    """Values from -1 to 1 as colors, `(..., 3)`."""
    colors: NDArray[np.uint8] = _shades()[np.clip(values * 127.5 + 127.5, 0, 255).astype(np.uint8)]
    return colors


# The network


def _network(board: Board, maps: Sequence[Array], selected: tuple[int, int] | None) -> Image.Image:
    """The units and the lines between them; of a selected unit only its own lines, with its weights in numbers."""
    image = Image.new("RGB", (NETWORK_WIDTH * SCALE, HEIGHT * SCALE), "white")
    pen = ImageDraw.Draw(image)
    corners = places(board)
    across = [column[0][0] + UNIT / 2 for column in corners]
    for layer, weights in enumerate(board.network.weights):
        shown = np.ones(weights.shape, dtype=bool)
        if selected is not None:
            leaving, arriving = np.indices(weights.shape) + 1
            shown = ((selected[0] == layer) & (leaving == selected[1])) | (
                (selected[0] == layer + 1) & (arriving == selected[1])
            )
        _connect(pen, corners[layer], corners[layer + 1], weights, shown)
    dead = set(board.dead_units())
    for layer, (column, pictures) in enumerate(zip(corners, maps, strict=True)):
        for unit, ((x, y), colors) in enumerate(zip(column, _colored(pictures), strict=True)):
            box = _box(x, y, UNIT, UNIT)
            image.paste(Image.fromarray(colors), box[:2])
            is_dead = (layer, unit + 1) in dead
            edge = 3 * SCALE if (layer, unit + 1) == selected else SCALE
            frame = (box[0] - edge // 2, box[1] - edge // 2, box[2] + edge // 2 - 1, box[3] + edge // 2 - 1)
            pen.rectangle(frame, outline=GRAY if is_dead else INK, width=edge)
            if is_dead:
                _text(pen, (x + UNIT / 2, y + UNIT / 2), "dead", INK, "mm")
    if selected is not None and selected[0] > 0:
        weights, _ = board.parameters_of(selected)
        for (x, y), weight in zip(corners[selected[0] - 1], weights.tolist(), strict=True):
            box = _box(x, y + UNIT - 15, UNIT, 15)
            pen.rectangle(box, fill="white", outline=INK, width=SCALE)
            _text(pen, (x + UNIT / 2, y + UNIT - 7), _signed(weight), INK, "mm")
    for (x, y), name in zip(corners[0], board.settings.features, strict=True):
        _text(pen, (x - 6, y + UNIT / 2), SIGNS[name], INK, "rm")
    titles = ["features", *(f"{units} {board.settings.activation}" for units in board.settings.hidden), "output"]
    for x, title in zip(across, titles, strict=True):
        _text(pen, (x, 14), title, INK, "mm")
    _text(pen, (12, HEIGHT - 10), "weights:", GRAY, "lm")
    for start, weight, said in ((72, 2.0, "positive"), (174, -2.0, "negative"), (282, 0.0, "zero")):
        _line(pen, (start, HEIGHT - 10), (start + 34, HEIGHT - 10), weight)
        _text(pen, (start + 40, HEIGHT - 10), said, GRAY, "lm")
    return image


def _heights(count: int) -> list[float]:
    """Centers of `count` units below each other, between the titles and the legend."""
    top, bottom = 28, HEIGHT - 22
    gap = min(58, (bottom - top) / count)
    return [(top + bottom) / 2 + (place - (count - 1) / 2) * gap for place in range(count)]


def _connect(
    pen: ImageDraw.ImageDraw, left: list[tuple[float, float]], right: list[tuple[float, float]], weights: Array,
    shown: NDArray[np.bool_],
) -> None:  # fmt: skip
    """A line for each of the `shown` weights `(left, right)`, the strongest last, so that it lies on top."""
    for index in np.argsort(np.abs(weights), axis=None):
        start, end = divmod(int(index), weights.shape[1])
        if not shown[start, end]:
            continue
        (x1, y1), (x2, y2) = left[start], right[end]
        # The lines that arrive spread over the side of the unit, so that they can be told apart.
        arrives = y2 + UNIT * (0.2 + 0.6 * (start + 0.5) / len(left))
        _line(pen, (x1 + UNIT, y1 + UNIT / 2), (x2, arrives), float(weights[start, end]))


def _line(pen: ImageDraw.ImageDraw, start: tuple[float, float], end: tuple[float, float], weight: float) -> None:
    """Blue and full: positive. Vermillion and dashed: negative. Faint dots: (nearly) zero. The wider, the larger."""
    size = min(abs(weight), 4.0) if math.isfinite(weight) else 4.0
    if size < 1e-3:
        _dashed(pen, start, end, DOTS, 1, dash=1.5, gap=4)
        return
    width = max(1, round(SCALE * (0.5 + 1.4 * size)))
    color = _mixed(BLUE if weight > 0 else VERMILLION, min(1.0, 0.35 + 0.65 * size))
    if weight > 0:
        pen.line([_at(start), _at(end)], color, width)
    else:
        _dashed(pen, start, end, color, width, dash=8, gap=4)


def _dashed(
    pen: ImageDraw.ImageDraw, start: tuple[float, float], end: tuple[float, float], color: Any, width: int,
    dash: float, gap: float,
) -> None:  # fmt: skip
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    for piece in range(math.ceil(length / (dash + gap))):
        a = piece * (dash + gap)
        b = min(a + dash, length)
        pen.line([_at((x1 + a * dx, y1 + a * dy)), _at((x1 + b * dx, y1 + b * dy))], color, width)


# The boundary and the losses


def _output(board: Board, values: Array, is_output: bool, view: View) -> Image.Image:
    """The large map of `values` `(GRID, GRID)`: the output's scores, or a unit's map from -1 to 1; and the losses."""
    image = Image.new("RGB", (OUTPUT_WIDTH * SCALE, HEIGHT * SCALE), "white")
    pen = ImageDraw.Draw(image)
    box = _box(MAP_LEFT, MAP_TOP, MAP, MAP)
    side = box[2] - box[0]
    fine = np.asarray(Image.fromarray(values.astype(np.float32)).resize((side, side), Image.Resampling.BILINEAR))
    shades = _leaning(fine) if is_output and not board.regression else fine
    colors = _colored(np.where(fine > 0, 1.0, -1.0) if view.discretize else shades)
    if not (is_output and board.regression):
        colors[_boundary(fine)] = (34, 34, 34)
    large = Image.fromarray(colors)
    large.paste(points := _points(board, view.show_test), (0, 0), points)
    image.paste(large, box[:2])
    pen.rectangle((box[0] - 1, box[1] - 1, box[2], box[3]), outline=INK, width=SCALE)
    left, right = f"epoch {board.epoch}", "" if board.regression else f"test: {board.accuracy:.1%} right"
    if view.unit is not None:
        left = unit_name(board, view.unit)
        right = f"bias {_signed(float(board.parameters_of(view.unit)[1]))}" if view.unit[0] else ""
    _text(pen, (MAP_LEFT, 14), left, INK, "lm")
    _text(pen, (MAP_LEFT + MAP, 14), right, INK, "rm")
    for at in (-6, 0, 6):
        place = (at + EDGE) / (2 * EDGE) * MAP
        _text(pen, (MAP_LEFT + place, MAP_TOP + MAP + 10), f"{at}", GRAY, "mm")
        _text(pen, (MAP_LEFT - 6, MAP_TOP + MAP - place), f"{at}", GRAY, "rm")
    _text(pen, (MAP_LEFT + 0.75 * MAP, MAP_TOP + MAP + 10), "x₁", GRAY, "mm")
    _text(pen, (MAP_LEFT - 6, MAP_TOP + 0.25 * MAP), "x₂", GRAY, "rm")
    _curves(pen, board)
    return image


def _boundary(values: Array) -> NDArray[np.bool_]:
    """True along the line where the values change sign, some pixels wide."""
    positive = values > 0
    line = np.zeros(values.shape, dtype=bool)
    for axis in (0, 1):
        for shift in range(1, SCALE + 1):
            here = (slice(None, -shift), slice(None)) if axis == 0 else (slice(None), slice(None, -shift))
            there = (slice(shift, None), slice(None)) if axis == 0 else (slice(None), slice(shift, None))
            line[here] |= positive[here] != positive[there]
    return line


def _points(board: Board, show_test: bool) -> Image.Image:
    """The data on a transparent ground; drawn anew only for other data."""
    key = (id(board.data), show_test)
    kept = getattr(board, "_drawn_points", None)
    if kept is None or kept[0] != key or kept[1] is not board.data:
        kept = (key, board.data, _draw_points(board, show_test))
        board._drawn_points = kept  # type: ignore[attr-defined]
    return kept[2]


def _draw_points(board: Board, show_test: bool) -> Image.Image:
    image = Image.new("RGBA", (MAP * SCALE, MAP * SCALE), (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)
    parts = [(board.data.test, board.data.test_labels, False)] if show_test else []
    for where, labels, filled in [*parts, (board.data.train, board.data.train_labels, True)]:
        for (x1, x2), label in zip(where, labels, strict=True):
            x, y = ((x1 / EDGE + 1) / 2 * MAP, (1 - x2 / EDGE) / 2 * MAP)
            _mark(pen, x, y, float(label), filled, board.regression)
    return image


def _mark(pen: ImageDraw.ImageDraw, x: float, y: float, label: float, filled: bool, regression: bool) -> None:
    """A blue disc or a vermillion diamond; white with a colored rim if it is not filled.

    In a regression the shade is the label, as that of the map is the prediction, inside a dark rim.
    """
    positive = label > 0
    color = BLUE if positive else VERMILLION
    inside, rim = (color, "white") if filled else ("white", color)
    if regression and filled:
        inside, rim = to_hex(tuple((_colored(np.array(label)) / 255).tolist())), INK
    r = RADIUS * SCALE
    x, y = x * SCALE, y * SCALE
    width = SCALE // 2 if filled else SCALE
    if positive:
        pen.ellipse((x - r, y - r, x + r, y + r), inside, rim, width)
    else:
        r *= 1.25
        pen.polygon([(x, y - r), (x + r, y), (x, y + r), (x - r, y)], inside, rim, width)


def _curves(pen: ImageDraw.ImageDraw, board: Board) -> None:
    """Training loss on a full dark line, test loss on a dashed green one, over the epochs."""
    history = board.history
    legend = CURVES_TOP - 20
    pen.line([_at((MAP_LEFT, legend)), _at((MAP_LEFT + 22, legend))], INK, 2 * SCALE)
    _text(pen, (MAP_LEFT + 27, legend), f"training loss {_short(board.train_loss)}", INK, "lm")
    _dashed(pen, (MAP_LEFT + 158, legend), (MAP_LEFT + 180, legend), GREEN, 2 * SCALE, 7, 4)
    _text(pen, (MAP_LEFT + 185, legend), f"test loss {_short(board.test_loss)}", INK, "lm")
    losses = np.array([history.train, history.test])
    usual = losses[np.isfinite(losses)]
    top = float(np.clip(usual.max() if usual.size else 1.0, 0.1, 2.0))
    bottom = CURVES_TOP + CURVES_HEIGHT
    for value in (0.0, top):
        y = bottom - value / top * CURVES_HEIGHT
        pen.line([_at((MAP_LEFT, y)), _at((MAP_LEFT + MAP, y))], FAINT, SCALE // 2)
        _text(pen, (MAP_LEFT - 6, y), _short(value), GRAY, "rm")
    _text(pen, (MAP_LEFT, bottom + 10), "0", GRAY, "mm")
    _text(pen, (MAP_LEFT + MAP, bottom + 10), f"{max(board.epoch, 1)}", GRAY, "mm")
    _text(pen, (MAP_LEFT + MAP / 2, bottom + 10), "epochs", GRAY, "mm")
    shown_at = np.unique(np.linspace(0, board.epoch, min(board.epoch + 1, MAP)).astype(int))
    x = MAP_LEFT + shown_at / max(board.epoch, 1) * MAP
    for values, color, dashed in ((losses[1], GREEN, True), (losses[0], INK, False)):
        y = bottom - np.clip(np.nan_to_num(values[shown_at], nan=top, posinf=top) / top, 0, 1) * CURVES_HEIGHT
        corners = list(zip((x * SCALE).tolist(), (y * SCALE).tolist(), strict=True))
        if not dashed:
            pen.line(corners, color, round(1.5 * SCALE), joint="curve")
            continue
        along = np.cumsum([0, *np.hypot(np.diff(x), np.diff(y))])
        for start, end, a in zip(corners[:-1], corners[1:], along[:-1], strict=True):
            if a % 11 < 7:
                pen.line([start, end], color, 2 * SCALE)


def _signed(value: float) -> str:
    """Two digits behind the point, with a minus that is as wide as a digit; fewer where the number is long."""
    said = f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0e}"
    return said.replace("-", "\N{MINUS SIGN}")


def _short(value: float) -> str:
    return f"{value:.3f}" if 0 < value < 0.1 else f"{value:.2f}" if 0 < value < 100 else f"{value:.3g}"


# Words


def _describe_network(board: Board) -> str:
    chosen = board.settings
    layers = ", then ".join(f"{units} {chosen.activation} units" for units in chosen.hidden) or "no hidden layer"
    zero, weights = board.zero_weights(1e-3)
    dead = len(board.dead_units())
    return (
        f"A network after {board.epoch} epochs on the data '{chosen.data}': features {', '.join(chosen.features)}; "
        f"{layers}; one output. Each unit's own map of the square is shown; {weights} weights join them, "
        f"{zero} of them (nearly) zero" + (f"; {dead} of the units dead." if dead else ".")
    )


def _describe_unit(board: Board, unit: tuple[int, int] | None) -> str:
    if unit is None:
        return ""
    if unit[0] == 0:
        return f" Large: the feature {unit_name(board, unit)}."
    weights, bias = board.parameters_of(unit)
    said = ", ".join(map(_signed, weights.tolist()))
    return f" Large: {unit_name(board, unit)}, with the weights {said} and the bias {_signed(float(bias))}."


def _describe_output(board: Board) -> str:
    border = "" if board.regression else " with the boundary between the classes"
    right = "" if board.regression else f", {board.accuracy:.1%} of the test points right"
    return (
        f"The large map{border} and {len(board.data.train)} training points, and the losses over the epochs: "
        f"training loss {_short(board.train_loss)}, test loss {_short(board.test_loss)}{right}."
    )


# Lengths and text


def _at(place: tuple[float, float]) -> tuple[float, float]:
    return place[0] * SCALE, place[1] * SCALE


def _box(x: float, y: float, width: float, height: float) -> tuple[int, int, int, int]:
    left, top = round(x * SCALE), round(y * SCALE)
    return left, top, left + round(width * SCALE), top + round(height * SCALE)


def _mixed(color: str, part: float) -> tuple[int, ...]:
    """`part` of the color, the rest white."""
    return tuple(round(255 * (1 - part * (1 - c))) for c in to_rgb(color))


@functools.cache
def _font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), 12 * SCALE)


def _text(pen: ImageDraw.ImageDraw, place: tuple[float, float], text: str, color: str, anchor: str) -> None:
    pen.text(_at(place), text, color, _font(), anchor)
