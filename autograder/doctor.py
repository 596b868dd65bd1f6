"""What this host can promise: how well strangers' code is confined, on which device, with which versions."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from autograder.kernels.zygote import forking_works
from autograder.report.words import plural
from autograder.sandbox import describe_host, gpu, probe

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
    if number := gpu.count():
        return f"device    {plural(number, 'GPU')}, used with `grade --device cuda`, in tier gpu at most"
    return "device    no GPU: code for CUDA runs on virtual CUDA, which is the CPU under CUDA's rules"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
