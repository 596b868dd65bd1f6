"""How much of PyTorch is the same on the virtual device, counted over PyTorch's own test databases.

    python tests/course_lib/virtual_cuda/coverage.py [--out FILE] [OPERATOR ...]

Every float32 sample of every operator in `op_db` and of every module in `module_db` runs on the CPU and on the virtual
device, with the same random numbers. Results and gradients must be equal bit for bit and on the device, and no memory
may stay in use. Then one tensor at a time is left on the CPU, and FakeTensor is asked whether that is refused.
`known_limits.py` names what is not so. The output is a table in Markdown.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from course_lib import virtual_cuda

Tensor = torch.Tensor
FORWARD, BACKWARD, INFERENCE, IN_PLACE, OUT, MEMORY = (
    "forward",
    "backward",
    "inference mode",
    "in place",
    "out=",
    "memory given back",
)
UNINITIALISED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}
"""operators whose results are whatever was in memory; only their shapes are compared"""


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
    close: Counter[tuple[str, str]] = field(default_factory=Counter)
    """samples that are equal only within the operator's tolerance"""

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
        self.close += other.close


# -- one run ---------------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What one call gave."""

    results: Any = None
    error: Exception | None = None
    gradients: Any = None
    backward_error: Exception | None = None


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


# -- comparison ------------------------------------------------------------------------------------------------------


def difference(expected: Any, found: Any, *, values: bool = True, where: bool = True, tolerance: float = 0.0) -> str:
    """Why the device's results are not the CPU's, in words; empty if they are, and (if `where`) on the device."""
    ours, theirs = tree_leaves(found), tree_leaves(expected)
    if len(ours) != len(theirs):
        return f"{len(ours)} results instead of {len(theirs)}"
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, Tensor) != isinstance(other, Tensor):
            return f"{type(one).__name__} instead of {type(other).__name__}"
        if not isinstance(one, Tensor):
            if one != other and (one == one or other == other) and to_cuda(other) != one:
                return f"{one} instead of {other}"
        elif where and not one.is_cuda:
            return "a result on the CPU"
        else:
            with torch.no_grad(), _disable_current_modes():
                why = _tensor_difference(other, one, values, tolerance)
            if why:
                return why
    return ""


def _tensor_difference(expected: Tensor, found: Tensor, values: bool, tolerance: float) -> str:
    for what in ("dtype", "shape", "layout", "requires_grad"):
        if getattr(expected, what) != getattr(found, what):
            return f"{what} {getattr(found, what)} instead of {getattr(expected, what)}"
    one, other = expected.detach(), found.detach()
    if one.layout is not torch.strided:
        one, other = one.to_dense(), other.to_dense()
    elif one.stride() != other.stride():
        return f"strides {other.stride()} instead of {one.stride()}"
    if not values:
        return ""
    if one.dtype is torch.complex32:
        one, other = one.to(torch.complex64), other.to(torch.complex64)
    if torch.equal(one, other) or torch.allclose(one, other, rtol=0, atol=0, equal_nan=True):
        return ""
    if tolerance and torch.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True):
        return CLOSE
    return f"another value, by up to {(one - other).abs().nan_to_num().max().item():.1e}"


CLOSE = "within its tolerance"


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


# -- operators -------------------------------------------------------------------------------------------------------


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


def trials(op: Any, sample: Any, expected: Any) -> Iterator[Trial]:
    """The ways in which a sample is tried. `expected`: the results of the plain call."""
    yield Trial(INFERENCE, lambda a: op(a[0], *a[1], **a[2]), torch.inference_mode)
    in_place = op.get_inplace()
    if in_place is not None and not sample.broadcasts_input and isinstance(sample.input, Tensor):
        yield Trial(IN_PLACE, lambda a: in_place(a[0], *a[1], **a[2]), torch.no_grad)
    if op.supports_out and tree_leaves(expected) and all(isinstance(r, Tensor) for r in tree_leaves(expected)):

        def with_out(arguments: Any) -> Any:
            first = next(t for t in tree_leaves(arguments) if isinstance(t, Tensor))
            out = tree_map(lambda r: torch.empty_like(r, device=first.device, requires_grad=False), expected)
            return op(arguments[0], *arguments[1], **arguments[2], out=out)

        if any(isinstance(t, Tensor) for t in tree_leaves(arguments_of(sample))):
            yield Trial(OUT, with_out, torch.no_grad)


def cover_operator(op: Any, tolerances: dict[tuple[str, str], float]) -> Tally:
    """Run all samples of one operator on the CPU, then on the device, and compare."""
    tally, name = Tally(), op.formatted_name
    samples = samples_of(op)
    plain = Trial(FORWARD, lambda a: op(a[0], *a[1], **a[2]), backward=True)
    expected = []
    for sample in samples:
        first = _run(plain, sample, on_device=False)
        others = [] if first.error is not None else list(trials(op, sample, first.results))
        expected.append([(plain, first), *((t, _run(t, sample, on_device=False)) for t in others)])
    with virtual_cuda.session(same_numbers=True, quiet=True):
        for number, (sample, runs) in enumerate(zip(samples, expected, strict=True)):
            for trial, wanted in runs:
                found = _run(trial, sample, on_device=True)
                values = op.name not in UNINITIALISED
                pairs = [(trial.stage, judge)]
                if wanted.gradients is not None or wanted.backward_error is not None:
                    pairs.append((BACKWARD, judge_backward))
                for stage, compare in pairs:
                    tolerance = tolerances.get((stage, name), 0.0)
                    with trial.around():
                        why = compare(wanted, found, values=values, tolerance=tolerance)
                    tally.close[stage, name] += why == CLOSE
                    tally.note(stage, name, number, "" if why == CLOSE else why)
                del found
        tally.note(MEMORY, name, -1, in_use())
    tally.close = +tally.close
    return tally


def _run(trial: Trial, sample: Any, *, on_device: bool) -> Outcome:
    with trial.around():
        arguments = moved(arguments_of(sample), lambda position: on_device)
        leaves = [t for t in tree_leaves(arguments) if isinstance(t, Tensor) and t.requires_grad]
        return attempt(lambda: trial.call(arguments), leaves if trial.backward else None, _prepare(sample))


def _prepare(sample: Any) -> Callable[[Any], Any]:
    return getattr(sample, "output_process_fn_grad", lambda results: results)


def in_use() -> str:
    """What is still allocated on the device, in words; empty if nothing is."""
    if torch.cuda.memory_allocated():
        gc.collect()
    return f"{torch.cuda.memory_allocated()} bytes in use" if torch.cuda.memory_allocated() else ""


# -- the table -------------------------------------------------------------------------------------------------------


def table(tally: Tally) -> str:
    """Tried, right and failed for each stage, in Markdown."""
    lines = ["| stage | tried | right | not right | share |", "| --- | ---: | ---: | ---: | ---: |"]
    tried: Counter[str] = Counter()
    for (stage, _), count in tally.tried.items():
        tried[stage] += count
    failed = Counter(f.stage for f in tally.failures)
    for stage, count in tried.items():
        right = count - failed[stage]
        lines.append(f"| {stage} | {count:,} | {right:,} | {failed[stage]:,} | {100 * right / count:.2f} % |")
    return "\n".join(lines)


def main() -> None:
    """Count over everything, or over the operators named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the table here as well")
    parser.add_argument("--failures", action="store_true", help="list what is not right, and why")
    parser.add_argument("names", nargs="*", help="operators, all if none is named")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    tally = Tally()
    for op in operators():
        if not options.names or op.formatted_name in options.names or op.name in options.names:
            tally.add(cover_operator(op, {}))
    if options.failures:
        for (stage, name), count in tally.failed().items():
            reasons = Counter(f.why for f in tally.failures if (f.stage, f.name) == (stage, name))
            print(f"{stage:14} {name:40} {count:5} of {tally.tried[stage, name]:5}  {reasons.most_common(2)}")
    print(table(tally))
    if options.out:
        options.out.write_text(table(tally) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
