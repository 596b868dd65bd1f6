"""Lecture 02 says what is so: every number in its text is computed again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. Times differ between machines, so the text gives only their direction.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import numpy as np
import pytest
import torch

pytestmark = pytest.mark.parametrize("ran", ["lectures/02_numpy_backprop.ipynb"], indirect=True)

FACTS = {
    # 1 A gradient by hand
    "Three arrays of shape (3, 4) go in": "x.shape == y.shape == z.shape == (3, 4)",
    "The value is 6.717.": "round(float(c), 3) == 6.717",
    "a sum passes every change on unchanged, so each slope is 1": "(grad_z == 1).all()",
    "0.76103773, 0.12167502, 0.44386323, 0.33367433": (
        "np.allclose(grad_x[0], [0.76103773, 0.12167502, 0.44386323, 0.33367433], rtol=0, atol=5e-9)"
    ),
    "1.76405235, 0.40015721, 0.97873798, 2.2408932": (
        "np.allclose(grad_y[0], [1.76405235, 0.40015721, 0.97873798, 2.2408932], rtol=0, atol=5e-9)"
    ),
    "`grad_x` is `y`": "np.array_equal(grad_x, y) and np.array_equal(grad_y, x)",
    "agree to nine digits": "abs(slope / grad_x[0, 0] - 1) < 1e-9",
    # 2 The graph
    "Three operations, in the order in which they ran": "[r.op for r in tape.records] == ['mul', 'add', 'sum']",
    # 3 The chain rule through layers
    "Take 1000 inputs, 100 hidden units, 10 scores": "J1.shape == (100, 1000) and J2.shape == (10, 100)",
    "$J_1$ is (100, 1000), $J_2$ is (10, 100) and $J_3$ is (1, 10)": (
        "(J1.shape, J2.shape, J3.shape) == ((100, 1000), (10, 100), (1, 10))"
    ),
    "takes 101,000 multiplications instead of 1,010,000: ten times fewer": (
        "(from_loss, from_input) == (101_000, 1_010_000) and from_input == 10 * from_loss"
    ),
    # 4 What the gradient is for
    "$x$ of variance 1 and noise of variance 0.25": (
        "abs(seen_x.var() - 1) < 0.02 and abs((seen_y - 2 * seen_x).var() - 0.25) < 0.01"
    ),
    "the expected loss is known: $(\\theta - 2)^2 + 0.25$": (
        "all(abs(np.mean((t * seen_x - seen_y) ** 2) - (t - 2) ** 2 - 0.25) < 0.1 for t in (-1, 1, 2))"
    ),
    "for thirty batches": "len(batches) == 30",
    "their lowest points scatter around 2": "abs(lowest.mean() - 2) < 0.2 and lowest.std() > 0.05",
    "it arrives at 2 and then keeps trembling": "abs(np.mean(path[-50:]) - 2) < 0.1 and np.std(path[-50:]) > 0.005",
    "The least expected loss is 0.25, not 0": "abs(np.mean((2 * seen_x - seen_y) ** 2) - 0.25) < 0.01",
    "Yet most grey points lie lower than that": "np.mean([batch.min() < 0.25 for batch in batches]) > 0.5",
    "batches of 32 examples instead of 8, at the same rate": "sum(len(batch) for batch in sample(8)) == 16",
    "it is about half as wide": "0.4 < trembling(32) / trembling(8) < 0.6",
    # 5 A two-layer network
    "64 examples of 1000 features, a hidden layer of 100 units with ReLU, 10 outputs": (
        "(N, D_in, H, D_out) == (64, 1000, 100, 10)"
    ),
    "101,000 parameters. The forward pass": "W1.size + W2.size == 101_000",
    "The loss starts at 30.09": "round(float(losses[0]), 2) == 30.09",
    "`grad_W2` must be (100, 10), and of `hidden` (64, 100) and `grad_pred` (64, 10)": (
        "(W2.shape, hidden.shape, pred.shape) == ((100, 10), (64, 100), (64, 10))"
    ),
    "Half of the hidden units are open at the start": "abs(np.mean(forward(X, W1, W2)[0] > 0) - 0.5) < 0.02",
    "forward, backward, update, 100 times": "len(losses) == len(fresh_losses) == 100",
    "the loss of the 64 training examples we record that of 64 *fresh* ones": "len(X) == len(fresh_X) == 64",
    "Predicting zero for everything costs about 10.": "abs(squared_error(0 * fresh_Y, fresh_Y) - 10) < 1",
    "The training loss falls from 30 to below 0.00001": "round(float(losses[0])) == 30 and losses[-1] < 1e-5",
    "101,000 parameters for 640 random targets": "(W1.size + W2.size, Y.size) == (101_000, 640)",
    "The fresh loss stays above 20, worse than predicting zero": (
        "min(fresh_losses) > 20 > squared_error(0 * fresh_Y, fresh_Y)"
    ),
    # 6 Gradient checking
    "5 examples, 7 features, 6 hidden units, 3 outputs": "(*sX.shape, *s2.shape, len(sY)) == (5, 7, 6, 3, 5)",
    "Both are below 1e-8.": "max(checks) < 1e-8",
    "It took 120 evaluations of the loss for 60 parameters": "2 * (s1.size + s2.size) == 120",
    "the relative error is above 0.1": "relative_error(wrong_W1, numerical_gradient(small_loss, s1)) > 0.1",
    "seven powers of ten apart": "relative_error(wrong_W1, ours[0]) > 1e7 * max(checks)",
    "202,000 evaluations for one gradient": "2 * (W1.size + W2.size) == 202_000",
    "for the price of a few forward passes": "one_backward < 10 * one_loss",
    "the central difference, which says 0.5": "(np.maximum(1e-5, 0) - np.maximum(-1e-5, 0)) / 2e-5 == 0.5",
    "`backward` says 0, because `hidden > 0` is false. The central difference says 0.5": (
        "BACKWARD['relu'](1.0, np.zeros(1))[0][0] == 0 and (np.maximum(1e-5, 0) - np.maximum(-1e-5, 0)) / 2e-5 == 0.5"
    ),
    # 7 Exact, symbolic, numerical
    "over 1001 points": "len(points) == 1001",
    "With the step 1e-14, is the derivative better or worse than with the step 1e-8?": (
        "double['forward'][0] > 1000 * double['forward'][near(1e-8)] and np.isclose(steps[0], 1e-14)"
    ),
    "With the step 1e-14 the answer is off by more than 0.1 %": "min(error[0] for error in double.values()) > 1e-3",
    "with the step 1e-8, by about one part in a hundred million": "1e-9 < double['forward'][near(1e-8)] < 3e-8",
    "the error shrinks with $h$ (forward) or $h^2$ (central)": (
        "abs(steepness(double['forward'], 1e-4, 1e-1) - 1) < 0.1"
        " and abs(steepness(double['central'], 1e-4, 1e-1) - 2) < 0.1"
    ),
    "subtracting leaves the rounding, and dividing by $h$ blows it up": (
        "all(abs(steepness(error, 1e-14, 1e-9) + 1) < 0.1 for error in double.values())"
    ),
    "Theory and measurement agree within a factor of three": (
        "all(1 / 3 < steps[group[method].argmin()] / float(np.finfo(name).eps) ** power < 3"
        " for name, group in measured.items() for method, power in (('forward', 1 / 2), ('central', 1 / 3)))"
    ),
    "in float64 they reach an error near 1e-11, forward differences only 1e-8": (
        "3e-12 < double['central'].min() < 3e-11 and 3e-9 < double['forward'].min() < 3e-8"
    ),
    "In float32 the best they can do is 1e-5.": "3e-6 < single['central'].min() < 3e-5",
    "with a step near 1e-5.": "1e-6 < steps[double['central'].argmin()] < 1e-4",
    "Two evaluations per parameter, exactly.": "[row[1] for row in rows] == [2 * row[0] for row in rows]",
    "Each evaluation also gets dearer as the network grows": "nudging_s[-1] / counts[-1] > nudging_s[0] / counts[0]",
    "for 64 times the parameters, the backward pass takes less than ten times as long": (
        "sizes[-1] == 64 * sizes[0] and backward_s[-1] < 10 * backward_s[0]"
    ),
    "a factor of more than a thousand apart": "nudging_s[-1] > 1000 * backward_s[-1]",
    "six times at most": "rounds == [1, 2, 3, 4, 5, 6]",
    "One more round of the loop adds three operations": "int(sympy.count_ops(4 * symbol * (1 - symbol))) == 3",
    "Each further round makes the formula about three times longer": (
        "all(2.5 < after / before < 4 for before, after in zip(symbolic_ops[1:], symbolic_ops[2:]))"
    ),
    "more than 2000 operations after six rounds, for a program of eighteen": (
        "symbolic_ops[-1] > 2000 and 3 * max(rounds) == 18"
    ),
    "fewer than 100 remain": "shared_ops[-1] < 100",
    "it has already computed: 36 operations": "backward_ops[-1] == 36",
    "a plain polynomial of degree 63": "sympy.degree(sympy.expand(derivative[6]), symbol) == 63",
    "right to 14 digits, but the formula takes far longer": (
        "max(off['exact rules (backward pass)'], off['symbolic formula']) < 1e-14"
        " and took['symbolic formula'] > 3 * took['exact rules (backward pass)']"
    ),
    "right to at least 6 digits, the forward difference to at least 5": (
        "off['central difference'] < 1e-6 and off['forward difference'] < 1e-5"
    ),
    "off by a factor of more than 1e15": "off['symbolic, multiplied out'] > 1e15",
    "11 digits at best": "min(m.min() for group in measured.values() for m in group.values()) > 1e-12",
    # 8 A tape that plays backwards
    "a bias of shape (4,) is added to each of 3 rows. Every one of the 3 copies": (
        "unbroadcast(np.ones((3, 4)), (4,)).tolist() == [3, 3, 3, 3]"
    ),
    "The same bits.": "all(np.array_equal(v.grad, g) for v, g in ((tx, grad_x), (ty, grad_y), (tz, grad_z)))",
    "Equal to the hand-written gradients, up to the last digits": (
        "max(relative_error(tW1.grad, grad_W1), relative_error(tW2.grad, grad_W2)) < 1e-14"
    ),
    "Half of the truth: `v` instead of `2 * v`": "(v.grad == 2 * v.value).all() and (replaced == v.value).all()",
    "four inputs of shapes that broadcast, then ten random operations": (
        "[v.value.shape for v, _ in random_program(0)] == [(3, 4), (1, 4), (3, 1), ()]"
        " and random_program.__defaults__ == (10,)"
    ),
    "No disagreement, neither about which inputs matter nor about a shape, and the values are equal up to rounding": (
        "compared > 300 and disagreements == 0 and worst < 1e-12"
    ),
    # 9 Why NumPy is not enough
    "Right at once.": "relative_error(d3.grad, numerical_gradient(deep_loss, W3)) < 1e-8",
    "two 1024 \N{MULTIPLICATION SIGN} 1024 matrices": "matrix.shape == (1024, 1024) and operations == 2 * 1024**3",
    "it has a hundred times as many entries": "W1.size == 100 * W2.size",
    # Exercises
    "`bias` of shape (10,). What is its gradient, given `grad_pred` of shape (64, 10)?": (
        "bias.shape == (10,) and at_bias.shape == (64, 10)"
    ),
    "Train with rates 0.003, 0.03 and 0.1. One of the three diverges.": (
        "[rate for rate in (0.003, 0.03, 0.1) if not final_loss(rate) < losses[0]] == [0.1]"
    ),
}
MADE_IN_CODE = {
    "hold 64 lines of code": 64,
    "The seven cells that make up the tape": 7,
    "in under 100 lines": 100,
}
"""facts about the notebook's source"""

SHORTHAND = """
rng = np.random.default_rng(7)
double, single = measured["float64"], measured["float32"]
seen_x, seen_y = sample(100_000)
lowest = np.array([grid[batch.argmin()] for batch in batches])


def near(step):
    return int(np.argmin(np.abs(np.log(steps / step))))


def steepness(error, low, high):
    part = slice(near(low), near(high))
    return np.polyfit(np.log(steps[part]), np.log(error[part]), 1)[0]


def trembling(size):
    theta, path = 2.0, []
    for _ in range(20_000):
        xs, ys = sample(size)
        theta -= 0.05 * np.mean(2 * (theta * xs - ys) * xs)
        path.append(theta)
    return np.std(path)


def final_loss(rate):
    A, B = W1.copy(), W2.copy()
    with np.errstate(all="ignore"):
        for _ in range(100):
            a, b = backward(X, Y, B, *forward(X, A, B))
            A -= rate * a
            B -= rate * b
        return squared_error(forward(X, A, B)[1], Y)
"""
"""names for the facts above, made in the lecture's kernel after its last cell"""


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(ran: Any, said: str) -> None:
    assert said in ran.prose, "the text no longer says this"
    ran.do(SHORTHAND)
    assert ran.value(FACTS[said]) is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers([*FACTS, *MADE_IN_CODE]) == []


def test_the_tape_is_as_short_as_the_text_says(ran: Any) -> None:
    cells = ran.code("tape")
    lines = [line for source in cells for line in source.splitlines() if line.strip()]
    assert all(said in ran.prose for said in MADE_IN_CODE)
    assert (len(lines), len(cells)) == (64, 7)


# What the lecture teaches is tested as code, too, on more than the lecture shows.


@pytest.fixture
def tape(ran: Any) -> dict[str, Any]:
    """The tape as the notebook writes it, in this process."""
    names: dict[str, Any] = {"np": np}
    for source in ran.code("tape"):
        exec(source, names)
    return names


UNARY, BINARY = ("relu", "sin"), ("add", "sub", "mul")
SHAPES = ((2, 3), (3,), (1, 3), (2, 1), (), (4, 2, 3), (1, 1, 1))


@pytest.mark.parametrize("left", SHAPES, ids=str)
@pytest.mark.parametrize("right", SHAPES, ids=str)
def test_every_elementwise_rule_agrees_with_pytorch_on_shapes_that_broadcast(tape: Any, left: Any, right: Any) -> None:
    draw = np.random.default_rng(1)
    a, b = draw.standard_normal(left), draw.standard_normal(right)
    for op in BINARY:
        record = tape["Tape"]()
        ours = [tape["Variable"](value, record) for value in (a, b)]
        theirs = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (a, b)]
        weights = draw.standard_normal(np.broadcast_shapes(left, right))
        tape["backpropagate"](record, (record.do(op, *ours) * weights).sum())
        (getattr(torch, op)(*theirs) * torch.from_numpy(np.asarray(weights))).sum().backward()
        for mine, torchs in zip(ours, theirs, strict=True):
            assert mine.grad.shape == torchs.grad.shape
            np.testing.assert_allclose(mine.grad, torchs.grad.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("op", UNARY)
def test_every_unary_rule_agrees_with_pytorch(tape: Any, op: str) -> None:
    value = np.random.default_rng(2).standard_normal((5, 4))
    record = tape["Tape"]()
    mine, torchs = tape["Variable"](value, record), torch.tensor(value, requires_grad=True)
    tape["backpropagate"](record, (getattr(mine, op)() * value).sum())
    (getattr(torch, op)(torchs) * torch.from_numpy(value)).sum().backward()
    np.testing.assert_allclose(mine.grad, torchs.grad.numpy(), rtol=1e-12)


def test_matmul_agrees_with_pytorch(tape: Any) -> None:
    draw = np.random.default_rng(3)
    a, b = draw.standard_normal((4, 3)), draw.standard_normal((3, 5))
    record = tape["Tape"]()
    ours = [tape["Variable"](value, record) for value in (a, b)]
    theirs = [torch.tensor(value, requires_grad=True) for value in (a, b)]
    tape["backpropagate"](record, (ours[0] @ ours[1]).relu().sum())
    (theirs[0] @ theirs[1]).relu().sum().backward()
    for mine, torchs in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.grad, torchs.grad.numpy(), rtol=1e-12)


def test_a_second_backward_pass_starts_afresh(tape: Any) -> None:
    record = tape["Tape"]()
    v = tape["Variable"](np.array([1.0, 2.0]), record)
    total = (v * v).sum()
    for _ in range(2):
        tape["backpropagate"](record, total)
    assert v.grad.tolist() == [2.0, 4.0]


def test_what_the_target_does_not_depend_on_gets_no_gradient(tape: Any) -> None:
    record = tape["Tape"]()
    used, other = (tape["Variable"](np.ones(2), record) for _ in range(2))
    target = used.sum()
    (other * used).sum()
    tape["backpropagate"](record, target)
    assert other.grad is None and used.grad.tolist() == [1.0, 1.0]


def test_the_hand_written_backward_pass_agrees_with_pytorch(ran: Any) -> None:
    X, Y, W1, W2 = (torch.tensor(ran.value(name), dtype=torch.float64) for name in ("X", "Y", "W1", "W2"))
    W1.requires_grad_()
    W2.requires_grad_()
    loss = (((X @ W1).relu() @ W2 - Y) ** 2).sum() / len(Y)
    loss.backward()
    by_hand = ran.value("backward(X, Y, W2, *forward(X, W1, W2))")
    for mine, torchs in zip(by_hand, (W1.grad, W2.grad), strict=True):
        assert torchs is not None
        np.testing.assert_allclose(np.array(mine), torchs.numpy(), rtol=1e-9, atol=1e-12)


def test_the_graph_is_drawn_from_the_tape(ran: Any) -> None:
    """The figure's description is derived from the records, so it names the recorded operations, shapes and result."""
    drawn = ran.value("[plots.graph(t.records).description for t in (tape, net)]")
    assert "mul of x (3, 4) and y (3, 4)" in drawn[0] and "gives c = 6.717" in drawn[0]
    assert "matmul of X (64, 1000) and W1 (1000, 100) gives (64, 100)" in drawn[1] and "loss = 30.09" in drawn[1]


def test_without_a_gpu_the_lecture_says_so_and_times_the_processor_alone(ran: Any) -> None:
    printed = ran.printed("devices.describe")
    if torch.cuda.is_available():
        assert "PyTorch on cuda" in printed and "No GPU" not in printed
    else:
        assert "No GPU here" in printed and "cuda" not in printed


def test_numpy_refuses_another_device_on_purpose(ran: Any) -> None:
    assert re.match(r"(ValueError|TypeError): ", ran.printed("np.ones(3, device"))


SOLVED = {
    "Division": {
        "def division(g, a, b): return g / b, -g * a / b**2": "right",
        "def division(g, a, b): return g * b, -g * a / b**2": "Hold b still",
        "def division(g, a, b): return g / b, g * a / b**2": "a larger b makes it smaller",
    },
    "Bias": {
        "def bias_backward(grad_pred): return grad_pred.sum(axis=0)": "right",
        "def bias_backward(grad_pred): return grad_pred": "it has the shape of the bias",
        "def bias_backward(grad_pred): return grad_pred.mean(axis=0)": "add, do not average",
    },
    "Complex step": {
        "def complex_step(x, h): return f(x + 1j * h).imag / h": "right",
        "def complex_step(x, h): return f(x + 1j * h).real / h": ".imag, / h",
        "def complex_step(x, h): return (f(x + h) - f(x - h)) / (2 * h)": "Nothing may be subtracted",
    },
}


def test_an_exercise_waits_for_its_reader(ran: Any) -> None:
    for name in SOLVED:
        assert ran.printed(f'"{name}",') == f"{name}: waits for you.\n"


@pytest.mark.parametrize(("name", "answer"), [(name, answer) for name in SOLVED for answer in SOLVED[name]])
def test_an_exercise_knows_right_from_wrong_and_says_what_is_missing(ran: Any, name: str, answer: str) -> None:
    [cell] = [c.source for c in ran.notebook.cells if c.cell_type == "code" and f'"{name}",' in c.source]
    call = cell[cell.index("exercise(\n") :]
    quietly = "with contextlib.redirect_stdout(said), np.errstate(all='ignore'):\n" + textwrap.indent(call, "    ")
    ran.do(f"import contextlib, io\n{answer}\nsaid = io.StringIO()\n{quietly}")
    assert SOLVED[name][answer] in ran.value("said.getvalue()")
