"""A board repeats itself, changes what it must and no more, and says in words what it cannot do."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from course_lib.playground import Playground


def test_the_same_settings_give_the_same_run_and_reset_gives_it_again() -> None:
    one, other = (Playground(data="spiral", hidden=(3, 2)).run(5) for _ in range(2))
    assert one.history == other.history and one.epoch == 5
    one.reset()
    assert one.epoch == 0
    assert one.run(5).history == other.history


def test_running_in_parts_is_running_at_once() -> None:
    assert Playground().run(3).run(4).history == Playground().run(7).history


def test_the_losses_are_those_of_the_network() -> None:
    board = Playground(data="circle").run(30)
    assert board.train_loss < board.history.train[0]
    assert len(board.history.train) == len(board.history.test) == 31
    assert 0.9 < Playground(data="Gaussians", hidden=()).run(30).accuracy <= 1


def test_a_slice_ends_when_its_time_is_over_but_does_one_epoch_at_least() -> None:
    assert Playground().run(10, seconds=0).epoch == 1


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


@pytest.mark.parametrize("change", [{"rate": 0.3}, {"penalty": "L2"}, {"penalty_rate": 0.1}, {"batch": 5}], ids=str)
def test_training_goes_on_where_the_network_can_stay(change: dict[str, Any]) -> None:
    board = Playground().run(3)
    network, data = board.network, board.data
    board.change(**change)
    assert board.network is network and board.data is data and board.epoch == 3


@pytest.mark.parametrize(
    "change", [{"hidden": (2, 2)}, {"features": ("x1",)}, {"activation": "ReLU"}, {"start": "zero"}], ids=str
)
def test_another_network_starts_anew_on_the_same_points(change: dict[str, Any]) -> None:
    board = Playground().run(3)
    data = board.data
    board.change(**change)
    assert board.epoch == 0 and board.data is data
    assert board.history == Playground(**change).history


@pytest.mark.parametrize("change", [{"data": "XOR"}, {"noise": 0.2}, {"share": 0.2}, {"seed": 1}], ids=str)
def test_other_points_start_anew(change: dict[str, Any]) -> None:
    board = Playground().run(3)
    board.change(**change)
    assert board.epoch == 0 and board.history == Playground(**change).history


def test_a_change_that_changes_nothing_does_nothing() -> None:
    board = Playground().run(3)
    board.change(hidden=[4], data="circle")
    assert board.epoch == 3


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


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"data": "moons"}, "choose from circle"),
        ({"activation": "step"}, "choose from tanh"),
        ({"penalty": "L3"}, "choose from none"),
        ({"start": "ones"}, "choose from random"),
        ({"features": ()}, "choose from x1"),
        ({"features": ("x1", "x1")}, "each once"),
        ({"hidden": (9,)}, "1 to 8 units"),
        ({"hidden": (2,) * 5}, "at most 4 layers"),
        ({"rate": 0}, "above 0"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_in_words(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Playground(**settings)
    board = Playground()
    with pytest.raises(ValueError, match=words):
        board.change(**settings)
    assert board.settings == Playground().settings


def test_a_setting_that_does_not_exist_is_a_type_error() -> None:
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
