"""What one lecture needs and is not itself the lesson. Each name is loaded when a notebook first asks for it.

The modules are named for what they hold; from those with one public name, that name can be imported from here.
"""

from __future__ import annotations

import importlib
from typing import Any

NAMES = {
    "Spans": "time_spans",
    "every_outcome": "exact_probability",
    "placement_log": "tensorflow_placement",
    "puzzle": "tensor_puzzles",
}
MODULES = (
    "compilers",
    "custom_modules",
    "datasets_and_dataloaders",
    "distributed",
    "distributed_training",
    "exact_probability",
    "faulty_loops",
    "framework_costs",
    "from_pseudocode_to_code",
    "gpu_training",
    "hardware_and_frameworks",
    "keras",
    "keras_backends",
    "nn_and_optim",
    "numpy_backprop",
    "one_model_every_framework",
    "playground",
    "pytorch_autograd",
    "pytorch_tensors",
    "roofline",
    "softmax_and_cross_entropy",
    "static_and_dynamic_graphs",
    "tensor_puzzles",
    "tensorflow_eager",
    "tensorflow_placement",
    "tensorflow_static_graphs",
    "time_spans",
    "training_and_evaluation",
    "worker_datasets",
)
__all__ = [*NAMES, *MODULES]


def __getattr__(name: str) -> Any:
    if name in NAMES:
        return getattr(importlib.import_module(f"{__name__}.{NAMES[name]}"), name)
    if name in MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
