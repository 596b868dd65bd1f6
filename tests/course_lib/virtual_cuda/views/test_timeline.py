"""The figure places what was recorded where an asynchronous device would run it, and says so in words."""

from __future__ import annotations

import matplotlib.pyplot
import pytest

from course_lib.virtual_cuda import Log
from course_lib.virtual_cuda.log.records import Copy, Kernel, Sync
from course_lib.virtual_cuda.views.schedule import Span, schedule
from course_lib.virtual_cuda.views.timeline import grouped, merged, timeline


def kernel(begin: float, took: float, device: str = "cuda:0") -> Kernel:
    return Kernel("aten::mm", device, begin, took)


def log_of(*records: Kernel | Copy | Sync) -> Log:
    log = Log()
    for record in records:
        kept = log.kernels if isinstance(record, Kernel) else log.copies if isinstance(record, Copy) else log.syncs
        kept.append(record)  # type: ignore[arg-type]
    return log


def times(spans: list[Span]) -> list[tuple[float, float]]:
    return [(round(s.begin, 6), round(s.end, 6)) for s in spans]


def test_the_host_runs_ahead_of_the_device_until_it_reads() -> None:
    """Measured: 10 s of work by a kernel, 1 s of Python, 5 s by a kernel, 1 s of Python, a read."""
    plan = schedule(log_of(kernel(0, 10), kernel(11, 5), Sync("item", "a.py:1", 17, "cuda:0")))
    assert times(plan.kernels["cuda:0"]) == [(0, 10), (10, 15)]
    assert times(plan.waits) == [(2, 15)]
    assert plan.end == 15


def test_a_device_that_is_done_makes_nobody_wait() -> None:
    plan = schedule(log_of(kernel(0, 1), Sync("item", "a.py:1", 9, "cuda:0")))
    assert times(plan.waits) == [(8, 8)]


def test_devices_work_side_by_side_and_a_read_waits_for_its_own() -> None:
    plan = schedule(log_of(kernel(0, 10), kernel(10, 3, "cuda:1"), Sync("item", "a.py:1", 13, "cuda:1")))
    assert times(plan.kernels["cuda:0"]) == [(0, 10)] and times(plan.kernels["cuda:1"]) == [(0, 3)]
    assert times(plan.waits) == [(0, 3)] and plan.end == 10


def test_a_copy_is_in_line_behind_the_kernels_and_the_host_waits_for_it() -> None:
    waiting = Copy("cpu", "cuda:0", 8, "a.py:1", at_s=12, took_s=2)
    plan = schedule(log_of(kernel(0, 10), waiting))
    assert times(plan.copies["host to device"]) == times([Span(10, 12, "")]) and times(plan.waits) == [(0, 12)]


def test_a_copy_that_is_staged_holds_the_host_up_but_not_until_the_device_is_done() -> None:
    staged = Copy("cpu", "cuda:0", 8, "a.py:1", at_s=12, took_s=2, non_blocking=True)
    plan = schedule(log_of(kernel(0, 10), staged))
    assert times(plan.waits) == [(0, 2)] and times(plan.copies["host to device"]) == [(10, 12)]


def test_a_copy_from_pinned_memory_lets_the_host_go_on() -> None:
    free = Copy("cpu", "cuda:0", 8, "a.py:1", at_s=2, took_s=2, blocking=False)
    plan = schedule(log_of(free, kernel(3, 4)))
    assert times(plan.copies["host to device"]) == [(0, 2)] and plan.waits == []
    assert times(plan.kernels["cuda:0"]) == [(2, 6)], "the kernel needs what is copied"


def test_only_the_last_steps_can_be_shown() -> None:
    log = Log()
    for _ in range(5):
        with log.step():
            log.copy(-1, 0, 4)
    assert [s.label for s in schedule(log).steps] == [f"step {n}" for n in range(5)]
    plan = schedule(log, last=2)
    assert [s.label for s in plan.steps] == ["step 3", "step 4"] and len(plan.copies["host to device"]) == 2


def test_phases_are_not_steps_of_the_figure() -> None:
    log = Log()
    for _ in range(2):
        with log.step():
            log.mark("forward")
            log.sync("item")
    assert [s.label for s in schedule(log).steps] == ["step 0", "step 1"]


def test_what_no_eye_can_tell_apart_is_drawn_as_one() -> None:
    spans = [Span(0, 1, ""), Span(1.05, 2, ""), Span(5, 6, "")]
    assert merged(spans, 0.1) == [(0, 2), (5, 6)]
    assert [len(group) for group in grouped(spans, 0.1)] == [2, 1]


@pytest.fixture
def log() -> Log:
    log = Log()
    for _ in range(3):
        with log.step():
            log.copy(-1, 0, 1 << 20, took_s=1e-5)
            log.kernels.append(kernel(log.now(), 1e-3))
            log.sync("item", 0)
            log.copy(0, -1, 4, took_s=1e-5)
    return log


def test_every_lane_has_a_name_and_its_totals(log: Log) -> None:
    [axes] = timeline(log).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["host", "copies to device", "cuda:0", "copies to host"]
    texts = [text.get_text() for text in axes.texts]
    assert any(t.startswith("9 waits (striped)") for t in texts)
    assert {"3 copies\n3.0 MiB", "3 copies\n12 B"} <= set(texts) and any(t.startswith("3 kernels\n") for t in texts)


def test_without_labels_the_totals_and_the_kernels_names_stay() -> None:
    log = log_of(kernel(0, 10), Sync("item", "cell [1], line 2", 11, "cuda:0"))
    with_labels, without = ([text.get_text() for text in log.timeline(labels=on).axes[0].texts] for on in (True, False))
    label = "item, cell [1], line 2"
    assert label in with_labels and without == [text for text in with_labels if text != label]
    assert "mm" in without and any(text.startswith("1 wait (striped)") for text in without)


def test_the_figure_says_whose_durations_it_shows(log: Log) -> None:
    def note() -> str:
        return " ".join(text.get_text() for text in timeline(log).axes[0].texts)

    assert "The device is virtual: durations are the CPU's" in note()
    log.is_virtual = False
    assert "how long the GPU worked on them is not measured" in note()
    log.kernels.clear()
    assert "Kernels were not traced" in note()


def test_the_description_holds_the_numbers(log: Log) -> None:
    text = log.timeline().description
    for part in ("over 3 steps", "copies to device: 3 copies, 3.0 MiB", "cuda:0: 3 kernels", "host: 9 waits"):
        assert part in text


def test_it_shows_itself_with_alternative_text_and_without_pyplot(log: Log) -> None:
    before = matplotlib.pyplot.get_fignums()
    data, _ = log.timeline()._repr_mimebundle_()
    assert 'alt="Timeline of ' in data["text/html"] and "<script" not in data["text/html"]
    assert matplotlib.pyplot.get_fignums() == before


def test_nothing_recorded_makes_a_figure_all_the_same() -> None:
    assert "Timeline of 0 ms" in Log().timeline().description
    assert Log().timeline().png().startswith(b"\x89PNG")
