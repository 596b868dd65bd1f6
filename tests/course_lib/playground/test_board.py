"""A board repeats itself, changes what it must and no more, and says in words what it cannot do."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from course_lib.playground import Playground


def test_the_same_settings_give_the_same_run_in_parts_and_after_a_reset_too() -> None:
    one, other = Playground(data="spiral", hidden=(3, 2)).run(5), Playground(data="spiral", hidden=(3, 2)).run(2).run(3)
    assert one.history == other.history and one.epoch == 5
    one.reset()
    assert one.epoch == 0
    assert one.run(5).history == other.history
    assert one.run(10, seconds=0).epoch == 6, "a slice ends when its time is over, and does one epoch at least"


def test_the_losses_are_those_of_the_network() -> None:
    board = Playground(data="circle").run(30)
    assert board.train_loss < board.history.train[0]
    assert len(board.history.train) == len(board.history.test) == 31
    assert 0.9 < Playground(data="Gaussians", hidden=()).run(30).accuracy <= 1


def test_each_epoch_uses_every_training_point_once() -> None:
    board = Playground(batch=7)
    seen: list[int] = []
    gradients = board.network.gradients

    def counting(inputs: Any, labels: Any) -> Any:
        seen.append(len(inputs))
        return gradients(inputs, labels)

    board.network.gradients = counting  # type: ignore[method-assign]
    board.step()
    assert sum(seen) == 200 and set(seen) == {7, 200 % 7}


@pytest.mark.parametrize("change", [
    {"rate": 0.3}, {"penalty": "L2"}, {"penalty_rate": 0.1}, {"batch": 5}, {"hidden": [4], "data": "circle"},
], ids=str)  # fmt: skip
def test_training_goes_on_where_the_network_can_stay(change: dict[str, Any]) -> None:
    board = Playground().run(3)
    network, data = board.network, board.data
    board.change(**change)
    assert board.network is network and board.data is data and board.epoch == 3


@pytest.mark.parametrize(("change", "same_points"), [
    ({"hidden": (2, 2)}, True), ({"features": ("x1",)}, True), ({"activation": "ReLU"}, True),
    ({"start": "zero"}, True), ({"data": "XOR"}, False), ({"noise": 0.2}, False), ({"share": 0.2}, False),
    ({"seed": 1}, False),
], ids=str)  # fmt: skip
def test_another_network_or_other_points_start_anew(change: dict[str, Any], same_points: bool) -> None:
    board = Playground().run(3)
    data = board.data
    board.change(**change)
    assert board.epoch == 0 and (board.data is data) is same_points
    assert board.history == Playground(**change).history


def test_dead_units_are_those_that_give_nothing_for_any_training_point() -> None:
    board = Playground(activation="ReLU", hidden=(3, 2))
    board.network.biases[0] += 100
    board.network.weights[1][:] = 1
    assert board.dead_units() == []
    board.network.biases[0][1] = -100
    board.network.weights[1][:, 0], board.network.biases[1][0] = -1, -1
    assert {(1, 2), (2, 1)} <= set(board.dead_units())
    before = board.network.weights[0][:, 1].copy()
    board.run(3)
    np.testing.assert_array_equal(board.network.weights[0][:, 1], before)
    assert Playground(activation="tanh").dead_units() == []


def test_zero_weights_are_counted() -> None:
    board = Playground(start="zero")
    assert board.zero_weights() == (12, 12)
    board.network.weights[0][:] = [[1e-4] * 4, [1.0] * 4]
    assert board.zero_weights() == (4, 12) and board.zero_weights(1e-3) == (8, 12)


def test_a_rate_that_is_far_too_large_warns_nobody(recwarn: pytest.WarningsRecorder) -> None:
    board = Playground(hidden=(8, 8, 8, 8), activation="linear", rate=1e6).run(3)
    board.picture().png()
    assert "epoch 3" in repr(board) and list(recwarn) == []


@pytest.mark.parametrize(("settings", "words"), [
    ({"data": "moons"}, "choose from circle"), ({"activation": "step"}, "choose from tanh"),
    ({"penalty": "L3"}, "choose from none"), ({"start": "ones"}, "choose from random"),
    ({"features": ()}, "choose from x1"), ({"features": ("x1", "x1")}, "each once"), ({"hidden": (9,)}, "1 to 8 units"),
    ({"hidden": (2,) * 5}, "at most 4 layers"), ({"rate": 0}, "above 0"),
], ids=str)  # fmt: skip
def test_what_cannot_be_is_refused_in_words(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Playground(**settings)
    board = Playground()
    with pytest.raises(ValueError, match=words):
        board.change(**settings)
    assert board.settings == Playground().settings
    with pytest.raises(TypeError, match="no setting 'learning_rate'; there are activation"):
        Playground(learning_rate=0.1)


def test_without_ipywidgets_the_controls_are_a_picture_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith(("ipywidgets", "course_lib.playground.controls")):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    shown = Playground().controls()
    assert shown.png().startswith(b"\x89PNG") and "pip install ipywidgets" in capsys.readouterr().out
