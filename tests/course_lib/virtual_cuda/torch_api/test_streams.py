"""Streams and events: what the host may know, and when."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import torch

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def cuda() -> Iterator[Any]:
    """Two virtual devices."""
    with virtual_cuda.session(devices=2, force=True, quiet=True) as log:
        yield log


def timed() -> tuple[Any, Any]:
    """Two recorded events with some work between them."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    torch.ones(100, device="cuda").sum()
    end.record()
    return start, end


WAITS: dict[str, Callable[[Any], object]] = {
    "the device": lambda end: torch.cuda.synchronize(),
    "the accelerator": lambda end: torch.accelerator.synchronize(),
    "the event": lambda end: end.synchronize(),
    "the stream": lambda end: torch.cuda.current_stream().synchronize(),
    "a number": lambda end: torch.ones(1, device="cuda").item(),
    "a copy": lambda end: torch.ones(1, device="cuda").cpu(),
    "a loop": lambda end: [None for _ in iter(end.query, True)],
}


@pytest.mark.parametrize("wait", WAITS)
def test_elapsed_time_is_known_after_waiting_for(wait: str) -> None:
    start, end = timed()
    with pytest.raises(RuntimeError, match=r"Both events must be completed before calculating elapsed time\."):
        start.elapsed_time(end)
    WAITS[wait](end)
    if wait == "a loop":
        start.synchronize()
    assert 0 < start.elapsed_time(end) < 60_000


def test_waiting_for_another_device_is_not_enough() -> None:
    start, end = timed()
    torch.cuda.synchronize(1)
    with pytest.raises(RuntimeError, match="must be completed"):
        start.elapsed_time(end)


def test_events_without_timing_or_record_are_refused() -> None:
    plain, fresh = torch.cuda.Event(), torch.cuda.Event(enable_timing=True)
    with pytest.raises(ValueError, match="must be created with argument 'enable_timing=True'"):
        plain.elapsed_time(fresh)
    with pytest.raises(ValueError, match="must be recorded before calculating"):
        fresh.elapsed_time(fresh)
    assert fresh.query() and repr(fresh) == "<torch.cuda.Event uninitialized>"


def test_an_event_belongs_to_the_device_that_recorded_it() -> None:
    event = torch.cuda.Event()
    event.record()
    with pytest.raises(RuntimeError, match="Event device 0 does not match recording stream's device 1"):
        event.record(torch.cuda.Stream("cuda:1"))


def test_streams_are_chosen_and_given_back() -> None:
    side, other = torch.cuda.Stream(), torch.cuda.Stream(device="cuda:1", priority=-1)
    assert torch.cuda.current_stream() == torch.cuda.default_stream() != side
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        with torch.cuda.stream(other):
            assert (torch.cuda.current_device(), torch.cuda.current_stream()) == (1, other)
        assert torch.cuda.current_stream() == side
    with side:
        assert torch.accelerator.current_stream() == side
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    torch.cuda.set_stream(side)
    assert torch.cuda.current_stream() == side
    assert len({side, torch.cuda.current_stream(), other}) == 2
    assert other.priority == -1 and other.device == torch.device("cuda:1")
    with torch.cuda.stream(None):
        pass


def test_the_usual_dance_of_two_streams() -> None:
    side = torch.cuda.Stream()
    x = torch.ones(3, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
        done = side.record_event()
    torch.cuda.current_stream().wait_event(done)
    y.record_stream(torch.cuda.current_stream())
    assert side.query() and (y + x).tolist() == [3, 3, 3]
    with pytest.raises(NotImplementedError, match="record_stream"):
        torch.ones(1).record_stream(side)


def test_generic_streams_and_events_are_the_device_s() -> None:
    stream, event = torch.Stream(device="cuda:1"), torch.Event("cuda", enable_timing=True)
    assert stream.device == torch.device("cuda:1") and isinstance(stream, torch.cuda.Stream)
    assert isinstance(torch.cuda.Stream(), torch.Stream) and isinstance(event, torch.Event)
    assert torch.Stream("cpu").device.type == "cpu"
    assert issubclass(torch.cuda.Stream, torch.Stream)

    class Own(torch.Event):
        """As torch's compiler has one."""

    assert isinstance(Own("cuda"), torch.cuda.Event)


def test_waits_are_in_the_log(cuda: Any) -> None:
    timed()[1].synchronize()
    torch.cuda.synchronize()
    assert [one.what for one in cuda.syncs] == ["synchronize", "synchronize"]
    assert "test_streams.py" in cuda.syncs[0].where


def test_the_debug_mode_finds_what_waits_by_itself() -> None:
    x = torch.ones(3, device="cuda")
    torch.cuda.set_sync_debug_mode("error")
    torch.cuda.synchronize()
    with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
        x.sum().item()
    torch.cuda.set_sync_debug_mode("warn")
    with pytest.warns(UserWarning, match="called a synchronizing CUDA operation") as notes:
        x.cpu()
    assert notes[0].filename == __file__
    torch.cuda.set_sync_debug_mode("default")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.sum().item()
