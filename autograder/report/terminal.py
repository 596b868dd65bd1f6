"""The tables that a command prints: a class at a glance, and the bank's expected verdicts beside the ones it got.

Student names and everything else that came from a submission are printed as plain text: rich sees no markup
in them, and a terminal no escape sequence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from rich.table import Table
from rich.text import Text

from autograder.records import Report, Verdict
from autograder.report import summary, words
from autograder.report.sanitize import one_line
from autograder.report.summary import ItemKey

SHOWN_WHOLE = 100
"""students of a class of whom each has a row after every run"""

_STYLES = {
    "passed": "green",
    "partial": "yellow",
    "failed": "red",
    "limit": "magenta",
    "absent": "dim",
    "open": "cyan",
}


def summary_table(reports: Sequence[Report], graded: Collection[str] | None = None) -> Table:
    """One row a student: score, a mark for each graded cell, the state, the known mistakes that were named, the flags.

    The caption spells out the marks that occur and the numbers that stand for the cells. Of a class that fills more
    than a screen or two only the students in `graded` have a row.
    """
    keys = summary.item_keys(reports)
    table = Table(title=_title(reports), caption=_legend(reports, keys), title_justify="left", caption_justify="left")
    table.add_column("student", overflow="fold", min_width=8, max_width=30)
    table.add_column("score", justify="right", no_wrap=True)
    for number in range(1, len(keys) + 1):
        table.add_column(str(number), justify="center", no_wrap=True)
    table.add_column("state: known mistakes; flags", overflow="fold")
    if graded is None or len(reports) <= SHOWN_WHOLE:
        graded = {report.student for report in reports}
    for report in sorted((r for r in reports if r.student in graded), key=lambda r: r.student):
        table.add_row(*_row(report, keys))
    return table


def reasons(reports: Sequence[Report]) -> list[Text]:
    """One line for each submission that has no score: who, and why."""
    return [
        Text(f"not graded: {one_line(r.student, 60)}: {one_line(words.reason(r), 400)}")
        for r in reports
        if r.state in words.UNGRADED
    ]


def below_full(reports: Sequence[Report]) -> list[Text]:
    """One line where the sandbox of a submission promises less than the whole, and where to read what."""
    tier = summary.tier(reports)
    if tier is None or not tier.not_kept:
        return []
    count = words.plural(len(tier.not_kept), "promise")
    return [Text(f"sandbox: tier {tier.name.lower()}, where {count} of tier full may not hold; the report lists them")]


class BankRow(Protocol):
    """One graded cell of one known submission: `selftest.Row`."""

    @property
    def entry(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def cell(self) -> str: ...
    @property
    def expected(self) -> str: ...
    @property
    def got(self) -> str: ...
    @property
    def ok(self) -> bool: ...


class PlantedMistake(Protocol):
    """What became of one planted mistake: `selftest.ConfusionRow`."""

    @property
    def planted(self) -> str: ...
    @property
    def times(self) -> int: ...
    @property
    def rightly(self) -> int: ...
    @property
    def others(self) -> Mapping[str, int]: ...
    @property
    def cost(self) -> float: ...


class MarginRow(Protocol):
    """How far right and wrong training lie apart in one check: `selftest.Margin`."""

    @property
    def check(self) -> str: ...
    @property
    def worst_right(self) -> float: ...
    @property
    def nearest_wrong(self) -> float | None: ...
    @property
    def nearest(self) -> str: ...


class DemandRow(Protocol):
    """One sentence of the text: `sentences.Demand`."""

    @property
    def text(self) -> str: ...
    @property
    def broken_by(self) -> Sequence[str]: ...
    @property
    def noticed(self) -> Sequence[str]: ...
    @property
    def asks_nothing(self) -> bool: ...
    @property
    def is_open(self) -> bool: ...


def confusion_table(found: Iterable[PlantedMistake]) -> Table:
    """Mistakes planted against mistakes named: a row for each planted one, and what it was called instead if anything.

    `costs` is the smallest share of an exercise that it cost. The caption sums up: how often the name was right,
    another, or none.
    """
    table = Table(title="planted against named", title_justify="left", caption_justify="left")
    for heading in ("mistake planted", "times", "named", "costs", "instead"):
        side = "left" if heading in ("mistake planted", "instead") else "right"
        table.add_column(heading, justify=side, overflow="fold")  # type: ignore[arg-type]
    sums: Counter[str] = Counter()
    for row in found:
        instead = ", ".join(f"{one_line(name, 80)} ({n})" for name, n in row.others.items())
        style = "green" if row.rightly == row.times else "bold red"
        counts = str(row.times), Text(str(row.rightly), style), f"{row.cost:.0%}"
        table.add_row(Text(one_line(row.planted, 120)), *counts, Text(instead))
        sums.update({"times": row.times, "rightly": row.rightly})
        sums.update({"none": row.others.get("no name", 0), "passed": row.others.get("passed", 0)})
    other = sums["times"] - sums["rightly"] - sums["none"] - sums["passed"]
    table.caption = Text(
        f"planted {sums['times']} times: named rightly {sums['rightly']}, by another name {other}, "
        f"failed without a name {sums['none']}, passed {sums['passed']}"
    )
    return table


def margin_table(found: Iterable[MarginRow]) -> Table:
    """How far the ends of right and wrong training lie from the reference's, in tolerances: 1 decides."""
    table = Table(title="distance from the reference, in tolerances", title_justify="left")
    for heading, side in (("check", "left"), ("worst right", "right"), ("nearest wrong", "right"), ("which", "left")):
        table.add_column(heading, justify=side, overflow="fold")  # type: ignore[arg-type]
    for row in found:
        nearest = "" if row.nearest_wrong is None else f"{row.nearest_wrong:.3g}"
        table.add_row(Text(row.check.removeprefix("test_")), f"{row.worst_right:.2g}", nearest, Text(row.nearest))
    return table


def demand_table(found: Iterable[DemandRow]) -> Table:
    """Every sentence of the text that demands something, with the submissions that break it and what noticed them."""
    table = Table(title="sentences of the text", title_justify="left", caption_justify="left")
    for heading in ("sentence", "broken by", "checks that fail"):
        table.add_column(heading, overflow="fold")
    rows = [row for row in found if not row.asks_nothing]
    for row in rows:
        none = Text("nothing yet", "bold red") if row.is_open else Text("")
        table.add_row(
            Text(one_line(row.text, 300)), Text("\n".join(row.broken_by)) or none, Text("\n".join(row.noticed))
        )
    table.caption = Text(f"{len(rows)} sentences, {sum(row.is_open for row in rows)} that no submission breaks")
    return table


def bank_table(rows: Iterable[BankRow]) -> Table:
    """The selftest, one row a submission: what it is, the verdicts expected of it and those it got.

    Of the verdicts only those are spelt out that are not `passed` on both sides. The caption counts, for each kind,
    how many submissions met all their expectations.
    """
    entries: dict[str, list[BankRow]] = {}
    for row in rows:
        entries.setdefault(row.entry, []).append(row)
    table = Table(caption=Text(_counts(entries.values())), caption_justify="left")
    for heading in ("file", "kind", "expected", "got", ""):
        table.add_column(heading, overflow="fold")
    for name, members in entries.items():
        telling = [r for r in members if not (r.ok and r.expected == Verdict.PASSED)]
        right = all(r.ok for r in members)
        table.add_row(
            Text(one_line(name, 80)),
            Text(one_line(members[0].kind, 30)),
            _verdicts([(r.cell, r.expected) for r in telling]),
            Text("the same", "dim") if right and telling else _verdicts([(r.cell, r.got) for r in telling]),
            Text("✓ ok", "green") if right else Text("✗ wrong", "bold red"),
        )
    return table


def _verdicts(found: Sequence[tuple[str, str]]) -> Text:
    lines = [f"{one_line(cell.removeprefix('test_'), 60)}: {one_line(verdict, 120)}" for cell, verdict in found]
    return Text("\n".join(lines) or "all passed")


def _counts(entries: Iterable[Sequence[BankRow]]) -> str:
    tried: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for members in entries:
        tried[members[0].kind] += 1
        right[members[0].kind] += all(r.ok for r in members)
    counts = ", ".join(f"{one_line(kind, 30)} {right[kind]} of {tried[kind]}" for kind in tried)
    return f"as expected: {counts}" if counts else "the bank is empty"


def _title(reports: Sequence[Report]) -> Text:
    names = ", ".join(dict.fromkeys(one_line(r.assignment, 60) for r in reports)) or "no submissions"
    return Text(f"{names}: {len(summary.graded(reports))} of {words.plural(len(reports), 'submission')} graded")


def _row(report: Report, keys: Sequence[ItemKey]) -> Iterable[Text]:
    by_key = {ItemKey(i.notebook, i.grade_id): i for i in report.items}
    yield Text(one_line(report.student, 60))
    yield Text(words.score_line(report))
    for key in keys:
        yield _mark(words.VERDICT_STYLES[by_key[key].verdict]) if key in by_key else Text("")
    style = words.VERDICT_STYLES[report.state]
    faults = "" if report.state in words.UNGRADED else ", ".join(one_line(f, 80) for f in words.faults_named(report))
    flags = ", ".join(dict.fromkeys(one_line(flag.kind, 40) for flag in words.for_review(report.flags)))
    late = words.late_note(report)
    yield Text.assemble(
        (style.word, _STYLES[style.tone]),
        f": {faults}" if faults else "",
        f"; {late}" if late else "",
        (f"; look at: {flags}" if flags else "", "bold"),
    )


def _legend(reports: Sequence[Report], keys: Sequence[ItemKey]) -> Text:
    names = summary.short_names(keys).values()
    seen = {item.verdict for report in reports for item in report.items}
    marks = [
        Text.assemble(_mark(style), f" {style.word}")
        for verdict, style in words.VERDICT_STYLES.items()
        if verdict in seen
    ]
    numbers = Text(", ".join(f"{number} {one_line(name, 60)}" for number, name in enumerate(names, start=1)))
    return Text("\n").join(part for part in (numbers, Text(", ").join(marks)) if part)


def _mark(style: words.VerdictStyle) -> Text:
    return Text(style.mark, _STYLES[style.tone])
