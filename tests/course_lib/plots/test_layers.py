"""A functional Keras model drawn: each layer one box, a shared one named as such, what flows told in words."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from course_lib import frameworks, plots

pytestmark = pytest.mark.slow  # Keras brings TensorFlow along


@pytest.fixture(scope="module")
def keras() -> Any:
    pytest.importorskip("keras")
    frameworks.prepare("torch", "keras")
    import keras

    return keras


def test_a_shared_layer_is_one_box_and_every_use_an_arrow(keras: Any) -> None:
    left, right = keras.Input((4, 2), name="left"), keras.Input((4, 2), name="right")
    flat = keras.layers.Flatten(name="flat")
    both = keras.layers.Concatenate(name="both")([flat(left), flat(right)])
    figure = plots.layer_graph(keras.Model([left, right], {"score": keras.layers.Dense(3, name="score")(both)}))
    [axes] = figure.axes
    boxes = [patch.get_window_extent() for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    assert len(boxes) == len(arrows) == 5
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    assert len({arrow.get_edgecolor() for arrow in arrows}) == 3, "two calls, and the arrow that belongs to neither"
    words = [text.get_text() for text in axes.texts]
    assert words.count("flat") == 1 and "called 2 times" in words and "(3,) · 51" in words
    said = figure.description
    assert said.startswith("Layers of a model, from left to right: input left (4, 2); input right (4, 2); ")
    assert "flat (Flatten) is called 2 times, takes left; then right and gives (8,)" in said
    assert "both (Concatenate) takes flat (call 1) and flat (call 2) and gives (16,)" in said
    assert said.endswith("score (Dense, 51 numbers) takes both and gives (3,), an output.")


def test_outputs_in_a_list_are_found_as_well_and_a_model_that_is_not_functional_is_refused(keras: Any) -> None:
    x = keras.Input((5,), name="x")
    model = keras.Model(x, [keras.layers.Dense(1, name="one")(x), keras.layers.Dense(2, name="two")(x)])
    assert plots.layer_graph(model).description.count("an output") == 2
    with pytest.raises(ValueError, match="Sequential is no functional model"):
        plots.layer_graph(keras.Sequential([keras.layers.Dense(1)]))
