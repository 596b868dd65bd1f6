"""One tensor at a time left on the CPU: refused or allowed, by us and by two other authorities.

The first is PyTorch's FakeTensor, which knows shapes and devices but not the checks that torchgen writes into the CUDA
build; the second is torchgen's own table, `op_rules.json`. Where FakeTensor and we disagree, the table decides, or
`known_limits.py` says who is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from coverage import Tally, arguments_of, attempt, difference, in_use, moved, samples_of, to_cuda
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map

from course_lib import virtual_cuda

Tensor = torch.Tensor
MIXED = "one tensor on the CPU"
REFUSED, SILENT = "refused", "no answer"


@dataclass(frozen=True)
class Verdict:
    """What became of a mixture."""

    what: str
    """REFUSED, SILENT, or the devices of the results"""
    words: str = ""
    """of the refusal"""


class FakeOracle:
    """What FakeTensor says about mixtures."""

    def __init__(self) -> None:
        self._mode = FakeTensorMode(allow_non_fake_inputs=True)
        self._known: dict[Any, str] = {}

    def verdict(self, key: Any, call: Callable[[Any], Any], arguments: Any, left: int) -> str:
        """REFUSED, the devices of the results, or SILENT if FakeTensor cannot run the call at all.

        arguments: a tree of CPU tensors and other values; the `left`-th tensor stays on the CPU, the others are on
        cuda:0. Answers are remembered by `key` and the tensors' shapes.
        """
        known = (key, tuple(_signature(v) for v in tree_leaves(arguments)), left)
        if known not in self._known:
            self._known[known] = self._ask(call, arguments, left)
        return self._known[known]

    def _ask(self, call: Callable[[Any], Any], arguments: Any, left: int) -> str:
        position = iter(range(1 << 30))

        def fake(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return to_cuda(value)
            device = "cpu" if next(position) == left else "cuda:0"
            with torch.no_grad():
                return FakeTensor(self._mode, value.detach().to("meta"), torch.device(device))

        try:
            faked = tree_map(fake, arguments)
            with self._mode, torch.no_grad():
                return devices_of(call(faked))
        except Exception as error:
            return REFUSED if _is_mismatch(error) else SILENT


def _signature(value: Any) -> Any:
    return (tuple(value.shape), value.dtype, value.layout) if isinstance(value, Tensor) else repr(value)


def _is_mismatch(error: BaseException | None) -> bool:
    while error is not None:
        if refusal(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def refusal(words: str) -> bool:
    """Whether an error message is about devices that do not match."""
    marks = ("same device", "two devices", "should be the same", "indices should be", "device type", "on cpu", "on CPU")
    return any(mark in words for mark in marks)


def devices_of(results: Any) -> str:
    """The devices of all tensors in a tree, each once: `cpu cuda:0`."""
    return " ".join(sorted({str(v.device) for v in tree_leaves(results) if isinstance(v, Tensor)}))


@dataclass
class Mixtures:
    """The outcome for one operator or module."""

    tally: Tally
    silent: int = 0
    """mixtures on which FakeTensor has no answer"""
    generated: int = 0
    """mixtures that torchgen's generated check refuses, and FakeTensor does not know of"""


def cover_mixtures(
    name: str,
    cases: list[tuple[Callable[[Any], Any], Any]],
    oracle: FakeOracle,
    *,
    fake: Callable[[Any], Any] | None = None,
) -> Mixtures:
    """Leave each tensor of each case on the CPU in turn. A case: a call, and the tree of CPU arguments it takes."""
    found = Mixtures(Tally())
    ours: list[tuple[int, int, Verdict]] = []
    references = [_reference(call, arguments) for call, arguments in cases]
    with virtual_cuda.session(same_numbers=True, quiet=True):
        for number, ((call, arguments), expected) in enumerate(zip(cases, references, strict=True)):
            tensors = [v for v in tree_leaves(arguments) if isinstance(v, Tensor)]
            if len(tensors) > 1 and expected.error is None:
                for left in range(len(tensors)):
                    ours.append((number, left, _ours(call, arguments, left, expected.results)))
        found.tally.note("memory given back", name, -1, in_use())
    for number, left, verdict in ours:
        call, arguments = cases[number]
        other = oracle.verdict(name, call, arguments, left)
        if verdict.what.startswith("failed"):
            found.tally.note(MIXED, name, number, f"{left}: {verdict.what}")
        elif other == SILENT:
            found.silent += 1
        elif verdict.what == REFUSED != other and "wrapper_CUDA" in verdict.words and _is_scalar(arguments, left):
            found.generated += 1
        else:
            agreed = verdict.what == other
            found.tally.note(MIXED, name, number, "" if agreed else f"{left}: {verdict.what}, FakeTensor: {other}")
    return found


def _is_scalar(arguments: Any, left: int) -> bool:
    return not [v for v in tree_leaves(arguments) if isinstance(v, Tensor)][left].dim()


def _reference(call: Callable[[Any], Any], arguments: Any) -> Any:
    copied = moved(arguments, lambda position: False)
    with torch.no_grad():
        return attempt(lambda: call(copied), None, lambda results: results)


def _ours(call: Callable[[Any], Any], arguments: Any, left: int, expected: Any) -> Verdict:
    mixed = moved(arguments, lambda position: position != left)
    with torch.no_grad():
        outcome = attempt(lambda: call(mixed), None, lambda results: results)
    if outcome.error is None:
        why = difference(expected, outcome.results, where=False)
        return Verdict(f"failed: {why}" if why else devices_of(outcome.results))
    words = str(outcome.error)
    if isinstance(outcome.error, (RuntimeError, ValueError)) and refusal(words):
        return Verdict(REFUSED, words)
    return Verdict(f"failed: {type(outcome.error).__name__}: {words}"[:200])


def cases_of(op: Any) -> list[tuple[Callable[[Any], Any], Any]]:
    """An operator's samples as cases."""
    return [(lambda a: op(a[0], *a[1], **a[2]), arguments_of(sample)) for sample in samples_of(op)]


if __name__ == "__main__":
    import sys
    import warnings

    from coverage import operators

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    oracle, total, silent, generated = FakeOracle(), Tally(), 0, 0
    for op in operators():
        if len(sys.argv) < 2 or op.formatted_name in sys.argv[1:]:
            one = cover_mixtures(op.formatted_name, cases_of(op), oracle)
            total.add(one.tally)
            silent, generated = silent + one.silent, generated + one.generated
    for (stage, name), count in total.failed().items():
        reasons = Counter(f.why for f in total.failures if (f.stage, f.name) == (stage, name))
        print(f"{name:40} {count:5} of {total.tried[stage, name]:5}  {reasons.most_common(3)}")
    print(
        sum(n for (s, _), n in total.tried.items() if s == MIXED), "asked;", silent, "silent;", generated, "generated"
    )
