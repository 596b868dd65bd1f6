"""What a visible check says: `ok   ...` on one line, or an error whose traceback in Jupyter is one line too.

A check is a function that takes the student's function, with the sentence that it prints as its decorator's argument.
It raises nothing if all is well. If the student's own code raises, its traceback stays, because it points at the
student's line, and ends with the line of the check. The `NotImplementedError` of an untouched cell is a sentence.
A check that fails after an earlier one of its notebook says so: the cause may lie there.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from course_lib.compare import Difference

__all__ = ["CheckFailed", "check", "fail", "require"]


class CheckFailed(AssertionError):
    """A visible check that did not hold. Jupyter shows the message alone, without a traceback."""

    def __init__(self, message: str, earlier: str = "") -> None:
        """earlier: a sentence about an earlier check that did not hold either."""
        super().__init__(message)
        self.earlier = earlier

    def _render_traceback_(self) -> list[str]:
        """IPython's hook: the lines it prints in place of a traceback."""
        return [f"no   {self}", *([f"     {self.earlier}"] if self.earlier else [])]


_OURS = Path(__file__).parents[1]
ENDED = "this error ended the check. The last line of your own in the traceback above is the place to look at."

_failing: dict[str, dict[int, str]] = {}
"""module -> line of a check that did not hold when it last ran -> its sentence; lines are in the notebook's order"""


def check(sentence: str, *, stands_alone: bool = False) -> Callable[[Callable[..., str | None]], Callable[..., None]]:
    """Turn a function into a visible check that prints `ok   SENTENCE`, and after it what the function returns.

    stands_alone: its exercise calls no earlier one, so their checks are not mentioned.
    """

    def wrap(function: Callable[..., str | None]) -> Callable[..., None]:
        line, module = function.__code__.co_firstlineno, function.__module__

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True  # IPython leaves this frame out
            failing = {} if stands_alone else _failing.setdefault(module, {})
            earlier = _earlier(failing, line)
            try:
                addition = function(*args, **kwargs)
            except NotImplementedError as error:
                raise CheckFailed(_not_written(error)) from None
            except CheckFailed as failure:
                failing[line] = sentence
                raise CheckFailed(f"{sentence}: {failure}", earlier) from None
            except Exception as error:
                failing[line] = sentence
                error.add_note(f"no   {sentence}: {ENDED}{earlier and f' {earlier}'}")
                error.__traceback__ = _without_ours(error.__traceback__)
                raise
            failing.pop(line, None)
            print(f"ok   {sentence}{addition or ''}")

        run.__doc__ = f"{sentence[0].upper()}{sentence[1:]}."
        return run

    return wrap


def require(found: Difference | None, hints: Mapping[str, str] | None = None, *, source: str = "") -> None:
    """Raise CheckFailed if there is a difference; say where, yours and expected, and the hint for its kind.

    hints: kind of difference -> hint; a key `WHAT KIND` (`grad_z shape`) comes before `KIND`, before `WHAT`, before "".
        WHAT is the name of the value; of `grads["W1"]` it is `W1`.
    source: where the expected value comes from, e.g. `finite differences give`.
    """
    if found is None:
        return
    hints = hints or {}
    what = found.what.split('["')[-1].rstrip('"]')
    keys = (f"{what} {found.kind}", found.kind, what, "")
    hint = next((hints[key] for key in keys if key in hints), "")
    sentence, place = found.sentence, ""
    if found.index is not None and f"it should be {found.expected}." not in sentence:
        at = f"At [{', '.join(map(str, found.index))}] it" if found.index else "It"
        place = f" {at} is {found.yours}; {source or 'it should be'} {found.expected}."
    elif source:
        sentence = sentence.replace("it should be", source)
    fail(f"{sentence}{place}", hint)


def fail(message: str, hint: str = "") -> NoReturn:
    """Raise CheckFailed with a message of its own."""
    raise CheckFailed(f"{message}{f' Hint: {hint}' if hint else ''}")


def _without_ours(found: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame on that is none of the course's, if there is one."""
    begin = found
    while begin and Path(begin.tb_frame.f_code.co_filename).is_relative_to(_OURS):
        begin = begin.tb_next
    return begin or found


def _earlier(failing: Mapping[int, str], line: int) -> str:
    first = min((other for other in failing if other < line), default=None)
    if first is None:
        return ""
    return f"Before this one, {failing[first]!r} did not hold either: if this exercise calls that one, mend that first."


def _not_written(error: NotImplementedError) -> str:
    """Which function still holds the released stub: the innermost frame that raised; of a method, with its class."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    name = frame.f_code.co_qualname.rpartition("<locals>.")[2].removeprefix("tf__")  # AutoGraph's
    return f"{name} is not written yet: replace `raise NotImplementedError()` in its cell and run that cell."
