"""The same seed gives the same draws, from every source that is loaded."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from course_lib.seeding import seed_everything


def _draws(seed: int) -> tuple[float, float, float, float]:
    generator = seed_everything(seed)
    return random.random(), float(np.random.rand()), float(torch.rand(())), float(generator.random())


def test_the_same_seed_repeats_every_draw() -> None:
    assert _draws(3) == _draws(3)


def test_another_seed_changes_every_draw() -> None:
    assert all(a != b for a, b in zip(_draws(3), _draws(4), strict=True))


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_some_library_refuses_is_refused_at_once(seed: int) -> None:
    with pytest.raises(ValueError, match=f"seed is {seed}"):
        seed_everything(seed)
