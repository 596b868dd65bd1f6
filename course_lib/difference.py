"""How one value differs from the right one: the record that visible checks, hidden ones and reports share.

Only the standard library is imported: the grader's records, and so its sandbox's probe, must do without NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """One value beside the right one; the grader records it as it is."""

    what: str
    """name of the value, e.g. `grad_x` or `grads["W1"]`"""
    kind: str
    """`none`, `type`, `length`, `keys`, `shape`, `dtype`, `not finite`, `transposed`, `zero`, `sign`, `factor`,
    `offset`, `values`
    """
    sentence: str
    """what differs, in the student's language; ends with a full stop"""
    index: tuple[int, ...] | None = None
    """where the difference is largest; None if it is not about one place"""
    yours: str = ""
    """the value at `index`, or the whole form (type, shape, ...) where that is what differs"""
    expected: str = ""
    case: str = ""
    """the input that shows it, as the student could type it; filled in by the caller"""
