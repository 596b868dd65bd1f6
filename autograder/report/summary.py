"""What a class did, counted: where points were lost, to which checks and known mistakes, and what nobody could grade.

Only what was graded counts toward means and losses. Every lost point is counted once: it goes to the
check that did not pass, or to the cell where no check can say more (never started, stopped at a limit).
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.records import CheckResult, Flag, Item, Report, Verdict
from autograder.report import words
from autograder.sandbox.tier import Tier


@dataclass(frozen=True)
class ItemKey:
    """Names one graded cell of an assignment."""

    notebook: str
    grade_id: str


@dataclass(frozen=True)
class ItemSummary:
    """One graded cell over the class."""

    key: ItemKey
    max_points: float
    mean: float | None
    """points, over the submissions of which this item is not still open; None if it is of all"""
    verdicts: Mapping[Verdict, int]


@dataclass(frozen=True)
class Loss:
    """Points the class lost to one thing."""

    key: ItemKey
    check: str
    """name of the check; empty where the whole cell lost them"""
    sentence: str
    verdict: Verdict
    students: tuple[str, ...]
    points: float


@dataclass(frozen=True)
class FaultLoss:
    """One known mistake over the class."""

    fault: str
    words: str
    """what its students read"""
    keys: tuple[ItemKey, ...]
    students: tuple[str, ...]
    points: float


@dataclass(frozen=True)
class Scores:
    """How the scores of the graded submissions lie."""

    values: tuple[float, ...]
    max_score: float
    mean: float
    median: float
    lowest: float
    highest: float


def graded(reports: Iterable[Report]) -> tuple[Report, ...]:
    """The reports whose score says something about the work."""
    return tuple(r for r in reports if r.state not in words.UNGRADED)


def _judged(reports: Iterable[Report]) -> tuple[tuple[Report, Item], ...]:
    """Every item that was graded, with its report; also those of a submission of which another item could not be."""
    return tuple((r, i) for r in reports for i in r.items if i.verdict not in (Verdict.REJECTED, Verdict.GRADER_ERROR))


def ungraded(reports: Iterable[Report]) -> tuple[Report, ...]:
    """The reports of what could not be graded."""
    return tuple(r for r in reports if r.state in words.UNGRADED)


def scores(reports: Sequence[Report]) -> Scores | None:
    """The distribution of scores; None if nothing was graded."""
    values = tuple(r.score for r in graded(reports))
    if not values:
        return None
    highest_possible = max(r.max_score for r in graded(reports))
    return Scores(
        values, highest_possible, statistics.fmean(values), statistics.median(values), min(values), max(values)
    )


def tier(reports: Iterable[Report]) -> Tier | None:
    """The lowest tier of the sandbox that any submission ran in; None where nothing ran, or not in a sandbox."""
    return min((found for r in reports if (found := Tier.of(r.sandbox)) is not None), default=None)


def item_keys(reports: Iterable[Report]) -> tuple[ItemKey, ...]:
    """The graded cells of all reports, in the order of the fullest report."""
    fullest_first = sorted(reports, key=lambda r: -len(r.items))
    return tuple(dict.fromkeys(ItemKey(i.notebook, i.grade_id) for r in fullest_first for i in r.items))


def short_names(keys: Sequence[ItemKey]) -> dict[ItemKey, str]:
    """What to call each graded cell on a page or terminal: as short as tells them apart."""
    if len({key.notebook for key in keys}) > 1:
        return {key: f"{key.notebook}: {key.grade_id}" for key in keys}
    short = {key: key.grade_id.removeprefix("test_") for key in keys}
    return short if len(set(short.values())) == len(keys) else {key: key.grade_id for key in keys}


def items(reports: Sequence[Report]) -> tuple[ItemSummary, ...]:
    """Mean and verdicts of each graded cell, in order."""
    found: dict[ItemKey, list[Item]] = {key: [] for key in item_keys(reports)}
    for _, item in _judged(reports):
        found[ItemKey(item.notebook, item.grade_id)].append(item)
    return tuple(_item_summary(key, members) for key, members in found.items() if members)


def losses(reports: Sequence[Report]) -> tuple[Loss, ...]:
    """What the class lost points to, the costliest first."""
    students: dict[tuple[ItemKey, str, Verdict], list[str]] = defaultdict(list)
    lost: dict[tuple[ItemKey, str, Verdict], float] = defaultdict(float)
    sentences: dict[tuple[ItemKey, str, Verdict], str] = {}
    for report, item in _judged(reports):
        for check, verdict, sentence, points in _lost(item):
            where = (ItemKey(item.notebook, item.grade_id), check, verdict)
            students[where].append(report.student)
            lost[where] += points
            sentences.setdefault(where, sentence)
    found = [Loss(w[0], w[1], sentences[w], w[2], _each_once(students[w]), lost[w]) for w in students]
    return tuple(sorted(found, key=lambda x: (-x.points, -len(x.students), x.key.grade_id, x.check)))


def faults(reports: Sequence[Report]) -> tuple[FaultLoss, ...]:
    """The known mistakes that were named, the costliest first."""
    students: dict[str, list[str]] = defaultdict(list)
    keys: dict[str, list[ItemKey]] = defaultdict(list)
    lost: dict[str, float] = defaultdict(float)
    told: dict[str, str] = {}
    for report, item in _judged(reports):
        for fault, message, points in _faults(item):
            students[fault].append(report.student)
            keys[fault].append(ItemKey(item.notebook, item.grade_id))
            lost[fault] += points
            told[fault] = told.get(fault) or message
    found = [FaultLoss(f, told[f], tuple(dict.fromkeys(keys[f])), _each_once(students[f]), lost[f]) for f in students]
    return tuple(sorted(found, key=lambda x: (-x.points, -len(x.students), x.fault)))


def flagged(reports: Iterable[Report], *, review: bool) -> tuple[tuple[str, tuple[tuple[str, Flag], ...]], ...]:
    """The flags by kind, as (kind, (student, flag) pairs): those for review, or else the repairs."""
    found: dict[str, list[tuple[str, Flag]]] = defaultdict(list)
    for report in reports:
        for flag in words.for_review(report.flags) if review else words.repairs(report.flags):
            found[flag.kind].append((report.student, flag))
    return tuple((kind, tuple(found[kind])) for kind in sorted(found))


def identical(reports: Iterable[Report]) -> tuple[tuple[str, ...], ...]:
    """Groups of students whose submissions are the same to the byte, though they did not hand in together."""
    by_digest: dict[str, list[str]] = defaultdict(list)
    for report in reports:
        kinds = {flag.kind for flag in report.flags}
        if report.digest and ("group" not in kinds or "identical" in kinds):
            by_digest[report.digest].append(report.student)
    return tuple(sorted(tuple(sorted(group)) for group in by_digest.values() if len(group) > 1))


def _item_summary(key: ItemKey, members: Sequence[Item]) -> ItemSummary:
    settled = [i.points for i in members if i.verdict not in words.STILL_OPEN]
    mean = statistics.fmean(settled) if settled else None
    return ItemSummary(key, max(i.max_points for i in members), mean, Counter(i.verdict for i in members))


def _lost(item: Item) -> Iterator[tuple[str, Verdict, str, float]]:
    """(check, verdict, sentence, points) of everything that one item lost."""
    if item.verdict in words.STILL_OPEN:
        return
    rest = item.max_points - item.points
    for check in item.checks:
        points = min(_share(check, item), max(rest, 0.0))
        if check.verdict is Verdict.PASSED or check.verdict in words.STILL_OPEN or points <= 0:
            continue
        if check.verdict in (Verdict.NOT_ATTEMPTED, Verdict.NOT_RUN):
            continue
        rest -= points
        yield check.name, check.verdict, check.sentence, points
    if rest > 1e-9:
        told = words.LOST_TO_CELL if item.checks else words.LOST_TO_CELL | words.BY_TEST_CELL
        yield "", item.verdict, told.get(item.verdict, words.BY_RULE), rest


def _faults(item: Item) -> Iterator[tuple[str, str, float]]:
    """(fault, words, points) of every known mistake that one item shows."""
    if item.verdict in words.STILL_OPEN:
        return
    by_check = [c for c in item.checks if c.fault and c.verdict is not Verdict.PASSED]
    for check in by_check:
        yield check.fault or "", check.message, _share(check, item)
    if item.fault and item.fault not in {c.fault for c in by_check}:
        yield item.fault, item.message, 0.0 if by_check else item.max_points - item.points


def _share(check: CheckResult, item: Item) -> float:
    total = sum(c.weight for c in item.checks)
    return item.max_points * check.weight / total if total > 0 else 0.0


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
