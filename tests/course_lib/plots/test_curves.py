"""What is drawn is what was given: the lines carry the data, the axes their names, the description the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from course_lib import plots


def _line(axes: Any, index: int = 0) -> np.ndarray:
    return np.asarray(axes.lines[index].get_ydata(), dtype=float)


def test_loss_curves_draw_every_loss_and_label_it_at_its_end() -> None:
    figure = plots.loss_curves({"train": [4.0, 2.0, 1.0], "held out": [4.0, 3.0, 3.0]})
    [axes] = figure.axes
    np.testing.assert_array_equal(_line(axes), [4, 2, 1])
    assert [text.get_text() for text in axes.texts] == ["train", "held out"]
    assert (axes.get_xlabel(), axes.get_yscale()) == ("updates done", "log")
    assert "train goes from 4 to 1; held out goes from 4 to 3" in figure.description


def test_step_errors_mark_the_best_step_of_every_method() -> None:
    errors = {"double": {"forward": [3.0, 1.0, 2.0]}, "single": {"forward": [1.0, 2.0, np.nan]}}
    figure = plots.step_errors(np.array([1e-3, 1e-2, 1e-1]), errors)
    marks = [axes.lines[-1] for axes in figure.axes]
    assert [float(mark.get_xdata()[0]) for mark in marks] == [1e-2, 1e-3]  # type: ignore[index]
    assert "double, forward: least error 1 at step 0.01" in figure.description
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim(), "panels to be compared share their scale"


def test_scaling_labels_a_line_at_its_last_measured_point() -> None:
    figure = plots.scaling([1, 10, 100], {"slow": [1.0, 2.0, np.nan]}, xlabel="size", ylabel="seconds")
    [axes] = figure.axes
    [label] = axes.texts
    assert label.get_text() == "slow" and label.xy == (10, 2)  # type: ignore[attr-defined]
    assert figure.description == "seconds against size. slow: from 1 at 1 to 2 at 10."


def test_descent_marks_the_lowest_point_of_every_batch() -> None:
    grid = np.linspace(0, 4, 5)
    batches = [(grid - 1) ** 2, (grid - 3) ** 2 + 0.5]
    figure = plots.descent(grid, lambda t: (t - 2) ** 2, batches, [0.0, 1.0, 1.5], best=2.0)
    lowest = [tuple(line.get_xydata()[0]) for line in figure.axes[0].lines if line.get_marker() == "o"]  # type: ignore[index]
    assert lowest == [(1.0, 0.0), (3.0, 0.5)]
    np.testing.assert_array_equal(_line(figure.axes[1]), [0, 1, 1.5])
    assert "after 2 updates it is 1.5" in figure.description


@pytest.mark.parametrize("figure", [
    plots.loss_curves({"loss": [2.0, 1.0]}),
    plots.step_errors([0.1, 1.0], {"float64": {"forward": [1.0, 2.0]}}),
    plots.scaling([1, 2], {"cost": [1.0, 2.0]}, xlabel="size", ylabel="cost in s"),
    plots.descent(np.linspace(0, 4, 9), lambda t: t**2, [np.linspace(0, 4, 9)], [1.0, 0.5], best=0.0),
])  # fmt: skip
def test_every_axis_that_carries_numbers_has_a_name(figure: plots.Canvas) -> None:
    for axes in figure.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel() or not any(label.get_visible() for label in axes.get_yticklabels())
    assert len(figure.description) > 40
