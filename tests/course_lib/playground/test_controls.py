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
    board = Playground(data="XOR", hidden=(5, 2), lr=0.07, features=("x1*x2",), penalty="L1", noise=0.25, batch=20)
    made = controls_module.Controls(board)
    assert made.choices["data"].value == "XOR" and made.choices["lr"].value == 0.07
    assert [name for name, toggle in made.features.items() if toggle.value] == ["x1*x2"]
    assert made.layers.value == 2 and [widget.value for widget in made.unit_row.children] == [5, 2]
    assert board.epoch == 0


def test_a_tick_trains_five_epochs_and_sends_both_pictures(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controls_module, "SLICE_S", 1e9)
    before = _pictures(made)
    made.play.value = 1
    assert made.board.epoch == 5
    assert all(old != new for old, new in zip(before, _pictures(made), strict=True))
    assert all(picture.startswith(b"\x89PNG") for picture in _pictures(made))
    assert "epoch 5," in made.status.value
    assert "<code>Playground(hidden=(3,)).run(5)</code>" in made.state.value
    assert "href='https://playground.tensorflow.org/#" in made.state.value


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
    ("data", "spiral"), ("noise", 0.3), ("share", 0.2), ("batch", 50), ("lr", 1.0), ("activation", "ReLU"),
    ("penalty", "L1"), ("strength", 0.03), ("start", "all equal"), ("seed", 7),
])  # fmt: skip
def test_every_choice_reaches_the_board(made: Any, name: str, value: Any) -> None:
    assert made.choices["strength"].disabled
    made.choices[name].value = value
    assert getattr(made.board.settings, name) == value
    assert made.choices["strength"].disabled is (name != "penalty"), "only a penalty has a strength"


def test_layers_and_units_and_test_points(made: Any) -> None:
    made.layers.value = 3
    made.units[2].value = 8
    assert made.board.settings.hidden == (3, 4, 8) and len(made.unit_row.children) == 3
    made.layers.value = 6
    assert made.board.settings.hidden == (3, 4, 8, 4, 4, 4)
    made.layers.value = 0
    assert made.board.settings.hidden == () and made.unit_row.children == ()
    before = _pictures(made)
    made.test_points.value = True
    after = _pictures(made)
    assert before[0] == after[0] and before[1] != after[1]
    assert {row.layout.flex_flow for row in made.panel.children} == {"row wrap"}
    assert made.network.layout.max_width == "640px" and made.output_image.layout.max_width == "360px"


def test_the_test_points_can_be_shown_from_the_start(made: Any) -> None:
    shown = controls_module.Controls(Playground(data="circle", hidden=(3,)), show_test=True)
    assert shown.test_points.value and not made.test_points.value
    without = _pictures(made)
    assert _pictures(shown)[1] != without[1]
    made.test_points.value, shown.test_points.value = True, False
    assert _pictures(shown) == without and _pictures(made)[1] != without[1]


def test_features_come_and_go_but_one_stays(made: Any) -> None:
    made.features["sin x1"].value = True
    assert made.board.settings.features == ("x1", "x2", "sin x1")
    for name in ("x1", "x2", "sin x1"):
        made.features[name].value = False
    assert made.board.settings.features == ("sin x1",) and made.features["sin x1"].value


def test_new_data_are_other_points_for_the_same_first_weights(made: Any) -> None:
    board, weights, points = made.board, made.board.network.weights[0].copy(), made.board.data.train
    made.new_data.click()
    made.new_data.click()
    assert board.settings.data_seed == 2 and board.settings.seed == 0 and board.epoch == 0
    assert (board.network.weights[0] == weights).all() and (board.data.train != points).any()


def test_a_click_shows_a_unit_and_its_weights_and_a_second_one_the_whole_network(made: Any) -> None:
    whole = _pictures(made)
    assert sorted(made.unit_buttons) == [(0, 1), (0, 2), (1, 1), (1, 2), (1, 3), (2, 1)]
    made.unit_buttons[1, 2].click()
    assert made.unit == (1, 2) and all(old != new for old, new in zip(whole, _pictures(made), strict=True))
    weights, bias = made.board.parameters_of((1, 2))
    fields = made.edits.children[2:]
    assert [field.description for field in fields] == ["bias", "from x₁", "from x₂"]
    assert [field.value for field in fields] == [round(float(v), 3) for v in (bias, *weights)]
    made.unit_buttons[1, 2].click()
    assert made.unit is None and _pictures(made) == whole
    made.unit_buttons[2, 1].click()
    assert [field.description for field in made.edits.children[2:]] == ["bias", *(f"from unit {n}" for n in (1, 2, 3))]
    made.unit_buttons[0, 1].click()
    assert len(made.edits.children) == 2, "a feature has no weights"
    made.edits.children[1].click()
    assert made.unit is None and _pictures(made) == whole


def test_what_is_typed_reaches_the_board_exactly_and_nothing_else_is_rounded(made: Any) -> None:
    made.unit_buttons[1, 2].click()
    other = made.board.network.weights[0][1, 1]
    before = _pictures(made)
    made.edits.children[2].value = 0.75
    made.edits.children[3].value = -2.5
    assert made.board.network.biases[0][1] == 0.75
    assert made.board.network.weights[0][:, 1].tolist() == [-2.5, other]
    assert _pictures(made)[0] != before[0] and ".edit((1, 2), None, 0.75)" in made.state.value
    made.step.click()
    assert made.board.epoch == 1 and made.edits.children[2].value == round(float(made.board.network.biases[0][1]), 3)
    assert made.board.code().count("edit") == 2, "what training changes is no edit"


def test_another_network_has_buttons_of_its_own_and_other_data_keep_the_unit(made: Any) -> None:
    made.unit_buttons[1, 2].click()
    made.choices["data"].value = "XOR"
    assert made.unit == (1, 2)
    made.units[0].value = 1
    assert made.unit is None and sorted(made.unit_buttons) == [(0, 1), (0, 2), (1, 1), (2, 1)]


@pytest.mark.parametrize("hidden", [(), (8,), (8, 1, 8, 3, 2, 8)], ids=str)
def test_each_button_lies_on_its_units_map(hidden: tuple[int, ...]) -> None:
    from course_lib.playground import picture

    def edges(tracks: str) -> list[float]:
        sizes = [float(part.rstrip("fr)")) for part in tracks.replace("minmax(0, ", "").split()]
        return [sum(sizes[:end]) for end in range(len(sizes) + 1)]

    made = controls_module.Controls(Playground(hidden=hidden))
    across = edges(made.over.layout.grid_template_columns)
    assert across[-1] == pytest.approx(picture.NETWORK_WIDTH, abs=1)
    for layer, (column, box) in enumerate(zip(picture.places(made.board), made.over.children, strict=True)):
        down = edges(box.layout.grid_template_rows)
        assert box.layout.grid_area == f"1 / {2 * layer + 2} / auto / auto" and down[-1] == pytest.approx(
            picture.HEIGHT, abs=1
        )
        assert across[2 * layer + 1] == pytest.approx(column[0][0], abs=1)
        for place, (_, y) in enumerate(column, start=1):
            assert down[2 * place - 1] == pytest.approx(y, abs=1)
            assert made.unit_buttons[layer, place].layout.grid_area == f"{2 * place} / 1 / auto / auto"


def test_the_output_in_two_colors(made: Any) -> None:
    before = _pictures(made)
    made.discretize.value = True
    assert all(old != new for old, new in zip(before, _pictures(made), strict=True))
