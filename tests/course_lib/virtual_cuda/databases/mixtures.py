"""One tensor at a time left on the CPU: refused or allowed, by us and by two other authorities.

The first is PyTorch's FakeTensor, which knows shapes and devices but not the checks that torchgen writes into the CUDA
build; the second is torchgen's own table, `op_rules.json`. Where FakeTensor and we disagree, the table decides, or
`known_limits.py` says who is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.databases import module_samples, op_samples
from tests.course_lib.virtual_cuda.databases.covering import (
    MEMORY,
    TOGETHER,
    Outcome,
    Tally,
    Tensor,
    attempt,
    difference,
    in_use,
    moved,
    to_cuda,
)

MIXED = "one tensor on the CPU"
MIXED_MODULE = "inputs on the CPU"
REFUSED, SILENT = "refused", "no answer"
SHAPES = 4
"""cases of each operator or module: the first that differ in the shapes of their tensors"""
WORDS = ("same device", "two devices", "should be the same", "indices should be", "device type", "on cpu", "on CPU")
WORDS += (
    "too many CPU scalars",
    "but got device",
    "to have the same device",
    "get_device() ==",
    " Device (while checking",
)
"""in every refusal of a mixture"""
Placed = Callable[[torch.nn.Module], torch.nn.Module]


@dataclass(frozen=True)
class Mixture:
    """A call of which some tensors may be left behind."""

    call: Callable[[Any, Placed], Any]
    """takes the tree of arguments, and a function that puts a module where the others are"""
    arguments: Any
    left: list[set[int]]
    """positions of the tensors that stay on the CPU, one set at a time"""


@dataclass
class Found:
    """What was counted."""

    tally: Tally = field(default_factory=Tally)
    silent: int = 0
    """mixtures on which FakeTensor has no answer"""
    by_table: Counter[str] = field(default_factory=Counter)
    """mixtures that FakeTensor lets through, a 0-dimensional tensor left behind, and torchgen's check refuses"""


def refusal(words: str) -> bool:
    """Whether an error message is about devices that do not match."""
    return any(mark in words for mark in WORDS)


def devices_of(results: Any) -> str:
    """The devices of all tensors in a tree, each once: `cpu cuda:0`."""
    return " ".join(sorted({str(v.device) for v in tree_leaves(results) if isinstance(v, Tensor)}))


def reference(mixture: Mixture) -> Outcome:
    """What the call gives with everything on the CPU."""
    arguments = moved(mixture.arguments, lambda position: False)
    with torch.no_grad():
        return attempt(lambda: mixture.call(arguments, lambda module: module), None, lambda results: results)


def ours(mixture: Mixture, left: set[int], expected: Outcome) -> tuple[str, str]:
    """REFUSED, the devices of the results, or how it failed; and the words of the refusal. In a session."""
    arguments = moved(mixture.arguments, lambda position: position not in left)
    with torch.no_grad():
        outcome = attempt(
            lambda: mixture.call(arguments, lambda module: module.to("cuda:0")), None, lambda results: results
        )
    if outcome.error is None:
        why = difference(expected.results, outcome.results, where=False)
        return (f"failed: {why}" if why else devices_of(outcome.results)), ""
    words = str(outcome.error)
    if isinstance(outcome.error, (RuntimeError, ValueError)) and refusal(words):
        return REFUSED, words
    return f"failed: {type(outcome.error).__name__}: {words}"[:200], words


class FakeOracle:
    """What FakeTensor says about mixtures. One for each question: torch 2.14.1 crashes when a mode has had some 300."""

    def __init__(self) -> None:
        self._mode = FakeTensorMode(allow_non_fake_inputs=True)

    def verdict(self, mixture: Mixture, left: set[int]) -> str:
        """REFUSED, the devices of the results, or SILENT if FakeTensor cannot run the call at all."""
        position = iter(range(1 << 30))

        def place(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return to_cuda(value)
            return self._fake(value, "cpu" if next(position) in left else "cuda:0")

        try:
            arguments = tree_map(place, mixture.arguments)
            with self._mode, torch.no_grad():
                return devices_of(mixture.call(arguments, self._place_module))
        except Exception as error:
            return REFUSED if _is_mismatch(error) else SILENT

    def _fake(self, value: Tensor, device: str) -> Tensor:
        with torch.no_grad():
            return FakeTensor(self._mode, value.detach().to("meta"), torch.device(device))

    def _place_module(self, module: torch.nn.Module) -> torch.nn.Module:
        for part in module.modules():
            for held in (part._parameters, part._buffers):
                for name, value in held.items():
                    if value is not None:
                        fake = self._fake(value, "cuda:0")
                        held[name] = torch.nn.Parameter(fake) if held is part._parameters else fake
            if isinstance(part, torch.nn.RNNBase):
                part._flat_weights = [getattr(part, name) for name in part._flat_weights_names]
        return module


def _is_mismatch(error: BaseException | None) -> bool:
    while error is not None:
        if refusal(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def cover_mixtures(
    stage: str, subjects: Sequence[Any], mixtures_of: Callable[[Any], list[Mixture]], name_of: Callable[[Any], str]
) -> Found:
    """Try the mixtures of operators or modules, a few of these in each session of virtual CUDA."""
    found = Found()
    for start in range(0, len(subjects), TOGETHER):
        together = subjects[start : start + TOGETHER]
        prepared = [(name_of(one), [(m, reference(m)) for m in mixtures_of(one)]) for one in together]
        tried: list[tuple[str, int, Mixture, set[int], str, str]] = []
        with virtual_cuda.session(same_numbers=True, quiet=True):
            for name, mixtures in prepared:
                for number, (mixture, expected) in enumerate(mixtures):
                    if expected.error is None:
                        tried += [(name, number, mixture, x, *ours(mixture, x, expected)) for x in mixture.left]
                found.tally.note(MEMORY, name, -1, in_use())
        for name, number, mixture, left, verdict, words in tried:
            other = FakeOracle().verdict(mixture, left)
            if other == SILENT and not verdict.startswith("failed"):
                found.silent += 1
                continue
            by_table = verdict == REFUSED != other and "wrapper_CUDA" in words and _is_scalar(mixture, left)
            found.by_table[name] += by_table
            agreed = verdict == other or by_table
            found.tally.note(stage, name, number, "" if agreed else f"{left}: {verdict}, FakeTensor: {other}")
    return found


def _is_scalar(mixture: Mixture, left: set[int]) -> bool:
    tensors = [v for v in tree_leaves(mixture.arguments) if isinstance(v, Tensor)]
    return all(not tensors[position].dim() for position in left)


def first_shapes(trees: Iterable[Any]) -> Iterator[Any]:
    """The first few trees whose tensors differ in shape or dtype."""

    def distinct() -> Iterator[Any]:
        seen = set()
        for tree in trees:
            signature = tuple((tuple(v.shape), v.dtype) for v in tree_leaves(tree) if isinstance(v, Tensor))
            if signature not in seen:
                seen.add(signature)
                yield tree

    return islice(distinct(), SHAPES)


def mixtures_of_operator(op: Any) -> list[Mixture]:
    """Each tensor alone."""
    function, found = op_samples.as_called(op), []
    for tree in first_shapes(op_samples.arguments_of(sample) for sample in op_samples.samples_of(op)):
        count = sum(isinstance(v, Tensor) for v in tree_leaves(tree))
        if count > 1:
            found.append(Mixture(lambda a, _: function(a[0], *a[1], **a[2]), tree, [{n} for n in range(count)]))
    return found


def mixtures_of_module(info: Any) -> list[Mixture]:
    """All tensors that the module is called with; and if they are several, each alone."""
    found = []
    samples = {id(s.arguments): s for s in module_samples.samples_of(info)}
    for tree in first_shapes(s.arguments for s in samples.values()):
        sample, count = samples[id(tree)], sum(isinstance(v, Tensor) for v in tree_leaves(tree))

        def call(arguments: Any, placed: Placed, sample: module_samples.Sample = sample) -> Any:
            return placed(sample.module())(*arguments[0], **arguments[1])

        found.append(Mixture(call, tree, [set(range(count)), *({n} for n in range(count) if count > 1)]))
    return found
