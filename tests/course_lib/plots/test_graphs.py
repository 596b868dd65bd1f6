"""The drawing follows the recorded objects: every node once, arrows from left to right, nothing on top of anything."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Circle, Ellipse, FancyArrowPatch, FancyBboxPatch

from course_lib import plots
from course_lib.plots.graphs import COLUMN, _place


@dataclass(eq=False)
class Node:
    value: Any
    name: str = ""
    grad: Any = None


@dataclass
class Op:
    op: str
    inputs: list[Node]
    output: Node = field(default_factory=lambda: Node(np.ones(3)))


def _small() -> list[Op]:
    x, y, z = (Node(np.ones((3, 4)), name) for name in "xyz")
    a = Op("mul", [x, y], Node(np.ones((3, 4))))
    b = Op("add", [a.output, z], Node(np.ones((3, 4))))
    return [a, b, Op("sum", [b.output], Node(np.array(24.0), "c"))]


def _random(seed: int) -> list[Op]:
    draw = np.random.default_rng(seed)
    nodes, ops = [Node(np.ones(3), f"n{i}") for i in range(3)], []
    for _ in range(draw.integers(1, 9)):
        ops.append(Op("add", [nodes[i] for i in draw.integers(len(nodes), size=2)]))
        nodes.append(ops[-1].output)
    return ops


def test_one_circle_for_each_operation_one_box_for_each_input_one_arrow_for_each_use() -> None:
    figure = plots.graph(_small())
    kinds = [type(patch) for patch in figure.axes[0].patches]
    assert (kinds.count(Circle), kinds.count(FancyBboxPatch), kinds.count(FancyArrowPatch)) == (3, 3, 5)
    assert figure.description == (
        "Computational graph of 3 operations, from left to right: mul of x (3, 4) and y (3, 4) gives (3, 4); "
        "add of (3, 4) and z (3, 4) gives (3, 4); sum of (3, 4) gives c = 24."
    )
    with pytest.raises(ValueError, match="compute something"):
        plots.graph([])


@pytest.mark.parametrize("seed", range(20))
def test_every_arrow_runs_to_the_right_and_no_two_nodes_share_a_place(seed: int) -> None:
    records = _random(seed)
    placed = _place(records)
    assert placed.keys() == {id(node) for record in records for node in (*record.inputs, record.output)}
    for record in records:
        assert all(placed[id(node)].x < placed[id(record.output)].x for node in record.inputs)
    for a, b in itertools.combinations(placed.values(), 2):
        assert a.x != b.x or abs(a.y - b.y) >= 1
    assert min(spot.y for spot in placed.values()) == 0 and min(spot.x for spot in placed.values()) == 0


def test_what_is_drawn_lies_inside_the_figure() -> None:
    figure = plots.graph(_small())
    [axes] = figure.axes
    frame = figure.bbox
    renderer = FigureCanvasAgg(figure).get_renderer()
    for artist in (*axes.texts, *axes.patches):
        box = artist.get_window_extent(renderer)
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1, artist


def test_gradients_are_shown_only_after_a_backward_pass() -> None:
    def texts() -> str:
        return "\n".join(text.get_text() for text in plots.graph(records).axes[0].texts)

    records = _small()
    assert "grad" not in texts()
    records[0].inputs[0].grad, records[-1].output.grad = np.ones((3, 4)), np.array(1.0)
    assert texts().count("grad") == 2 and "grad (3, 4)" in texts() and "grad 1" in texts()


@pytest.mark.parametrize("op", ["relu", "MyReLU", "log_softmax"])
def test_the_name_of_an_operation_fits_into_its_outline_and_the_outline_into_its_column(op: str) -> None:
    figure = plots.graph([Op(op, [Node(np.ones(3), "v")])])
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    [axes] = figure.axes
    [outline] = [patch for patch in axes.patches if isinstance(patch, Ellipse)]
    [name] = [text for text in axes.texts if text.get_text() == op]
    around, inside = (artist.get_window_extent(renderer) for artist in (outline, name))
    assert inside.width < 0.95 * around.width < figure.dpi * COLUMN * 0.8


def test_a_value_used_twice_by_one_operation_has_two_arrows_that_can_be_told_apart() -> None:
    v = Node(np.ones(3), "v")
    [axes] = plots.graph([Op("mul", [v, v])]).axes
    paths = [patch.get_path().vertices for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    assert len(paths) == 2 and not np.allclose(paths[0], paths[1])
