"""The visible checks of a6 where there is no device, and the numbers of its text."""

from __future__ import annotations

import math

import pytest

from tests.course_lib.checks.visible import Visible, errors_of, two_devices
from tests.when_used import when_used

torch = when_used("torch")
ONE = Visible("a6_cuda_training", skipped_cell="digits", slow_check="fit_reads_digits")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_without_a_device_the_checks_that_need_one_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with two_devices():
        found = ONE.outcomes(only=["test_train_epoch_amp", "test_train_step"])
    assert all("needs a CUDA device" in str(error) for error in found["test_train_epoch_amp"])
    assert set(found["test_train_step"]) == {"ok"}


def test_a_wrong_loss_of_a_step_is_told() -> None:
    source = """def train_step(model, batch, loss_fn, optimizer, device):
    x, y = (part.to(device) for part in batch)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return 2 * loss.item()"""
    with two_devices():
        told = errors_of(ONE.outcomes({"train_step": source}, only=["test_train_step"]))
    assert any("It is 26; it should be 13." in error for error in told), told


def test_the_worked_numbers_are_right() -> None:
    weight, x, y = 2.0, [1.0, 3.0], [1.0, 1.0]
    off = [weight * a - b for a, b in zip(x, y, strict=True)]
    assert sum(o * o for o in off) / 2 == 13
    assert sum(o * a for o, a in zip(off, x, strict=True)) == 16 and sum(off) == 6
    assert math.isclose(2 - 0.1 * 16, 0.4) and math.isclose(-0.1 * 6, -0.6)
    assert (4 * 1.0 + 4 * 2.0 + 2 * 4.0) / 10 == 2.0 and round((1.0 + 2.0 + 4.0) / 3, 2) == 2.33
    assert 1024 * 5 == 5120 and 1 / 5 == 0.2
    assert torch.finfo(torch.float16).max == 65504 and math.isclose(2.0**-24, 6e-8, rel_tol=0.01)
