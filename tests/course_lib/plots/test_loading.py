"""Pictures of loading: images in their colors, bars where something went on, counts to compare."""

from __future__ import annotations

import numpy as np
from matplotlib.collections import PolyCollection

from course_lib import plots


def test_a_color_image_is_shown_with_its_channels_last_and_cut_to_what_can_be_shown() -> None:
    image = np.zeros((3, 4, 5))
    image[0], image[2] = 2, -1
    figure = plots.color_row({"red": image, "dark": np.zeros((3, 4, 5))})
    shown = figure.axes[0].images[0].get_array()
    assert shown is not None and shown.shape == (4, 5, 3)
    assert shown[0, 0].tolist() == [1, 0, 0]
    assert "2 color images side by side: red, 4 by 5, mean red 2.00, green 0.00, blue -1.00" in figure.description


def test_a_timeline_has_a_row_for_each_label_and_a_bar_for_each_span() -> None:
    figure = plots.timeline({"main": [(0, 2), (3, 5)], "worker": [(1, 4)]}, xlabel="ms")
    [axes] = figure.axes
    bars = [c for c in axes.collections if isinstance(c, PolyCollection)]
    assert [len(row.get_paths()) for row in bars] == [2, 1]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["main", "worker"]
    assert axes.get_xlim()[0] == 0 and axes.get_ylim()[0] > axes.get_ylim()[1], "the first row stands at the top"
    assert figure.description == "Who was busy when, ms. main: 2 spans from 0 to 5; worker: 1 spans from 1 to 4."


def test_counts_stand_side_by_side_on_one_scale() -> None:
    figure = plots.class_counts({"before": [9, 1], "after": [3, 3]})
    assert [[bar.get_height() for bar in axes.patches] for axes in figure.axes] == [[9, 1], [3, 3]]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert figure.description == "examples for each class, from 0 on. before: 9, 1; after: 3, 3."
