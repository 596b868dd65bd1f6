"""Draw a functional Keras model: every layer once, however often it is called, and what flows between the layers.

Everything is read from the model's configuration, so the picture shows what Keras would save. Keras is not imported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from course_lib.plots.style import BLUE, GRAY, INK, SERIES_STYLES, VERMILLION, Canvas, sheet, styled

WIDTH, HEIGHT, COLUMN, ROW = 1.16, 0.62, 1.6, 1.0
"""of a box, and from one box to the next; in inches"""


@dataclass(frozen=True)
class Box:
    """One layer of the model."""

    name: str
    kind: str
    """the class"""
    size: int
    """numbers that it holds"""
    shape: tuple[int | None, ...]
    """of its result, without the batch"""
    calls: tuple[tuple[tuple[str, int], ...], ...]
    """for each call of the layer what it is given: names of layers, and which of their calls, counted from 0"""


@styled
def layer_graph(model: Any) -> Canvas:
    """Draw the layers of a functional model from left to right; one that is called twice is one box with two colors.

    Raises ValueError for a model whose layers do not say what they are connected to, such as a Sequential.
    """
    boxes = _boxes(model)
    outputs = {name for name, _, _ in _flat(model.get_config()["output_layers"])}
    column = _columns(boxes)
    row = _rows(boxes, column)
    left, right = -WIDTH / 2 - 0.15, max(column.values()) * COLUMN + WIDTH / 2 + 0.15
    figure, axes = sheet(left, right, -max(row.values()) * ROW - HEIGHT / 2 - 0.15, HEIGHT / 2 + 0.4)
    for box in boxes.values():
        _draw_box(axes, box, column[box.name] * COLUMN, -row[box.name] * ROW, box.name in outputs)
    for box in boxes.values():
        for number, call in enumerate(box.calls):
            for source, source_call in call:
                _draw_arrow(axes, boxes, column, row, (source, source_call), (box.name, number))
    figure.description = _describe(boxes, outputs)
    return figure


def _boxes(model: Any) -> dict[str, Box]:
    config = model.get_config()
    if "output_layers" not in config:
        raise ValueError(f"layer_graph: {type(model).__name__} is no functional model; build it from keras.Input")
    operations = {operation.name: operation for operation in model.operations}
    return {
        entry["name"]: Box(
            entry["name"],
            entry["class_name"],
            getattr(operations[entry["name"]], "count_params", int)(),
            tuple(_first(operations[entry["name"]]._inbound_nodes[0].output_tensors).shape[1:]),
            tuple(tuple(_sources(node)) for node in entry["inbound_nodes"]),
        )
        for entry in config["layers"]
    }


def _first(tensors: Any) -> Any:
    return tensors[0] if isinstance(tensors, (list, tuple)) else tensors


def _sources(node: Any) -> Iterator[tuple[str, int]]:
    """Every tensor in the arguments of a call, wherever it stands in them."""
    if isinstance(node, dict) and node.get("class_name") == "__keras_tensor__":
        name, call, _ = node["config"]["keras_history"]
        yield name, call
    elif isinstance(node, (dict, list, tuple)):
        for part in node.values() if isinstance(node, dict) else node:
            yield from _sources(part)


def _flat(places: Any) -> Iterator[list[Any]]:
    """The places of the outputs: `[name, call, tensor]`, alone, in a list, or under names."""
    if isinstance(places, dict):
        places = list(places.values())
    if places and isinstance(places[0], str):
        yield places
    else:
        for part in places:
            yield from _flat(part)


def _columns(boxes: dict[str, Box]) -> dict[str, int]:
    """A layer stands to the right of all that it is given."""
    column: dict[str, int] = {}
    for name, box in boxes.items():
        column[name] = 1 + max((column[source] for call in box.calls for source, _ in call), default=-1)
    return column


def _rows(boxes: dict[str, Box], column: dict[str, int]) -> dict[str, float]:
    """Layers of one column one below the other, in the order of what they are given; short columns in the middle."""
    members: dict[int, list[str]] = defaultdict(list)
    for name, number in column.items():
        members[number].append(name)
    most = max(len(names) for names in members.values())
    row: dict[str, float] = {}
    for number in sorted(members):
        names = members[number]
        wanted = {
            name: [row[source] + _shift(boxes[source], call) for given in boxes[name].calls for source, call in given]
            for name in names
        }
        names.sort(key=lambda name: float(np.mean(wanted[name])) if wanted[name] else 0.0)
        for place, name in enumerate(names):
            row[name] = place + (most - len(names)) / 2
    return row


def _draw_box(axes: Axes, box: Box, x: float, y: float, is_output: bool) -> None:
    color = VERMILLION if is_output else BLUE if not box.calls else INK
    corner = (x - WIDTH / 2, y - HEIGHT / 2)
    style = "round,pad=0,rounding_size=0.08"
    axes.add_patch(FancyBboxPatch(corner, WIDTH, HEIGHT, style, facecolor="white", edgecolor=color, linewidth=1.4))
    axes.text(x, y + 0.17, box.name, ha="center", va="center", fontsize=10, weight="bold", color=color)
    axes.text(x, y - 0.02, "input" if not box.calls else box.kind, ha="center", va="center", fontsize=8, color=GRAY)
    axes.text(x, y - 0.19, _holds(box), ha="center", va="center", fontsize=8, color=INK)
    if len(box.calls) > 1:
        axes.text(x, y + HEIGHT / 2 + 0.11, f"called {len(box.calls)} times", ha="center", fontsize=8, color=INK)


def _holds(box: Box) -> str:
    return " · ".join(filter(None, [str(box.shape), f"{box.size:,}" if box.size else ""]))


def _draw_arrow(
    axes: Axes,
    boxes: dict[str, Box],
    column: dict[str, int],
    row: dict[str, float],
    start: tuple[str, int],
    end: tuple[str, int],
) -> None:
    """From the right side of a box to the left of another; each call of a shared layer has its color and height."""
    (source, source_call), (target, target_call) = start, end
    shared, call = (target, target_call) if len(boxes[target].calls) > 1 else (source, source_call)
    look = SERIES_STYLES[call % len(SERIES_STYLES)] if len(boxes[shared].calls) > 1 else None
    tail = (column[source] * COLUMN + WIDTH / 2, -row[source] * ROW - _shift(boxes[source], source_call))
    head = (column[target] * COLUMN - WIDTH / 2, -row[target] * ROW - _shift(boxes[target], target_call))
    arrow = FancyArrowPatch(
        tail,
        head,
        arrowstyle="-|>",
        mutation_scale=11,
        shrinkA=1,
        shrinkB=1,
        linewidth=1.4,
        color=look.color if look else GRAY,
        linestyle=look.linestyle if look else "-",
    )
    axes.add_patch(arrow)


def _shift(box: Box, call: int) -> float:
    """How far below the middle of a box the arrows of one of its calls begin or end."""
    return 0.26 * (call - (len(box.calls) - 1) / 2) if len(box.calls) > 1 else 0.0


def _describe(boxes: dict[str, Box], outputs: set[str]) -> str:
    sentences = []
    for box in boxes.values():
        if not box.calls:
            sentences.append(f"input {box.name} {box.shape}")
            continue
        times = f" is called {len(box.calls)} times," if len(box.calls) > 1 else ""
        given = "; then ".join(
            " and ".join(
                f"{source}{f' (call {number + 1})' if len(boxes[source].calls) > 1 else ''}" for source, number in call
            )
            for call in box.calls
        )
        size = f", {box.size} numbers" if box.size else ""
        end = ", an output" if box.name in outputs else ""
        sentences.append(f"{box.name} ({box.kind}{size}){times} takes {given} and gives {box.shape}{end}")
    return f"Layers of a model, from left to right: {'; '.join(sentences)}."
