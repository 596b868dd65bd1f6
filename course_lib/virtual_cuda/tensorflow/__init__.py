"""GPUs for TensorFlow on a machine without one.

    from course_lib.virtual_cuda import tensorflow as virtual_gpus
    log = virtual_gpus.enable(devices=2)    # before the first tensor

An unmodified program then finds GPU:0 and GPU:1: `tf.config` lists them, `tf.device("/GPU:1")` enters them, tensors and
variables say that they lie there, `tf.distribute.MirroredStrategy()` trains on both. All of it is computed by the CPU,
with its numbers. TensorFlow copies between devices silently, so nothing is refused that TensorFlow would not refuse;
what can be checked is placement, and the log has it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.virtual_cuda.core.patches import Patches
    from course_lib.virtual_cuda.tensorflow.log import Log
    from course_lib.virtual_cuda.tensorflow.state import State

__all__ = ["disable", "enable", "is_enabled", "placement", "session"]

_depth = 0
_state: State | None = None
_patches: Patches | None = None


def enable(devices: int = 1, *, force: bool = False, quiet: bool = False) -> Log:
    """Switch the virtual GPUs on, and return the log. May be nested: the outermost call decides.

    `devices`: how many, at least 1. With a real GPU the program runs on that and is only watched, unless `force`.
    `quiet`: do not say that the GPUs are virtual.

    Raises RuntimeError if TensorFlow's runtime has started with too few logical CPUs to stand in for them: they are
    made once, before the first tensor.
    """
    global _depth
    if devices < 1:
        raise ValueError(f"devices={devices}: there must be at least one.")
    if _depth == 0:
        said = _switch_on(devices, force)
        if not quiet:
            print(said, file=sys.stderr)
    _depth += 1
    assert _state is not None
    return _state.log


def disable() -> None:
    """Switch them off: TensorFlow's Python is as it was before.

    Tensors, variables and traced functions stay, on logical CPUs. A runtime that has started keeps its CPU:1 and
    further until the process ends; one that has not is given back its one CPU.
    """
    global _depth, _state, _patches
    if _depth == 0:
        return
    _depth -= 1
    if _depth:
        return
    from tensorflow.python.eager import context

    assert _state is not None and _patches is not None
    _patches.undo()
    ctx = context.context()
    if _state.physical and ctx._context_handle is None:
        cpu = ctx.list_physical_devices("CPU")[0]
        ctx._virtual_device_map.pop(cpu, None)
        if real := ctx.list_physical_devices("GPU"):
            ctx.set_visible_devices(real, "GPU")
        if _state.cpus:
            ctx.set_logical_device_configuration(cpu, _state.cpus)
    _state = _patches = None


def is_enabled() -> bool:
    """Whether the virtual GPUs are on."""
    return _depth > 0


@contextlib.contextmanager
def session(devices: int = 1, **settings: Any) -> Iterator[Log]:
    """`with session(devices=2) as log:` switches on, and off at the end. The settings are `enable`'s."""
    log = enable(devices, **settings)
    try:
        yield log
    finally:
        disable()


def placement(value: Any) -> str:
    """Where a tensor or variable lies: `"GPU:0"`, `"CPU:0"`; `"GPU:0,GPU:1"` if mirrored; `""` if not yet decided.

    Keras variables, and values of a strategy, too. What is none of TensorFlow's lies on the host: `"CPU:0"`.
    """
    from course_lib.virtual_cuda.tensorflow.names import short

    parts = getattr(value, "values", None)
    if isinstance(parts, tuple):
        return ",".join(placement(part) for part in parts)
    held = getattr(value, "value", None)
    if held is not None and not callable(held):
        return placement(held)
    device = getattr(value, "device", None)
    # NumPy's arrays have a device too, "cpu".
    return short(device) if isinstance(device, str) and (not device or ":" in device) else "CPU:0"


def _switch_on(devices: int, force: bool) -> str:
    """Install everything, and say in a sentence what the program now runs on."""
    global _state, _patches
    from tensorflow.python.eager import context

    from course_lib.virtual_cuda.core.patches import Patches
    from course_lib.virtual_cuda.tensorflow import config, eager, graphs, shortcuts
    from course_lib.virtual_cuda.tensorflow.log import Log
    from course_lib.virtual_cuda.tensorflow.state import State

    ctx = context.context()
    real = ctx.list_physical_devices("GPU")
    virtual = force or not real
    state = State(Log(), [])
    if virtual:
        state.physical = [context.PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(devices)]
        state.visible = list(state.physical)
        config.prepare(state, ctx)
    patches = Patches()
    try:
        for part in (eager, graphs, config, shortcuts):
            part.install(state, patches)
    except BaseException:
        patches.undo()
        raise
    _state, _patches = state, patches
    if not virtual:
        return f"There is a real GPU ({real[0].name}): the program runs on it, and is only watched."
    return f"Virtual GPUs are on: there is no GPU here, GPU:0 to GPU:{devices - 1} are the CPU. Times are the CPU's."
