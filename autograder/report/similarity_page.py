"""The page of similar submissions: for the instructor, who decides; it costs nobody points.

Its size is bounded however large the class is: the pairs that hold each group together are shown side by side, the
most alike first, and of the others only the numbers.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autograder.records import Assignment
from autograder.report.feedback import assignment_title
from autograder.report.pages import render, write_page
from autograder.similarity import DRAWS, TOKENS, Answer, Baseline, Comparison, Fingerprints, Pair

MOST_SHOWN = 40
"""pairs side by side"""
MOST_ROWS = 300
"""of the table of pairs"""
MOST_GROUPS = 100
MOST_CHARS = 5000
"""of each program that are shown beside another"""


def write_similarity_page(path: Path, assignment: Assignment, found: Comparison) -> Path:
    """Write the page, and return its place. Raises CannotWrite."""
    return write_page(path, similarity_page(assignment, found))


def similarity_page(assignment: Assignment, found: Comparison) -> str:
    """Everything that was found as one HTML page that needs nothing else and runs nothing."""
    shown = sorted(itertools.chain.from_iterable(found.clusters), key=lambda pair: -pair.likeness)[:MOST_SHOWN]
    order = [cell.grade_id for notebook in assignment.notebooks for cell in notebook.cells if cell.grade_id]
    return render(
        "similarity.html.j2",
        title=assignment_title(assignment),
        found=found,
        count=len(found.programs),
        compared=len(found.programs) * (len(found.programs) - 1) // 2,
        groups=[_members(tree) for tree in found.clusters[:MOST_GROUPS]],
        rows=found.pairs[:MOST_ROWS],
        shown=[_side_by_side(pair, found.baseline, order) for pair in shown],
        places={_key(pair): number for number, pair in enumerate(shown, 1)},
        key=_key,
        times=_times,
        draws=DRAWS,
        tokens=TOKENS,
    )


def _key(pair: Pair) -> tuple[str, str]:
    return pair.left.student, pair.right.student


def _members(tree: Sequence[Pair]) -> list[str]:
    return sorted({program.student for pair in tree for program in (pair.left, pair.right)})


def _times(pair: Pair, baseline: Baseline) -> str:
    """How often the pair's likeness is that of the most alike independent programs."""
    return "unknown" if baseline.most is None else f"{pair.likeness / max(baseline.most, 0.01):.0f}"


# -- two programs side by side ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Piece:
    """A stretch of source."""

    text: str
    passage: int = 0
    """its number, which the same passage has on the other side; 0 for what is not shared"""
    unusual: bool = False
    first: bool = False
    """whether the passage begins here"""


@dataclass(frozen=True)
class _Exercise:
    """What two students wrote for one exercise, or into cells that they added."""

    name: str
    left: tuple[_Piece, ...]
    right: tuple[_Piece, ...]


@dataclass(frozen=True)
class _SideBySide:
    pair: Pair
    exercises: tuple[_Exercise, ...]
    unlike: tuple[str, ...]
    """exercises in which nothing is shared, which are not shown"""
    is_cut: bool


class _Marks:
    """Which tokens of an answer belong to which passage, and whether they are unusual."""

    def __init__(self, answer: Answer, baseline: Baseline) -> None:
        self.answer = answer
        self.is_given = np.isin(answer.fingerprints, baseline.given)
        self.is_natural = np.isin(answer.fingerprints, baseline.natural)
        self.passages = np.zeros(len(answer.spans), dtype=int)
        self.unusual = np.zeros(len(answer.spans), dtype=bool)

    def mark(self, start: int, length: int, passage: int) -> None:
        """`length` fingerprints from `start` on are shared."""
        own = self.passages[start : start + length + TOKENS - 1]
        own[own == 0] = passage
        for place in range(start, start + length):
            if not self.is_natural[place]:
                self.unusual[place : place + TOKENS] = True

    def pieces(self) -> Iterator[_Piece]:
        source, spans, end, before = self.answer.source, self.answer.spans, 0, 0
        labels = zip(self.passages.tolist(), self.unusual.tolist(), strict=True)
        for (passage, unusual), group in itertools.groupby(zip(labels, spans, strict=True), key=lambda pair: pair[0]):
            tokens = [span for _, span in group]
            if passage:
                yield _Piece(source[end : tokens[0][0]])
                yield _Piece(source[tokens[0][0] : tokens[-1][1]], passage, unusual, passage != before)
                end = tokens[-1][1]
            before = passage
        yield _Piece(source[end:])


def _side_by_side(pair: Pair, baseline: Baseline, order: Sequence[str]) -> _SideBySide:
    left = [_Marks(answer, baseline) for answer in pair.left.answers]
    right = [_Marks(answer, baseline) for answer in pair.right.answers]
    _mark_passages(left, right)
    exercises, unlike = [], []
    room = [MOST_CHARS, MOST_CHARS]
    for name in [*order, ""]:
        both = [[marks for marks in side if marks.answer.name == name] for side in (left, right)]
        if any(marks.passages.any() for side in both for marks in side):
            columns = [tuple(_cut(side, room, number)) for number, side in enumerate(both)]
            exercises.append(_Exercise(name, columns[0], columns[1]))
        elif any(both):
            unlike.append(name)
    return _SideBySide(pair, tuple(exercises), tuple(unlike), min(room) < 0)


def _mark_passages(left: Sequence[_Marks], right: Sequence[_Marks]) -> None:
    places: dict[int, list[tuple[_Marks, int]]] = defaultdict(list)
    for marks in reversed(right):
        for place, fingerprint in reversed(list(enumerate(marks.answer.fingerprints.tolist()))):
            places[fingerprint].append((marks, place))
    passage = 0
    for marks in left:
        own, place = marks.answer.fingerprints, 0
        while place < len(own):
            found = [] if marks.is_given[place] else places.get(int(own[place]), [])
            if not found:
                place += 1
                continue
            while len(found) > 1 and found[-1][0].passages[found[-1][1]]:
                found.pop()  # already the counterpart of another one
            there, at = found[-1]
            length = _run(own[place:], there.answer.fingerprints[at:])
            passage += 1
            marks.mark(place, length, passage)
            there.mark(at, length, passage)
            place += length


def _run(one: Fingerprints, other: Fingerprints) -> int:
    """How many of the first are the same."""
    most = min(len(one), len(other))
    differ = np.flatnonzero(one[:most] != other[:most])
    return int(differ[0]) if len(differ) else most


def _cut(side: Sequence[_Marks], room: list[int], number: int) -> Iterator[_Piece]:
    for marks in side:
        for piece in (*marks.pieces(), _Piece("\n")):
            if room[number] > 0 and piece.text:
                yield _Piece(piece.text[: room[number]], piece.passage, piece.unusual, piece.first)
            room[number] -= len(piece.text)
