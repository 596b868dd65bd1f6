"""Which submissions share more code than independent work explains, for a person to look at.

What a student wrote becomes tokens, in which comments, docstrings, layout and the student's own names no longer count.
Every run of `TOKENS` tokens is a fingerprint, wherever it stands, so that the order of functions does not matter. (To
keep a few of them, as winnowing does, saves memory that a class does not need.) Fingerprints of the given code count
for nothing, and those that any right program of the bank has are expected: an exercise often has one natural solution.
The rest is unusual, the more so the fewer of the class have it, and weighs by how alike the two programs are in all.

How much of that two strangers share is measured on the bank itself: of each exercise two right answers are drawn and
held against the others, until whole programs are together. A pair is told if it is above all of those.
"""

from __future__ import annotations

import builtins
import hashlib
import itertools
import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from autograder.bank import BankEntry
from autograder.records import Assignment, Role, Submission

TOKENS = 16
"""in a fingerprint: about two lines"""
MAX_CHARS = 100_000
"""of one student's answers that are compared"""
DRAWS = 100_000
"""pairs of programs put together from the bank"""
FEW_ANSWERS = 3
"""an exercise with fewer right answers in the bank tells nothing about what strangers share"""
LEAST = 0.1
"""likeness that is told at least, however little the bank's programs share: about twice what they reach"""
LEAST_WITHOUT_BANK = 0.3
"""the same where no bank says what is natural"""

Fingerprints = NDArray[np.uint64]
_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no power of it is lost modulo 2**64
_POWERS = _BASE ** np.arange(TOKENS, dtype=np.uint64)
_BLOCK = 1 << 14
_KNOWN = frozenset({*dir(builtins), *keyword.kwlist})
# Any text has tokens, found in linear time: possessive repeats (`*+`), and a string that is not closed ends somewhere.
_TOKEN = re.compile(
    r"""
    \s++ | \\\n | \#[^\n]*+
    | (?P<string> [rbufRBUF]{0,2}
        (?: \"{3} (?:[^\\"] | \\. | "(?!""))*+ (?:"{3})?
          | '{3} (?:[^\\'] | \\. | '(?!''))*+ (?:'{3})?
          | " (?:[^\\"\n] | \\.)*+ "?
          | ' (?:[^\\'\n] | \\.)*+ '? ) )
    | (?P<number> \.?\d[\w.]*+ )
    | (?P<word> \w++ )
    | (?P<sign> [-+*/%@&|^<>=!:]= | . )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, eq=False)
class Answer:
    """One code cell that a student wrote."""

    name: str
    """its grade id; empty for a cell that the student added"""
    source: str

    @cached_property
    def _tokens(self) -> tuple[tuple[tuple[int, int], ...], Fingerprints]:
        spans, texts = _tokens(self.source)
        return spans, np.array([_number(text) for text in texts], dtype=np.uint64)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where each token that counts begins and ends in the source."""
        return self._tokens[0]

    @cached_property
    def fingerprints(self) -> Fingerprints:
        """Of the runs of tokens, in order: entry i begins at token i."""
        tokens = self._tokens[1]
        if len(tokens) < TOKENS:
            return np.zeros(0, dtype=np.uint64)
        return (np.lib.stride_tricks.sliding_window_view(tokens, TOKENS) * _POWERS).sum(axis=1, dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Program:
    """All that one student wrote."""

    student: str
    answers: tuple[Answer, ...]
    cut: bool = False
    """whether it is longer than what is compared"""

    @cached_property
    def fingerprints(self) -> Fingerprints:
        """Sorted, each once."""
        return _union(self.answers)


@dataclass(frozen=True)
class Pair:
    """Two submissions that share more than independent programs do."""

    left: Program
    right: Program
    unusual: float
    """part of the smaller one's fingerprints that both have and no right program of the bank, each weighted by how few
    of the class have it"""
    alike: float
    """part of the smaller one's fingerprints that both have, natural or not"""

    @property
    def likeness(self) -> float:
        """What pairs are sorted by, from 0 to 1: coincidences stand in programs that are otherwise unlike."""
        return self.unusual * self.alike


@dataclass(frozen=True)
class Baseline:
    """What right programs that were written independently share."""

    given: Fingerprints
    """of the code that everybody received"""
    natural: Fingerprints
    """of the bank's right programs"""
    size: int
    """fingerprints of the reference"""
    answers: int
    """right answers that were compared, over all exercises"""
    most: float | None
    """likeness of the two most alike among `DRAWS` pairs of independent programs; None if the bank is too small"""

    @property
    def least(self) -> float:
        """The likeness above which a pair is told."""
        return LEAST_WITHOUT_BANK if self.most is None else max(LEAST, self.most)


@dataclass(frozen=True)
class Comparison:
    """What was found in a class."""

    baseline: Baseline
    programs: tuple[Program, ...]
    """that have an answer to compare"""
    empty: tuple[str, ...]
    """students who wrote no code that could be compared"""
    pairs: tuple[Pair, ...]
    """the most alike first"""
    clusters: tuple[tuple[Pair, ...], ...]
    """pairs that hold a group of students together, each joining one more to the rest, the most alike first"""


def compare(assignment: Assignment, bank: Iterable[BankEntry], submissions: Iterable[Submission]) -> Comparison:
    """Compare everybody with everybody."""
    baseline = measure_baseline(assignment, bank)
    programs = [_program(submission) for submission in submissions]
    compared = [p for p in programs if len(_without(p.fingerprints, baseline.given))]
    pairs = sorted(_unusual_pairs(compared, baseline), key=lambda p: (-p.likeness, p.left.student, p.right.student))
    empty = tuple(p.student for p in programs if p not in compared)
    return Comparison(baseline, tuple(compared), empty, tuple(pairs), _clusters(pairs))


# -- tokens ----------------------------------------------------------------------------------------------------------


def _tokens(source: str) -> tuple[tuple[tuple[int, int], ...], list[str]]:
    """Where the tokens that count stand, and what each stands for."""
    found = [match for match in _TOKEN.finditer(source) if match.lastgroup and match[0] != ";"]
    own = {name[0] for before, name in itertools.pairwise(found) if before[0] in ("def", "class")}
    own |= {
        name[0] for dot, name, sign in zip(found, found[1:], found[2:], strict=False) if (dot[0], sign[0]) == (".", "=")
    }
    spans: list[tuple[int, int]] = []
    texts: list[str] = []
    depth = 0
    for match in found:
        text, kind = match[0], match.lastgroup
        depth = max(0, depth + (text in "([{") - (text in ")]}"))
        if kind == "string":
            if depth == 0 and not source[source.rfind("\n", 0, match.start()) + 1 : match.start()].strip():
                continue  # a docstring
            text = '""'
        # Of others' names those of functions and modules' members stay: `np.exp` is not `np.log`.
        elif kind == "word" and text not in _KNOWN and (text in own or not texts or texts[-1] != "."):
            text = "name"
        spans.append(match.span())
        texts.append(text)
    return tuple(spans), texts


@lru_cache(maxsize=1 << 16)
def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "big")


def _program(submission: Submission) -> Program:
    answers, left = [], MAX_CHARS
    for cell in (cell for notebook in submission.notebooks for cell in notebook.plan):
        if cell.origin != "instructor" and left > 0:
            answers.append(Answer(cell.grade_id or "", cell.source[:left]))
        left -= len(cell.source) * (cell.origin != "instructor")
    return Program(submission.student, tuple(answers), left < 0)


# -- the bank --------------------------------------------------------------------------------------------------------


def measure_baseline(assignment: Assignment, bank: Iterable[BankEntry]) -> Baseline:
    """What is given, what is natural, and how much of the rest independent right answers share."""
    cells = [c for notebook in assignment.notebooks for c in notebook.cells if c.kind == "code"]
    given = _union(Answer("", c.released) for c in cells)
    right = [entry for entry in bank if entry.kind == "correct"]
    exercises = []
    for cell in (c for c in cells if c.role in (Role.SOLUTION, Role.MANUAL)):
        grade_id = cell.grade_id or ""
        texts = [cell.source, *(entry.cells[grade_id] for entry in right if grade_id in entry.cells)]
        answers = [_without(_union([Answer("", text)]), given) for text in texts]
        # Two that differ in names alone were not written independently.
        exercises.append(list({one.tobytes(): one for one in answers}.values()))
    added = [_union(Answer("", text) for _, text in entry.extra) for entry in right]
    everything = [one for answers in exercises for one in answers]
    natural = _without(_unique([*everything, *added]), given)
    size = sum(len(answers[0]) for answers in exercises)
    compared = [answers for answers in exercises if len(answers) >= FEW_ANSWERS]
    return Baseline(given, natural, size, sum(map(len, compared)), _most_alike(compared))


def _most_alike(exercises: Sequence[Sequence[Fingerprints]]) -> float | None:
    """The likeness of the two most alike programs, of `DRAWS` pairs put together from right answers."""
    draw = np.random.default_rng(0)
    unusual, alike, size = (np.zeros(DRAWS) for _ in range(3))
    for answers in exercises:
        found, counts = np.unique(np.concatenate(answers), return_counts=True)
        only_two = found[counts == 2]  # as if these two were the class, and the others the bank
        rows = []
        for one, other in itertools.combinations(answers, 2):
            both = np.intersect1d(one, other)
            rows.append((len(np.intersect1d(both, only_two)), len(both), min(len(one), len(other))))
        drawn = np.array(rows)[draw.integers(len(rows), size=DRAWS)]
        unusual, alike, size = unusual + drawn[:, 0], alike + drawn[:, 1], size + drawn[:, 2]
    return float(np.max(unusual * alike / np.maximum(size, 1) ** 2)) if exercises else None


# -- the class -------------------------------------------------------------------------------------------------------


def _unusual_pairs(programs: Sequence[Program], baseline: Baseline) -> Iterator[Pair]:
    own = [_without(program.fingerprints, baseline.given) for program in programs]
    sizes = np.array([len(one) for one in own])
    # Who answered little shares much of it easily: half the assignment is the least measure.
    smaller = np.maximum(np.minimum.outer(sizes, sizes), baseline.size / 2)
    unusual = _weighted_overlap([_without(one, baseline.natural) for one in own]) / smaller
    for a, b in np.argwhere(np.triu(unusual > baseline.least, 1)):
        alike = len(np.intersect1d(own[a], own[b], assume_unique=True)) / smaller[a, b]
        pair = Pair(programs[a], programs[b], min(1.0, float(unusual[a, b])), min(1.0, float(alike)))
        if pair.likeness > baseline.least:
            yield pair


def _weighted_overlap(class_: Sequence[Fingerprints]) -> NDArray[np.float32]:
    """For every pair, how much both have. What two of the class have counts 1, what all have counts nothing."""
    count = len(class_)
    overlap = np.zeros((count, count), dtype=np.float32)
    if count < 2:
        return overlap
    rows = np.repeat(np.arange(count), [len(one) for one in class_])
    _, columns, counts = np.unique(np.concatenate(class_), return_inverse=True, return_counts=True)
    weights = np.log(count / counts) / np.log(count / 2) if count > 2 else np.ones(len(counts))
    shared = counts[columns] > 1
    order = np.argsort(columns[shared], kind="stable")
    rows, columns = rows[shared][order], columns[shared][order]
    for start in range(0, len(counts), _BLOCK):  # the whole table of a class would be gigabytes
        first, end = np.searchsorted(columns, (start, start + _BLOCK))
        used, places = np.unique(columns[first:end], return_inverse=True)
        has = np.zeros((count, len(used)), dtype=np.float32)
        has[rows[first:end], places] = 1
        overlap += (has * weights[used].astype(np.float32)) @ has.T
    return overlap


def _clusters(pairs: Sequence[Pair]) -> tuple[tuple[Pair, ...], ...]:
    """Kruskal's spanning trees over pairs that come in order."""
    cluster: dict[str, int] = {}
    trees: dict[int, list[Pair]] = {}
    for number, pair in enumerate(pairs):
        left, right = (cluster.get(program.student) for program in (pair.left, pair.right))
        if left is not None and left == right:
            continue
        joined = [key for key in (left, right) if key is not None]
        trees[number] = [*itertools.chain.from_iterable(trees.pop(key) for key in joined), pair]
        for member in trees[number]:
            cluster[member.left.student] = cluster[member.right.student] = number
    found = (tuple(sorted(tree, key=lambda pair: -pair.likeness)) for tree in trees.values())
    return tuple(sorted(found, key=lambda tree: -tree[0].likeness))


# -- sets ------------------------------------------------------------------------------------------------------------


def _union(answers: Iterable[Answer]) -> Fingerprints:
    return _unique([answer.fingerprints for answer in answers])


def _unique(parts: Sequence[Fingerprints]) -> Fingerprints:
    return np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *parts]))


def _without(one: Fingerprints, other: Fingerprints) -> Fingerprints:
    return one[~np.isin(one, other, assume_unique=True)]
