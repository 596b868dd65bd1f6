"""PyTorch's own test database of operators, as cases.

Every float32 sample of every operator in `op_db` runs in several ways: plainly, backward, in inference mode, in place,
and with `out=`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from tests.course_lib.virtual_cuda.databases.covering import Case, Outcome, Tensor, attempt, moved, to_cuda

FORWARD, BACKWARD, INFERENCE, IN_PLACE, OUT = "forward", "backward", "inference mode", "in place", "out="
UNINITIALIZED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}
"""operators whose results are whatever was in memory; only their shapes are compared"""


@dataclass(frozen=True)
class Trial:
    """One way of calling an operator with one sample."""

    stage: str
    call: Callable[[Any], Any]
    """takes the tree of arguments"""
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    backward: bool = False


def operators() -> list[Any]:
    """All operators of PyTorch's database that take float32."""
    from torch.testing._internal.common_methods_invocations import op_db

    return [op for op in op_db if torch.float32 in op.dtypes]


def samples_of(op: Any) -> list[Any]:
    """All float32 samples of an operator, the same every time."""
    torch.manual_seed(0)
    random.seed(0)
    backward = op.supports_autograd and torch.float32 in op.backward_dtypes
    return list(op.sample_inputs("cpu", torch.float32, requires_grad=backward))


def arguments_of(sample: Any) -> Any:
    """The tree of a sample's arguments: `(input, args, kwargs)`."""
    return sample.input, tuple(sample.args), dict(sample.kwargs)


def as_called(op: Any) -> Callable[..., Any]:
    """The operator as a program calls it: `torch.name`, looked up at the call, not at the import of the database."""
    path = op.name.split(".")
    try:
        if reduce(getattr, path, torch) is op.op:
            return lambda *args, **kwargs: reduce(getattr, path, torch)(*args, **kwargs)
    except AttributeError:
        pass
    return op.op


def has_place(arguments: Any) -> bool:
    """Whether a sample's arguments say where its results are."""
    return any(isinstance(value, Tensor) or to_cuda(value) is not value for value in tree_leaves(arguments))


def trials(op: Any, sample: Any, expected: Any) -> Iterator[Trial]:
    """The ways in which a sample is tried. `expected`: the results of the plain call."""
    function = as_called(op)
    yield Trial(INFERENCE, lambda a: function(a[0], *a[1], **a[2]), torch.inference_mode)
    in_place = op.get_inplace()
    if in_place is not None and not sample.broadcasts_input and isinstance(sample.input, Tensor):
        yield Trial(IN_PLACE, lambda a: in_place(a[0], *a[1], **a[2]), torch.no_grad)
    if op.supports_out and tree_leaves(expected) and all(isinstance(r, Tensor) for r in tree_leaves(expected)):

        def with_out(arguments: Any) -> Any:
            device = next(t for t in tree_leaves(arguments) if isinstance(t, Tensor)).device
            # Filled, because some of torch's functions leave it as it is.
            out = tree_map(lambda r: torch.zeros_like(r, device=device, requires_grad=False), expected)
            return function(arguments[0], *arguments[1], **arguments[2], out=out)

        if any(isinstance(t, Tensor) for t in tree_leaves(arguments_of(sample))):
            yield Trial(OUT, with_out, torch.no_grad)


def operator_cases(op: Any) -> list[Case]:
    """All that is tried of one operator."""
    function, found = as_called(op), []
    plain = Trial(FORWARD, lambda a: function(a[0], *a[1], **a[2]), backward=True)
    for number, sample in enumerate(samples_of(op)):
        how = {"values": op.name not in UNINITIALIZED, "where": has_place(arguments_of(sample))}

        def run(on_device: bool, trial: Trial, sample: Any = sample) -> Outcome:
            return _run(trial, sample, on_device=on_device)

        first = run(False, plain)
        others = [] if first.error is not None else list(trials(op, sample, first.results))
        for trial in (plain, *others):
            wanted = first if trial is plain else run(False, trial)
            stages = (trial.stage, BACKWARD)
            found.append(Case(number, stages, partial(run, trial=trial), wanted, how, trial.around))
    return found


def _run(trial: Trial, sample: Any, *, on_device: bool) -> Outcome:
    with trial.around():
        arguments = moved(arguments_of(sample), lambda position: on_device)
        leaves = [t for t in tree_leaves(arguments) if isinstance(t, Tensor) and t.requires_grad]
        return attempt(lambda: trial.call(arguments), leaves if trial.backward else None, _prepare(sample))


def _prepare(sample: Any) -> Callable[[Any], Any]:
    return getattr(sample, "output_process_fn_grad", lambda results: results)
