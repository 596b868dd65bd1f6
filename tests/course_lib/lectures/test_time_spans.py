"""Spans: noted in order, also from threads and through errors; what overlaps is seen and kept apart."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from course_lib.lectures.time_spans import Spans


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Times that the clock will show, one after the other."""
    times: list[float] = []
    ticking: Iterator[float] = (times.pop(0) for _ in range(99))
    monkeypatch.setattr("course_lib.lectures.time_spans.time.perf_counter", lambda: next(ticking))
    return times


def _note(spans: Spans, label: str, clock: list[float], begin: float, end: float) -> None:
    clock += [begin, end]
    with spans(label):
        pass


def test_times_run_from_the_first_begin_and_labels_stand_in_order_of_time(clock: list[float]) -> None:
    spans = Spans()
    _note(spans, "train", clock, 12, 13)
    _note(spans, "load", clock, 10, 12)
    _note(spans, "load", clock, 13, 15)
    assert spans.rows() == {"load": [(0, 2), (3, 5)], "train": [(2, 3)]}
    assert list(spans.rows()) == ["load", "train"]


def test_spans_that_overlap_get_rows_of_their_own(clock: list[float]) -> None:
    spans = Spans()
    for begin, end in [(0, 3), (1, 4), (3, 5), (2, 6)]:
        _note(spans, "load", clock, begin, end)
    assert spans.rows() == {"load": [(0, 3), (3, 5)], "load 2": [(1, 4)], "load 3": [(2, 6)]}


def test_the_overlap_of_two_labels_is_summed_over_pairs(clock: list[float]) -> None:
    spans = Spans()
    assert spans.rows() == {} and spans.overlap("load", "train") == 0
    _note(spans, "load", clock, 0, 4)
    _note(spans, "load", clock, 6, 8)
    _note(spans, "train", clock, 3, 7)
    _note(spans, "wait", clock, 8, 9)
    assert spans.overlap("load", "train") == spans.overlap("train", "load") == 2
    assert spans.overlap("load", "wait") == spans.overlap("load", "never") == 0


def test_a_block_that_fails_is_noted_all_the_same() -> None:
    spans = Spans()
    with pytest.raises(ValueError, match="no"), spans("load"):
        raise ValueError("no")
    assert len(spans.rows()["load"]) == 1


def test_threads_may_note_at_once() -> None:
    spans = Spans()

    def work() -> None:
        for _ in range(50):
            with spans("load"):
                time.sleep(0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(map(len, spans.rows().values())) == 200
