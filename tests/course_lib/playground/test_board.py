"""A board repeats itself, changes what it must and no more, and says in words what it cannot do."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from course_lib.playground import Board, Playground


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

    def counting(inputs: Any, *rest: Any) -> Any:
        seen.append(len(inputs))
        return gradients(inputs, *rest)

    board.network.gradients = counting  # type: ignore[method-assign, assignment]
    board.step()
    assert sum(seen) == 200 and set(seen) == {7, 200 % 7}


def test_a_readers_update_makes_each_step_of_the_weights_and_a_plain_one_the_same_losses() -> None:
    calls: list[tuple[float, str, float]] = []

    def plain(weights: Any, slope: Any, lr: float, penalty: str, strength: float) -> Any:
        calls.append((lr, penalty, strength))
        return weights - lr * slope

    chosen: dict[str, Any] = {"data": "circle", "hidden": (3, 2), "batch": 30, "lr": 0.2, "strength": 0.3}
    assert Playground(**chosen).run(2, update=plain).history == Playground(**chosen).run(2).history
    assert calls == [(0.2, "none", 0.3)] * (2 * 7 * 3), "once for each of three layers, in 7 batches and 2 epochs"
    board = Playground(**chosen)
    before = [weights.copy() for weights in board.network.weights]
    board.run(1, update=lambda weights, *rest: weights)
    assert all(map(np.array_equal, board.network.weights, before)), "nothing else changes the weights"
    assert board.network.biases[-1][0] != 0, "the biases are the board's own"


@pytest.mark.parametrize("change", [
    {"lr": 0.3}, {"penalty": "L2"}, {"strength": 0.1}, {"batch": 5}, {"hidden": [4], "data": "circle"},
], ids=str)  # fmt: skip
def test_training_goes_on_where_the_network_can_stay(change: dict[str, Any]) -> None:
    board = Playground().run(3)
    network, data = board.network, board.data
    board.change(**change)
    assert board.network is network and board.data is data and board.epoch == 3


@pytest.mark.parametrize(("change", "same_points"), [
    ({"hidden": (2, 2)}, True), ({"features": ("x1",)}, True), ({"activation": "ReLU"}, True),
    ({"start": "zero"}, True), ({"data": "XOR"}, False), ({"noise": 0.2}, False), ({"share": 0.2}, False),
    ({"seed": 1}, False), ({"data_seed": 1}, False),
], ids=str)  # fmt: skip
def test_another_network_or_other_points_start_anew(change: dict[str, Any], same_points: bool) -> None:
    board = Playground().run(3)
    data = board.data
    board.change(**change)
    assert board.epoch == 0 and (board.data is data) is same_points
    assert board.history == Playground(**change).history


def test_points_and_first_weights_have_seeds_of_their_own() -> None:
    one, other_points, other_weights = Playground(), Playground(data_seed=3), Playground(seed=3, data_seed=0)
    assert (one.network.weights[0] == other_points.network.weights[0]).all()
    assert not np.array_equal(one.data.train, other_points.data.train)
    assert np.array_equal(one.data.train, other_weights.data.train)
    assert not np.array_equal(one.network.weights[0], other_weights.network.weights[0])


def test_a_regression_learns_to_predict_and_has_no_accuracy() -> None:
    plane, hills = (
        Playground(data="plane", hidden=(), lr=0.03).run(30),
        Playground(data="hills", hidden=(8,)).run(200),
    )
    assert plane.test_loss < 1e-3 and hills.test_loss < 0.1 < hills.history.test[0]
    assert np.isnan(plane.accuracy) and "right" not in plane.summary() and plane.regression and not Board().regression


def test_one_parameter_is_edited_and_the_loss_follows() -> None:
    board = Playground(hidden=(2, 3)).run(2)
    before = board.history.train[-1]
    board.edit((2, 3), 1, 0.5).edit((2, 3), None, -1)
    assert board.network.weights[1][0, 2] == 0.5 and board.network.biases[1][2] == -1
    assert board.epoch == 2 and board.history.train[-1] != before
    weights, bias = board.parameters_of((2, 3))
    assert weights.tolist() == board.network.weights[1][:, 2].tolist() and bias == -1
    for unit, source, words in (((2, 3), 3, "from 1 to 2"), ((0, 1), 1, "no unit"), ((2, 4), 1, "no unit")):
        with pytest.raises(ValueError, match=words):
            board.edit(unit, source, 0)


def test_all_parameters_are_set_at_once_and_other_shapes_are_refused_in_words() -> None:
    board = Playground(data="XOR", hidden=(2,))
    before = board.train_loss
    board.set_parameters([[[1, 0], [0, 1]], [[2], [2]]], [[0, 0], [-1]])
    assert board.network.biases[1].tolist() == [-1] and board.epoch == 0 and board.train_loss != before
    again = eval(board.code())
    assert again.history == board.history and again.run(2).history == board.run(2).history
    with pytest.raises(ValueError, match="the network's are"):
        board.set_parameters([np.zeros((2, 3)), np.zeros((3, 1))], [np.zeros(3), np.zeros(1)])


def test_the_line_of_code_makes_the_same_board_with_all_that_was_done_to_it() -> None:
    board = Playground(data="spiral", hidden=(3, 2), penalty="L1").change(lr=0.3).run(2).run(3)
    board.change(batch=20, penalty="L1").edit((1, 2), 1, 0.25).run(2).edit((3, 1), None, -1).change(lr=0.3)
    assert board.code() == (
        "Playground(data='spiral', hidden=(3, 2), lr=0.3, penalty='L1').run(5).change(batch=20)"
        ".edit((1, 2), 1, 0.25).run(2).edit((3, 1), None, -1.0)"
    )
    again = eval(board.code())
    assert again.history == board.history and again.settings == board.settings
    board.change(noise=0.1)
    assert board.code() == "Playground(data='spiral', noise=0.1, hidden=(3, 2), lr=0.3, penalty='L1', batch=20)"
    assert Playground().code() == "Playground()"


def test_the_link_has_the_settings_in_the_words_of_the_tensorflow_playground() -> None:
    link = Playground(
        data="XOR", hidden=(8, 2), activation="ReLU", noise=0.25, share=0.3, lr=0.03, penalty="L2", batch=100,
        features=("x1", "x2^2"), start="zero",
    ).link()  # fmt: skip
    state = dict(part.split("=") for part in link.partition("#")[2].split("&"))
    wanted = {
        "dataset": "xor", "problem": "classification", "networkShape": "8,2", "activation": "relu", "noise": "25",
        "percTrainData": "30", "learningRate": "0.03", "regularization": "L2", "regularizationRate": "0.01",
        "batchSize": "30", "x": "true", "y": "false", "ySquared": "true", "initZero": "true",
    }  # fmt: skip
    assert state | wanted == state and link.startswith("https://playground.tensorflow.org/#")
    assert "problem=regression&regDataset=reg-gauss" in Playground(data="hills").link()


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
    board = Playground(hidden=(8, 8, 8, 8), activation="linear", lr=1e6).run(3)
    board.picture().png()
    assert "epoch 3" in repr(board) and list(recwarn) == []


@pytest.mark.parametrize(("settings", "words"), [
    ({"data": "moons"}, "choose from circle"), ({"activation": "step"}, "choose from tanh"),
    ({"penalty": "L3"}, "choose from none"), ({"start": "ones"}, "choose from random"),
    ({"features": ()}, "choose from x1"), ({"features": ("x1", "x1")}, "each once"), ({"hidden": (9,)}, "1 to 8 units"),
    ({"hidden": (2,) * 7}, "at most 6 layers"), ({"data_seed": -1}, "not be below 0"), ({"lr": 0}, "above 0"),
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
