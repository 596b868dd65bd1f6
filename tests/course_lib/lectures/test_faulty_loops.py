"""The mysteries of lecture 10 have the fault that the lecture finds, and no other."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from course_lib.lectures import faulty_loops
from tests.when_used import when_used

torch = when_used("torch")

pytestmark = pytest.mark.slow


def _net() -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 2))


def _batches() -> Any:
    dice = torch.Generator().manual_seed(0)
    x = torch.randn(40, 4, generator=dice)
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, (x[:, 0] > 0).long()), 10)


def test_the_learning_rate_of_the_first_falls_at_each_update() -> None:
    record = faulty_loops.mystery_one(_net(), _batches(), epochs=2, lr=0.1)
    rates = [moved / gradient for moved, gradient in zip(record["movement"], record["gradient"], strict=True)]
    assert rates == pytest.approx([0.1 * 0.8**update for update in range(8)], rel=1e-3)
    assert len(record["loss"]) == 8
    source = inspect.getsource(faulty_loops.mystery_one)
    assert source.count("            scheduler.step()\n") == 1, "the lecture shows it, in the inner loop"


def test_the_second_stays_in_eval_mode_after_its_first_epoch() -> None:
    net, modes = _net(), []
    net.register_forward_hook(lambda module, *_: modes.append(module.training))
    record = faulty_loops.mystery_two(net, _batches(), _batches(), epochs=2, lr=0.1)
    assert modes == [True] * 4 + [False] * 2 + [False] * 4 + [False] * 2
    assert record["train"] == record["held out"]


def test_curves_under_letters_are_all_there_and_in_another_order() -> None:
    curves = {"healthy": 1, "labels": 2, "no step": 3}
    assert faulty_loops.under_letters(curves) == {"A": 3, "B": 2, "C": 1}
