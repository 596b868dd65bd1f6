"""What the program has been told of its virtual GPUs, and may still change before the runtime starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from course_lib.virtual_cuda.tensorflow.log import Log
from course_lib.virtual_cuda.tensorflow.memory import Memory
from course_lib.virtual_cuda.tensorflow.names import Names

DETAILS = {"device_name": "Virtual GPU (CPU)", "compute_capability": (8, 0)}
"""what `get_device_details` answers"""


@dataclass
class State:
    """One switched-on session."""

    log: Log
    physical: list[Any]
    """`tf.config.PhysicalDevice`s; empty where a real GPU is only watched"""
    visible: list[Any] = field(default_factory=list)
    cpus: list[Any] = field(default_factory=list)
    """`LogicalDeviceConfiguration`s that the program wants for the host; empty: one"""
    split: dict[Any, list[Any]] = field(default_factory=dict)
    """physical GPU -> its `LogicalDeviceConfiguration`s; absent: one"""
    growth: dict[Any, bool | None] = field(default_factory=dict)
    log_placement: bool = False
    """print "Executing op ... in device ..." """
    names: Names = field(default_factory=Names)
    memory: Memory = field(default_factory=Memory)

    def divide(self) -> int:
        """Settle the names for the current settings, and say how many logical CPUs the runtime must have."""
        logical = sum(len(self.split.get(device) or [None]) for device in self.visible)
        cpus = len(self.cpus) or 1
        self.names = Names(cpus, logical)
        return cpus + logical
