"""What a visible check says: `ok   ...` on one line, or an error whose traceback in Jupyter is one line too.

A check is a function that takes the student's function, with the sentence that it prints as its decorator's argument.
It raises nothing if all is well. If the student's own code raises, that traceback is left alone: it points at the
student's line, which no sentence of ours could do better. The one exception is the `NotImplementedError` of an
untouched cell.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from course_lib.compare import Difference

__all__ = ["CheckFailed", "check", "fail", "require"]


class CheckFailed(AssertionError):
    """A visible check that did not hold. Jupyter shows the message alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """IPython's hook: the lines it prints in place of a traceback."""
        return [f"no   {self}"]


def check(sentence: str) -> Callable[[Callable[..., str | None]], Callable[..., None]]:
    """Turn a function into a visible check that prints `ok   SENTENCE`, and after it what the function returns."""

    def wrap(function: Callable[..., str | None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            try:
                addition = function(*args, **kwargs)
            except NotImplementedError as error:
                raise CheckFailed(_not_written(error)) from None
            except CheckFailed as failure:
                raise CheckFailed(f"{sentence}: {failure}") from None
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


def _not_written(error: NotImplementedError) -> str:
    """Which function still holds the released stub: the innermost frame that raised."""
    frames = traceback.extract_tb(error.__traceback__)
    name = frames[-1].name if frames else "the function"
    return f"{name} is not written yet: replace `raise NotImplementedError()` in its cell and run that cell."
