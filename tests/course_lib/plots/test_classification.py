"""Images with their scores, weights as pictures, a confusion matrix, panels of curves: all drawn, and described."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from course_lib import plots

IMAGES = np.linspace(0, 1, 2 * 4 * 4).reshape(2, 4, 4)


def _texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_each_image_stands_above_its_scores_and_the_true_class_is_hatched() -> None:
    scores = np.array([[0.1, 0.7, -0.2], [0.5, 0.3, 0.2]])
    figure = plots.scored_images(IMAGES, scores, [1, 2], ["right\nloss 1", "wrong"], ylabel="score")
    first, below_first, second, below_second = figure.axes
    assert [axes.get_title(loc="center") for axes in (first, second)] == ["right\nloss 1", "wrong"]
    for axes, row, label in ((below_first, scores[0], 1), (below_second, scores[1], 2)):
        assert [patch.get_height() for patch in axes.patches] == row.tolist()
        assert [place for place, patch in enumerate(axes.patches) if patch.get_hatch()] == [label]
    assert figure.description == (
        "2 images with bars of score for 3 classes. right loss 1: true class 1 has 0.70, class 1 has the most, 0.70; "
        "wrong: true class 2 has 0.20, class 0 has the most, 0.50."
    )


def test_all_weights_share_one_scale_around_zero() -> None:
    figure = plots.weight_images({"a": -2 * IMAGES[0], "b": IMAGES[1]})
    limits = [axes.images[0].get_clim() for axes in figure.axes if axes.images]
    assert limits == [(-1.0, 1.0)] * 2
    assert "a from -0.97 to 0; b from 0.52 to 1" in figure.description


def test_a_confusion_matrix_shows_its_counts_and_names_the_most_frequent_mistakes() -> None:
    figure = plots.confusion([[5, 2, 0], [0, 6, 1], [0, 0, 0]])
    [axes] = figure.axes
    assert _texts(axes) == ["5", "2", "6", "1", "0"]
    assert figure.description == (
        "Confusion matrix of 3 classes: 11 of 14 on the diagonal. "
        "Most frequent mistakes: 2 times true 0, predicted 1; 1 times true 1, predicted 2."
    )
    assert "mistakes: none." in plots.confusion([[1, 0], [0, 1]]).description


def test_panels_have_curves_of_their_own_and_one_range_if_asked() -> None:
    panels = {"loss": {"a": [3, 2, 1], "b": [3, 3, 2]}, "accuracy": {"a": [0.1, 0.5, 0.9]}}
    figure = plots.line_panels(range(3), panels, xlabel="epoch", ylim=(0, 4))
    assert [axes.get_ylabel() for axes in figure.axes] == ["loss", "accuracy"]
    assert [len(axes.lines) for axes in figure.axes] == [2, 1]
    assert {axes.get_ylim() for axes in figure.axes} == {(0.0, 4.0)}
    assert "accuracy, a: from 0.1 to 0.9, least 0.1" in figure.description
    assert len(plots.line_panels([0.5, 1.5], {"y": {"a": [1, 2]}}, xlabel="x").png()) > 3000
