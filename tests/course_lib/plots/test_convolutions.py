"""Pictures of convolutions: numbers that are right, frames where they belong, one scale for what is compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from course_lib import plots
from tests.when_used import when_used


def _words(figure: plots.Canvas) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_a_convolution_shows_its_numbers_and_frames_windows_and_their_results() -> None:
    image = np.arange(12).reshape(3, 4)
    figure = plots.kernel_steps(image, [[0, 1], [2, 0]], places=[(0, 0), (1, 2)])
    words = _words(figure)
    # 1 at the upper right and 2 at the lower left: 1 + 2 * 4 and 7 + 2 * 10
    assert {"9", "27", "11"} <= {*words}
    assert {"image, 3 × 4", "kernel, 2 × 2", "result, 2 × 3"} <= {*words}  # noqa: RUF001
    frames = [p for p in figure.axes[0].patches if isinstance(p, Rectangle) and not p.get_fill()]
    assert [round(p.get_width() / frames[1].get_width()) for p in frames] == [2, 1, 2, 1]
    assert figure.description == (
        "A convolution in numbers: image 3 by 4, kernel 2 by 2, result 2 by 3; the window at row 0 and column 0 gives "
        "9; the window at row 1 and column 2 gives 27."
    )


def test_a_convolution_with_padding_and_stride_frames_the_windows_that_it_uses() -> None:
    figure = plots.kernel_steps([[1, 2], [3, 4]], [[1, 0], [0, 5]], places=[(1, 0)], padding=1, stride=2)
    words = _words(figure)
    assert {"image, 2 × 2, with padding: 4 × 4", "result, 2 × 2"} <= {*words}  # noqa: RUF001
    frames = [p for p in figure.axes[0].patches if isinstance(p, Rectangle) and not p.get_fill() and not p.get_hatch()]
    inner, window, result = frames
    assert [round(p.get_width() / result.get_width()) for p in frames] == [2, 2, 1]
    # the window starts one row below the first row of the image, in the column before the first
    steps = [round((a - b) / result.get_width()) for a, b in zip(window.get_xy(), inner.get_xy(), strict=True)]
    assert steps == [-1, -1]
    assert len([p for p in figure.axes[0].patches if p.get_hatch()]) == 12
    assert figure.description == (
        "A convolution in numbers: image 4 by 4, kernel 2 by 2, result 2 by 2; padding 1, included in the image, and "
        "stride 2; the window at row 2 and column 0 gives 0."
    )


def test_channels_and_their_sum_have_one_scale() -> None:
    parts = {"red": np.full((3, 3), 0.5), "blue": np.full((3, 3), -2.0)}
    figure = plots.channel_sum(np.ones((3, 5, 5)), parts, np.full((3, 3), -1.5))
    assert [axes.get_title() for axes in figure.axes] == ["photo", "red", "blue", "sum"]
    assert {axes.images[0].get_clim() for axes in figure.axes[1:]} == {(-2, 2)}
    assert "blue from -2.00 to -2.00; sum from -1.50 to -1.50" in figure.description


def test_receptive_fields_are_frames_around_pixels() -> None:
    figure = plots.receptive_fields(np.eye(9), {"small": (2, 3, 1), "large": (0, 0, 9)})
    small, large = (p for p in figure.axes[0].patches if isinstance(p, Rectangle))
    assert small.get_xy() == (2.5, 1.5) and small.get_width() == 1
    assert large.get_xy() == (-0.5, -0.5) and large.get_height() == 9
    assert "small: 1 by 1 pixels from row 2 and column 3; large: 9 by 9" in figure.description


@pytest.mark.slow
@pytest.mark.parametrize("convert", [np.asarray, when_used("torch.as_tensor")])
def test_rows_of_images_share_a_scale(convert: Any) -> None:
    rows = {"a": [convert(np.eye(2)), convert(-3 * np.eye(2) - 1)], "b": [convert(np.eye(2) * 0.5)]}
    figure = plots.image_grid(rows, signed=True)
    assert {image.get_clim() for image in figure.axes[0].images} == {(-4, 4)}
    assert _words(figure) == ["a", "b"]
    assert {image.get_clim() for image in plots.image_grid(rows).axes[0].images} == {(-4, 1)}
    assert figure.description == (
        "2 rows of small images. a: 2 of 2 by 2, largest 1.00, -1.00; b: 1 of 2 by 2, largest 0.50."
    )
    assert len(figure.png()) > 1000
