"""Paths on a surface: each in a panel of its own, on the contours of the loss that was given, and described."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from course_lib import plots


def _bowl(first: Any, second: Any) -> Any:
    return first**2 + 4 * second**2


def _drawn(count: int, **settings: Any) -> plots.Canvas:
    paths = {f"way {index}": [[2.0, 1.0], [1.0, 0.5], [0.0, 0.1 * index]] for index in range(count)}
    return plots.surface_paths(_bowl, paths, across=(-3, 3), up=(-2, 2), **settings)


def test_every_path_is_drawn_whole_in_a_panel_of_its_own() -> None:
    figure = _drawn(2)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["way 0", "way 1"]
    for index, axes in enumerate(figure.axes):
        longest = max((line.get_xydata() for line in axes.lines), key=len)
        np.testing.assert_allclose(longest, [[2, 1], [1, 0.5], [0, 0.1 * index]])
    assert figure.description == (
        "Contours of a loss over two parameters, least at (0, 0), with one path in each panel. "
        "way 0: 2 steps from (2, 1) to (0, 0), loss 8 to 0; way 1: 2 steps from (2, 1) to (0, 0.1), loss 8 to 0.04."
    )


def test_start_end_and_lowest_point_are_marked() -> None:
    [axes] = _drawn(1, best=(0.5, -0.5)).axes
    marks = {str(line.get_marker()): line.get_xydata().tolist() for line in axes.lines if len(line.get_xdata()) == 1}
    points = [line.get_xydata().tolist()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert marks["+"] == [[0.5, -0.5]]
    assert sorted(points) == [[0.0, 0.0], [0.5, -0.5], [2.0, 1.0]]


@pytest.mark.parametrize(("count", "rows"), [(1, 1), (3, 1), (4, 2), (6, 2), (7, 3)])
def test_panels_fill_rows_of_three_and_only_the_outer_ones_carry_names(count: int, rows: int) -> None:
    figure = _drawn(count)
    assert len(figure.axes) == count
    last = figure.axes[0].get_subplotspec()
    assert last is not None and last.get_gridspec().nrows == rows
    assert [bool(axes.get_ylabel()) for axes in figure.axes] == [index % 3 == 0 for index in range(count)]
    assert sum(bool(axes.get_xlabel()) for axes in figure.axes) == min(3, count)


def test_a_path_that_leaves_the_view_does_not_widen_it() -> None:
    figure = plots.surface_paths(_bowl, {"lost": [[2.0, 1.0], [1e9, -1e12]]}, across=(-3, 3), up=(-2, 2))
    assert (figure.axes[0].get_xlim(), figure.axes[0].get_ylim()) == ((-3, 3), (-2, 2))
    assert len(figure.png()) > 5000
