"""Lecture 17 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. Rounding differs between machines and training makes more of it, so what is
asked leaves room. The exercises are solved rightly and wrongly.
"""

# ruff: noqa: E501 - the lecture's sentences and answers, word for word

from __future__ import annotations

import textwrap
from typing import Any

import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/17_playground.ipynb"], indirect=True)

FACTS = {
    # 1 The board
    "**The small squares** are the plane, from -6 to 6 in both directions.": (
        "__import__('course_lib.playground.data', fromlist=['EDGE']).EDGE == 6"
    ),
    "Here they are the coordinates $x_1$ and $x_2$ themselves.": "first.settings.features == ('x1', 'x2')",
    "the mean cross-entropy on 200 training points, and on 200 test points": (
        "len(first.data.train) == len(first.data.test) == 200"
    ),
    "Find three straight edges in the middle column, then find them again as the three sides of the boundary": (
        "sum(unit.min() < -0.5 and unit.max() > 0.5 for unit in hidden_maps(first)) == 3"
    ),
    "The fourth neuron is blue everywhere: its edge lies outside the square, so it gives about the same number at every point.": (
        "sum(unit.min() > 0.9 for unit in hidden_maps(first)) == 1"
    ),
    "They agree to eight digits.": "abs(nudged / gradient - 1) < 1e-8",
    'A score of 0 means "I do not know", and costs $\\log 2 = 0.693$.': (
        "round(float(np.logaddexp(0, 0)), 3) == 0.693"
    ),
    "The loss stays at 0.693 while you train.": "round(float(np.log(2)), 3) == 0.693",
    # 2 One feature more
    "what loss is left after 200 epochs?": "linear.epoch == product.epoch == deep_linear.epoch == 200",
    "The loss is 0.692: nothing learned.": "abs(linear.train_loss - 0.692) < 0.001",
    "Any straight line has as many points of one class as of the other on each side, so the weights shrink to almost nothing.": (
        "np.abs(linear.network.weights[0]).max() < 0.2"
    ),
    "On the test points the model is worse than a coin.": "linear.accuracy < 0.5",
    "The network has 24 hidden neurons now.": "deep_linear.units == 24",
    "Nothing changed.": "abs(deep_linear.train_loss - linear.train_loss) < 0.002",
    "All test points are right, with four parameters.": (
        "product.accuracy == 1 and product.network.weights[0].size + product.network.biases[0].size == 4"
    ),
    "Its weight is positive and more than ten times the other two.": (
        "product.network.weights[0][2, 0] > 10 * np.abs(product.network.weights[0][:2]).max()"
    ),
    "Try it on the board: hidden layers 0, and these two features.": (
        "Playground(data='circle', hidden=(), features=('x1^2', 'x2^2')).run(200).accuracy > 0.98"
    ),
    "But (3, 3) and (3, -3) lie on the same ring, and get different values.": "3 * 3 != 3 * -3",
    # 3 The circle
    "One unit: a line, and more than a third is wrong.": "circles[1].accuracy < 2 / 3",
    "Two units: a strip or a wedge, open at its ends.": "0.7 < circles[2].accuracy < 0.85",
    "Three units are enough.": "circles[3].accuracy > 0.95 and circles[3].test_loss < 0.1",
    "The step from two units to three is the one that counts. The step from four to eight buys almost nothing.": (
        "circles[2].test_loss - circles[3].test_loss > 0.3 and circles[4].test_loss - circles[8].test_loss < 0.05"
    ),
    "One of six ends at 0.46, as if it had two units.": (
        "sorted(by_seed)[-1] > 0.4 and abs(max(by_seed) - 0.46) < 0.03 and sorted(by_seed)[-2] < 0.12"
    ),
    "With four, all six arrive": (
        "max(Playground(data='circle', hidden=(4,), seed=seed).run(300).test_loss for seed in range(6)) < 0.12"
    ),
    # 4 Depth and width
    'One layer of eight stays near 0.65, close to "I do not know".': (
        "all(0.58 < each.test_loss < 0.72 for each in spirals[8,])"
    ),
    "With three layers of eight, each of the three runs gets below 0.25.": (
        "max(each.test_loss for each in spirals[8, 8, 8]) < 0.25"
    ),
    "Four layers of two fail": "all(each.test_loss > 0.6 for each in spirals[2, 2, 2, 2])",
    "Some units say *dead*.": "len(spirals[8, 8, 8][0].dead_units()) >= 1",
    "One layer of six does it": "with_features.test_loss < 0.1 and with_features.settings.hidden == (6,)",
    # 5 The rate
    "from the best loss after 100 epochs to the worst: 0.001, 0.1, 1, 30.": (
        "list(rates) == [0.001, 0.1, 1, 30] and rates[1].epoch == 100"
    ),
    "0.001 creeps. After 100 epochs the loss has hardly moved.": (
        "0.7 < rates[0.001].train_loss < rates[0.001].history.train[0] < 0.9"
    ),
    "0.1 falls smoothly. A rate of 1 falls faster, and lower.": (
        "(np.diff(rates[0.1].history.train) < 0).mean() > 0.95 and rates[1].train_loss < 0.5 * rates[0.1].train_loss"
    ),
    "30 jumps up and down, and most of the time it lies *above* 0.693.": (
        "np.mean(np.array(rates[30].history.train[1:]) > 0.693) > 0.7 and np.std(rates[30].history.train) > 1"
    ),
    "Search for a rate in factors, never in sums: 0.1, 0.2, 0.3 would have shown you nothing.": (
        "max(Playground(data='XOR', hidden=(8,), rate=r).run(100).test_loss for r in (0.1, 0.2, 0.3)) < 0.1"
    ),
    # 6 ReLU and tanh
    "We walk straight across the plane in 1000 steps": "__import__('inspect').getsource(bends).count('1001') == 2",
    "A ReLU network bends at 8 of 999 places: four corners, each seen by two neighbouring steps. One corner for each of the four units.": (
        "tuple(bends(relu)) == (8, 4) and relu.units == 4"
    ),
    "The tanh network bends everywhere.": "bends(first)[0] > 950",
    "trains on the circle with rate 10. After that we lower the rate to 0.1, which suits it, and go on for 200 epochs.": (
        "burnt.settings.rate == 0.1 and burnt.epoch == 300 and healthy.accuracy > 0.98"
    ),
    "Most of the eight units are dead: they give 0 for every training point.": "5 <= len(dead) <= 8 and set(dead) <= set(burnt.dead_units())",
    "The few that live cannot save it.": "burnt.accuracy < 0.8 < healthy.accuracy",
    "they have moved by exactly 0": "np.abs(burnt.network.weights[0] - before)[:, columns].max() == 0",
    "it even rounds to 0, for sums beyond about 19.": "1 - np.tanh(20.0) ** 2 == 0 < 1 - np.tanh(18.0) ** 2",
    # 7 Overfitting
    "80 for training, 320 for the test. The network is large: seven features, two layers of eight.": (
        "(len(over.data.train), len(over.data.test)) == (80, 320) and len(FEATURES) == 7 and over.settings.hidden == (8, 8)"
    ),
    "After 500 epochs, where is the training loss": "over.epoch == 500",
    "The training loss goes on falling, below 0.05. The test loss has its best value within the first 50 epochs and then climbs to more than twice that.": (
        "over.train_loss < 0.05 and best < 50 and over.test_loss > 2 * min(over.history.test)"
    ),
    "Both penalties bring the test loss from nearly 1 to below 0.45.": (
        "0.8 < fits['none'].test_loss < 1.2 and max(fits[k].test_loss for k in ('L2, 0.03', 'L1, 0.01')) < 0.45"
    ),
    "The price is a higher training loss": "min(fits[k].train_loss for k in ('L2, 0.03', 'L1, 0.01')) > 0.1",
    "L2 leaves no weight at zero.": "fits['L2, 0.03'].zero_weights() == (0, 128)",
    "L1 leaves more than 100 of 128 weights at exactly zero": "fits['L1, 0.01'].zero_weights()[0] > 100",
    "Following the slope jumps over 0 and back, for ever. Shrinking stops at 0": (
        "0 < abs(by_slope) < amount and by_shrinking == 0"
    ),
    "Two parameters beat all three networks, the ones with a penalty too.": (
        "simple.test_loss < min(each.test_loss for each in fits.values()) - 0.03"
    ),
    'Move the slider "for training" to 90 %, and watch the two curves come together.': (
        "(lambda b: b.test_loss - b.train_loss)(Playground(**{**NOISY, 'share': 0.9}, **LARGE).run(100)) < 0.5"
    ),
    # 8 Batches
    "200 training points make 200 updates in an epoch with batches of 1, 20 with batches of 10, and 1 with a batch of 200.": (
        "[200 // size for size in batches] == [200, 20, 1]"
    ),
    "which of the three is lowest after 60 epochs?": "batches[1].epoch == 60",
    "The batch of 200 falls in every epoch, and is last: it took 60 updates in all.": (
        "(np.diff(batches[200].history.train) < 0).all() and max(batches, key=lambda size: batches[size].train_loss) == 200"
    ),
    "Batches of 1 took 12,000.": "200 * 60 == 12_000",
    "They are lowest, and their loss rises about as often as it falls": (
        "min(batches, key=lambda size: batches[size].train_loss) == 1 and 10 <= rises(1) <= 30"
    ),
    "Batches of 10 never rise in the last 40 epochs, and end close to the batches of 1": (
        "rises(10) == 0 and batches[10].train_loss < 1.6 * batches[1].train_loss"
    ),
    "You go from batches of 10 to batches of 200, and the loss falls much more slowly per epoch.": (
        "batches[200].train_loss > 2 * batches[10].train_loss"
    ),
    "There are twenty times fewer updates, and each has a steadier direction, so each may be longer. Try 1 instead of 0.1 on the board.": (
        "Playground(data='Gaussians', noise=0.4, hidden=(4,), batch=200, rate=1).run(60).train_loss < 0.6 * batches[200].train_loss"
    ),
    "The network was not too small with batches of 10.": "batches[10].accuracy > 0.9",
    # 9 The first weights
    "Four tanh units on the circle, all weights 0.5 at the start. What will the four maps look like after 200 epochs?": (
        "equal.epoch == 200 and set(Playground(data='circle', start='all equal').network.weights[0].ravel()) == {0.5}"
    ),
    "The four maps are the same picture, four times.": (
        "np.ptp(equal.network.weights[0], axis=1).max() < 1e-6 and np.ptp(hidden_maps(equal), axis=0).max() < 1e-6"
    ),
    "The network of four is a network of one, and as good as one.": (
        "abs(equal.accuracy - circles[1].accuracy) < 0.06 and equal.test_loss > 0.5"
    ),
    "Not one weight has moved in 200 epochs. Only the last bias moves": (
        "max(np.abs(w).max() for w in zero.network.weights) == 0 and np.abs(zero.network.biases[0]).max() == 0"
        " and zero.network.biases[1][0] != 0"
    ),
    "The loss is about 0.69, and you know that number.": "abs(zero.train_loss - 0.69) < 0.006",
    "Twenty units would not fit": "__import__('course_lib.playground.board', fromlist=['x']).MOST_UNITS < 20",
    # Exercises
    "with a test loss below 0.1 and as few hidden units as possible. Return a fresh playground; the check trains it for 300 epochs.": (
        "circles[3].test_loss < 0.1 and circles[3].epoch == 300"
    ),
    "with a test loss below 0.1 after 600 epochs. At most six hidden units pass. (Fewer are possible.)": (
        "with_features.test_loss < 0.1 and with_features.epoch == 600 and Playground(data='spiral', hidden=(5,),"
        " features=('x1', 'x2', 'sin x1', 'sin x2'), seed=1).run(600).test_loss < 0.1"
    ),
    'so that after 500 epochs the test loss is below 0.4 and at most 12 of the 128 weights differ from zero. Return the two as a pair, such as `("L2", 0.1)`.': (
        "fits['none'].zero_weights()[1] == 128"
    ),
}
STATED = {
    "to be right in 69 of 100 cases": "a wrong answer",
    "On a GPU a batch of 10 costs hardly more than one of 1": "lecture 09 measures it",
}
"""what stands in the text and is nothing to compute -> why, or its source"""

SHORTHAND = """
def hidden_maps(board):
    centres = np.linspace(-5.9, 5.9, 60)
    points = np.stack(np.meshgrid(centres, centres), axis=-1).reshape(-1, 2)
    return board.network.forward(features(points, board.settings.features))[1].T


def rises(size):
    return int(np.sum(np.diff(batches[size].history.train[-41:]) > 0))
"""
"""names for the facts above, made in the lecture's kernel after its last cell"""


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(ran: Any, said: str) -> None:
    assert said in ran.prose, "the text no longer says this"
    ran.do(SHORTHAND)
    assert ran.value(f"bool({FACTS[said]})") is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS, STATED) == []


def test_the_board_is_shown_with_its_widgets_and_as_pictures_without(ran: Any) -> None:
    [cell] = [cell for cell in ran.notebook.cells if cell.cell_type == "code" and ".controls()" in cell.source]
    assert any("application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in cell.outputs)
    pictures = [
        output.metadata["image/png"]["alt"]
        for cell in ran.notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]
    assert sum(words.startswith("A network after") for words in pictures) >= 8


def test_what_is_refused_says_what_there_is(ran: Any) -> None:
    printed = ran.printed('data="moons"')
    assert "1 to 8 units" in printed and "circle, XOR, Gaussians, spiral" in printed


SOLVED = {
    "Circle": {
        "def circle_board(): return Playground(data='circle', hidden=(3,))": "right",
        "def circle_board(): return Playground(data='circle', hidden=(3,)).run(50)": "right",
        "def circle_board(): return Playground(data='circle', hidden=(8,))": "fewer units",
        "def circle_board(): return Playground(data='circle', hidden=(), features=('x1^2', 'x2^2'))": "Only x1 and x2",
        "def circle_board(): return Playground(data='circle', hidden=(2,))": "is 0.1 or more",
        "def circle_board(): return Playground(data='Gaussians', hidden=())": "The data set",
    },
    "Spiral": {
        "def spiral_board(): return Playground(data='spiral', hidden=(6,), features=tuple(FEATURES))": "right",
        "def spiral_board(): return Playground(data='spiral', hidden=(8, 8), features=tuple(FEATURES))": "Too many units",
        "def spiral_board(): return Playground(data='spiral', hidden=(6,))": "is 0.1 or more",
        "def spiral_board(): return Playground(data='spiral', hidden=(6,), share=0.9)": "Leave noise and share",
    },
    "Sparse": {
        "def sparse(): return ('L1', 0.04)": "right",
        "def sparse(): return ('L2', 0.03)": "Which penalty",
        "def sparse(): return ('L1', 0.001)": "More than 12",
    },
    "Collapse": {
        """
def collapse(network):
    W, b = np.eye(2), np.zeros(2)
    for weights, biases in zip(network.weights, network.biases):
        W, b = W @ weights, b @ weights + biases
    return W, b""": "right",
        """
def collapse(network):
    W = np.linalg.multi_dot(network.weights)
    return W, network.biases[-1]""": "pass through the later weights",
        """
def collapse(network):
    return network.weights[0][:, :1], network.biases[-1]""": "not the product",
        """
def collapse(network):
    return network.weights[-1], network.biases[-1]""": "in the order of the layers",
    },
}


def test_an_exercise_waits_for_its_reader(ran: Any) -> None:
    for name in SOLVED:
        assert ran.printed(f'"{name}",') == f"{name}: waits for you.\n"


@pytest.mark.parametrize(("name", "answer"), [(name, answer) for name in SOLVED for answer in SOLVED[name]])
def test_an_exercise_knows_right_from_wrong_and_says_what_is_missing(ran: Any, name: str, answer: str) -> None:
    [cell] = [c.source for c in ran.notebook.cells if c.cell_type == "code" and f'"{name}",' in c.source]
    call = cell[cell.index("exercise(\n") :]
    quietly = "with contextlib.redirect_stdout(said):\n" + textwrap.indent(call, "    ")
    ran.do(f"import contextlib, io\n{answer}\nsaid = io.StringIO()\n{quietly}")
    assert SOLVED[name][answer] in ran.value("said.getvalue()")
