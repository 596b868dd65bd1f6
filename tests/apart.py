"""A second process for what a framework settles once per process, which a test's own may have settled otherwise.

TensorFlow counts its devices when its runtime starts: then there is no room for virtual GPUs. Keras reads its back end
when it is imported, from a variable that a notebook may have set. And torch's compiler must come before TensorFlow, as
in the tests' own process (`tests/conftest.py`).
"""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar
from unittest import mock

from autograder.assignment import load_assignment
from tests.sampling import ROOT

T = TypeVar("T")
VIRTUAL_GPUS = "a7_tensorflow_graphs"
"""the assignment that switches on TensorFlow's virtual GPUs"""


@functools.cache
def _process(keras_backend: str) -> ProcessPoolExecutor:
    # Keras asks for torch's device once, too, when it is imported: before any virtual GPU is switched on.
    first = ["tests.conftest", *(["keras"] if keras_backend else [])]
    started = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(first,))
    with mock.patch.dict(os.environ):
        os.environ.pop("KERAS_BACKEND", None)
        if keras_backend:
            os.environ["KERAS_BACKEND"] = keras_backend
        started.submit(os.getpid).result()
    return started


def _begin(modules: list[str]) -> None:
    # pytest-xdist ends its workers without a word to their executors, and this process would wait for work for ever.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for module in modules:
        importlib.import_module(module)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "spawned by the executor"
    parent.join()
    os._exit(0)


def apart(function: Callable[..., Any], *arguments: Any, keras_backend: str = "") -> Any:
    """What `function`, one of a module, returns there; the process is started once and kept."""
    return _process(keras_backend).submit(function, *arguments).result()


def on_its_back_end(function: Callable[..., T], name: str, *arguments: Any) -> T:
    """`function` of an assignment, by its name: there if it has to be, else here."""
    backend = load_assignment(name, ROOT).keras_backend
    if backend or name == VIRTUAL_GPUS:
        found: T = apart(function, name, *arguments, keras_backend=backend)
        return found
    return function(name, *arguments)
