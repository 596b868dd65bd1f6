"""The visible checks of a6 on known submissions: they pass what is right, and say something about what is wrong.

Only the checks of the cells that a submission replaces are run: the others have nothing new to see.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.assignment import load_assignment
from autograder.records import Assignment, Role
from autograder.selftest import BankEntry, load_bank, notebook_of
from course_lib import virtual_cuda
from course_lib.checks import CheckFailed

ROOT = Path(__file__).resolve().parents[3]
NAME = "a6_cuda_training"

pytestmark = pytest.mark.filterwarnings("ignore")


@functools.cache
def assignment() -> Assignment:
    return load_assignment(NAME, ROOT)


def bank() -> dict[str, BankEntry]:
    return {entry.name: entry for entry in load_bank(assignment())}


@pytest.fixture(autouse=True)
def two_devices() -> Iterator[None]:
    with virtual_cuda.session(devices=2, force=True, quiet=True):
        yield
        # Every notebook that was run has switched it on once more.
        while virtual_cuda._on is not None and virtual_cuda._on.depth > 1:
            virtual_cuda.disable()


def outcomes(entry: BankEntry | None = None, *, stubs: bool = False, without: str = "") -> dict[str, list[str]]:
    """For each tests cell of the replaced cells, what each of its checks printed or raised. "ok": it passed.

    without: a check that is left out, by its name.
    """
    cells = dict(entry.cells) if entry else {}
    own = assignment().notebooks[0].cells
    if stubs:
        cells = {c.grade_id: c.released for c in own if c.role is Role.SOLUTION and c.grade_id}
    notebook = json.loads(notebook_of(assignment(), cells, entry.extra if entry else ()))
    names: dict[str, Any] = {}
    found: dict[str, list[str]] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if cell["cell_type"] != "code" or "%pip" in source or grade_id == "digits":
            continue
        if not grade_id.startswith("test_"):
            _run(source, names)
        elif not cells or grade_id.removeprefix("test_") in cells:
            lines = [line for line in source.splitlines() if not without or without not in line]
            found[grade_id] = [_run(line, names) for line in lines]
    return found


def _run(source: str, names: dict[str, Any]) -> str:
    try:
        exec(source, names)
    except CheckFailed as error:
        assert "\n" not in str(error) and 30 < len(str(error)) < 600, error
        return f"no   {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "ok"


def test_the_reference_passes_every_check(capsys: pytest.CaptureFixture[str]) -> None:
    results = [result for cell in outcomes().values() for result in cell]
    assert set(results) == {"ok"}
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("ok   ")]
    assert len(said) == len(results) > 20
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("name", sorted(name for name in bank() if name.startswith("right_")))
def test_what_is_right_passes_every_check(name: str) -> None:
    results = [result for cell in outcomes(bank()[name], without="fit_reads_digits").values() for result in cell]
    assert set(results) == {"ok"}


COMMONEST = {
    "wrong_step_without_zero_grad": "`backward` adds to what lies in `.grad`",
    "wrong_step_without_gradients": "Weight and bias have not moved",
    "wrong_step_batch_left_on_host": "Expected all tensors to be on the same device",
    "wrong_step_moves_the_model_to_cuda": "It is told which device to use",
    "wrong_training_not_shuffled": "Which argument of DataLoader shuffles?",
    "wrong_global_generator_seeded": "global generator",
    "wrong_epoch_mean_of_batch_means": "A mean over rows",
    "wrong_epoch_mode_not_set": "worked in evaluation mode",
    "wrong_epoch_waits_too_often": "times for the device",
    "wrong_epoch_keeps_graphs": "graphs were alive",
    "wrong_evaluation_mode_not_set": "worked in training mode",
    "wrong_evaluation_mode_left_on": "Remember the mode",
    "wrong_evaluation_builds_graphs": "require gradients",
    "wrong_accuracy_in_per_cent": "The share is between 0 and 1",
    "wrong_amp_clipped_before_unscaling": "scaled or true gradients",
    "wrong_amp_step_past_the_scaler": "infinite gradients",
    "wrong_checkpoint_optimizer_missing": "bit for bit",
    "wrong_checkpoint_without_map_location": "On a machine without a GPU",
    "wrong_checkpoint_random_state_missing": "set_rng_state",
    "wrong_fit_best_not_copied": "the model's own tensors",
    "wrong_writer_not_closed": "before fit returns",
    "wrong_fit_learning_rate_constant": "learning rates of the nine steps",
}


@pytest.mark.parametrize("name", COMMONEST)
def test_the_commonest_mistakes_are_told_in_a_sentence(name: str) -> None:
    errors = [error for results in outcomes(bank()[name], without="fit_reads_digits").values() for error in results]
    assert any(COMMONEST[name] in error for error in errors), errors


def test_untouched_cells_are_said_to_be_untouched() -> None:
    for grade_id, results in outcomes(stubs=True).items():
        for error in results:
            assert "is not written yet" in error, grade_id


def test_without_a_device_the_checks_that_need_one_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    found = outcomes()["test_train_epoch_amp"]
    assert all("needs a CUDA device" in error for error in found)
    assert set(outcomes()["test_train_step"]) == {"ok"}


# --- the worked numbers of the notebook -----------------------------------------------------------------------------


def test_the_worked_example_of_a_step() -> None:
    weight, x, y = 2.0, [1.0, 3.0], [1.0, 1.0]
    off = [weight * a - b for a, b in zip(x, y, strict=True)]
    assert sum(o * o for o in off) / 2 == 13
    assert sum(o * a for o, a in zip(off, x, strict=True)) == 16 and sum(off) == 6
    assert math.isclose(2 - 0.1 * 16, 0.4) and math.isclose(-0.1 * 6, -0.6)


def test_the_worked_mean_of_an_epoch() -> None:
    assert (4 * 1.0 + 4 * 2.0 + 2 * 4.0) / 10 == 2.0
    assert round((1.0 + 2.0 + 4.0) / 3, 2) == 2.33


def test_the_worked_norms_of_mixed_precision() -> None:
    assert 1024 * 5 == 5120 and 1 / 5 == 0.2
    assert torch.finfo(torch.float16).max == 65504
    assert math.isclose(2.0**-24, 6e-8, rel_tol=0.01)
