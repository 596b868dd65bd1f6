"""What is drawn of a recorded graph is what the list holds, also where nobody uses a node."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from course_lib import plots


class Node(NamedTuple):
    op: str
    inputs: tuple[int, ...] = ()
    value: Any = None


def test_operations_numbers_and_shapes_are_in_the_picture() -> None:
    graph = [Node("input"), Node("constant", (), 2), Node("mul", (0, 1)), Node("constant", (), np.ones((3, 4)))]
    figure = plots.traced_graph([*graph, Node("matmul", (2, 3))])
    said = {text.get_text() for axes in figure.axes for text in axes.texts}
    written = " ".join(said)
    assert "mul" in written and "matmul" in written and "node 4" in written and "constant 1" in written
    assert figure.description.startswith("Traced graph of 5 nodes")


def test_a_graph_without_an_operation_is_not_drawn() -> None:
    with pytest.raises(ValueError, match="no operation"):
        plots.traced_graph([Node("input"), Node("constant", (), 1.0)])
