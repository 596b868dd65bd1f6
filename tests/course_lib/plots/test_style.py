"""A figure shows itself as an image with alternative text, and leaves the reader's own settings alone."""

from __future__ import annotations

import base64
import io
import itertools

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

from course_lib.plots import canvas, loss_curves
from course_lib.plots.style import SERIES_STYLES


def test_the_image_has_the_description_as_alternative_text_in_every_form() -> None:
    figure, _ = canvas()
    figure.description = 'rises from 1 to 2 & says "done" <at last>'
    data, metadata = figure._repr_mimebundle_()
    assert 'alt="rises from 1 to 2 &amp; says &quot;done&quot; &lt;at last&gt;"' in data["text/html"]
    assert metadata["image/png"]["alt"] == data["text/plain"] == figure.description


def test_html_and_png_are_the_same_image_sharper_than_it_is_shown() -> None:
    figure, _ = canvas(4, 2)
    data, metadata = figure._repr_mimebundle_()
    assert data["image/png"] in data["text/html"]
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.size[0] >= 1.5 * metadata["image/png"]["width"]
    assert image.size[0] == 2 * image.size[1]


def test_drawing_leaves_the_readers_settings_as_they_were() -> None:
    before = dict(mpl.rcParams)
    loss_curves({"loss": [3.0, 2.0, 1.0]}).png()
    assert dict(mpl.rcParams) == before


def test_no_two_looks_differ_in_color_alone() -> None:
    for a, b in itertools.combinations(SERIES_STYLES, 2):
        assert a.marker != b.marker and a.linestyle != b.linestyle


@pytest.mark.parametrize("weights", [(0.0, 1.0), (1.0, 0.0)], ids=["no red", "no green"])
def test_the_first_three_colors_stay_apart_without_red_or_green(weights: tuple[float, float]) -> None:
    """A crude model of the two common kinds of color blindness: one of the channels red and green is lost."""
    seen = []
    for look in SERIES_STYLES[:3]:
        red, green, blue = mpl.colors.to_rgb(look.color)
        seen.append(np.array([weights[0] * red + weights[1] * green, blue]))
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)) > 0.15
