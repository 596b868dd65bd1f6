"""PyTorch's own test database of modules, run on the CPU and on the virtual device.

Every float32 sample of every module in `module_db`, in training and in evaluation: what it returns, its buffers
afterwards, and the gradients of its parameters and inputs must be equal bit for bit, and on the device.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from tests.course_lib.virtual_cuda.databases.covering import Case, Outcome, attempt, moved

Tensor = torch.Tensor
MODULE, MODULE_BACKWARD = "module", "module, backward"


@dataclass(frozen=True)
class Sample:
    """One way to make and to call a module."""

    make: Any
    """the class"""
    settings: Any
    """what it is made with: `.args` and `.kwargs`"""
    arguments: Any
    """the tree that it is called with: `(args, kwargs)`"""
    training: bool

    def module(self) -> torch.nn.Module:
        """Made on the CPU, with the same parameters every time."""
        torch.manual_seed(0)
        return self.make(*self.settings.args, **self.settings.kwargs).train(self.training)


def modules() -> list[Any]:
    """All modules of PyTorch's database that take float32."""
    from torch.testing._internal.common_modules import module_db

    return [info for info in module_db if torch.float32 in info.dtypes]


def samples_of(info: Any) -> Iterator[Sample]:
    """All float32 samples of a module, the same every time; in training and in evaluation."""
    for training in (True, False):
        torch.manual_seed(0)
        random.seed(0)
        function = info.module_inputs_func
        made = function(info, device="cpu", dtype=torch.float32, requires_grad=True, training=training)
        for one in made:
            if one.forward_input is not None:
                called = one.forward_input
                yield Sample(
                    info.module_cls, one.constructor_input, (tuple(called.args), dict(called.kwargs)), training
                )


def module_cases(info: Any) -> list[Case]:
    """All that is tried of one module."""
    found = []
    for number, sample in enumerate(samples_of(info)):
        run_it = functools.partial(run, sample)
        found.append(Case(number, (MODULE, MODULE_BACKWARD), run_it, run_it(False)))
    return found


def run(sample: Sample, on_device: bool) -> Outcome:
    """Make the module, move it, call it, go back. The results: what it returns, and its buffers after the call."""
    module = sample.module().to("cuda" if on_device else "cpu")
    args, kwargs = moved(sample.arguments, lambda position: on_device)
    inputs = [t for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor) and t.requires_grad]
    if any(isinstance(p, torch.nn.parameter.UninitializedTensorMixin) for p in module.parameters()):
        with torch.no_grad():
            module(*args, **kwargs)
    leaves = [*(p for p in module.parameters() if p.requires_grad), *inputs]
    return attempt(lambda: (module(*args, **kwargs), dict(module.named_buffers())), leaves, lambda results: results)
