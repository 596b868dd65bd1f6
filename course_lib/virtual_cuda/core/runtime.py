"""What is switched on: the devices, their memory and random numbers, the log. One at a time, for the whole process."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import torch

from course_lib.virtual_cuda.core.ledger import Ledger
from course_lib.virtual_cuda.core.storage import ON_CPU, mark_class
from course_lib.virtual_cuda.log.recorder import Recorder

DEFAULT_NAME = "Virtual CUDA (this is the CPU)"
CPU = torch.device("cpu")
_numbers = itertools.count()


class ThreadState(threading.local):
    """What each thread has for itself."""

    def __init__(self) -> None:
        self.streams: dict[int, int] = {}
        """the current stream of each device, by number; 0, the default one, if not here"""

    device = 0
    """torch.cuda.current_device()"""
    asked: int | None = None
    """device that the Python call now running has asked for: an index, -1 for the CPU, None if it said nothing"""
    moving: int | None = None
    """device that a copy now being made is for"""
    mode: Any = None
    """the dispatch mode that is active in this thread"""
    quiet = 0
    """above 0: what happens now is not logged by itself, because it is part of something that is"""


@dataclass
class Runtime:
    """The state of virtual CUDA while it is on."""

    devices: int = 1
    memory: int | None = None
    """bytes of each device; None: no limit"""
    name: str | None = None
    same_numbers: bool = False
    """random numbers on the device are those that the CPU would draw"""
    forks: bool = False
    """forked children may use the devices: for a server that forks a process for each job"""
    log: Recorder = field(default_factory=Recorder)
    here: ThreadState = field(default_factory=ThreadState)

    def __post_init__(self) -> None:
        if not 1 <= self.devices <= len(_DEVICES):
            raise ValueError(f"{self.devices} virtual devices: there can be 1 to {len(_DEVICES)}.")
        if self.memory is not None and self.memory <= 0:
            raise ValueError(f"A memory limit of {self.memory} bytes leaves no room; give a positive number or None.")
        self.name = self.name or DEFAULT_NAME
        self.number = next(_numbers)
        """of the session, in this process"""
        self.ledgers = [Ledger(index, self.memory) for index in range(self.devices)]
        for ledger in self.ledgers:
            ledger.mark = mark_class(ledger)
        self.log.gauges = self.ledgers
        self.generators: list[torch.Generator] = []
        self.generator_addresses: MutableMapping[int, Any] = {}
        """all generators of virtual devices by the address of their C++ object: an operator gets no more than that"""
        self.caching = True
        """whether `caching_allocator_enable` says so; memory is counted alike"""
        self.forked = False
        """this process is a child of the one that switched on: as on CUDA, the devices cannot be used here"""
        self.over = False
        """switched off again; what outlives it is on the CPU"""
        self.mode_class: Any = None
        """the class of this session's dispatch modes"""
        self.adopt: Callable[[], None] = lambda: None
        """enter the dispatch mode in a thread that has none"""

    def device(self, index: int) -> torch.device:
        """`cuda:index`, or `cpu` for -1. The same object every time: it is asked for very often."""
        return CPU if index < 0 else _DEVICES[index]

    def resolve(self, device: Any) -> int:
        """The index that a device argument names: -1 for the CPU, -2 for anything else.

        Raises what torch raises for a device that does not exist.
        """
        if type(device) is not torch.device:
            if isinstance(device, Integral) and not isinstance(device, bool):
                if device < 0:
                    raise RuntimeError("Device index must not be negative")
                return self.checked(int(device))
            try:
                device = torch.device(device)
            except TypeError:
                return -2
        if device.type == "cpu":
            return -1
        if device.type != "cuda":
            return -2
        return self.checked(-1 if device.index is None else device.index)

    def checked(self, index: int) -> int:
        """`index` if there is such a device; the current one for -1."""
        if self.forked or self.here.mode is None:
            self.enter_thread()
        if index == -1:
            return self.here.device
        if not 0 <= index < self.devices:
            raise (
                torch.AcceleratorError(
                    "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?\n"
                    f"(virtual CUDA has {self.devices}; ask for more with virtual_cuda.enable(devices=...))"
                )
                if hasattr(torch, "AcceleratorError")
                else RuntimeError("CUDA error: invalid device ordinal")
            )
        return index

    def enter_thread(self) -> None:
        """The calling thread is about to use a device: one that was started before the mode was on has none yet."""
        if self.forked:
            raise RuntimeError(
                "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
                "'spawn' start method"
            )
        if self.here.mode is None:
            self.adopt()

    def forget_marks(self) -> None:
        """Every storage of this session is on the CPU from now on: the next session's devices are others."""
        for ledger in self.ledgers:
            ledger.mark.index = ON_CPU.index

    def ledger(self, index: int) -> Ledger | None:
        """The memory of a device; None for the CPU."""
        return self.ledgers[index] if index >= 0 else None


_DEVICES = [torch.device("cuda", index) for index in range(64)]
