"""Machines drawn: every roof, step, life and launch is in the figure and in its description."""

from __future__ import annotations

import pytest

from course_lib import plots
from course_lib.lectures.roofline import Point, Roof


def _points(kind: str, *sizes: int) -> list[Point]:
    return [Point(kind, size, 2 * size**3, 12 * size**2, size * 1e-6) for size in sizes]


def test_the_roofline_draws_each_roof_and_each_point() -> None:
    roofs = [Roof("here", 1e9, 1e8), Roof("promised", 4e9, None)]
    figure = plots.roofline({"products": _points("matmul", 6, 60)}, roofs)
    [axes] = figure.axes
    here, promised, products = axes.lines
    assert max(here.get_ydata()) == 1e9 and min(here.get_ydata()) < 1e9
    assert set(promised.get_ydata()) == {4e9}
    assert list(products.get_xdata()) == pytest.approx([1, 10])
    assert {text.get_text() for text in axes.texts} == {"here", "promised"}
    assert "roof here: 1e+09 operations/s, 1e+08 bytes/s, ridge at 10 per byte" in figure.description
    assert "roof promised: 4e+09 operations/s; products: from" in figure.description


def test_everything_measured_and_promised_lies_within_the_axes() -> None:
    points = _points("matmul", 6, 6000)
    [axes] = plots.roofline({"products": points}, [Roof("here", 1e9, 1e5)]).axes
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left < 1 and right > 1e9 / 1e5
    assert bottom < min(p.flops for p in points) and top > 1e9


def test_lives_are_ordered_by_their_beginning_and_end_where_they_ended() -> None:
    lives = [plots.Life("New", 2015, None, "goes on"), plots.Life("Old", 2002, 2017, "merged")]
    figure = plots.lifelines(lives, today=2026)
    [axes] = figure.axes
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(2002, 15), (2015, 11)]
    assert [text.get_text() for text in axes.texts] == ["Old", "2017: merged", "New", "goes on"]
    assert figure.description.endswith("Old 2002 to 2017; New 2015 to today.") and len(figure.png()) > 5000


def test_the_four_steps_carry_their_labels() -> None:
    figure = plots.four_steps(["copy in\n4 MB", "launch", "run", "copy out"])
    written = [text.get_text() for text in figure.axes[0].texts]
    assert written[2:] == ["1  copy in\n4 MB", "2  launch", "3  run", "4  copy out"]
    assert "step 1: copy in 4 MB; step 2: launch; step 3: run; step 4: copy out." in figure.description
    assert len(figure.png()) > 5000
    with pytest.raises(ValueError, match="3 labels; there are four steps"):
        plots.four_steps(["in", "run", "out"])


def test_launches_are_named_and_joined_in_the_order_of_their_years() -> None:
    figure = plots.launches({"cards": [(2025.1, 50.0, "B"), (2010.9, 3.0, "A")]}, ylabel="per dollar")
    [axes] = figure.axes
    assert list(axes.lines[0].get_ydata()) == [3, 50]
    assert {text.get_text() for text in axes.texts} == {"A", "B"}
    assert figure.description == "per dollar against the year of launch. cards: A 3 in 2010, B 50 in 2025."
