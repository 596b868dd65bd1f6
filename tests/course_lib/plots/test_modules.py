"""Networks drawn from what PyTorch registered: a line for a module, a stack or bar for a step, a panel for an image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from course_lib import plots
from course_lib.plots.modules import DRAWN_CHANNELS
from tests.when_used import when_used

torch = when_used("torch")
nn = when_used("torch.nn")
pytestmark = pytest.mark.slow


def _net() -> Any:
    class _Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU())
            self.head = nn.Linear(3, 2)
            self.hidden_from_pytorch = [nn.Linear(9, 9)]

    return _Net()


def _words(figure: plots.Canvas) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def _stacks(figure: plots.Canvas) -> list[Rectangle]:
    return [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]


def test_every_registered_module_is_a_line_with_its_class_its_shapes_and_its_size() -> None:
    words = _words(plots.module_tree(_net()))
    assert words[:1] == ["parameters"]
    assert {
        "_Net",
        "body",
        "Sequential",
        "weight (3, 4), bias (3,)",
        "15",
        "head",
        "weight (2, 3), bias (2,)",
        "29",
    } <= {*words}
    assert "weight (3,), bias (3,); buffers: running_mean, running_var, num_batches_tracked" in words
    assert not any("9" in word for word in words if word != "29")
    head = plots.module_tree(_net().head).description
    assert head == "Tree of modules. Linear, weight (2, 3), bias (2,), 8 parameters."
    closed = plots.module_tree(_net(), depth=1).description
    assert "body: Sequential, 3 modules inside, 21 parameters" in closed and "body.0" not in closed


def test_a_module_in_two_places_is_counted_once_and_says_so() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    net.append(net[0])
    figure = plots.module_tree(net)
    assert "2: Linear, the same module as 0." in figure.description
    assert _words(figure).count("6") == 2  # the root and the layer itself


def test_what_is_frozen_says_so_in_words_and_not_in_gray_alone() -> None:
    net = _net()
    net.body.requires_grad_(False)
    description = plots.module_tree(net).description
    assert "body.0: Linear, weight (3, 4), bias (3,) (frozen), 15 parameters" in description
    assert "head: Linear, weight (2, 3), bias (2,), 8" in description


def test_images_are_stacks_to_scale_and_vectors_are_bars() -> None:
    figure = plots.shape_flow([("image", (1, 28, 28)), ("conv", (6, 24, 24)), ("wide", (64, 12, 12)), ("fc", (10,))])
    patches = _stacks(figure)
    assert len(patches) == 1 + 6 + DRAWN_CHANNELS + 1
    assert patches[0].get_width() / patches[1].get_width() == pytest.approx(28 / 24)
    assert figure.description == (
        "Shapes through a network, from left to right: image 1 × 28 × 28, then conv 6 × 24 × 24, "  # noqa: RUF001
        "then wide 64 × 12 × 12, then fc 10."  # noqa: RUF001
    )
    assert _words(plots.shape_flow([("pool", (1, 4, 4)), ("pool", (1, 2, 2))])).count("pool") == 2
    with pytest.raises(ValueError, match="conv has 4 axes; give shapes of 1 or 3 axes, without the batch"):
        plots.shape_flow([("conv", (5, 6, 24, 24))])


def test_nothing_is_drawn_outside_the_figure() -> None:
    figure = plots.shape_flow([(f"layer {k}", (2**k, 20, 20)) for k in range(6)] + [("flatten", (4096,))])
    axes = figure.axes[0]
    right, bottom = axes.get_xlim()[1], axes.get_ylim()[0]
    for patch in _stacks(figure):
        assert patch.get_x() >= 0 and patch.get_x() + patch.get_width() <= right
        assert patch.get_y() >= bottom and patch.get_y() + patch.get_height() <= -0.25


@pytest.mark.parametrize("convert", [np.asarray, when_used("torch.as_tensor")])
def test_images_stand_side_by_side_each_on_its_own_scale(convert: Any) -> None:
    figure = plots.image_row({"weak": convert(np.eye(3) * 0.1), "strong": convert(np.eye(5) * 9)})
    assert [axes.get_title() for axes in figure.axes] == ["weak", "strong"]
    assert [axes.images[0].get_clim() for axes in figure.axes] == [(0, 0.1), (0, 9)]
    assert figure.description == ("2 images side by side: weak, 3 by 3, from 0 to 0.1; strong, 5 by 5, from 0 to 9.")
    assert len(figure.png()) > 1000


def test_images_with_a_sign_are_white_at_zero() -> None:
    figure = plots.image_row({"signed": np.array([[-1.0, 0.0, 4.0]])}, symmetric=True)
    assert figure.axes[0].images[0].get_clim() == (-4, 4)
    assert figure.description.endswith("from -1 to 4. White is 0, red is positive, blue is negative.")


def test_a_row_of_images_has_room_for_labels_of_two_lines() -> None:
    one, two = plots.image_row({"a": np.eye(3)}), plots.image_row({"a\nb": np.eye(3)})
    assert two.get_size_inches()[1] > one.get_size_inches()[1]
    assert "side by side: a b, 3 by 3" in two.description


def test_a_row_of_wide_images_has_no_empty_strip_below_it() -> None:
    wide, square = plots.image_row({"a": np.eye(3, 6)}), plots.image_row({"a": np.eye(3)})
    assert wide.get_size_inches()[1] < square.get_size_inches()[1] - 0.5
