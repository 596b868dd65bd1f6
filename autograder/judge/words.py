"""What a student is told about a check that did not pass: on demonstration inputs all, on hidden inputs its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from autograder.errors import BadReply, LimitReached, StudentError
from autograder.judge.expect import Mismatch
from autograder.judge.runnable import cell_of
from autograder.judge.student import Call
from autograder.protocol.wire import Handle, Tensor, files_in, handles_in
from autograder.records import Verdict
from course_lib.compare import Difference

SHOWN_ITEMS = 12
"""an array with more elements is described by its shape"""
SHOWN_TEXT = 500
"""characters of a sentence or value: the keys of a dict may be as long as the student likes"""
NEEDS_DEVICE = "This is about a CUDA device, and this run had none: it was not checked, and costs nothing."
HIDDEN_KINDS = {
    "shape": "its shape is wrong",
    "dtype": "its dtype is wrong",
    "not finite": "it is not finite",
    "changed": "your code changes its arguments",
    "transposed": "it is transposed",
    "sign": "it has the opposite sign",
    "factor": "it is off by a constant factor",
    "offset": "it is off by a constant",
    "none": "no value comes back",
    "type": "it has the wrong type",
    "length": "it holds the wrong number of values",
    "keys": "its keys are wrong",
    "unmoved": "what should have moved has not",
    "trajectory": "training ends elsewhere",
}


def cut_text(text: str, limit: int = SHOWN_TEXT) -> str:
    return text if len(text) <= limit else text[:limit] + " ..."


def shown_failure(error: BaseException, calls: Sequence[Call], *, forgets: bool = True) -> Difference:
    """A failure on demonstration inputs, with the input that shows it.

    `forgets`: whether the side that failed can know nothing of the hidden inputs that it was asked before. Where it
    may, nothing that it chose itself is shown: an exception's text or a value would carry them to the page.
    """
    case = _case(error, calls, forgets)
    if not forgets:
        return without_values(error, "the inputs shown", case)
    if isinstance(error, Mismatch):
        d = error.difference
        yours, expected = cut_text(d.yours), cut_text(d.expected)
        return Difference(cut_text(d.what), d.kind, cut_text(d.sentence), d.index, yours, expected, case)
    if isinstance(error, StudentError):
        if error.line:
            return Difference("", "raised", f"Your code raised {error} ({error.line})", case=case)
        # No line of the student's was at work: a wrong number of arguments, or what the check did with the answer.
        return Difference("", "raised", f"Calling your code, or using what it returned, raised {error}", case=case)
    if isinstance(error, LimitReached):
        return Difference("", str(error.verdict), f"When your code was called, {error}.", case=case)
    if isinstance(error, BadReply):
        return Difference("", "type", f"The value could not be read: {error}.", case=case)
    if isinstance(error, (AssertionError, pytest.fail.Exception)) and str(error):
        return Difference("", "law", str(error)[:500], case=case)
    return Difference("", "type", "The value does not have the form that was asked for.", case=case)


def limit_in_words(limit: LimitReached) -> str:
    if limit.verdict == Verdict.CRASH:
        # How a process ends is for the student's code to choose: a status could carry a hidden input to the page.
        return "When your code was called, the Python process ended."
    return f"When your code was called, {limit}."


def without_values(error: BaseException, inputs: str = "other inputs than those shown", case: str = "") -> Difference:
    """A failure by its kind, and nothing that came out of the student's process: for hidden inputs all that is told."""
    if isinstance(error, Mismatch):
        d = error.difference
        told = HIDDEN_KINDS.get(d.kind, "its values are wrong")
        return Difference(d.what, d.kind, f"On {inputs}, {told}.", case=case)
    if isinstance(error, LimitReached):
        return Difference("", str(error.verdict), limit_in_words(error), case=case)
    if isinstance(error, StudentError):
        sentence = f"On {inputs}, calling your code, or using its answer, raises an exception."
        return Difference("", "raised", sentence, case=case)
    return Difference("", "type", f"On {inputs}, the value does not have the form asked for.", case=case)


def _case(error: BaseException, calls: Sequence[Call], forgets: bool) -> str:
    """The input: a cell to paste if there can be one. What is missing or untouched fails on any input."""
    if not calls or (isinstance(error, StudentError) and error.type_name in ("NameError", "NotImplementedError")):
        return ""
    # How a file or an object is reached in an answer is the student's to choose: keys of a dict, for instance.
    chosen = any(handles_in(call.data) or files_in(call.data) for call in calls)
    cell = cell_of(calls) if forgets or not chosen else ""
    return cell or cut_text(describe(calls[-1]), 4 * SHOWN_TEXT)


def describe(call: Call) -> str:
    """A demonstration call as the student could type it; large arrays by shape."""
    if call.name == "call":
        parts = [_literal(a) for a in call.data["_args"]]
        parts += [f"{k}={_literal(v)}" for k, v in call.data["_kwargs"].items()]
        return f"{call.data['_name']}({', '.join(parts)})"
    return "; ".join(f"{name} = {_literal(value)}" for name, value in call.data.items())


def _literal(value: Any) -> str:
    if isinstance(value, Handle):
        return f"<{value.type_name}>"
    if isinstance(value, Tensor):
        return f"{value.framework} {value.dtype} tensor {_literal(value.array)}"
    if isinstance(value, np.ndarray):
        if value.size > SHOWN_ITEMS:
            return f"<{value.dtype} array of shape {value.shape}>"
        return f"np.array({np.array2string(value, separator=', ', max_line_width=10_000).replace(chr(10), '')})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_literal(v) for v in value[:8])}{', ...' if len(value) > 8 else ''}]"
    return repr(value)[:200]
