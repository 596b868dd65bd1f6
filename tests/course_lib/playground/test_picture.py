"""What the picture shows is what the network does: read back from its pixels and its description."""

from __future__ import annotations

import base64
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from course_lib.playground import FEATURES, Playground, side_by_side
from course_lib.playground import picture as drawing
from course_lib.plots.style import BLUE, VERMILLION

ROOT = Path(__file__).resolve().parents[3]


def _map(board: Playground) -> np.ndarray:
    """The pixels of the large map, without its frame."""
    box = drawing._box(drawing.MAP_LEFT, drawing.MAP_TOP, drawing.MAP, drawing.MAP)
    return np.asarray(drawing.draw(board).output.image.crop(box)).astype(int)[2:-2, 2:-2]


def _near(pixels: np.ndarray, color: str) -> np.ndarray:
    return np.abs(pixels - 255 * np.array(to_rgb(color))).max(axis=-1) < 8


def test_the_large_map_is_blue_where_the_network_chooses_the_first_class() -> None:
    board = Playground(data="Gaussians", hidden=()).run(100)
    pixels = _map(board)
    upper_right, lower_left = pixels[40, -40], pixels[-40, 40]
    assert upper_right[2] > upper_right[0] + 50 and lower_left[0] > lower_left[2] + 50


def test_the_boundary_is_where_the_score_is_zero() -> None:
    board = Playground(data="XOR", hidden=(), start="zero")
    board.network.weights[0][:] = [[1.0], [0.0]]  # the score is x1 / 3: zero on the vertical in the middle
    board.data.train[:] = 100  # no point in the way
    dark = (_map(board) < 60).all(axis=-1)
    columns = np.flatnonzero(dark.mean(axis=0) > 0.9)
    assert len(columns) in (2, 3) and abs(columns.mean() - dark.shape[1] / 2) < 3


def test_every_point_is_marked_at_its_place_in_its_color_a_test_point_only_if_asked_for() -> None:
    board = Playground(data="circle", hidden=(), start="zero")
    pixels, side = _map(board), drawing.MAP * drawing.SCALE
    for (x1, x2), label in zip(board.data.train[:40], board.data.train_labels[:40], strict=True):
        across, down = round((x1 / 6 + 1) / 2 * side) - 2, round((1 - x2 / 6) / 2 * side) - 2
        around = pixels[down - 3 : down + 4, across - 3 : across + 4]
        assert _near(around, BLUE if label > 0 else VERMILLION).any()
    without, with_them = (np.asarray(board.picture(show_test=asked).image) for asked in (False, True))
    assert (without != with_them).any(axis=-1).mean() > 0.002
    board.change(data="spiral")
    assert (_map(board) != pixels).any()


def test_a_negative_weight_is_orange_a_positive_one_blue_and_a_larger_one_wider() -> None:
    board = Playground(data="XOR", hidden=(), features=("x1",), start="zero")
    ink = {}
    for weight in (0.0, 0.5, 3.0, -3.0):
        board.network.weights[0][:] = weight
        pixels = np.asarray(drawing.draw(board).network.image).astype(int)[: -60 * drawing.SCALE]
        middle = pixels[:, pixels.shape[1] // 3 : 2 * pixels.shape[1] // 3]
        ink[weight] = (int(_near(middle, BLUE).sum()), int(_near(middle, VERMILLION).sum()))
    assert ink[0.0] == (0, 0)
    assert ink[3.0][0] > 1000 > ink[3.0][1] == 0
    assert ink[-3.0][0] == 0 and 0.4 * ink[3.0][0] < ink[-3.0][1] < 0.9 * ink[3.0][0], "dashed"


def test_the_picture_shows_itself_in_few_colors_with_its_description_as_alternative_text() -> None:
    picture = Playground(data="spiral", hidden=(3, 2), activation="ReLU").run(2).picture()
    data, metadata = picture._repr_mimebundle_()
    size = metadata["image/png"]
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.size == (2 * size["width"], 2 * size["height"])
    assert np.abs(np.asarray(image.convert("RGB")).astype(int) - np.asarray(picture.image)).mean() < 4
    assert size["alt"] == data["text/plain"] == picture.description
    for words in ("after 2 epochs", "'spiral'", "3 ReLU units, then 2 ReLU units", "14 weights", "training loss 0."):
        assert words in picture.description


@pytest.mark.parametrize("activation", ["tanh", "ReLU", "sigmoid", "linear"])
@pytest.mark.parametrize("hidden", [(), (1,), (8,) * 6], ids=str)
def test_everything_that_can_be_chosen_can_be_drawn(activation: str, hidden: tuple[int, ...]) -> None:
    board = Playground(activation=activation, hidden=hidden, features=tuple(FEATURES)).run(1)
    assert len(board.picture(show_test=True).png()) > 10_000


def _pixels(board: Playground, view: drawing.View) -> np.ndarray:
    box = drawing._box(drawing.MAP_LEFT, drawing.MAP_TOP, drawing.MAP, drawing.MAP)
    return np.asarray(drawing.draw(board, view).output.image.crop(box)).astype(int)[2:-2, 2:-2]


def test_a_units_map_is_the_large_one_with_its_own_boundary_and_its_weights_in_words() -> None:
    board = Playground(data="XOR", hidden=(2,))
    board.network.weights[0][:, 1], board.network.biases[0][1] = [1.0, 0.0], 1.0  # zero where x1 = -3
    board.data.train[:] = 100
    pixels = _pixels(board, drawing.View(unit=(1, 2)))
    columns = np.flatnonzero((pixels < 60).all(axis=-1).mean(axis=0) > 0.9)
    assert len(columns) in (2, 3) and abs(columns.mean() - pixels.shape[1] / 4) < 3
    said = board.picture(unit=(1, 2)).description.replace("\N{MINUS SIGN}", "-")
    assert "layer 1, unit 2, with the weights 1.00, 0.00 and the bias 1.00" in said
    assert "the feature x₁" in board.picture(unit=(0, 1)).description
    with pytest.raises(ValueError, match="no unit"):
        board.picture(unit=(1, 3))


def test_a_discretized_map_has_two_colors() -> None:
    board = Playground(data="XOR", hidden=()).run(3)
    board.data.train[:] = 100
    few, many = (
        len(np.unique(_pixels(board, drawing.View(discretize=on)).reshape(-1, 3), axis=0)) for on in (True, False)
    )
    assert few == 3 < many, "two colors and the boundary"


def test_a_regressions_map_has_the_shade_of_its_prediction_and_no_boundary() -> None:
    board = Playground(data="plane", hidden=()).run(30)
    pixels = _map(board)
    upper_right, lower_left = pixels[10, -10], pixels[-10, 10]
    assert upper_right[2] > upper_right[0] + 50 and lower_left[0] > lower_left[2] + 50
    assert "boundary" not in board.picture(show_test=True).description
    board.data.train[:] = 100
    board.change(points=402)
    board.data.train[:] = 100
    assert not (_map(board) < 60).all(axis=-1).any()


def test_several_boards_stand_three_in_a_row_each_with_its_loss_in_words() -> None:
    boards = {f"seed {seed}": Playground(data="XOR", hidden=(2,), seed=seed).run(2) for seed in range(4)}
    picture = side_by_side(boards)
    one_row = side_by_side(dict(list(boards.items())[:3]))
    assert picture.image.size[0] == one_row.image.size[0] and picture.image.size[1] > 1.9 * one_row.image.size[1]
    for label, board in boards.items():
        assert f"{label}: test loss {board.test_loss:.2f}, {board.accuracy:.1%}" in picture.description
    tiles = [np.asarray(picture.image)[60:400, left : left + 400] for left in (20, 500)]
    assert (tiles[0] != tiles[1]).any(), "each its own map"


def test_the_picture_in_the_readme_is_what_the_code_draws(tmp_path: Path) -> None:
    """Loosely: on another machine rounding differs, and three hundred epochs make more of it."""
    made = tmp_path / "made.png"
    subprocess.run([sys.executable, "-m", "course_lib.playground", str(made)], check=True, cwd=ROOT)
    stored = ROOT / "docs" / "images" / "playground.png"
    assert stored.stat().st_size < 150_000
    new, old = (Image.open(path).convert("RGB") for path in (made, stored))
    assert new.size == old.size and 900 <= old.size[0] <= 1100
    difference = np.abs(np.asarray(new).astype(int) - np.asarray(old)).mean()
    assert difference < 20, "run: python -m course_lib.playground docs/images/playground.png"
