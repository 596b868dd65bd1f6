"""Histograms in a grid: one range for all, what lies outside is said, and the description has it too."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import plots

ROWS = {
    "narrow": {"one": [0.0, 0.1, -0.1], "two": np.zeros((2, 2))},
    "wide": {"one": [-3.0, 0.0, 0.0, 3.0], "two": [1, -1]},
}


def test_each_panel_has_the_same_range_and_names_its_standard_deviation() -> None:
    figure = plots.histograms(ROWS, xlabel="outputs", limit=2.0)
    assert len(figure.axes) == 4
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two", "", ""]
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    counted = [sum(bar.get_height() for bar in axes.patches) for axes in figure.axes]
    assert counted == [3, 4, 2, 2]
    assert figure.description == (
        "Histograms of outputs, from -2 to 2. narrow: one std 0.082; two std 0. "
        "wide: one std 2.1, 50% outside; two std 1."
    )
    assert len(figure.png()) > 5000


def test_more_rows_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="6 rows"):
        plots.histograms({str(row): {"a": [0.0]} for row in range(6)}, xlabel="x", limit=1.0)
