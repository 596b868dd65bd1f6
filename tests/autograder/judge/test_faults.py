"""A mistake is named only if it explains every answer and can be told from the right one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.errors import BadAssignment, StudentError
from autograder.judge.diagnosis import Explainer
from autograder.judge.faults import edited_source, load_faults
from autograder.protocol.wire import Tensor

FORWARD = "def forward(x, w, b):\n    h = x @ w + b\n    return np.maximum(h, 0) / len(x)"
BACKWARD = "def backward(x, w, g):\n    dx = g @ w.T\n    dw = x.T @ g\n    return dx, dw"
FAULTS = """
FAULTS = [
    Fault("no-relu", "forward", {"np.maximum(h, 0)": "h"}, "Your ReLU is missing."),
    Fault("no-bias", "forward", {" + b": ""}, "Your bias is missing."),
    Fault("no-mean", "forward", {" / len(x)": ""}, "You sum where a mean is asked for."),
    Fault("dx-sign", "backward", {"g @ w.T": "-g @ w.T"}, "The sign of dx."),
    Fault("dw-transposed", "backward", {"x.T @ g": "(x.T @ g).T"}, "dw is transposed."),
    Fault("dw-never-alone", "backward", {"return dx, dw": "return dx, dw * 3"}, "Three times.", pairs=False),
    Fault("never-fits", "backward", {"dx = g": "dx = 1 * g"}, "Changes nothing."),
    Fault("only-elsewhere", "forward", {"h = x @ w": "h = 5 * x @ w"}, "Five times.", tests=("test_backward",)),
    Fault("raises", "forward", {"x @ w": "x @ w.T"}, "w is transposed."),
]
"""
CHECKS = """
@pytest.mark.cell("test_forward")
def test_forward(student, reference, draw, expect):
    x, w, b = draw.normal((4, 3)), draw.normal((3, 2)), draw.normal(2)
    expect.close(student.forward(x, w, b), reference.forward(x, w, b))

@pytest.mark.cell("test_backward")
def test_backward(student, reference, draw, expect):
    x, w, g = draw.normal((4, 3)), draw.normal((3, 2)), draw.normal((4, 2))
    forward = student.forward(x, w, draw.normal(2))
    expect.close(student.backward(x, w, g), reference.backward(x, w, g))
    expect.close(forward, reference.forward(x, w, draw.normal(2)))
"""
SOLUTIONS = {"forward": FORWARD, "backward": BACKWARD}
Named = Callable[..., str | None]


@pytest.fixture
def named(judged: Callable[..., Any]) -> Named:
    """`named(check, forward=..., backward=...)`: the fault that the check of an edited solution is called by."""
    assignment = judged(SOLUTIONS, CHECKS, FAULTS)

    def found(check: str, **cells: str) -> str | None:
        result = assignment.results(cells)[check]
        assert result.verdict == "failed"
        return result.fault

    return found


def forward(*edits: tuple[str, str]) -> dict[str, str]:
    source = FORWARD
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    return {"forward": source}


ODD = ("return 0.0", "return np.full((4, 2), np.nan)", "return None", "return iter([])", "raise ValueError('no idea')")
NO_RELU, NO_BIAS, NO_MEAN = ("np.maximum(h, 0)", "h"), (" + b", ""), (" / len(x)", "")
DOT = "sum(p * q for p, q in zip(r, c))"
LOOPS = f"def forward(x, w, b):\n    return [[max(0, {DOT}) / len(x) for c in w.T] for r in x]"
THRICE = BACKWARD.replace("return dx, dw", "return dx, dw * 3")
FIVE = forward(("h = x @ w", "h = 5 * x @ w"))


@pytest.mark.parametrize(
    ("check", "cells", "fault"),
    [
        # However it is spelled, and two in one cell together.
        ("test_forward", {"forward": "def forward(x, w, b):\n    return sum([x @ w, b]) / x.shape[0]"}, "no-relu"),
        ("test_forward", {"forward": LOOPS}, "no-bias"),
        ("test_forward", forward(NO_RELU, NO_BIAS), "no-relu+no-bias"),
        ("test_forward", forward(("x @ w", "x @ w.T")), "raises"),
        # Inherited from another cell; found before, and combined with one of this cell.
        ("test_backward", forward(NO_MEAN), "no-mean"),
        ("test_backward", forward(NO_MEAN) | {"backward": BACKWARD.replace("g @ w.T", "-g @ w.T")}, "no-mean+dx-sign"),
        # Kept out of pairs: named alone only. Meant for other tests: named in those only.
        ("test_backward", {"backward": THRICE}, "dw-never-alone"),
        ("test_backward", {"backward": THRICE.replace("g @ w.T", "-g @ w.T")}, None),
        ("test_forward", FIVE, None),
        ("test_backward", FIVE, "only-elsewhere"),
        # Unknown.
        ("test_forward", forward(NO_RELU, NO_BIAS, NO_MEAN), None),
        ("test_forward", forward(("np.maximum(h, 0)", "np.tanh(h)")), None),
        ("test_forward", forward(("return", "return 1e-3 +")), None),
        ("test_forward", forward(("np.maximum(h, 0)", "h * 1.0001")), None),  # near a known mistake, and not it
        *(("test_forward", {"forward": f"def forward(x, w, b): {body}"}, None) for body in ODD),
        ("test_forward", {"forward": "forward = 5"}, None),
    ],
)
def test_a_mistake_is_named_if_it_explains_every_answer_and_no_other_is(
    named: Named, check: str, cells: dict[str, str], fault: str | None
) -> None:
    assert named(check, **cells) == fault


def test_two_mistakes_are_found_among_many_without_trying_all_pairs(
    judged: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.judge.diagnosis.MOST_COMBINATIONS", 3)
    scaled = (f'Fault("by-{n}", "forward", {{"x @ w": "x @ w * {1 + n / 7}"}}, "Scaled."),\n' for n in range(1, 40))
    assignment = judged(SOLUTIONS, CHECKS, FAULTS.replace("FAULTS = [", "FAULTS = [\n" + "".join(scaled)))
    assert assignment.results(forward(NO_RELU, NO_MEAN))["test_forward"].fault == "no-relu+no-mean"


def test_a_mistake_that_alone_hardly_shows_is_found_beside_another(judged: Callable[..., Any]) -> None:
    slight = 'FAULTS = [Fault("slight", "forward", {"x @ w": "x @ (w * (1 + 4e-6))"}, "Slightly larger."),'
    # Told with tolerance 1e-6: alone it is four tolerances off, too near the right answer to be named.
    checks = CHECKS.replace("draw.normal(2)", "draw.normal(2, 0.1)")
    assignment, larger = judged(SOLUTIONS, checks, slight + FAULTS.partition("[")[2]), ("x @ w", "x @ (w * (1 + 4e-6))")
    assert assignment.results(forward(larger, NO_MEAN))["test_forward"].fault == "slight+no-mean"
    assert assignment.results(forward(larger))["test_forward"].fault is None


@pytest.fixture
def explain(judged: Callable[..., Any]) -> Named:
    """`explain(calls, cells)`: calls `(function, *arguments)` made on the edited solution, then explained."""
    small = judged(SOLUTIONS, CHECKS, FAULTS)

    def found(calls: list[tuple[Any, ...]], cells: dict[str, str], tests_cell: str = "test_forward") -> str | None:
        side = small.side(cells)
        for function, *arguments in calls:
            with contextlib.suppress(StudentError):
                getattr(side, function)(*arguments)
        diagnosis = small.checks.explainer.explain(side.calls, tests_cell)
        return str(diagnosis.id) if diagnosis.id else None

    return found


X, W, B = np.array([[1.0, -2.0], [0.5, 1.0]]), np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([0.5, -0.5])


def test_right_answers_and_inputs_that_cannot_show_a_fault_have_no_name(explain: Named) -> None:
    assert explain([("forward", X, W, B)], {}) is None
    assert explain([], {}) is None
    no_relu = forward(NO_RELU)
    assert explain([("forward", np.abs(X), np.abs(W), np.abs(B))], no_relu) is None
    assert explain([("forward", X, W, B)], no_relu) == "no-relu"
    # What a bias this small changes could be rounding.
    assert explain([("forward", X, W, np.array([1.2e-5, -1.2e-5]))], forward(NO_BIAS)) is None


def test_every_call_must_be_explained(explain: Named) -> None:
    counted = FORWARD.replace("h = x", "calls.append(1)\n    h = x")
    relu = "np.maximum(h, 0)"
    once = {"forward": "calls = []\n" + counted.replace(relu, f"(h if len(calls) == 1 else {relu})")}
    assert explain([("forward", X, W, B)], once) == "no-relu"
    assert explain([("forward", X, W, B)] * 2, once) is None


@pytest.mark.parametrize(("dtype", "noise"), [("float64", 1e-9), ("float32", 1e-5)])
def test_rounding_does_not_hide_a_mistake(explain: Named, dtype: str, noise: float) -> None:
    noisy = FORWARD.replace("np.maximum(h, 0)", f"(h * (1 + {noise})).astype('{dtype}')")
    arguments = [a.astype(dtype) for a in (X, W, B)]
    assert explain([("forward", *arguments)], {"forward": noisy}) == "no-relu"


def test_framework_tensors_are_told_apart_by_their_own_precision(judged: Callable[..., Any]) -> None:
    from autograder.judge.diagnosis import SAME, _coarsest

    half = Tensor(np.ones(2, np.float32), "torch", "bfloat16")
    assert _coarsest((1.0, {"a": half})) == SAME["bfloat16"]


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ('FAULTS = [Fault("a", "forward", {"nowhere": "x"}, "w")]', "'nowhere' occurs 0 times in 'forward'"),
        ('FAULTS = [Fault("a", "forward", {"x": "y"}, "w")]', "occurs [0-9]+ times"),
        ('FAULTS = [Fault("a", "elsewhere", {"x": "y"}, "w")]', "edits the cell 'elsewhere', which is not there"),
        ('FAULTS = [Fault("a", "forward", {"return np": "return (np"}, "w")]', "not valid Python"),
        ('FAULTS = [Fault("a", "forward", {"x @ w + b": "x", "w + b": "w"}, "w")]', "overlap"),
        ('FAULTS = [Fault("a", "forward", {" + b": ""}, "w")] * 2', "names a fault twice: a"),
        ("FAULTS = 5", "must define FAULTS"),
        ("", "must define FAULTS"),
        ("FAULTS = [1]", "must define FAULTS"),
    ],
)
def test_a_fault_that_does_not_fit_the_reference_is_the_authors_to_mend(
    judged: Callable[..., Any], faults: str, words: str
) -> None:
    with pytest.raises(BadAssignment, match=words):
        small = judged(SOLUTIONS, CHECKS, faults or "x = 1")
        Explainer(small.assignment, load_faults(small.assignment)).build()


def test_edits_of_two_faults_in_one_cell_are_made_at_once(judged: Callable[..., Any]) -> None:
    small = judged(SOLUTIONS, CHECKS, FAULTS)
    by_id = {f.id: f for f in small.checks.explainer.faults}
    edited = edited_source(small.assignment, (by_id["no-relu"], by_id["no-bias"]))["forward"]
    assert "h = x @ w\n" in edited and "return h / len(x)" in edited


def test_two_faults_of_the_same_place_are_not_combined(judged: Callable[..., Any]) -> None:
    faults = 'FAULTS = [Fault(n, "forward", {"np.maximum(h, 0)": t}, "w") for n, t in (("a", "h"), ("b", "-h"))]'
    small = judged(SOLUTIONS, CHECKS, faults)
    result = small.results({"forward": FORWARD.replace("np.maximum(h, 0)", "abs(h)")})["test_forward"]
    assert result.verdict == "failed" and result.fault is None


KEEPING = {
    "keep": "def save(x):\n    return x.astype('f8').tobytes()\n\ndef load(data):\n    return np.frombuffer(data, 'f8')"
}
KEEPING_CHECKS = """
@pytest.mark.cell("test_keep")
def test_comes_back(student, draw, expect):
    x = draw.normal(4)
    file = student.save(x)
    expect.equal(student.load(file), x)
"""
KEEPING_FAULTS = """
FAULTS = [Fault("halves", "keep", {"np.frombuffer(data, 'f8')": "np.frombuffer(data, 'f8') / 2"}, "You halve.")]
"""


def test_a_mistake_in_reading_is_named_whatever_the_layout_of_the_students_file(judged: Callable[..., Any]) -> None:
    small = judged(KEEPING, KEEPING_CHECKS, KEEPING_FAULTS)
    text = "import json\ndef save(x):\n    return json.dumps(x.tolist()).encode()\n\n"
    right = text + "def load(data):\n    return np.array(json.loads(data))"
    assert small.results({"keep": right})["test_comes_back"].verdict == "passed"
    wrong = small.results({"keep": right.replace("np.array(json.loads(data))", "np.array(json.loads(data)) * 0.5")})
    assert wrong["test_comes_back"].fault == "halves"
