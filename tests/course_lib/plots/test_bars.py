"""Bars: one for each value, in order, with its number, described."""

from __future__ import annotations

from typing import Any

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
