"""The reference of a8 against NumPy and PyTorch, its visible checks, and both on two back ends of Keras.

Each back end has a process of its own, because Keras reads its choice once.
"""

from __future__ import annotations

import ast
import functools
import math
import re

import numpy as np
import pytest

from tests.course_lib.checks.keras_on import on
from tests.course_lib.checks.visible import Visible
from tests.sampling import sample

ONE = Visible("a8_keras")
# Of the other back end only what takes few runs of `fit`: each of them is compiled there.
QUICK = ["right_context_mix_einsum", "right_random_mirror_bernoulli", "right_warmup_cosine_table"]
ELSEWHERE = [*QUICK, "wrong_context_padding_in_mean", "wrong_schedule_late", "wrong_mirror_one_draw"]
# Mistakes that the hidden checks alone see, because they look at what the visible ones leave out.
HIDDEN_ONLY = {
    "wrong_call_classifier_in_evaluation_mode",
    "wrong_mirror_neighbors",
    "wrong_mirror_one_seed_for_all",
    "wrong_step_classifier_in_evaluation_mode",
    "wrong_step_decoder_in_evaluation_mode",
    "wrong_step_encoder_twice",
    "wrong_step_with_frozen",
}
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("a8 on its back ends"), pytest.mark.timeout(1800)]


@functools.cache
def said(backend: str, *names: str) -> dict[str, dict[str, list[str]]]:
    """What the visible checks say of the reference, of the stubs, or of entries of the bank."""
    return on(backend, "visible", *names)


def not_ok(found: dict[str, list[str]]) -> list[str]:
    return [result for results in found.values() for result in results if result != "ok"]


@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_the_reference_is_what_numpy_and_pytorch_say(backend: str) -> None:
    found = on(backend, "truth")
    assert len(found) > 30
    assert {name: value for name, value in found.items() if not value < 2e-5} == {}


def test_the_reference_passes_every_visible_check() -> None:
    found = said("torch", "reference", "stubs")
    assert not_ok(found["reference"]) == [] and len(found["reference"]) == 7
    assert all("is not written yet" in result for result in not_ok(found["stubs"]))
    assert len(not_ok(found["stubs"])) == sum(map(len, found["reference"].values()))


def test_what_is_right_passes_and_what_is_wrong_is_told_in_one_line() -> None:
    right = [entry.name for entry in ONE.bank.values() if entry.kind == "correct"]
    wrong = [entry.name for entry in ONE.bank.values() if entry.kind == "fault"]
    right, wrong = sample("a8 visible, right", right, 4), sample("a8 visible, wrong", wrong, 10)
    found = said("torch", *right, *wrong)
    assert {name: not_ok(found[name]) for name in right if not_ok(found[name])} == {}
    assert {name for name in wrong if not not_ok(found[name])} == set(wrong) & HIDDEN_ONLY
    told = [line for name in wrong for line in not_ok(found[name]) if line.startswith("CheckFailed")]
    assert [line for line in told if "\n" in line or not 30 < len(line) < 700] == []


def test_on_another_back_end_the_verdicts_are_the_same() -> None:
    found = said("tensorflow", *ELSEWHERE)
    assert {name for name in ELSEWHERE if not not_ok(found[name])} == set(QUICK)


def test_finished_answers_of_keras_are_seen_at_work() -> None:
    found = on("torch", "finished")
    assert {name: bool(theirs) for name, (own, theirs) in found.items() if not own} == {
        "finished_in_stopping": True,
        "finished_in_schedule": True,
        "finished_in_mirror": True,
    }
    ONE.stated("A solution that uses them is noticed")


def test_the_points_in_the_table_are_those_of_the_cells() -> None:
    graded = ONE.assignment.notebooks[0].graded()
    for number, cell in enumerate(graded, 1):
        exercise = (cell.grade_id or "").removeprefix("test_")
        assert re.search(rf"^\| {number} \| `{exercise}` \| {cell.points:g} \|", ONE.prose, re.MULTILINE)
    assert sum(cell.points for cell in graded) == 20


def test_the_worked_numbers_are_right() -> None:
    assert round(math.log(10) + 0.5 * math.log(2), 3) == 2.649
    assert [x + 10 * (1 + 3) / 2 for x in (1, 3, 5)] == [21, 23, 25]
    norm = math.hypot(3, 4)
    assert (norm, 3 / norm, 4 / norm) == (5, 0.6, 0.8)
    rates = [(k + 1) / 4 for k in range(4)] + [(1 + math.cos(math.pi * k / 4)) / 2 for k in range(5)]
    assert np.round(rates, 3).tolist() == [0.25, 0.5, 0.75, 1, 1, 0.854, 0.5, 0.146, 0]
    dense, norm_of_3, last, head = 4 * 3 + 3, 4 * 3, 3 * 2 + 2, 2 * 5 + 5
    assert (dense, norm_of_3, last, head, last + head) == (15, 12, 8, 15, 23)
    ONE.stated("about 2.649", "$y = [21, 23, 25]$", "`[0.6, 0]` and `[0.8]`", "hold 15, 12 and 8 numbers", "it is 23")


def test_the_second_cell_chooses_the_back_end_before_keras_is_imported() -> None:
    cell = next(c for c in ONE.assignment.notebooks[0].cells if "KERAS_BACKEND" in c.source)
    lines = [ast.unparse(node) for node in ast.parse(cell.source).body]
    chosen = f"os.environ['KERAS_BACKEND'] = '{ONE.assignment.keras_backend}'"
    assert lines.index(chosen) < lines.index("import keras") and ONE.assignment.keras_backend == "torch"
    ONE.stated("Keras runs on PyTorch")
