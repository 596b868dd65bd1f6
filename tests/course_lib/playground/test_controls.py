"""The widgets drive the board, without a browser: what a click would set is set, and the board is asked."""

from __future__ import annotations

from typing import Any

import pytest

from course_lib.playground import Playground

pytest.importorskip("ipywidgets")
controls_module = pytest.importorskip("course_lib.playground.controls")


@pytest.fixture
def made() -> Any:
    return controls_module.Controls(Playground(data="circle", hidden=(3,)))


def _pictures(made: Any) -> tuple[bytes, bytes]:
    return bytes(made.network_image.value), bytes(made.output_image.value)


def test_it_starts_with_the_boards_own_settings() -> None:
    board = Playground(data="XOR", hidden=(5, 2), rate=0.07, features=("x1*x2",), penalty="L1", noise=0.25, batch=20)
    made = controls_module.Controls(board)
    assert made.choices["data"].value == "XOR" and made.choices["rate"].value == 0.07
    assert [name for name, toggle in made.features.items() if toggle.value] == ["x1*x2"]
    assert made.layers.value == 2 and [widget.value for widget in made.unit_row.children] == [5, 2]
    assert board.epoch == 0


def test_a_tick_trains_one_epoch_and_sends_both_pictures(made: Any) -> None:
    before = _pictures(made)
    made.play.value = 1
    assert made.board.epoch == 1
    assert all(old != new for old, new in zip(before, _pictures(made), strict=True))
    assert all(picture.startswith(b"\x89PNG") for picture in _pictures(made))
    assert "epoch 1," in made.status.value


def test_more_epochs_a_picture_end_with_the_slice(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made.speed.value = 20
    monkeypatch.setattr(controls_module, "SLICE_S", 1e9)
    made.play.value = 1
    assert made.board.epoch == 20
    monkeypatch.setattr(controls_module, "SLICE_S", 0.0)
    made.play.value = 2
    assert made.board.epoch == 21


def test_ticks_come_more_slowly_where_the_machine_is_slow(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.5, 10.0, 10.01])
    monkeypatch.setattr(controls_module.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(made.board, "run", lambda *args, **more: None)
    made.play.value = 1
    assert made.play.interval == 650
    made.play.value = 2
    assert made.play.interval == controls_module.TICK_MS


def test_step_reset_and_stop(made: Any) -> None:
    made.step.click()
    made.step.click()
    assert made.board.epoch == 2
    made.reset.click()
    assert made.board.epoch == 0
    made.play.value = 1
    made.play.value = 0  # what the player's stop button sets
    assert made.board.epoch == 0


@pytest.mark.parametrize(("name", "value"), [
    ("data", "spiral"), ("noise", 0.3), ("share", 0.2), ("batch", 50), ("rate", 1.0), ("activation", "ReLU"),
    ("penalty", "L1"), ("penalty_rate", 0.03), ("start", "all equal"),
])  # fmt: skip
def test_every_choice_reaches_the_board(made: Any, name: str, value: Any) -> None:
    assert made.choices["penalty_rate"].disabled
    made.choices[name].value = value
    assert getattr(made.board.settings, name) == value
    assert made.choices["penalty_rate"].disabled is (name != "penalty"), "only a penalty has a rate"


def test_layers_and_units_and_test_points(made: Any) -> None:
    made.layers.value = 3
    made.units[2].value = 8
    assert made.board.settings.hidden == (3, 4, 8) and len(made.unit_row.children) == 3
    made.layers.value = 0
    assert made.board.settings.hidden == () and made.unit_row.children == ()
    before = _pictures(made)
    made.test_points.value = True
    after = _pictures(made)
    assert before[0] == after[0] and before[1] != after[1]
    assert {row.layout.flex_flow for row in made.panel.children} == {"row wrap"}
    assert made.network_image.layout.max_width == made.output_image.layout.max_width == "100%"


def test_features_come_and_go_but_one_stays(made: Any) -> None:
    made.features["sin x1"].value = True
    assert made.board.settings.features == ("x1", "x2", "sin x1")
    for name in ("x1", "x2", "sin x1"):
        made.features[name].value = False
    assert made.board.settings.features == ("sin x1",) and made.features["sin x1"].value
