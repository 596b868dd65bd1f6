"""Load several frameworks into one process: quietly, and in an order in which they get along.

TensorFlow's libraries write to the error stream while they are imported, before they read how much they should say.
PyTorch's compiler, which every optimizer imports at its first step, must be loaded before TensorFlow: with TensorFlow
2.21 in the process that import of torch 2.14 ends it (SIGSEGV). A notebook calls `prepare` first and then imports as
everyone does.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["prepare", "value_and_gradients"]

QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "3",  # native log lines: none but fatal ones
    "TF_ENABLE_ONEDNN_OPTS": "0",  # the same sums in the same order on every machine; also ends a line of the log
    "KERAS_BACKEND": "tensorflow",
    "JAX_PLATFORMS": "cpu",
}
"""environment variables, set where the user has not set them"""


def prepare(*names: str) -> None:
    """Make ready for `import torch`, `import tensorflow`, `import keras`, `import jax`, those of `names`, in any order.

    Environment variables that the user has set are left as they are.

    Raises ValueError for a name it does not know, and RuntimeError where it is too late: TensorFlow is there already
    and PyTorch's compiler is not.
    """
    unknown = set(names) - {"torch", "tensorflow", "keras", "jax"}
    if unknown:
        raise ValueError(f"prepare: {sorted(unknown)} is not known; name torch, tensorflow, keras or jax")
    for variable, value in QUIET.items():
        os.environ.setdefault(variable, value)
    if "torch" in names and "torch._dynamo" not in sys.modules:
        if "tensorflow" in sys.modules:
            raise RuntimeError(
                "prepare: TensorFlow was imported before PyTorch, and the two would end this process at the first "
                "step of an optimizer; restart the kernel and call prepare before any import"
            )
        importlib.import_module("torch._dynamo")
    if {"tensorflow", "keras"} & set(names) and "tensorflow" not in sys.modules:
        with _without_log_lines():
            tensorflow = importlib.import_module("tensorflow")
            tensorflow.config.list_physical_devices()  # looks for a GPU driver, and says so where there is none


def value_and_gradients(function: Callable[[], Any], variables: Sequence[Any]) -> tuple[Any, list[Any]]:
    """What `function()` returns, and the gradient of its loss with respect to each Keras variable.

    The loss is what it returns or, of a tuple, the first part. Where it does not depend on a variable, the gradient is
    0. Keras has no function for gradients; this one works on its back ends for PyTorch and TensorFlow.
    """
    import keras

    def loss_of(returned: Any) -> Any:
        return returned[0] if isinstance(returned, tuple) else returned

    if keras.backend.backend() == "torch":
        import torch

        returned = function()
        values = [variable.value for variable in variables]
        found = torch.autograd.grad(loss_of(returned), values, allow_unused=True, materialize_grads=True)
        return keras.tree.map_structure(lambda part: part.detach() if torch.is_tensor(part) else part, returned), [
            *found
        ]
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            returned = function()
        values = [variable.value for variable in variables]
        return returned, tape.gradient(loss_of(returned), values, unconnected_gradients="zero")
    raise NotImplementedError(f"value_and_gradients knows PyTorch and TensorFlow, not {keras.backend.backend()}")


_LOG_LINE = re.compile(
    rb"WARNING: All log messages before absl::InitializeLog"
    rb"|[IW]\d{4} [\d:.]+ +\d+ \S+\.cc:\d+\]"
    rb"|E\d{4} .* failed call to cuInit: .*\(303\)"
)
"""how TensorFlow's libraries mark what is for information (I) or a warning (W). Errors (E) and the rest are kept, but
for error 303: no driver, because no GPU, and no error of anybody's."""


@contextmanager
def _without_log_lines() -> Iterator[None]:
    """Leave native log lines out of what the block writes to the error stream; the rest is written at its end."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as written:
        os.dup2(written.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
            written.seek(0)
            rest = b"".join(line for line in written if not _LOG_LINE.match(line))
            if rest:
                os.write(2, rest)
