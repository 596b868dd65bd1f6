"""The reference of a8 against NumPy and PyTorch, and its visible checks on another back end of Keras.

Each back end has a process of its own, because Keras reads its choice once.
"""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from tests.apart import apart
from tests.course_lib.checks.visible import VisibleApart, changed_by, errors_of

ONE = VisibleApart("a8_keras")
# Of the other back end only what takes few runs of `fit`: each of them is compiled there.
QUICK = ["right_context_mix_einsum", "right_random_mirror_bernoulli", "right_warmup_cosine_table"]
ELSEWHERE = [*QUICK, "wrong_context_padding_in_mean", "wrong_schedule_late", "wrong_mirror_one_draw"]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("a8 on its back ends"), pytest.mark.timeout(1800)]


def differences_from_the_truth(backend: str) -> dict[str, float]:
    """There."""
    import keras

    from tests.course_lib.checks import a8_truth

    # The notebook sets the variable too; by then Keras is there, and has read it.
    assert keras.backend.backend() == backend
    return a8_truth.differences(ONE.reference)


def finished_at_work() -> dict[str, list[list[str]]]:
    """There."""
    from tests.course_lib.checks import a8_finished

    return a8_finished.at_work(ONE.reference)


@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_the_reference_is_what_numpy_and_pytorch_say(backend: str) -> None:
    found: dict[str, float] = apart(differences_from_the_truth, backend, keras_backend=backend)
    assert len(found) > 30
    assert {name: value for name, value in found.items() if not value < 2e-5} == {}


def test_on_another_back_end_the_verdicts_are_the_same() -> None:
    entries = [ONE.bank[name] for name in ELSEWHERE]
    found = {e.name: ONE.outcomes_on("tensorflow", dict(e.cells), e.extra, changed_by(e)) for e in entries}
    assert {name for name in ELSEWHERE if not errors_of(found[name])} == set(QUICK)


def test_finished_answers_of_keras_are_seen_at_work() -> None:
    found = apart(finished_at_work, keras_backend="torch")
    assert {name: bool(theirs) for name, (own, theirs) in found.items() if not own} == {
        "finished_in_stopping": True,
        "finished_in_schedule": True,
        "finished_in_mirror": True,
    }
    ONE.stated("A solution that uses them is noticed")


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
