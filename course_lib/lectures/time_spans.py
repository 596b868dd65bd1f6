"""Who was busy when: spans of wall time, recorded under labels from any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Spans"]

Span = tuple[float, float]


class Spans:
    """A log of what ran from when to when. `with spans("load"): ...` notes one span; threads may do so at once."""

    def __init__(self) -> None:
        self._noted: dict[str, list[Span]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def __call__(self, label: str) -> Iterator[None]:
        """Note when the block begins and ends, also if it fails."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            end = time.perf_counter()
            with self._lock:
                self._noted.setdefault(label, []).append((begin, end))

    def rows(self) -> dict[str, list[Span]]:
        """The spans of each label in seconds since the first began, in order, labels as they first began.

        Spans of one label that overlap are dealt out to rows of their own: "load", "load 2", and so on.
        """
        found: dict[str, list[Span]] = {}
        for label in sorted(self._noted, key=lambda label: min(self._noted[label])):
            lanes: list[list[Span]] = []
            for begin, end in self._spans(label):
                lane = next((lane for lane in lanes if lane[-1][1] <= begin), None)
                if lane is None:
                    lanes.append(lane := [])
                lane.append((begin, end))
            found |= {label if i == 1 else f"{label} {i}": lane for i, lane in enumerate(lanes, start=1)}
        return found

    def overlap(self, one: str, other: str) -> float:
        """Seconds during which a span of `one` and a span of `other` ran at the same time, counted for each pair."""
        pairs = ((a, b) for a in self._spans(one) for b in self._spans(other))
        return sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a, b in pairs)

    def _spans(self, label: str) -> list[Span]:
        start = min((min(spans) for spans in self._noted.values()), default=(0.0, 0.0))[0]
        return sorted((begin - start, end - start) for begin, end in self._noted.get(label, []))
