"""Draw the graph that a tape recorded: data in boxes, operations in circles, arrows as the forward pass runs.

Nothing is typed in by hand: names, shapes, values and gradients are read from the recorded objects, so the
picture cannot disagree with the code. Anything with the fields of `Record` can be drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Ellipse, FancyArrowPatch, FancyBboxPatch, Patch

from course_lib.plots.style import BLUE, GRAY, INK, VERMILLION, Canvas, sheet, styled

SYMBOLS = {"add": "+", "sub": "\N{MINUS SIGN}", "mul": "\N{MULTIPLICATION SIGN}", "div": "÷", "matmul": "@", "sum": "Σ"}
SYMBOLS |= {"mm": "@", "mv": "@"}  # what PyTorch records for a product of two matrices, or of a matrix and a vector
COLUMN, ROW = 1.45, 1.25
"""distance between neighbors, in inches"""


class Node(Protocol):
    """A value in the graph: an input of the program, or the result of an operation."""

    value: Any
    """array, scalar or `Unseen`"""
    name: str
    """what the reader calls it; empty for an intermediate result"""
    grad: Any
    """None before the backward pass, an array of `value`'s shape after"""


class Record(Protocol):
    """One operation as a tape wrote it down."""

    @property
    def op(self) -> str: ...
    @property
    def inputs(self) -> Sequence[Node]: ...
    @property
    def output(self) -> Node: ...


@dataclass(frozen=True)
class Unseen:
    """Stands for a value of which only the shape was recorded."""

    shape: tuple[int, ...]


@dataclass(frozen=True)
class Placed:
    """A node and where it is drawn."""

    node: Node
    op: str
    """empty for an input"""
    x: float
    y: float


@styled
def graph(records: Sequence[Record]) -> Canvas:
    """Draw the operations of `records` from left to right; values of one element are written out, others by shape.

    After a backward pass the shape of each gradient (for one element, its value) stands beside its node.
    Raises ValueError if there is nothing to draw.
    """
    if not records:
        raise ValueError("graph: the tape holds no operation; compute something with its variables first")
    placed = _place(records)
    right, bottom = (max(getattr(spot, axis) for spot in placed.values()) for axis in ("x", "y"))
    margin = 0.2 if all(spot.node.grad is None for spot in placed.values()) else 0.4  # gradients stand around the nodes
    left, top = -0.75, 0.35 + margin
    right, bottom = right * COLUMN + 0.75, -bottom * ROW - 0.2 - margin
    figure, axes = sheet(left, right, bottom, top)
    shapes = {key: _draw_node(axes, spot) for key, spot in placed.items()}
    _draw_edges(axes, records, shapes, placed)
    figure.description = _describe(records)
    return figure


def _place(records: Sequence[Record]) -> dict[int, Placed]:
    """A column for every node: operations after all their inputs, inputs just before their first use."""
    nodes: dict[int, Node] = {}
    op_of: dict[int, str] = {}
    column: dict[int, int] = {}
    for record in records:
        for node in record.inputs:
            nodes.setdefault(id(node), node)
        key = id(record.output)
        nodes[key], op_of[key] = record.output, record.op
        column[key] = 1 + max((column.get(id(node), 0) for node in record.inputs), default=0)
    for record in records:
        for key in (id(node) for node in record.inputs if id(node) not in op_of):
            beside = column[id(record.output)] - 1
            column[key] = min(beside, column.get(key, beside))
    rows = _rows(records, op_of, column)
    return {key: Placed(node, op_of.get(key, ""), float(column[key]), rows[key]) for key, node in nodes.items()}


def _rows(records: Sequence[Record], op_of: dict[int, str], column: dict[int, int]) -> dict[int, float]:
    """A row for every node: operations along the top, near their inputs, so that the main line runs straight."""
    inputs_of = {id(record.output): [id(node) for node in record.inputs] for record in records}
    members: dict[int, list[int]] = defaultdict(list)
    for key, number in column.items():
        members[number].append(key)
    row: dict[int, float] = {}

    def wanted(key: int) -> tuple[bool, float]:
        earlier = [row[other] for other in inputs_of.get(key, []) if other in row]
        return key not in op_of, float(np.mean(earlier)) if earlier else 0.0

    for number in sorted(members):
        keys = sorted(members[number], key=wanted)
        # Inputs alone in their column are centered on the main line; beside operations they go below.
        first = 0.0 if any(key in op_of for key in keys) else (1 - len(keys)) / 2
        row.update({key: first + index for index, key in enumerate(keys)})
    highest = min(row.values())
    return {key: value - highest for key, value in row.items()}


def _draw_node(axes: Axes, spot: Placed) -> Patch:
    """A box with name and content for an input; a circle around the operation's sign, labeled above, for a result.

    A long name makes the circle an ellipse.
    """
    x, y = spot.x * COLUMN, -spot.y * ROW
    grad = "" if spot.node.grad is None else f"grad {_content(spot.node.grad)}"
    shape: Patch
    if spot.op:
        sign = SYMBOLS.get(spot.op, spot.op)
        shape = Circle((x, y), 0.25) if len(sign) <= 5 else Ellipse((x, y), min(0.09 * len(sign) + 0.1, 1.1), 0.5)
        shape.set(facecolor="white", edgecolor=INK, linewidth=1.4, zorder=3)
        axes.text(x, y, sign, ha="center", va="center", fontsize=15 if len(sign) == 1 else 8.5, zorder=4)
        _text(axes, x, y + 0.32 + (0.19 if grad else 0), _label(spot.node), INK)
        _text(axes, x, y + 0.32, grad, VERMILLION)
    else:
        shape = FancyBboxPatch((x - 0.38, y - 0.17), 0.76, 0.34, boxstyle="round,pad=0.06", zorder=3)
        shape.set(facecolor="#e3eff7", edgecolor=BLUE, linewidth=1.4)
        name = spot.node.name
        if name:
            axes.text(x, y + 0.1, name, ha="center", va="center", fontsize=10, fontweight="bold", zorder=4)
        content_y = y - 0.09 if name else y
        axes.text(x, content_y, _content(spot.node.value), ha="center", va="center", fontsize=9, zorder=4)
        _text(axes, x, y - 0.44, grad, VERMILLION)
    axes.add_patch(shape)
    return shape


def _text(axes: Axes, x: float, y: float, text: str, color: str) -> None:
    if text:
        axes.text(x, y, text, ha="center", va="bottom", fontsize=9, color=color, zorder=5)


def _draw_edges(axes: Axes, records: Sequence[Record], shapes: dict[int, Patch], placed: dict[int, Placed]) -> None:
    """An arrow for each use of a value. Two uses by one operation, and arrows past other columns, are bent apart."""
    for record in records:
        end = placed[id(record.output)]
        for index, node in enumerate(record.inputs):
            start = placed[id(node)]
            twice = sum(other is node for other in record.inputs) > 1
            bend = 0.28 * (-1) ** index if twice else 0.3 if end.x - start.x > 1 and end.y == start.y else 0.0
            arrow = FancyArrowPatch(
                (start.x * COLUMN, -start.y * ROW),
                (end.x * COLUMN, -end.y * ROW),
                patchA=shapes[id(node)],
                patchB=shapes[id(record.output)],
                shrinkA=1,
                shrinkB=1,
                arrowstyle="-|>",
                mutation_scale=11,
                connectionstyle=f"arc3,rad={bend}",
                color=GRAY,
                linewidth=1.3,
                zorder=2,
            )
            axes.add_patch(arrow)


def _content(value: Any) -> str:
    """The number itself if there is only one and it is known, else the shape."""
    if isinstance(value, Unseen):
        return str(value.shape)
    array = np.asarray(value)
    return f"{array.item():.4g}" if array.size == 1 else str(array.shape)


def _label(node: Node) -> str:
    """`W1 (1000, 100)`, `loss = 30.09`, or without a name the content alone."""
    link = " = " if not isinstance(node.value, Unseen) and np.size(node.value) == 1 else " "
    return f"{node.name}{link}{_content(node.value)}" if node.name else _content(node.value)


def _describe(records: Sequence[Record]) -> str:
    """The graph in words, one sentence for each operation."""
    steps = [
        f"{record.op} of {' and '.join(_label(node) for node in record.inputs)} gives {_label(record.output)}"
        for record in records
    ]
    gradients = " Each node also shows its gradient." if records[-1].output.grad is not None else ""
    noun = "operation" if len(records) == 1 else "operations"
    return f"Computational graph of {len(records)} {noun}, from left to right: {'; '.join(steps)}.{gradients}"
