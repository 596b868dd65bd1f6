"""The mistakes that students make in a8, each as a small edit of the reference, with the words that a student reads."""

from __future__ import annotations

from autograder.judge import Fault

FAULTS = [
    Fault(
        "schedule-late",
        cell="warmup_cosine",
        edits={"self.peak * (step + 1) /": "self.peak * step /"},
        words="In your warm-up the rate lags one step behind the table. At step 0 it is 0, so the first step of training moves nothing. Look at the first row of the table.",
        tests=("test_warmup_cosine",),
    ),
]
