"""The pictures of a ring and of a pipeline show what they are given."""

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
