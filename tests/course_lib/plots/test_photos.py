"""Photographs are drawn as their bytes say, and what is no photograph is refused."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import plots


def test_each_picture_is_shown_under_its_title_and_said_in_words() -> None:
    red = np.zeros((4, 5, 3), np.uint8)
    red[..., 0] = 200
    figure = plots.photos({"red": red, "black": np.zeros((4, 4, 3), np.uint8)})
    shown = [axes.images[0].get_array() for axes in figure.axes]
    assert shown[0] is not None and shown[0][0, 0].tolist() == [200, 0, 0]
    assert [axes.get_title(loc="center") for axes in figure.axes] == ["red", "black"]
    assert figure.description == (
        "2 color pictures side by side: red, 4 by 5 pixels, mean red 200, green 0, blue 0; "
        "black, 4 by 4 pixels, mean red 0, green 0, blue 0."
    )


@pytest.mark.parametrize("wrong", [
    np.zeros((3, 4, 5), np.uint8), np.zeros((4, 5, 3), np.float32), np.zeros((4, 5), np.uint8),
])  # fmt: skip
def test_what_is_no_picture_of_bytes_with_the_color_last_is_refused(wrong: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"a picture here is \(height, width"):
        plots.photos({"wrong": wrong})


def test_a_figure_shows_between_one_and_six() -> None:
    with pytest.raises(ValueError, match="0 pictures"):
        plots.photos({})
