"""Edits of a source: texts that each occur in it exactly once, and what replaces them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable


class BadEdit(ValueError):
    """An edit does not fit its source."""


def edited(source: str, edits: Iterable[tuple[str, str]]) -> str:
    """`source` with all of `edits`, pairs of (old, new), made at once.

    Raises BadEdit where an old text does not occur exactly once, or two of them overlap.
    """
    places = []
    for old, new in edits:
        if (times := source.count(old)) != 1:
            raise BadEdit(f"{old!r} occurs {times} times")
        places.append((source.index(old), old, new))
    places.sort()
    for (start, old, _), (following, other, _) in itertools.pairwise(places):
        if start + len(old) > following:
            raise BadEdit(f"{old!r} and {other!r} overlap")
    for start, old, new in reversed(places):
        source = source[:start] + new + source[start + len(old) :]
    return source
