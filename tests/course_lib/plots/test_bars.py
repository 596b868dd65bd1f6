"""Bars: one for each value, in order, with its number, described. Dots: every repetition seen, with the mean."""

from __future__ import annotations

from typing import Any, cast

import pytest

from course_lib import plots


def test_every_value_is_drawn_in_order_and_described() -> None:
    figure = plots.bars({"first": 3, "second": 0.5}, xlabel="copies")
    axes: Any = figure.axes[0]
    assert [bar.get_width() for bar in axes.patches] == [3, 0.5]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second"]
    assert axes.yaxis_inverted()
    assert figure.description == "Bars, copies. first: 3; second: 0.5."


def test_a_limit_lies_within_the_figure() -> None:
    figure = plots.bars({"first": 3}, xlabel="MiB", limit=8)
    assert figure.axes[0].get_xlim()[1] > 8
    assert figure.description.endswith(" A line at 8.")


def test_it_draws_what_is_zero_large_or_alone_and_refuses_nothing_at_all() -> None:
    assert plots.bars({"a": 2186.5}, xlabel="x").description == "Bars, x. a: 2,186.", "no exponents"
    for value in (0, 1):
        assert len(plots.bars({"one": value}, xlabel="x").png()) > 2000
    with pytest.raises(ValueError, match="no values"):
        plots.bars({}, xlabel="x")


def test_every_dot_is_seen_and_the_mean_is_marked() -> None:
    figure = plots.dots({"first": [3, 5, 3, 3], "second": [7.5]}, xlabel="mistakes")
    axes: Any = figure.axes[0]
    places = [tuple(map(float, line.get_xydata()[0])) for line in axes.lines if len(line.get_xydata()) == 1]
    assert len(set(places)) == len(places) == 5, "equal values lie side by side"
    assert sorted(x for x, _ in places) == [3, 3, 3, 5, 7.5]
    assert all(abs(y - row) < 0.4 for (_, y), row in zip(places, (0, 0, 0, 0, 1), strict=True))
    means = [line.get_xdata()[0] for line in axes.lines if len(line.get_xydata()) == 2]
    assert means == [3.5, 7.5]
    assert figure.description == "Dots, mistakes. first: 3, 3, 3, 5; mean 3.5. second: 7.5; mean 7.5."
    marked = plots.dots({"first": [3, 5], "second": [7.5]}, xlabel="mistakes", yours={"second": 6})
    (triangle,) = [line for line in cast(Any, marked.axes[0]).lines if line.get_marker() == "v"]
    assert tuple(triangle.get_xydata()[0]) == (6, 1 - 0.42), "above the dots of the second row"
    assert marked.description == "Dots, mistakes. first: 3, 5; mean 4. second: 7.5; mean 7.5; your run 6."
    assert "your runs" in cast(Any, marked.axes[0]).get_xlabel() and "your" not in axes.get_xlabel()
    with pytest.raises(ValueError, match="no values"):
        plots.dots({}, xlabel="x")
    with pytest.raises(ValueError, match="no values"):
        plots.dots({"empty": []}, xlabel="x")
