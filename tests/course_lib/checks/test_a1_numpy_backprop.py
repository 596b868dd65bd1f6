"""The visible checks of a1 on every known submission: they pass what is right and say something about what is wrong."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.assignment import load_assignment
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
