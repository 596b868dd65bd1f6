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


@pytest.fixture
def named(judged: Callable[..., Any]) -> Callable[..., str | None]:
    """`named(check, forward=..., backward=...)`: the fault that the check of an edited solution is called by."""
    assignment = judged(SOLUTIONS, CHECKS, FAULTS)

    def found(check: str, **cells: str) -> str | None:
        result = assignment.results(cells)[check]
        assert result.verdict == "failed"
        return result.fault

    return found


def test_a_single_mistake_is_named_however_it_is_spelled(named: Callable[..., str | None]) -> None:
    assert named("test_forward", forward="def forward(x, w, b):\n    return sum([x @ w, b]) / x.shape[0]") == "no-relu"
    dot = "sum(p * q for p, q in zip(r, c))"
    loops = f"def forward(x, w, b):\n    return [[max(0, {dot}) / len(x) for c in w.T] for r in x]"
    assert named("test_forward", forward=loops) == "no-bias"


def test_two_mistakes_in_one_cell_are_named_together(named: Callable[..., str | None]) -> None:
    two = FORWARD.replace("np.maximum(h, 0)", "h").replace(" + b", "")
    assert named("test_forward", forward=two) == "no-relu+no-bias"


def test_two_mistakes_are_found_among_many_without_trying_all_pairs(
    judged: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.judge.diagnosis.MOST_COMBINATIONS", 3)
    scaled = "".join(
        f'Fault("by-{n}", "forward", {{"x @ w": "x @ w * {1 + n / 7}"}}, "Scaled."),\n' for n in range(1, 40)
    )
    assignment = judged(SOLUTIONS, CHECKS, FAULTS.replace("FAULTS = [", "FAULTS = [\n" + scaled))
    two = FORWARD.replace("np.maximum(h, 0)", "h").replace(" / len(x)", "")
    assert assignment.results({"forward": two})["test_forward"].fault == "no-relu+no-mean"


def test_a_mistake_that_alone_hardly_shows_is_found_beside_another(judged: Callable[..., Any]) -> None:
    slight = 'FAULTS = [Fault("slight", "forward", {"x @ w": "x @ (w * (1 + 4e-6))"}, "Slightly larger."),'
    # Told with tolerance 1e-6: alone it is four tolerances off, too near the right answer to be named.
    assignment = judged(
        SOLUTIONS, CHECKS.replace("draw.normal(2)", "draw.normal(2, 0.1)"), slight + FAULTS.partition("[")[2]
    )
    two = FORWARD.replace("x @ w", "x @ (w * (1 + 4e-6))").replace(" / len(x)", "")
    assert assignment.results({"forward": two})["test_forward"].fault == "slight+no-mean"
    alone = FORWARD.replace("x @ w", "x @ (w * (1 + 4e-6))")
    assert assignment.results({"forward": alone})["test_forward"].fault is None


def test_a_mistake_found_before_is_combined_with_one_of_this_cell(named: Callable[..., str | None]) -> None:
    before, own = FORWARD.replace(" / len(x)", ""), BACKWARD.replace("g @ w.T", "-g @ w.T")
    assert named("test_backward", forward=before, backward=own) == "no-mean+dx-sign"


def test_a_mistake_inherited_from_another_cell_is_named_as_that(named: Callable[..., str | None]) -> None:
    assert named("test_backward", forward=FORWARD.replace(" / len(x)", "")) == "no-mean"


@pytest.mark.parametrize(
    "forward",
    [
        FORWARD.replace("np.maximum(h, 0)", "np.tanh(h)"),
        FORWARD.replace("return", "return 1e-3 +"),
        FORWARD.replace("np.maximum(h, 0)", "h * 1.0001"),  # near a known mistake, and not it
        "def forward(x, w, b): return 0.0",
        "def forward(x, w, b): return np.full((4, 2), np.nan)",
        "def forward(x, w, b): return None",
        "def forward(x, w, b): return iter([])",
        "def forward(x, w, b): raise ValueError('no idea')",
        "forward = 5",
        FORWARD.replace("np.maximum(h, 0)", "h").replace(" + b", "").replace(" / len(x)", ""),  # three at once
    ],
)
def test_an_unknown_mistake_is_not_given_a_name(named: Callable[..., str | None], forward: str) -> None:
    assert named("test_forward", forward=forward) is None


def test_a_fault_kept_out_of_pairs_is_named_alone_only(named: Callable[..., str | None]) -> None:
    alone = BACKWARD.replace("return dx, dw", "return dx, dw * 3")
    assert named("test_backward", backward=alone) == "dw-never-alone"
    assert named("test_backward", backward=alone.replace("g @ w.T", "-g @ w.T")) is None


def test_a_fault_meant_for_other_tests_is_not_named(named: Callable[..., str | None]) -> None:
    five = FORWARD.replace("h = x @ w", "h = 5 * x @ w")
    assert named("test_forward", forward=five) is None
    assert named("test_backward", forward=five) == "only-elsewhere"


def test_a_mistake_that_raises_is_named_by_the_same_exception(named: Callable[..., str | None]) -> None:
    assert named("test_forward", forward=FORWARD.replace("x @ w", "x @ w.T")) == "raises"


# -- the explainer alone ---------------------------------------------------------------------------------------------


@pytest.fixture
def explain(judged: Callable[..., Any]) -> Callable[..., str | None]:
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


def test_right_answers_have_no_fault(explain: Callable[..., str | None]) -> None:
    assert explain([("forward", X, W, B)], {}) is None
    assert explain([], {}) is None


def test_a_fault_that_these_inputs_cannot_show_is_not_named(explain: Callable[..., str | None]) -> None:
    positive = np.abs(W)
    no_relu = {"forward": FORWARD.replace("np.maximum(h, 0)", "h")}
    assert explain([("forward", np.abs(X), positive, np.abs(B))], no_relu) is None
    assert explain([("forward", X, W, B)], no_relu) == "no-relu"


def test_every_call_must_be_explained(explain: Callable[..., str | None]) -> None:
    once = {
        "forward": "calls = []\n"
        + FORWARD.replace("h = x", "calls.append(1)\n    h = x").replace(
            "np.maximum(h, 0)", "(h if len(calls) == 1 else np.maximum(h, 0))"
        )
    }
    assert explain([("forward", X, W, B)], once) == "no-relu"
    assert explain([("forward", X, W, B)] * 2, once) is None


@pytest.mark.parametrize(("dtype", "noise"), [("float64", 1e-9), ("float32", 1e-5)])
def test_rounding_does_not_hide_a_mistake(explain: Callable[..., str | None], dtype: str, noise: float) -> None:
    noisy = FORWARD.replace("np.maximum(h, 0)", f"(h * (1 + {noise})).astype('{dtype}')")
    arguments = [a.astype(dtype) for a in (X, W, B)]
    assert explain([("forward", *arguments)], {"forward": noisy}) == "no-relu"


def test_framework_tensors_are_told_apart_by_their_own_precision(judged: Callable[..., Any]) -> None:
    from autograder.judge.diagnosis import SAME, _coarsest

    half = Tensor(np.ones(2, np.float32), "torch", "bfloat16")
    assert _coarsest((1.0, {"a": half})) == SAME["bfloat16"]


# -- a fault file that does not fit ----------------------------------------------------------------------------------


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


# -- files -----------------------------------------------------------------------------------------------------------

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
