"""The same run on the CPU and on the virtual device, and what differs.

Results and gradients must be equal bit for bit, on the device, and give their memory back.

While any dispatch mode is active, some composite functions of torch's C++ take another way to the same result
(`isTensorSubclassLike`). A run that differs is therefore done once more on the CPU, under a mode that does nothing: if
it is equal to that bit for bit, and close to the plain run, it is counted as watched instead of wrong.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from course_lib import virtual_cuda
from course_lib.virtual_cuda.core import dispatch, operators

Tensor = torch.Tensor
MEMORY = "memory given back"
ROUNDING = 1e-4
"""how far a watched run may be from the plain one, absolute and relative"""
NUMBERS = ("another value", "strides")
"""how a difference begins that may come from another way to the same result"""
TOGETHER = 24
"""operators in one session: opening one costs as much as some hundred samples"""


@dataclass(frozen=True)
class Failure:
    """One sample that was not right."""

    stage: str
    name: str
    """of the operator or module"""
    sample: int
    why: str


@dataclass
class Tally:
    """What was tried and what failed, by stage and operator."""

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    watched: Counter[tuple[str, str]] = field(default_factory=Counter)
    """samples that are equal bit for bit to a CPU run under a mode, and to one without only nearly"""

    def note(self, stage: str, name: str, sample: int, why: str) -> None:
        """Count one sample; `why` is empty if it is right."""
        self.tried[stage, name] += 1
        if why:
            self.failures.append(Failure(stage, name, sample, why))

    def failed(self) -> Counter[tuple[str, str]]:
        """How many samples failed, by stage and operator."""
        return Counter((f.stage, f.name) for f in self.failures)

    def add(self, other: Tally) -> None:
        """Take another tally's counts in."""
        self.tried += other.tried
        self.failures += other.failures
        self.watched += other.watched


@dataclass
class Outcome:
    """What one call gave."""

    results: Any = None
    error: Exception | None = None
    gradients: Any = None
    backward_error: Exception | None = None

    def copied(self) -> Outcome:
        """With tensors of its own, which are not on the device."""
        return Outcome(_copied(self.results), self.error, _copied(self.gradients), self.backward_error)


def _copied(tree: Any) -> Any:
    def copy(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        return value.detach().clone().requires_grad_(value.requires_grad)

    with _disable_current_modes(), torch.inference_mode(False), torch.no_grad():
        return tree_map(copy, tree)


def moved(tree: Any, on_device: Callable[[int], bool]) -> Any:
    """A copy of a tree of CPU tensors: the k-th is on cuda:0 if `on_device(k)`, device arguments if all are."""
    position = iter(range(1 << 30))

    def move(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return to_cuda(value) if on_device(-1) else value
        with torch.no_grad():
            made = value.detach().clone()
            if on_device(next(position)):
                made = made.to("cuda:0")
        return made.requires_grad_() if value.requires_grad else made

    return tree_map(move, tree)


def to_cuda(value: Any) -> Any:
    """A device argument that names the CPU, as one that names cuda:0; anything else as it is."""
    if isinstance(value, torch.device) and value.type == "cpu":
        return torch.device("cuda:0")
    return "cuda:0" if isinstance(value, str) and value == "cpu" else value


def attempt(call: Callable[[], Any], leaves: list[Tensor] | None, prepare: Callable[[Any], Any]) -> Outcome:
    """Run the call, and backward from all its results to the leaves if there are any."""
    torch.manual_seed(0)
    try:
        results = call()
    except Exception as error:
        return Outcome(error=error.with_traceback(None))
    outcome = Outcome(results)
    if leaves:
        try:
            outcome.gradients = _gradients(prepare(results), leaves)
        except Exception as error:
            outcome.backward_error = error.with_traceback(None)
    return outcome


def _gradients(results: Any, leaves: list[Tensor]) -> Any:
    ends = [r for r in tree_leaves(results) if isinstance(r, Tensor) and r.requires_grad]
    if not ends:
        return None
    starts = [torch.linspace(0.5, 1.5, e.numel()).reshape(e.shape).to(e.dtype).to(e.device) for e in ends]
    return torch.autograd.grad(ends, leaves, starts, allow_unused=True)


def difference(expected: Any, found: Any, *, values: bool = True, where: bool = True) -> str:
    """Why the device's results are not the CPU's, in words; empty if they are, and (if `where`) on the device."""
    ours, theirs = tree_leaves(found), tree_leaves(expected)
    if len(ours) != len(theirs):
        return f"{len(ours)} results instead of {len(theirs)}"
    if where and any(isinstance(one, Tensor) and not one.is_cuda for one in ours):
        return "a result on the CPU"
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, Tensor) != isinstance(other, Tensor):
            return f"{type(one).__name__} instead of {type(other).__name__}"
        if not isinstance(one, Tensor):
            if one != other and (one == one or other == other) and to_cuda(other) != one:
                return f"{one} instead of {other}"
        else:
            with torch.no_grad(), _disable_current_modes():
                why = _tensor_difference(other, one, values)
            if why:
                return why
    return ""


def _tensor_difference(expected: Tensor, found: Tensor, values: bool) -> str:
    for what in ("dtype", "shape", "layout", "requires_grad"):
        if getattr(expected, what) != getattr(found, what):
            return f"{what} {getattr(found, what)} instead of {getattr(expected, what)}"
    one, other = expected.detach(), found.detach()
    if one.layout is not torch.strided:
        one, other = one.to_dense(), other.to_dense()
    elif one.stride() != other.stride():
        return f"strides {other.stride()} instead of {one.stride()}"
    if one.dtype is torch.complex32:
        one, other = one.to(torch.complex64), other.to(torch.complex64)
    if not values or torch.equal(one, other) or torch.allclose(one, other, rtol=0, atol=0, equal_nan=True):
        return ""
    return f"another value, by up to {(one - other).abs().nan_to_num().max().item():.1e}"


def close(expected: Any, found: Any) -> bool:
    """Whether all numbers are equal up to rounding, strides aside."""
    pairs = zip(tree_leaves(expected), tree_leaves(found), strict=True)
    tensors = ((one, other) for one, other in pairs if isinstance(one, Tensor))
    return all(torch.allclose(one, other, rtol=ROUNDING, atol=ROUNDING, equal_nan=True) for one, other in tensors)


def judge(expected: Outcome, found: Outcome, **how: Any) -> str:
    """Why the forward results differ."""
    if found.error is not None or expected.error is not None:
        same = type(found.error) is type(expected.error)
        return "" if same else f"{type(found.error).__name__}: {found.error}"[:200]
    return difference(expected.results, found.results, **how)


def judge_backward(expected: Outcome, found: Outcome, **how: Any) -> str:
    """Why the gradients differ."""
    if found.backward_error is not None or expected.backward_error is not None:
        same = type(found.backward_error) is type(expected.backward_error)
        return "" if same else f"{type(found.backward_error).__name__}: {found.backward_error}"[:200]
    return difference(expected.gradients, found.gradients, **how)


@dataclass(frozen=True)
class Case:
    """One run, on the CPU already done, on the device to be done."""

    sample: int
    stages: tuple[str, str]
    """what its results are counted as, and its gradients"""
    run: Callable[[bool], Outcome]
    """on the device or not"""
    wanted: Outcome
    how: Mapping[str, bool] = field(default_factory=dict)
    """of the comparison"""
    around: Callable[[], AbstractContextManager[Any]] = nullcontext

    def compare(self, found: Outcome, **how: bool) -> Iterator[tuple[str, str]]:
        """The stages, and why they are not right."""
        with self.around():
            yield self.stages[0], judge(self.wanted, found, **how)
            if self.wanted.gradients is not None or self.wanted.backward_error is not None:
                yield self.stages[1], judge_backward(self.wanted, found, **how)


def cover(subjects: Sequence[Any], cases_of: Callable[[Any], list[Case]], name_of: Callable[[Any], str]) -> Tally:
    """Run every case of the operators or modules on the device, a few of them in each session of virtual CUDA."""
    tally = Tally()
    for start in range(0, len(subjects), TOGETHER):
        prepared = [(name_of(subject), cases_of(subject)) for subject in subjects[start : start + TOGETHER]]
        doubtful: list[tuple[str, str, str, Case, Outcome]] = []
        with virtual_cuda.session(same_numbers=True, quiet=True):
            for name, cases in prepared:
                for case in cases:
                    found = case.run(True)
                    for stage, why in case.compare(found, **case.how):
                        if why.startswith(NUMBERS):
                            doubtful.append((name, stage, why, case, found.copied()))
                        else:
                            tally.note(stage, name, case.sample, why)
                    del found
                tally.note(MEMORY, name, -1, in_use())
        for name, stage, why, case, found in doubtful:
            same = _as_watched(case, stage, found)
            tally.note(stage, name, case.sample, "" if same else why)
            tally.watched[stage, name] += same
    tally.watched = +tally.watched
    return tally


def _as_watched(case: Case, stage: str, found: Outcome) -> bool:
    """Whether these numbers are those of a watched CPU run, and nearly those of a plain one."""
    with Watched():
        other = case.run(False)
    differences = dict(replace(case, wanted=other).compare(found, where=False))
    part = "gradients" if stage == case.stages[1] else "results"
    return not differences[stage] and close(getattr(case.wanted, part), getattr(found, part))


class Watched(TorchDispatchMode):
    """A mode that does nothing but look into composite operators, as the virtual device does."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not operators.classify(func) & operators.IMPLICIT:
            return dispatch.call_resolving(func, *args, **(kwargs or {}))
        with self:
            key = torch._C.DispatchKey.CompositeImplicitAutograd
            return dispatch.call_resolving(func._op_dk, key, *args, **(kwargs or {}))


def in_use() -> str:
    """What is still allocated on the device, in words; empty if nothing is."""
    if torch.cuda.memory_allocated():
        gc.collect()
    return f"{torch.cuda.memory_allocated()} bytes in use" if torch.cuda.memory_allocated() else ""
