"""A circuit's numbers are computed from its program: values, contributions along each arrow, sums where it forks."""

from __future__ import annotations

import itertools

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from course_lib import plots
from course_lib.plots import Canvas

NEURON = ["a = w * x", "s = a + b", "h = max(s, 0)", "e = h - y", "loss = e * e"]
FORK = ["p = x * y", "q = p + z", "f = q * x"]
MINUS = "\N{MINUS SIGN}"


def _texts(figure: Canvas) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_one_circle_for_each_operation_one_box_for_each_input_one_arrow_for_each_use_and_the_output() -> None:
    figure = plots.circuit(["q = x + y", "f = q * z"], x=-2, y=5, z=-4)
    kinds = [type(patch) for patch in figure.axes[0].patches]
    assert (kinds.count(Circle), kinds.count(FancyBboxPatch), kinds.count(FancyArrowPatch)) == (2, 3, 5)
    assert figure.description == "Circuit of 2 operations: add of x and y gives q = 3; mul of q and z gives f = -12."
    assert _texts(figure).count(f"{MINUS}4") == 1 and "1" not in _texts(figure), "no gradients unless asked for"


def test_what_flows_back_is_local_times_upstream_and_contributions_add_up() -> None:
    figure = plots.circuit(FORK, x=3, y=2, z=-1, backward=True)
    assert "gradients: f 1, q 3, p 3, x 11, y 9, z 3." in figure.description
    assert {"5", "6", "sum 11"} <= set(_texts(figure))


@pytest.mark.parametrize(("b", "gradients"), [(-1, "e 8, h 8, s 8, a 8, w 24, x 16, b 8, y -8"),
                                              (-9, "e -2, h -2, s 0, a 0, w 0, x 0, b 0, y 2")])  # fmt: skip
def test_max_sends_everything_to_the_larger_input(b: float, gradients: str) -> None:
    assert f"loss 1, {gradients}." in plots.circuit(NEURON, w=2, x=3, b=b, y=1, backward=True).description


@pytest.mark.parametrize(("program", "inputs"), [(NEURON, {"w": 2, "x": 3, "b": -1, "y": 1}),
                                                 (FORK, {"x": 3, "y": 2, "z": -1})])  # fmt: skip
def test_all_texts_lie_inside_the_figure_and_none_covers_another(program: list[str], inputs: dict[str, float]) -> None:
    figure = plots.circuit(program, backward=True, **inputs)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts]
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 and box.y1 < figure.bbox.y1 - 5
    assert not [1 for one, other in itertools.combinations(boxes, 2) if one.overlaps(other)]


@pytest.mark.parametrize(
    ("line", "said"), [("q = x / y", "can be"), ("x + y", "name = operation"), ("q = x + later", "computed before")]
)
def test_a_line_that_cannot_be_drawn_is_named(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        plots.circuit([line], x=1, y=2)
