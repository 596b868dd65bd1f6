"""Differences on one scale in two panels, and bars made of parts."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import plots


def test_each_panel_has_its_lines_its_limit_and_a_place_for_zero() -> None:
    away = {"a": {"one": [1e-16, 0.0], "two": [2e-16, 3e-16]}, "b": {"one": [1e-7, 2e-7], "two": [1e-8, 0.0]}}
    figure = plots.agreement([1, 2], away, {"a": [1e-5, 1e-6], "b": [1e-4, 1e-4]}, xlabel="epoch", ylabel="away")
    left, right = figure.axes
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == ("a", "b")
    floor = left.lines[0].get_ydata()[0]  # type: ignore[index]
    assert 0 < floor < 1e-16
    np.testing.assert_array_equal(left.lines[1].get_ydata(), [1e-16, floor])
    np.testing.assert_array_equal(right.lines[-1].get_ydata(), [1e-4, 1e-4])
    low, high = left.get_ylim()
    assert low < floor and high > 1e-4 and right.get_ylim() == (low, high)
    assert "a, one: largest 1e-16" in figure.description and "b, allowed: 0.0001 to 0.0001" in figure.description


def test_without_limits_the_names_stand_above_the_panel() -> None:
    figure = plots.agreement(
        [0, 1], {"": {"A": [0.0, 1e-3], "B": [1e-6, 0.0]}}, xlabel="step", ylabel="away", markers=False
    )
    [legend], [axes] = figure.legends, figure.axes
    assert [text.get_text() for text in legend.get_texts()] == ["A", "B"]
    figure.canvas.draw()
    assert legend.get_window_extent().y0 > axes.get_window_extent().y1
    assert {line.get_marker() for line in axes.lines} <= {"", "None"} and len(axes.lines) == 3
    assert "logarithmic. A: largest 0.001; B: largest 1e-06." in figure.description


def test_all_may_be_zero_but_too_many_labels_and_a_missing_limit_are_refused() -> None:
    assert plots.agreement([1], {"a": {"one": [0.0]}}, {"a": [1.0]}, xlabel="x", ylabel="y").description
    with pytest.raises(ValueError, match="at most 5"):
        plots.agreement([1], {"a": {str(i): [1.0] for i in range(6)}}, {"a": [1.0]}, xlabel="x", ylabel="y")
    with pytest.raises(ValueError, match="a limit for each"):
        plots.agreement([1], {"a": {"one": [1.0]}}, {}, xlabel="x", ylabel="y")
