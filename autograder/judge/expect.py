"""What a check may demand. Everything is compared here, in the judge's process, on values rebuilt from bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.errors import BadReply
from autograder.judge.student import Side
from autograder.protocol.wire import Handle, Tensor, arrays_in, encode, handles_in
from course_lib.compare import Difference, compare, compare_trajectory, tolerance


class Mismatch(AssertionError):
    """A demand was not met; `difference` says how, `fault` by which known mistake if the check knows it."""

    def __init__(self, difference: Difference, fault: str = "") -> None:
        super().__init__(difference.sentence)
        self.difference = difference
        self.fault = fault


class Expect:
    """The `expect` fixture: each method returns if the demand is met and raises Mismatch if not."""

    def __init__(self, student: Side | None = None) -> None:
        self._student = student
        self.observed = False
        """whether a demand rested on an argument after a call"""
        self.sent_back = False
        """whether a demand was met by numbers that had been sent"""
        self.distance: float | None = None
        """the largest distance between trajectories that was measured so far, in tolerances: above 1 is wrong"""

    def close(
        self,
        got: Any,
        wanted: Any,
        name: str = "the result",
        *,
        names: Sequence[str] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        batch: int | None = None,
    ) -> None:
        """`got` has the form of `wanted` (shape, kind of dtype, finiteness) and its values, within a tolerance.

        names: what to call the parts when `wanted` is a tuple or list. batch: number of rows averaged over, so that a
        factor of it is called by its name.
        """
        self.sent_back |= atol != np.inf and self._was_sent(wanted)
        found = compare(name, _plain(got), _plain(wanted), rtol=rtol, atol=atol, names=names, batch=batch)
        _raise_mismatch(found)

    def trajectory(
        self,
        got: Any,
        wanted: dict[str, Any],
        start: dict[str, Any],
        *,
        steps: int,
        name: str = "the parameters",
    ) -> None:
        """Training has led from `start` to `wanted` in `steps` steps, by distance in parameter space.

        All three are dicts of arrays or tensors with the same keys. The distance is a share of the way that training
        goes, the tolerance one for the dtype and each step (`course_lib.compare.trajectory`). The largest is kept: the
        selftest shows how far right programs and mistakes lie apart.
        """
        right = _plain(wanted)
        found, far = compare_trajectory(name, _plain(got), right, _plain(start), steps)
        if math.isfinite(far):  # a wrong form has none
            self.distance = max(self.distance or 0.0, far / tolerance(right, steps))
        _raise_mismatch(found)

    def equal(self, got: Any, wanted: Any, name: str = "the result") -> None:
        """`got` is exactly `wanted`: integers, texts, flags, or arrays bit for bit."""
        self.close(got, wanted, name, rtol=0.0, atol=0.0)

    def form(self, got: Any, wanted: Any, name: str = "the result", *, names: Sequence[str] | None = None) -> None:
        """`got` has the form of `wanted`: structure, shapes, kinds of dtype, finite values; whatever the values are."""
        self.close(got, wanted, name, names=names, rtol=0.0, atol=np.inf)

    def true(
        self,
        condition: Any,
        sentence: str,
        *,
        yours: str = "",
        expected: str = "",
        kind: str = "law",
        fault: str = "",
    ) -> None:
        """A law holds. `sentence` says what was found when it does not, for the student.

        fault: id of the known mistake, where what was seen can have no other cause.
        """
        if not bool(condition):
            raise Mismatch(Difference("", kind, sentence, yours=yours, expected=expected), fault)

    def at_least(self, name: str, got: float, bound: float) -> None:
        """A figure that the judge computed reaches a bound."""
        sentence = f"{name} is {got:.4g}; at least {bound:g} is needed."
        self.true(got >= bound, sentence, yours=f"{got:.4g}", expected=f"at least {bound:g}", kind="bound")

    def unchanged(self, student: Side, *names: str) -> None:
        """The last call left its arguments (or those named) as they were."""
        self.observed = True
        call = student.calls[-1]
        before, after = dict(call.data), dict(call.after)
        if call.name == "call":
            before, after = _by_position(before), _by_position(after)
        for name in names or before:
            if not _is_unchanged(before[name], after.get(name, _GONE)):
                shown = f"argument number {name}" if isinstance(name, int) else f"`{name}`"
                sentence = f"your code changed its {shown}: the caller's own array is different afterwards."
                raise Mismatch(Difference(str(name), "changed", sentence))

    def _was_sent(self, wanted: Any) -> bool:
        """Whether an array that is asked for is one that was sent: to send it back takes no work."""
        calls = self._student.calls if self._student else ()
        sent = [array for call in calls for array in arrays_in(call.data)]
        return any(a.size >= FEW and np.any(a) and np.array_equal(a, b) for a in arrays_in(wanted) for b in sent)


FEW = 3
"""elements of an array below which it may be another's by chance"""


def _raise_mismatch(found: Difference | None) -> None:
    if found is not None:
        raise Mismatch(found)


_GONE = object()
"""stands for an argument that could not be shown any more"""


def _is_unchanged(before: Any, after: Any) -> bool:
    """Whether an argument is as it was, bit for bit. Objects that stayed in the kernel cannot be looked at."""
    if handles_in(before):
        return True
    if after is _GONE:
        return False  # the student's code put something into it that is no data
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(_is_unchanged(before[k], after[k]) for k in before)
    if isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)):
        return len(before) == len(after) and all(map(_is_unchanged, before, after))
    if isinstance(before, Tensor) and isinstance(after, Tensor):
        # On its way a tensor took the dtype that was asked for; rounding to that is no change.
        eps = 2.0**-7 if before.dtype == "bfloat16" else np.finfo(np.result_type(after.array, np.float16)).eps
        same_form = before.dtype == after.dtype and before.array.shape == after.array.shape
        return same_form and bool(np.allclose(after.array, before.array, rtol=float(eps), atol=0, equal_nan=True))
    try:
        return encode(_plain(before)) == encode(_plain(after))
    except BadReply:
        return False


def _by_position(data: dict[str, Any]) -> dict[Any, Any]:
    return {**dict(enumerate(data.get("_args", ()), 1)), **data.get("_kwargs", {})}


def _plain(value: Any) -> Any:
    """Framework tensors as their arrays; everything else as it is."""
    if isinstance(value, Tensor):
        return value.array
    if isinstance(value, (tuple, list)):
        return type(value)(_plain(v) for v in value)
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return value


def agree(a: Any, b: Any, rtol: float) -> bool:
    """Whether two values are the same for telling mistakes apart: form loosely, numbers within `rtol` of the scale."""
    a, b = _plain(a), _plain(b)
    if isinstance(a, Handle) and isinstance(b, Handle):
        return True  # two objects in two places: what they do shows in the calls that use them
    if isinstance(a, bytes) and isinstance(b, bytes):
        return True  # two files of two makers: the same
    if isinstance(a, dict) or isinstance(b, dict):
        return (
            isinstance(a, dict)
            and isinstance(b, dict)
            and a.keys() == b.keys()
            and all(agree(a[k], b[k], rtol) for k in a)
        )
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(agree(x, y, rtol) for x, y in zip(a, b, strict=True))
    try:
        # Before anything is widened: what the student sent may be large.
        if np.shape(a) != np.shape(b):
            return False
        x, y = np.asarray(a, dtype=np.complex128), np.asarray(b, dtype=np.complex128)
    except (TypeError, ValueError):
        return type(a) is type(b) and bool(a == b)
    finite = np.abs(y[np.isfinite(y)])
    return bool(np.allclose(x, y, rtol=rtol, atol=rtol * float(finite.max(initial=0.0)) + 1e-12, equal_nan=True))
