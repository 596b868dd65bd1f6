"""The line of the program that something happened for: past TensorFlow, Keras and what Python has in between."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from tensorflow.python.util import tf_stack

_HERE = os.path.dirname(__file__)
_GENERATED = "__autograph_generated_file"
_BETWEEN = ("contextlib.py", "threading.py", "functools.py")
# Where a `with tf.device(...)` line of the program passes through on its way here.
_DEVICE_PATH = tuple(
    os.path.join("python", *parts)
    for parts in (
        ("eager", "context.py"),
        ("framework", "ops.py"),
        ("util", "dispatch.py"),
        ("util", "tf_contextlib.py"),
        ("util", "traceback_utils.py"),
    )
)


def program_site() -> str:
    """`file:line` of the nearest caller that is the program's own; `""` if there is none."""
    file, line = _nearest(lambda file, name: _is_library(file))
    return f"{file}:{line}" if file else ""


def device_site() -> str:
    """`file:line` of the `tf.device` that is being entered, `""` if TensorFlow or Keras enters it for itself."""
    file, line = _nearest(lambda file, name: _is_on_the_way(file) or name == "device_scope")
    return f"{file}:{line}" if file and not _is_library(file) else ""


def _nearest(passes: Callable[[str, str], bool]) -> tuple[str, int]:
    """File and line of the nearest frame, outwards from here, that `passes(file, function)` does not skip."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if _GENERATED in file:
            return _nearest_source(passes)
        if not passes(file, frame.f_code.co_name):
            return file, frame.f_lineno
        frame = frame.f_back
    return "", 0


def _nearest_source(passes: Callable[[str, str], bool]) -> tuple[str, int]:
    """The same by TensorFlow's own, slower walk, which knows where code that AutoGraph rewrote comes from."""
    for frame in reversed(tf_stack.extract_stack()):
        if not passes(frame.filename, frame.name):
            return frame.filename, frame.lineno
    return "", 0


@functools.cache
def _is_on_the_way(file: str) -> bool:
    return file.startswith(_HERE) or file.endswith(_BETWEEN + _DEVICE_PATH)


@functools.cache
def _is_library(file: str) -> bool:
    return file.startswith((_HERE, *_libraries())) or file.endswith(_BETWEEN)


@functools.cache
def _libraries() -> tuple[str, ...]:
    found = (getattr(sys.modules.get(name), "__file__", None) for name in ("tensorflow", "keras", "tf_keras"))
    return tuple(os.path.dirname(file) + os.sep for file in found if file)
