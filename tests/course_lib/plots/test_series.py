"""Lines over one axis: all drawn, labeled apart, described."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from course_lib import plots
from course_lib.plots.series import _spread


def test_every_line_is_drawn_labelled_and_described() -> None:
    figure = plots.lines([0, 1, 2], {"up": [0, 1, 2], "down": [2, 1, np.nan]}, xlabel="step", ylabel="height")
    [axes] = figure.axes
    assert [line.get_ydata().tolist()[:2] for line in axes.lines] == [[0, 1], [2, 1]]
    assert {text.get_text() for text in axes.texts} == {"up", "down"}
    assert figure.description == (
        "height against step. up: from 0 at 0 to 2 at 2, least 0, largest 2; "
        "down: from 2 at 0 to 1 at 1, least 1, largest 2."
    )


def test_labels_of_lines_that_end_together_do_not_cover_each_other() -> None:
    figure = plots.lines([0, 1], {name: [0, 1] for name in "abcd"}, xlabel="x", ylabel="y")
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    boxes = sorted((text.get_window_extent(renderer) for text in figure.axes[0].texts), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in itertools.pairwise(boxes))


@pytest.mark.parametrize("scales", [{"logx": True}, {"logy": True}, {"logx": True, "logy": True, "markers": True}])
def test_it_draws_on_logarithmic_scales(scales: dict[str, bool]) -> None:
    figure = plots.lines([1, 10], {"a": [1, 100]}, xlabel="x", ylabel="y", **scales)
    assert len(figure.png()) > 5000


@pytest.mark.parametrize(("heights", "places"), [
    ([0.0, 100.0], [0.0, 100.0]), ([50.0, 50.0], [42.5, 57.5]), ([0.0, 14.0, 100.0], [-0.5, 14.5, 100.0]),
    ([0.0, 1.0, 16.0], [-9.333, 5.667, 20.667]),
])  # fmt: skip
def test_labels_move_only_where_they_would_touch(heights: list[float], places: list[float]) -> None:
    np.testing.assert_allclose(_spread(heights), places, atol=1e-3)


def test_steps_and_layers_are_counted_in_whole_numbers_and_a_sixth_line_is_refused() -> None:
    [axes] = plots.lines(range(1, 8), {"a": range(7)}, xlabel="layer", ylabel="y").axes
    assert all(tick == round(tick) for tick in axes.get_xticks())
    with pytest.raises(ValueError, match="between 1 and 5"):
        plots.lines([0, 1], {str(n): [0, 1] for n in range(6)}, xlabel="x", ylabel="y")


def test_a_figure_can_start_above_the_first_values() -> None:
    figure = plots.lines([1, 2, 3], {"a": [0.2, 0.9, 0.95]}, xlabel="x", ylabel="y", ylim=(0.8, 1))
    assert figure.axes[0].get_ylim() == (0.8, 1)
    assert figure.description == "y against x. a: from 0.2 at 1 to 0.95 at 3, least 0.2, largest 0.95."
