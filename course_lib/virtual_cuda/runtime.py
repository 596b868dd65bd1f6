"""What is switched on: the devices, their memory and random numbers, the log. One at a time, for the whole process."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import torch

from course_lib.virtual_cuda.log import Log
from course_lib.virtual_cuda.storage import Ledger

DEFAULT_NAME = "Virtual CUDA (this is the CPU)"
CPU = torch.device("cpu")


class InThread(threading.local):
    """What each thread has for itself."""

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
    log: Log = field(default_factory=Log)
    here: InThread = field(default_factory=InThread)

    def __post_init__(self) -> None:
        if not 1 <= self.devices <= len(_DEVICES):
            raise ValueError(f"{self.devices} virtual devices: there can be 1 to {len(_DEVICES)}.")
        if self.memory is not None and self.memory <= 0:
            raise ValueError(f"A memory limit of {self.memory} bytes leaves no room; give a positive number or None.")
        self.name = self.name or DEFAULT_NAME
        self.ledgers = [Ledger(index, self.memory) for index in range(self.devices)]
        self.generators: list[torch.Generator] = []
        for index in range(self.devices):
            self.generators.append(torch._C.Generator())
            self.generators[index].manual_seed(_device_seed(torch.initial_seed()))

    def device(self, index: int) -> torch.device:
        """`cuda:index`, or `cpu` for -1. The same object every time: it is asked for very often."""
        return CPU if index < 0 else _DEVICES[index]

    def resolve(self, device: Any) -> int:
        """The index that a device argument names: -1 for the CPU, -2 for anything that is neither CPU nor CUDA.

        Raises what torch raises for a device that does not exist.
        """
        if type(device) is not torch.device:
            if isinstance(device, bool) or not isinstance(device, (int, str)):
                device = torch.device(device)
            elif isinstance(device, int):
                return self.checked(device)
            else:
                device = torch.device(device)
        if device.type == "cpu":
            return -1
        if device.type != "cuda":
            return -2
        return self.here.device if device.index is None else self.checked(device.index)

    def checked(self, index: int) -> int:
        """`index` if there is such a device; the current one for -1."""
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

    def ledger(self, index: int) -> Ledger | None:
        """The memory of a device; None for the CPU."""
        return self.ledgers[index] if index >= 0 else None


_DEVICES = [torch.device("cuda", index) for index in range(64)]


def _device_seed(seed: int) -> int:
    """Another stream than the CPU's from the same seed, as on CUDA, whose generator is another algorithm."""
    return (seed * 0x9E3779B97F4A7C15 + 0x1234567) % (1 << 63)
