"""Maps of the plane, the right way up, with a line at zero, and in words; and points of two classes."""

from __future__ import annotations

import io

import matplotlib.image
import numpy as np
import pytest

from course_lib import plots


def test_a_map_stands_the_right_way_up_and_says_how_much_of_it_is_positive() -> None:
    values = np.ones((40, 40))
    values[:10] = -1  # the upper quarter
    figure = plots.plane_maps({"one": values, "other": -values})
    assert "one: from -1 to 1, positive on 75% of it; other: from -1 to 1, positive on 25%" in figure.description
    pixels = matplotlib.image.imread(io.BytesIO(figure.png()))[..., :3]
    left = pixels[:, : pixels.shape[1] // 2]
    orange, blue = (np.argwhere((left[..., a] - left[..., b]) > 0.5)[:, 0] for a, b in ((0, 2), (2, 0)))
    assert orange.max() < blue.mean() and 2 < len(blue) / len(orange) < 4


def test_what_is_no_map_or_too_many_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="1 to 4"):
        plots.plane_maps({})
    with pytest.raises(ValueError, match="has the shape"):
        plots.plane_maps({"x": np.zeros(3)})
    assert plots.plane_maps({"flat": np.zeros((3, 3))}).description


def test_points_of_two_classes_stand_side_by_side_and_are_said_in_words() -> None:
    points, labels = np.array([[0.0, 0.0], [2.0, 4.0], [5.0, 5.0]]), np.array([1, 1, -1])
    figure = plots.plane_points({"before": points, "after": points / 10}, labels)
    assert "2 blue and 1 orange" in figure.description
    assert "before: the mean of the blue ones at 1 and 2, of the orange ones at 5 and 5" in figure.description
    assert [panel.get_xlabel() for panel in figure.axes] == ["x1", "unit 1"]
    assert [[np.asarray(drawn.get_offsets()).shape[0] for drawn in panel.collections] for panel in figure.axes] == [
        [2, 1],
        [2, 1],
    ]


def test_points_without_a_label_each_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match="1 to 4"):
        plots.plane_points({}, np.ones(3))
    with pytest.raises(ValueError, match=r"'x' has the shape \(4, 2\), not \(3, 2\)"):
        plots.plane_points({"x": np.zeros((4, 2))}, np.ones(3))
