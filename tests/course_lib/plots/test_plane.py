"""Maps of the plane: the right way up, with a line at zero, and in words."""

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
