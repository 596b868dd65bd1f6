"""Streams and events. Work is done when it is asked for, but whether the host *knows* follows CUDA's rules.

A recorded event counts as completed once the host has waited: by `synchronize()` of the event, its stream or the
device, or by reading a result. `elapsed_time` before that is refused as on CUDA. Times are those of the CPU.
"""

from __future__ import annotations

import itertools
import time
import warnings
from typing import Any

import torch

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime
from course_lib.virtual_cuda.torch_api.classes import class_of_session, stand_in

CUDA_TYPE = 1
"""of C10's list of device types"""
SMALLEST_MS = 1e-6
WARN, ERROR = 1, 2


class Clock:
    """How often the host has waited for each device in this session, and what a wait costs in debug mode."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.waits = [0] * runtime.devices
        self.debug_mode = 0
        self.stream_numbers, self.event_numbers = itertools.count(1), itertools.count(1)
        self.stream_class = class_of_session(Stream, "torch.cuda.streams", clock=self)
        self.event_class = class_of_session(Event, "torch.cuda.streams", clock=self)

    def note_wait(self, what: str, device: int | None) -> None:
        """The log has heard that the host waits for a device; in debug mode only `synchronize` may make it."""
        asked = what == "synchronize"
        self.waits[self.runtime.here.device if device is None else max(device, 0)] += 1
        if not asked and self.debug_mode == ERROR:
            raise RuntimeError("called a synchronizing CUDA operation")
        if not asked and self.debug_mode == WARN:
            site = self.runtime.log.sites.here()
            warnings.warn_explicit("called a synchronizing CUDA operation", UserWarning, site.path, site.line)


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace `torch.cuda.Stream`, `torch.cuda.Event`, their generic kin and what the driver says of streams."""
    clock = Clock(runtime)
    stream, event = clock.stream_class, clock.event_class
    runtime.log.on_wait.append(clock.note_wait)
    patches.also(lambda: runtime.log.on_wait.remove(clock.note_wait))
    for owner in (torch.cuda, torch.cuda.streams):
        patches.set(owner, "Stream", stream)
        patches.set(owner, "Event", event)
    patches.set(torch, "Stream", _generic(runtime, torch.Stream, stream))
    patches.set(torch, "Event", _generic(runtime, torch.Event, event))

    def current(index: int = -1) -> tuple[int, int, int]:
        index = runtime.checked(index)
        return runtime.here.streams.get(index, 0), index, CUDA_TYPE

    def choose(stream_id: int, device_index: int, device_type: int = CUDA_TYPE) -> None:
        runtime.here.device = runtime.checked(device_index)
        runtime.here.streams[device_index] = stream_id

    def synchronize(index: int | None = None) -> None:
        runtime.log.sync("synchronize", runtime.here.device if index is None else runtime.checked(index))

    def made(data: tuple[int, int, int]) -> Any:
        return stream(stream_id=data[0], device_index=data[1], device_type=data[2])

    driver = {
        "_cuda_getCurrentStream": current,
        "_cuda_getDefaultStream": lambda index=-1: (0, runtime.checked(index), CUDA_TYPE),
        "_cuda_getCurrentRawStream": lambda index=-1: current(index)[0],
        "_cuda_setStream": choose,
        "_cuda_synchronize": synchronize,
        "_cuda_isCurrentStreamCapturing": lambda: False,
        "_cuda_get_sync_debug_mode": lambda: clock.debug_mode,
        "_cuda_set_sync_debug_mode": lambda mode: setattr(clock, "debug_mode", int(mode)),
        "_cuda_sleep": lambda cycles: None,
        "_accelerator_getStream": lambda index=-1: made(current(index)),
        "_accelerator_setStream": lambda s: choose(s.stream_id, s.device_index),
        "_accelerator_synchronizeDevice": synchronize,
    }
    for name, value in driver.items():
        patches.set(torch._C, name, value)
    # Bound by name when torch.cuda was imported.
    for owner in (torch.cuda, torch.cuda.graphs):
        for name in ("is_current_stream_capturing", "_cuda_isCurrentStreamCapturing"):
            if hasattr(owner, name):
                patches.set(owner, name, lambda: False)

    def record_stream(self: torch.Tensor, s: Any) -> None:
        """As `Tensor.record_stream`; memory is given back only when nothing uses it, so there is nothing to do."""
        if not self.is_cuda:
            raise NotImplementedError(
                "Could not run 'aten::record_stream' with arguments from the 'CPU' backend; it is for CUDA tensors."
            )

    patches.set(torch.Tensor, "record_stream", record_stream)


def _generic(runtime: Runtime, original: Any, ours: Any) -> Any:
    """`torch.Stream` or `torch.Event`: of a virtual device if one is named or nothing is, else the original."""

    def make(device: Any = None, *args: Any, **kwargs: Any) -> Any:
        if "stream_id" in kwargs:
            return ours(**kwargs) if kwargs.get("device_type") == CUDA_TYPE else original(**kwargs)
        index = runtime.here.device if device is None else runtime.resolve(device)
        if index < 0:
            return original(device, *args, **kwargs)
        return ours(*args, **kwargs) if issubclass(ours, Event) else ours(index, *args, **kwargs)

    return stand_in(original, make)


class Stream(torch.Stream):  # type: ignore[misc]
    """A stream of a virtual device: a name under which work is done, at once."""

    clock: Clock
    """of the session: an attribute of the session's own subclass"""
    _id: int
    _at: int
    _priority: int
    _before: list[tuple[int, int]]

    def __new__(cls, device: Any = None, priority: int = 0, **kwargs: Any) -> Any:
        # The C++ object is one of the CPU, where every build has streams, and is never asked anything.
        self: Any = super().__new__(cls, stream_id=0, device_index=0, device_type=0)
        if "stream_id" in kwargs:
            self._id, self._at = kwargs["stream_id"], kwargs["device_index"]
        else:
            self._id = next(cls.clock.stream_numbers)
            self._at = self.clock.runtime.here.device if device is None else self.clock.runtime.resolve(device)
            if self._at < 0:
                raise ValueError(f"Expected a cuda device, but got: {device}")
        self._priority = max(min(priority, 0), -5)
        self._before = []
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    device = property(lambda self: self.clock.runtime.device(self._at))
    device_index = property(lambda self: self._at)
    device_type = property(lambda self: CUDA_TYPE)
    stream_id = property(lambda self: self._id)
    cuda_stream = property(lambda self: self._id)
    native_handle = property(lambda self: self._id)
    priority = property(lambda self: self._priority)
    _as_parameter_ = property(lambda self: self._id)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Lowest and highest."""
        return 0, -5

    def wait_event(self, event: Any) -> None:
        """Nothing to do: what the event stands for is done."""

    def wait_stream(self, stream: Any) -> None:
        """Nothing to do: what the other stream was given is done."""

    def record_event(self, event: Any = None) -> Any:
        """Record an event, a new one if none is given."""
        event = self.clock.event_class() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        """Whether all work is done."""
        return True

    def synchronize(self) -> None:
        """Wait for the work of this stream."""
        self.clock.runtime.log.sync("synchronize", self._at)

    def is_capturing(self) -> bool:
        """Never: there are no graphs."""
        return False

    def __enter__(self) -> Any:
        streams = self.clock.runtime.here.streams
        self._before.append((self.clock.runtime.here.device, streams.get(self._at, 0)))
        self.clock.runtime.here.device = self._at
        streams[self._at] = self._id
        return self

    def __exit__(self, *error: object) -> None:
        self.clock.runtime.here.device, self.clock.runtime.here.streams[self._at] = self._before.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self._id, self._at) == (other._id, other._at)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self._id, self._at))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self._id:#x}>"

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._id


class Event(torch.Event):  # type: ignore[misc]
    """A moment in the work of a stream."""

    clock: Clock
    _id: int
    _at: int

    def __new__(
        cls,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> Any:
        self: Any = super().__new__(cls, device="cpu")
        self._timing = enable_timing
        self._id = 0
        self._at = -1
        self._asked = False
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    device = property(lambda self: self.clock.runtime.device(self._at) if self._id else None)
    event_id = property(lambda self: self._id)
    cuda_event = property(lambda self: self._id)
    _as_parameter_ = property(lambda self: self._id)

    def record(self, stream: Any = None) -> None:
        """Put this event behind the work of a stream, by default the current one."""
        at = self.clock.runtime.here.device if stream is None else stream.device_index
        if self._id and self._at != at:
            raise RuntimeError(f"Event device {self._at} does not match recording stream's device {at}.")
        self._id = self._id or next(self.clock.event_numbers)
        self._at = at
        self._waits = self.clock.waits[at]
        self._asked = False
        self._recorded_s = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Nothing to do: what the event stands for is done."""

    def _is_completed(self) -> bool:
        return not self._id or self._asked or self.clock.waits[self._at] > self._waits

    def query(self) -> bool:
        """Whether the event is completed. The first answer after recording is no, so that loops that wait end."""
        done = self._is_completed()
        self._asked = True
        return done

    def synchronize(self) -> None:
        """Wait for the event."""
        if self._id:
            self.clock.runtime.log.sync("synchronize", self._at)

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds from this event to the other.

        Raises ValueError if one has no timing or was not recorded, RuntimeError if one is not completed.
        """
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if not (self._id and end_event._id):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self._is_completed() and end_event._is_completed()):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        between = (end_event._recorded_s - self._recorded_s) * 1e3
        return max(between, SMALLEST_MS) if between >= 0 else between

    def ipc_handle(self) -> bytes:
        """Refused."""
        raise RuntimeError("Virtual CUDA's events stay in their process; there is no handle to share.")

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: Any) -> Any:
        """Refused."""
        raise RuntimeError("Virtual CUDA's events stay in their process; there is no handle to share.")

    def __repr__(self) -> str:
        return f"<torch.cuda.Event {self._id:#x}>" if self._id else "<torch.cuda.Event uninitialized>"
