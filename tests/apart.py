"""A second process for what a framework settles once per process, which a test's own may have settled otherwise.

TensorFlow counts its devices when its runtime starts: then there is no room for virtual GPUs. Keras reads its back end
when it is imported. And whichever is imported first, torch's compiler must come before TensorFlow, as in the tests' own
process (`tests/conftest.py`).
"""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any
from unittest import mock


@functools.cache
def _process(keras_backend: str) -> ProcessPoolExecutor:
    started = ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), initializer=importlib.import_module, initargs=("tests.conftest",)
    )
    chosen = {"KERAS_BACKEND": keras_backend} if keras_backend else {}
    with mock.patch.dict(os.environ, chosen):
        started.submit(os.getpid).result()
    return started


def apart(function: Callable[..., Any], *arguments: Any, keras_backend: str = "") -> Any:
    """What `function`, one of a module, returns there; the process is started once and kept."""
    return _process(keras_backend).submit(function, *arguments).result()
