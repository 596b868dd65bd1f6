"""The pictures of a ring, of a pipeline and of a schedule show what they are given."""

from __future__ import annotations

import numpy as np

from course_lib import plots


def test_a_ring_shows_who_is_in_which_sum() -> None:
    one, two = np.array([[1, 1], [1, 3], [3, 3]]), np.array([[2, 2], [3, 2], [3, 3]])
    figure = plots.ring_steps([one, two])
    assert "Chunks that hold all contributions: 0, 2, 4." in figure.description
    assert [[text.get_text() for text in axes.texts] for axes in figure.axes] == [
        ["0", "0", "1", "1"],
        ["0", "all", "all", "1"],
        ["all"] * 4,
    ]
    assert len(figure.png()) > 5000


def test_a_pipeline_does_each_piece_forward_and_backward_in_each_stage() -> None:
    figure = plots.pipeline(stages=3, pieces=2)
    said = "3 stages and 2 pieces of a batch over 8 time steps: each stage works for 4 and is idle for 4"
    assert said in figure.description
    [axes] = figure.axes
    where = {(text.get_text(), int(text.get_position()[1])): text.get_position()[0] for text in axes.texts}
    assert len(where) == 2 * 3 * 2
    for piece in range(2):
        forward = [where[f"F{piece}", stage] for stage in range(3)]
        backward = [where[f"B{piece}", stage] for stage in range(3)]
        assert forward == sorted(forward) and backward == sorted(backward, reverse=True)
        assert forward[-1] < backward[-1]


def test_a_schedule_has_a_named_bar_for_each_pair() -> None:
    plans = {"computing": [(0.0, 2.0), (2.0, 4.0)], "sending": [(2.0, 5.0), (5.0, 6.0)]}
    figure = plots.schedule(plans, names=["layer 2", "layer 1"], xlabel="ms")
    [axes] = figure.axes
    where = [(text.get_text(), *text.get_position()) for text in axes.texts]
    assert where == [("layer 2", 1, 0.5), ("layer 1", 3, 0.5), ("layer 2", 3.5, 1.5), ("layer 1", 5.5, 1.5)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["computing", "sending"]
    assert figure.description == (
        "When layer 2, layer 1 have their turns, ms. computing: from 0 to 4; sending: from 2 to 6."
    )
