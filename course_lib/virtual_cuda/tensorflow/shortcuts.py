"""What TensorFlow and Keras do differently where they see a GPU, and a CPU cannot, or not with the same numbers."""

from __future__ import annotations

import sys
from typing import Any

from tensorflow.python.distribute import collective_util, mirrored_strategy
from tensorflow.python.distribute.cross_device_ops import CollectiveAllReduce

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.tensorflow.state import State

_collectives = mirrored_strategy.MirroredExtended._make_collective_ops_with_fallbacks


def install(state: State, patches: Patches) -> None:
    """Keep to the CPU's way in these places. On a real GPU nothing is changed."""
    if not state.physical:
        return
    patches.set(mirrored_strategy.MirroredExtended, "_make_collective_ops_with_fallbacks", _ring)
    # cuDNN's recurrent layers and NCHW convolutions have no kernels on a CPU.
    _answer(patches, "keras.src.backend.tensorflow.rnn", "_is_gpu_available", False)
    _answer(patches, "keras.src.backend.tensorflow.nn", "_cpu_only", True)
    # XLA, which Keras takes unasked where there is a GPU, draws and rounds otherwise.
    trainer = sys.modules.get("keras.src.trainers.trainer")
    if trainer is not None and trainer.backend.backend() == "tensorflow":
        patches.set(trainer.Trainer, "_resolve_auto_jit_compile", lambda model: False)


def _answer(patches: Patches, module: str, name: str, value: bool) -> None:
    owner = sys.modules.get(module)
    if owner is not None and hasattr(owner, name):
        patches.set(owner, name, lambda: value)


def _ring(extended: Any) -> Any:
    """TensorFlow's own choice for logical devices: ring all-reduce, as NCCL wants physical GPUs."""
    made = _collectives(extended)
    if isinstance(made, CollectiveAllReduce):
        ring = collective_util.Options(implementation=collective_util.CommunicationImplementation.RING)
        extended._communication_options = made._options = ring
    return made
