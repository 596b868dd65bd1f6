"""A second process for what TensorFlow settles once per process: how many devices there are.

A test's own process may have started TensorFlow's runtime already, with one CPU and no room for virtual GPUs.
"""

from __future__ import annotations

import functools
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any


@functools.cache
def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function`, one of a module, returns there; it is started once and kept."""
    return _process().submit(function, *arguments).result()
