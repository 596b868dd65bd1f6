"""What the probes of a8 see of Keras's finished answers behind the student's names, and of the reference's own ones.

Run in a process of its own: see `test_a8_keras`.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import keras
import numpy as np

from autograder.judge.faults import modules_of
from course_lib.checks import a8_keras as checks

FOLDER = Path(__file__).resolve().parents[3] / "notebooks" / "assignments" / "a8_keras"


class StopAtBest(keras.callbacks.EarlyStopping):  # type: ignore[misc]
    """Keras's own callback."""


class WarmupCosine(keras.optimizers.schedules.CosineDecay):  # type: ignore[misc]
    """Keras's own schedule."""

    def __init__(self, peak: float, warmup: int, total: int, floor: float = 0.0) -> None:
        super().__init__(0.0, total - warmup, floor / peak, warmup_target=peak, warmup_steps=warmup)


class RandomMirror(keras.layers.RandomFlip):  # type: ignore[misc]
    """Keras's own layer."""


def at_work(reference: dict[str, Any]) -> dict[str, list[list[str]]]:
    """By probe what it sees: of the reference, and of these classes."""
    with modules_of(FOLDER):
        import probes

    own = SimpleNamespace(**{name: reference[name] for name in ("StopAtBest", "WarmupCosine", "RandomMirror")})
    theirs = SimpleNamespace(StopAtBest=StopAtBest, WarmupCosine=WarmupCosine, RandomMirror=RandomMirror)
    calls = {
        "finished_in_stopping": {"values": [3.0, 2.0, 1.0], "weights": checks.weights_of_epochs(3)},
        "finished_in_schedule": {"options": {"peak": 1.0, "warmup": 3, "total": 8}, "steps": [0, 4]},
        "finished_in_mirror": {"images": np.ones((3, 2, 3, 1), np.float32)},
    }
    return {name: [getattr(probes, name)(ns, **data) for ns in (own, theirs)] for name, data in calls.items()}
