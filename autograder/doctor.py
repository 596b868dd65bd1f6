"""What this host can promise: how well strangers' code is confined, on which device, with which versions."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from autograder.kernels.zygote import forking_works
from autograder.sandbox import describe_host, probe

SHOWN = ("numpy", "torch", "torchvision", "tensorflow", "keras", "nbgrader", "jupyter-client", "ipykernel", "pytest")


def describe_installation() -> str:
    """What `autograder doctor` prints, plain text."""
    parts = [
        f"python {sys.version.split()[0]} on {platform.platform(terse=True)}",
        "",
        describe_host(probe()),
        "",
        _kernels(),
        _device(),
        "",
        *(f"{name:15} {_version(name)}" for name in SHOWN),
    ]
    return "\n".join(parts)


def _kernels() -> str:
    if forking_works():
        return (
            "kernels   forked from a warm process: a submission does not wait for torch and TensorFlow to be imported"
        )
    return "kernels   spawned cold: this platform cannot fork them, so each submission waits for its own imports"


def _device() -> str:
    # Asking torch would initialize CUDA in this process; the driver's device file answers as well.
    if Path("/dev/nvidia0").exists():
        return "device    an NVIDIA GPU is present; kernels do not use it in this version, and results say cpu"
    return "device    no GPU: results say cpu"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
