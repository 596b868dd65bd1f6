"""The device files through which a program uses this host's NVIDIA GPUs."""

from __future__ import annotations

import re
from pathlib import Path

_NODE = re.compile(r"nvidia\d+|nvidiactl|nvidia-uvm|dxg")
"""one for each GPU, the driver's own, its shared memory's; under WSL 2 there is one for all"""


def device_files(dev: Path = Path("/dev")) -> tuple[Path, ...]:
    """What a box must show for CUDA to work in it; empty on a host without a GPU.

    Asking torch would initialize CUDA, and no process that has can be forked into one that uses it.
    """
    return tuple(sorted(path for path in dev.iterdir() if _NODE.fullmatch(path.name))) if dev.is_dir() else ()


def count(dev: Path = Path("/dev")) -> int:
    """How many GPUs have a device file."""
    return sum(path.name[-1].isdecimal() or path.name == "dxg" for path in device_files(dev))
