"""The table of verdicts: a mark for each pair, described, and refused where rows differ."""

from __future__ import annotations

from typing import Any

import pytest

from course_lib import plots

PASSED = {"right": {"size": True, "equal chance": True}, "wrong": {"size": True, "equal chance": False}}


def test_each_pair_has_its_mark_and_is_described() -> None:
    figure = plots.verdicts(PASSED)
    axes: Any = figure.axes[0]
    marks = [line.get_marker() for line in axes.lines if line.get_marker() in ("o", "X")]
    assert marks == ["o", "o", "o", "X"]
    assert "equal\nchance" in [text.get_text() for text in axes.texts]
    assert figure.description == "2 versions, 2 tests. right: passes all; wrong: fails equal chance."


@pytest.mark.parametrize("passed", [{}, {"a": {"x": True}, "b": {"y": True}}])
def test_rows_that_differ_are_refused(passed: dict[str, dict[str, bool]]) -> None:
    with pytest.raises(ValueError, match="the same tests"):
        plots.verdicts(passed)
