"""The clock is read after the work, the warm-up is not counted, and the best run is kept."""

from __future__ import annotations

import time

import pytest

from course_lib.timing import best_seconds


def test_a_sleep_is_measured() -> None:
    assert 0.01 <= best_seconds(time.sleep, 0.01, repeats=2) < 0.1


def test_the_slow_first_call_is_not_counted_and_the_best_is_kept() -> None:
    naps = iter([0.2, 0.1, 0.0, 0.1])
    assert best_seconds(lambda: time.sleep(next(naps)), repeats=3) < 0.05


def test_the_device_is_waited_for_before_and_after_each_run() -> None:
    events: list[str] = []
    best_seconds(lambda: events.append("run"), repeats=2, synchronize=lambda: events.append("wait"))
    assert events == ["run", "wait", "run", "wait", "wait", "run", "wait"]
    with pytest.raises(ValueError, match="repeats is 0"):
        best_seconds(int, repeats=0)
