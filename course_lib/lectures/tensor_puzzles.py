"""Puzzles on tensors: the answer is tried on random inputs, small ones first, and the first failure is shown whole.

A reader who is told only "wrong" learns nothing, and one who gets two large tensors learns little. So the report names
the smallest input tried on which the answer differs, both results, and, where the answer equals a well-known wrong
one, the mistake. torch is imported when the first answer is checked.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.exercises import WIDTH

SIZES = (1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6)
"""of the inputs, in the order in which they are tried"""

Draw = Callable[..., Any]
"""`draw(*shape)`: an int64 tensor of random numbers from 0 to 9"""


@dataclass(frozen=True)
class Failure:
    """The first input on which an answer is not what it should be."""

    inputs: tuple[Any, ...]
    message: str


def puzzle(
    name: str,
    answer: Callable[..., Any],
    spec: Callable[..., Any],
    make: Callable[[Draw, int], tuple[Any, ...]],
    *,
    mistakes: Mapping[str, Callable[..., Any]] | None = None,
    view: bool = False,
) -> None:
    """Print how far `answer` is: waiting, wrong and where, slow because of a loop, a copy where none is due, or right.

    `spec`: slow but right. `make(draw, size)`: arguments for both. `mistakes`: hint -> what gives the wrong answer that
    the hint is for. `view`: the result must share the storage of the first argument. Values, shape and dtype count.
    """
    import torch

    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> Any:
        return torch.randint(0, 10, shape, generator=generator)

    tries = [make(draw, size) for size in SIZES]
    try:
        failure = next(filter(None, (_failure(answer, spec, inputs) for inputs in tries)), None)
    except NotImplementedError:
        print(f"{name}: waits for you.")
        return
    if failure is not None:
        hint = next((hint for hint, wrong in (mistakes or {}).items() if _answers_alike(answer, wrong, tries)), "")
        _print_message(f"{name}: not yet. {_inputs_as_text(failure.inputs)} {failure.message} {hint}")
        return
    few, many = (_operations(answer, make(draw, size)) for size in (3, 6))
    if many > few:
        _print_message(
            f"{name}: the values are right, but it takes {few} operations for an input of size 3 and {many} for one "
            "of size 6. Is there a loop? One operation can treat all entries."
        )
    elif view and not _shares(answer(*tries[-1]), tries[-1][0]):
        _print_message(f"{name}: the values are right, but they are copies. The result should be a view of its input.")
    else:
        print(f"{name}: right, for {len(tries)} random inputs{', and without a copy' if view else ''}.")


def _failure(answer: Callable[..., Any], spec: Callable[..., Any], inputs: tuple[Any, ...]) -> Failure | None:
    wanted = spec(*inputs).clone()
    before = [_copy(value) for value in inputs]
    try:
        got = answer(*inputs)
    except Exception as error:
        if isinstance(error, NotImplementedError) and not error.args:  # the stub's; a framework's has a message
            raise
        return Failure(inputs, f"your code raises {type(error).__name__}: {error}")
    message = _difference(got, wanted)
    if any(not _equal(value, old) for value, old in zip(inputs, before, strict=True)):
        message = "your code changes its input. Return something new, or a view, and leave the input as it was."
        inputs = tuple(before)
    return Failure(inputs, message) if message else None


def _difference(got: Any, wanted: Any) -> str:
    import torch

    if not torch.is_tensor(got):
        return f"you return {type(got).__name__}, not a tensor."
    if got.shape != wanted.shape:
        return (
            f"you return {got.tolist()} of shape {tuple(got.shape)}; "
            f"wanted {wanted.tolist()} of shape {tuple(wanted.shape)}."
        )
    if not torch.equal(got.to(wanted.dtype), wanted):
        return f"you return {got.tolist()}; wanted {wanted.tolist()}."
    if got.dtype != wanted.dtype:
        return f"you return the right values as {got.dtype}; wanted {wanted.dtype}."
    return ""


def _answers_alike(answer: Callable[..., Any], wrong: Callable[..., Any], tries: Sequence[tuple[Any, ...]]) -> bool:
    """Whether the answer is this wrong one: it must be so on every input."""
    try:
        return all(not _difference(answer(*inputs), wrong(*inputs)) for inputs in tries)
    except Exception:  # either of the two fails on some input
        return False


def _operations(answer: Callable[..., Any], inputs: tuple[Any, ...]) -> int:
    """How many operations PyTorch is asked to do."""
    from torch.utils import _python_dispatch

    asked = []

    def listen(mode: Any, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        asked.append(operation)
        return operation(*args, **(kwargs or {}))

    listening: Any = type("Listening", (_python_dispatch.TorchDispatchMode,), {"__torch_dispatch__": listen})
    with listening():
        answer(*inputs)
    return len(asked)


def _shares(one: Any, other: Any) -> bool:
    return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())


def _copy(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value


def _equal(one: Any, other: Any) -> bool:
    return bool((one == other).all()) if hasattr(one, "clone") else bool(one == other)


def _inputs_as_text(inputs: tuple[Any, ...]) -> str:
    values = [str(value.tolist() if hasattr(value, "tolist") else value) for value in inputs]
    return f"For {' and '.join(values)}"


def _print_message(message: str) -> None:
    print(textwrap.fill(message.strip(), WIDTH, break_on_hyphens=False, break_long_words=False))
