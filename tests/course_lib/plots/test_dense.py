"""A fully connected network: units with their index, a line for each weight between drawn units, one unit marked."""

from __future__ import annotations

import pytest
from matplotlib.patches import Circle

from course_lib import plots
from course_lib.plots.style import BLUE


def test_large_layers_are_shortened_and_the_weights_of_one_unit_are_marked() -> None:
    figure = plots.dense_network({"64 pixels": 64, "5 units": 5, "2 outputs": 2}, ["W1", "W2"])
    axes = figure.axes[0]
    assert sum(isinstance(patch, Circle) for patch in axes.patches) == 4 + 5 + 2
    assert len(axes.lines) == 4 * 5 + 5 * 2
    assert sum(line.get_color() == BLUE for line in axes.lines) == 4
    said = [text.get_text() for text in axes.texts]
    assert {"0", "1", "2", "63", "64 pixels", "W1", "W2"} <= set(said) and "62" not in said
    assert "64 pixels, 5 units and 2 outputs; between them W1, then W2." in figure.description


def test_one_text_stands_between_any_two_layers() -> None:
    with pytest.raises(ValueError, match="3 layers need 2 texts"):
        plots.dense_network({"in": 2, "hidden": 3, "out": 1}, ["W1"])
    with pytest.raises(ValueError, match="at least two layers"):
        plots.dense_network({"in": 2}, [])
