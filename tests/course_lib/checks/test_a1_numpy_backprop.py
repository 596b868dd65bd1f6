"""The visible checks of a1 on every known submission: they pass what is right and say something about what is wrong."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.assignment import load_assignment
from autograder.judge.reference import reference_names
from autograder.records import Assignment, Role
from autograder.selftest import BankEntry, load_bank, notebook_of
from course_lib.checks import CheckFailed
from course_lib.checks import a1_numpy_backprop as checks

ROOT = Path(__file__).resolve().parents[3]
NAME = "a1_numpy_backprop"


@functools.cache
def assignment() -> Assignment:
    return load_assignment(NAME, ROOT)


def entries(kind: str) -> list[Any]:
    return [pytest.param(entry, id=entry.name) for entry in load_bank(assignment()) if entry.kind == kind]


def outcomes(entry: BankEntry | None = None, *, stubs: bool = False) -> dict[str, list[str | Exception]]:
    """For each tests cell, what each of its checks printed or raised, the student's other cells having run before."""
    cells = dict(entry.cells) if entry else {}
    if stubs:
        own = assignment().notebooks[0].cells
        cells = {c.grade_id: c.released for c in own if c.role is Role.SOLUTION and c.grade_id}
    notebook = json.loads(notebook_of(assignment(), cells, entry.extra if entry else ()))
    names: dict[str, Any] = {}
    found: dict[str, list[str | Exception]] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if cell["cell_type"] != "code" or "%pip" in source:
            continue
        lines = source.splitlines() if grade_id.startswith("test_") else [source]
        results = [_run(line, names) for line in lines]
        if grade_id.startswith("test_"):
            found[grade_id] = results
    return found


def _run(source: str, names: dict[str, Any]) -> str | Exception:
    try:
        exec(source, names)
    except Exception as error:
        return error
    return "ok"


@pytest.mark.parametrize("entry", entries("correct"))
def test_what_is_right_passes_every_check(entry: BankEntry, capsys: pytest.CaptureFixture[str]) -> None:
    results = [result for cell in outcomes(entry).values() for result in cell]
    assert set(results) == {"ok"}
    assert sum(line.startswith("ok   ") for line in capsys.readouterr().out.splitlines()) == len(results) > 20


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # wrong code overflows
@pytest.mark.parametrize("entry", entries("fault"))
def test_what_is_wrong_is_told_in_one_line(entry: BankEntry) -> None:
    errors = [error for results in outcomes(entry).values() for error in results if error != "ok"]
    assert errors, "no visible check sees this mistake"
    for error in errors:
        if isinstance(error, CheckFailed):
            assert "\n" not in str(error) and 30 < len(str(error)) < 500


def test_untouched_cells_are_said_to_be_untouched() -> None:
    for grade_id, results in outcomes(stubs=True).items():
        for error in results:
            assert isinstance(error, CheckFailed)
            assert "is not written yet" in str(error), grade_id


def test_a_check_of_a_later_exercise_names_the_earlier_function_that_is_missing() -> None:
    stub = next(c.released for c in assignment().notebooks[0].cells if c.grade_id == "two_layer_backward")
    entry = BankEntry("made-up", "made-up", "fault", {}, {"two_layer_backward": stub})
    [first, *_] = outcomes(entry)["test_train"]
    assert str(first).startswith("two_layer_backward is not written yet")


def test_no_hidden_unit_of_the_check_networks_is_near_the_kink_of_relu() -> None:
    """Finite differences move a parameter by up to 0.02, and no input is larger than 2 in size."""
    for params in (checks._network(), checks._square_network()):
        hidden_in = checks._rows() @ params["W1"] + params["b1"]
        assert np.abs(hidden_in).min() > 0.02 * np.abs(checks._rows()).max()
        assert (hidden_in > 0).any(axis=0).all() and (hidden_in < 0).any()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "small_graph = lambda x, y, z: (np.sum(x * y + z), y, x)",
            "returned 3 values; it should return the tuple (c, ",
        ),
        ("small_graph = lambda x, y, z: print(x)", "returned None"),
        ("def small_graph(x, y, z):\n    x += 1\n    return 0, y, x, z", "changed its argument x"),
    ],
)
def test_a_function_of_the_wrong_form_is_told_so(source: str, words: str) -> None:
    entry = BankEntry("made-up", "made-up", "fault", {}, {"small_graph": source})
    assert words in str(outcomes(entry)["test_small_graph"][0])


# --- the worked numbers of the notebook -----------------------------------------------------------------------------


@functools.cache
def prose() -> str:
    return "\n".join(c.source for c in assignment().notebooks[0].cells if c.kind == "markdown")


@functools.cache
def reference() -> dict[str, Any]:
    return reference_names(assignment())


def stated(*sentences: str) -> None:
    for sentence in sentences:
        assert sentence in prose()


def test_the_numbers_of_the_small_graph_are_right() -> None:
    stated("`c = 5.5`", "`c` becomes 5.503", "entry 0 of `grad_x` is 3")
    y, z = np.array([3.0, -1.0]), np.array([0.5, 4.0])
    c, grad_x, *_ = reference()["small_graph"](np.array([1.0, 2.0]), y, z)
    raised, *_ = reference()["small_graph"](np.array([1.001, 2.0]), y, z)
    assert (c, grad_x[0], round(raised, 10)) == (5.5, 3.0, 5.503)


def test_the_numbers_of_the_central_difference_are_right() -> None:
    stated("`[(16 - 4) / 2] = [6.0]`", "gives 7", "The derivative is 6")
    assert reference()["numerical_gradient"](lambda x: x[0] ** 2, np.array([3.0]), h=1) == [6.0]
    assert ((3 + 1) ** 2 - 3**2) / 1 == 7


def test_the_numbers_of_the_two_layers_are_right() -> None:
    stated("`scores = [[6, 11, -2]]`", "`[1, 0, -1]`", "`[[6, 0, -6], [0, 0, 0]]`", "the one for `b1` is `[1, 0]`")
    stated("`W1 = [[1, -1], [2, 0]]`, `b1 = [1, 0.5]`", "`W2 = [[1, 2, 0], [3, 1, 1]]`, `b2 = [0, -1, -2]`")
    params = {"W1": [[1, -1], [2, 0]], "b1": [1, 0.5], "W2": [[1, 2, 0], [3, 1, 1]], "b2": [0, -1, -2]}
    arrays = {name: np.array(value, dtype=float) for name, value in params.items()}
    scores, cache = reference()["two_layer_forward"](np.array([[1.0, 2.0]]), arrays)
    grads = reference()["two_layer_backward"](np.array([[1.0, 0.0, -1.0]]), cache)
    assert scores.tolist() == [[6, 11, -2]]
    assert grads["b2"].tolist() == [1, 0, -1] and grads["b1"].tolist() == [1, 0]
    assert grads["W2"].tolist() == [[6, 0, -6], [0, 0, 0]]


def test_the_numbers_of_the_loss_are_right() -> None:
    stated("`[[0.881, 0.119], [0.5, 0.5]]`", "`(0.127 + 0.693) / 2 = 0.410`", "the loss grows by 0.0025", "is 0.25")
    scores, labels = np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([0, 1])
    loss, dscores = reference()["softmax_cross_entropy"](scores, labels)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert np.round(p, 3).tolist() == [[0.881, 0.119], [0.5, 0.5]]
    assert [round(float(v), 3) for v in -np.log(p[[0, 1], labels])] == [0.127, 0.693] and round(loss, 3) == 0.41
    raised, _ = reference()["softmax_cross_entropy"](scores + np.array([[0, 0], [0.01, 0]]), labels)
    assert round(raised - loss, 4) == 0.0025 and dscores[1, 0] == 0.25


def test_the_points_in_the_table_are_those_of_the_cells() -> None:
    graded = assignment().notebooks[0].graded()
    for number, cell in enumerate(graded, 1):
        assert cell.grade_id is not None
        stated(f"| {number} | `{cell.grade_id.removeprefix('test_')}` | {cell.points:g} |")
    assert sum(cell.points for cell in graded) == 20
