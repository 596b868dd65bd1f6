"""Call a student's function the way a fair examiner does: with copies of the inputs, looking at them again
afterwards.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.checks.outcome import fail

__all__ = ["call", "parts", "plain", "unchanged"]


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `function` returns for copies of the arrays (and dicts of arrays) given. Fails if it changes one of them.

    Anything else, such as a cache of the student's own making or a function, is passed as it is.
    """
    given, named = [_fresh(value) for value in args], {name: _fresh(value) for name, value in kwargs.items()}
    returned = function(*given, **named)
    code = getattr(function, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code else ()
    for place, (before, after) in enumerate(zip(args, given, strict=True)):
        unchanged(names[place] if place < len(names) else f"argument number {place + 1}", before, after)
    for name, before in kwargs.items():
        unchanged(name, before, named[name])
    return returned


def unchanged(name: str, before: object, after: Any) -> None:
    """Fail if the array (or dict of arrays) `after` is no longer what it was."""
    # x + h - 2h + h is x but for the last digit; a function that puts things back may do it that way.
    if isinstance(before, np.ndarray) and not np.allclose(before, after, rtol=0, atol=1e-12):
        hint = "`a[...] = ` and `a += ` write into the array a itself. Make a new array, or put the old values back."
        fail(f"Your function changed its argument {name}.", hint)
    if _is_dict_of_arrays(before) and isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if key not in after:
                fail(f'Your function removed "{key}" from its argument {name}.')
            unchanged(f'{name}["{key}"]', value, after[key])


def parts(call_text: str, returned: object, names: Sequence[str]) -> tuple[Any, ...]:
    """The values of a returned tuple (or list), once there are as many as `names`. `call_text` is how it was called."""
    form = f"the tuple ({', '.join(names)})"
    if returned is None:
        fail(f"{call_text} returned None; it should return {form}.", "Is there a `return`?")
    if not isinstance(returned, (tuple, list)):
        fail(f"{call_text} returned {_article(type(returned).__name__)}; it should return {form}.")
    if len(returned) != len(names):
        fail(f"{call_text} returned {len(returned)} values; it should return {form}.")
    return tuple(returned)


def plain(value: Any) -> Any:
    """`value` with every subclass of dict, tuple, list or array as the class itself; so the hidden checks get it."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        kind = tuple if isinstance(value, tuple) else list
        return kind(plain(part) for part in value)
    return np.asarray(value) if isinstance(value, np.ndarray) else value


def _fresh(value: Any) -> Any:
    return copy.deepcopy(value) if isinstance(value, np.ndarray) or _is_dict_of_arrays(value) else value


def _is_dict_of_arrays(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(v, np.ndarray) for v in value.values())


def _article(word: str) -> str:
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"
