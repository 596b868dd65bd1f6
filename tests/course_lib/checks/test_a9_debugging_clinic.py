"""The visible checks of a9, its symptoms and what its text states; in a process where Keras runs on PyTorch."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from collections.abc import Sequence
from unittest import mock

import numpy as np
import pytest

from autograder.judge.faults import modules_of
from course_lib.checks import CheckFailed
from tests.apart import apart
from tests.course_lib.checks.visible import Visible, two_devices
from tests.sampling import sample

A9 = Visible("a9_debugging_clinic")
A9_CHECKS = f"course_lib.checks.{A9.name}"
SCRIPTS = range(1, 7)
HIDDEN_ONLY = {
    "wrong_digits_arrays",
    "wrong_digits_logarithm_in_the_loss",
    "wrong_digits_mean_of_all_rows",
    "wrong_digits_one_test_batch",
    "wrong_digits_single_test_rows",
    "wrong_forecast_all_axes",
    "wrong_forecast_flat_list",
    "wrong_forecast_flat_outside",
    "wrong_forecast_targets_outside",
    "wrong_half_first_gpu",
    "wrong_half_mean_of_means",
    "wrong_half_one_update_more",
    "wrong_half_scale_of_the_beginning",
    "wrong_half_scale_read_once",
    "wrong_half_update_after_the_loop",
    "wrong_keras_softmax_at_the_end",
    "wrong_long_labels_copied",
    "wrong_long_losses_in_a_tensor",
    "wrong_long_momentum_in_a_global",
    "wrong_long_reader_adds_one",
    "wrong_long_reader_counts",
    "wrong_long_saved_every_second_epoch",
    "wrong_long_saved_if_last",
    "wrong_long_saved_once",
    "wrong_pets_best_if_stopped",
    "wrong_pets_best_if_waited",
    "wrong_pets_first_network_tuned",
    "wrong_pets_half_compared",
    "wrong_pets_tuples",
}
"""wrong, and no visible check can tell"""
Said = dict[str, list[str]]
"""tests cell -> "ok", or what was said, for each check"""


def said_by(name: str, only: Sequence[str] | None = None) -> tuple[Said, str]:
    """What the checks say of an entry of the bank, or of `reference` or `stubs`, and what was printed."""
    cells = {"reference": {}, "stubs": A9.stubs()}.get(name)
    importlib.import_module(A9_CHECKS)
    # Symptoms take seconds, and do not depend on what was written.
    shown = contextlib.nullcontext() if only is None else mock.patch(f"{A9_CHECKS}.symptoms")
    with contextlib.redirect_stdout(io.StringIO()) as printed, two_devices(), shown:
        found = A9.outcomes(dict(A9.bank[name].cells) if cells is None else cells, only=only)
    return {cell: list(map(_in_words, results)) for cell, results in found.items()}, printed.getvalue()


def _in_words(result: str | Exception) -> str:
    if isinstance(result, CheckFailed):
        assert "\n" not in str(result) and 30 < len(str(result)) < 700, result
    return result if isinstance(result, str) else f"{type(result).__name__}: {result}"


def outcome(name: str, only: Sequence[str] | None = None) -> tuple[Said, str]:
    found: tuple[Said, str] = apart(said_by, name, only, keras_backend="torch")
    return found


@pytest.mark.slow
def test_the_reference_passes_every_check_and_its_symptoms_are_shown() -> None:
    found, printed = outcome("reference")
    assert {result for results in found.values() for result in results} == {"ok"}
    assert printed.count("ok   ") == sum(map(len, found.values())) > 15
    assert printed.count("    healthy  ") == printed.count("    yours    ") > 15
    assert printed.count("def train_") + printed.count("def fine_tune") == len(SCRIPTS)


@pytest.mark.slow
def test_what_is_right_passes_every_check() -> None:
    right = [entry for entry in A9.bank.values() if entry.kind == "correct"]
    for entry in sample("visible checks, right, a9", right, 3, lambda entry: [entry.file, A9.file]):
        of_scripts = {re.sub(r"^\D+", "test_script_", cell) for cell in entry.cells if cell != "student"}
        found, _ = outcome(entry.name, sorted(of_scripts))
        assert {result for results in found.values() for result in results} == {"ok"}, entry.name


@pytest.mark.slow
def test_a_fault_that_is_left_is_told_in_one_line() -> None:
    left = [
        e
        for e in A9.bank.values()
        if any(":" in v and "diag" not in v and "script" not in v for v in e.expected.values())
    ]
    asked = sample("visible checks, wrong, a9", left, 6, lambda entry: [entry.file, A9.file])
    unseen = set()
    for entry in asked:
        found, _ = outcome(entry.name, sorted(entry.expected))
        said = [result for results in found.values() for result in results]
        # PyTorch's own words: virtual CUDA refuses what a real device would.
        on_two_devices = any(v.endswith("tensors-on-two-devices") for v in entry.expected.values())
        told = ("CheckFailed", "RuntimeError") if on_two_devices else "CheckFailed"
        if not any(result.startswith(told) for result in said):
            unseen.add(entry.name)
    assert unseen == {entry.name for entry in asked} & HIDDEN_ONLY


@pytest.mark.slow
def test_before_anything_is_written_nothing_else_goes_wrong() -> None:
    found, printed = outcome("stubs")
    assert {r.partition(":")[0] for results in found.values() for r in results} == {"NameError"}
    assert printed.count("Type your identifier") == 2 * len(SCRIPTS)


def catalog() -> dict[str, str]:
    from course_lib.checks.a9_debugging_clinic import CATALOG

    return dict(CATALOG)


def healthy() -> dict[int, dict[str, object]]:
    from course_lib.checks.a9_debugging_clinic import HEALTHY

    return {number: dict(numbers) for number, numbers in HEALTHY.items()}


@pytest.mark.slow
def test_the_table_in_the_text_is_the_catalog_and_holds_every_fault_and_more() -> None:
    codes = catalog()
    assert dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", A9.prose, re.MULTILINE)) == codes
    with modules_of(A9.assignment.folder):
        pools = importlib.import_module("faults").POOLS
    planted = {fault.id.partition("-")[2] for pool in pools.values() for fault in pool}
    assert planted < set(codes) and len(codes) - len(planted) > 5


def test_the_points_in_the_table_are_those_of_the_cells() -> None:
    graded = A9.assignment.notebooks[0].graded()
    for number, cell in enumerate(graded, 1):
        assert re.search(rf"^\| {number} \| .*\| {cell.points:g} \|", A9.prose, re.MULTILINE), cell.grade_id
    assert sum(cell.points for cell in graded) == 20


@pytest.mark.slow
def test_the_numbers_in_the_text_are_those_of_healthy_scripts() -> None:
    runs: dict[int, dict[str, list[float]]] = healthy()  # type: ignore[assignment]
    last = {n: {name: v[-1] for name, v in run.items() if isinstance(v, list)} for n, run in runs.items()}
    A9.stated(
        f"a training loss of {last[1]['train_loss']:.3f}, a test loss of {last[1]['test_loss']:.3f}",
        f"a test accuracy of {last[1]['test_accuracy']:.3f}",
        f"ends with a loss of {last[2]['loss']:.3f}",
        f"has the norm {runs[2]['norm'][0]:.3f} before clipping",
        f"its last update is {last[2]['lr']:.3f}, a twentieth of the first",
        f"runs for {len(runs[3]['val_loss'])} epochs",
        f"is {min(runs[3]['val_loss']):.3f}, reached in epoch {np.argmin(runs[3]['val_loss']) + 1}",
        f"a mean absolute error of {runs[4]['test_error']:.3f}",
        f"has an error of {runs[4]['naive_error']:.3f}",
        f"six losses, from {runs[5]['losses'][0]:.3f} down to {last[5]['losses']:.3f}",
        f"stops after {len(runs[6]['val_loss'])} epochs",
        f"validation loss is {min(runs[6]['val_loss']):.3f}",
        f"the accuracy on the test set is {runs[6]['test_accuracy']:.2f}",
    )
