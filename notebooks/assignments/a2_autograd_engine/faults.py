"""The mistakes that students make in a2."""

from __future__ import annotations

from autograder.judge import Fault

FAULTS = [
    Fault(
        "gradients-overwritten",
        cell="backward",
        edits={"gradients[id(t)] + g if id(t) in gradients else g": "g"},
        words="x",
    ),
]
