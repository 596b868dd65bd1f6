"""The instructor's page for one run: what the class can do, what it cannot yet, and what a person should look at.

It is written to be acted upon: which mistake to talk about in the next lecture, which check may be unfair, who needs
a look. It names students and shows what they do not see, so it is not for sending out.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from autograder.records import Assignment, Evidence, Flag, Item, Report, Trust, Verdict
from autograder.report import summary, words
from autograder.report.feedback import assignment_title, feedback_path, item_title
from autograder.report.pages import render, write_page
from autograder.report.summary import FaultLoss, ItemKey, ItemSummary, Loss, Scores
from autograder.sandbox.tier import Tier

MOST_LOSSES = 15
"""rows of the table of checks; the rest is in `results.json`"""
MOST_NAMED = 30
"""students or flags named in one place; the table of students has them all"""

RUN_FACTS = {
    "finished": "Finished",
    "submissions": "Submissions from",
    "seconds": "Wall time",
    "workers": "Workers",
    "engine": "Engine",
    "python": "Python",
    "numpy": "NumPy",
    "assignment_digest": "Assignment's fingerprint",
}
"""What the report shows of `run_info`, in this order; other keys are left alone"""


def class_report(run_info: Mapping[str, Any], assignment: Assignment, reports: Sequence[Report]) -> str:
    """The whole class as one HTML page that needs nothing else and runs nothing of a student's.

    Its script sorts and filters the table of students; without scripts the page says as much.
    `run_info` is the `run` of `results.json`; the keys of `RUN_FACTS` are shown where present (`seconds` is a number),
    `seed_file`, where the run secret lies if that is not `seed` beside the page, and `people.sections`, from student to
    section.
    """
    return render(
        "class_report.html.j2", page=_build_page(run_info, assignment, sorted(reports, key=lambda r: r.student))
    )


def write_class_report(
    folder: Path, run_info: Mapping[str, Any], assignment: Assignment, reports: Sequence[Report]
) -> Path:
    """Write the page to `report.html` in the run folder `folder`, and return its place. Raises CannotWrite."""
    return write_page(folder / "report.html", class_report(run_info, assignment, reports))


_Flags = tuple[tuple[str, tuple[tuple[str, Flag], ...]], ...]
"""(kind, (student, flag) pairs), as `summary.flagged` gives them"""


@dataclass(frozen=True)
class _Cell:
    """One item of one student."""

    style: words.VerdictStyle
    points: str


@dataclass(frozen=True)
class _Student:
    name: str
    link: str
    score: str
    late: str
    state: words.VerdictStyle
    cells: tuple[_Cell | None, ...]
    faults: tuple[str, ...]
    to_review: int
    reason: str
    section: str
    keys: str
    """what the table's filters find it by: `p3` lost points in part 3, `f0` the first of the faults, `g1`, `s0`"""


@dataclass(frozen=True)
class _Part:
    """One graded cell over the class."""

    name: str
    title: str
    grade_id: str
    mean: str
    percent: str
    max_points: float
    verdicts: tuple[tuple[words.VerdictStyle, int], ...]


@dataclass(frozen=True)
class _Filter:
    """What the table of students can be narrowed to: (key, words) of each choice."""

    name: str
    choices: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _ClassPage:
    title: str
    in_short: tuple[str, ...]
    total: int
    graded: int
    to_mark: int
    scores: Scores | None
    histogram: Markup | None
    bins: tuple[tuple[float, float, int], ...]
    parts: tuple[_Part, ...]
    bars: Markup | None
    losses: tuple[Loss, ...]
    more_losses: int
    faults: tuple[FaultLoss, ...]
    unexplained: int
    ungraded: tuple[_Student, ...]
    left_out: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    no_time: tuple[str, ...]
    late: tuple[_Student, ...]
    review: _Flags
    identical: tuple[tuple[str, ...], ...]
    repairs: _Flags
    students: tuple[_Student, ...]
    filters: tuple[_Filter, ...]
    names: Mapping[ItemKey, str]
    links: Mapping[str, str]
    sections: bool
    most: int
    facts: tuple[tuple[str, str], ...]
    seed_file: str
    tier: Tier | None


def _build_page(run_info: Mapping[str, Any], assignment: Assignment, reports: Sequence[Report]) -> _ClassPage:
    from autograder.report import figures  # and Matplotlib, which a run that has nothing to write does not need

    scores, items, losses = summary.scores(reports), summary.items(reports), summary.losses(reports)
    keys = summary.item_keys(reports)
    names = summary.short_names(keys)
    titles = _titles(assignment, reports, keys)
    faults, groups = summary.faults(reports), summary.identical(reports)
    to_review = summary.flagged(reports, review=True)
    people: Mapping[str, Any] = run_info.get("people", {})
    attendance: Mapping[str, Any] = people.get("attendance", {})
    sections: Mapping[str, str] = people.get("sections", {})
    kinds = sorted({flag.kind for report in reports for flag in report.flags})
    filters = {
        "Lost points in": {f"p{n}": names[key] for n, key in enumerate(keys)},
        "Known mistake": {f"f{n}": fault.fault for n, fault in enumerate(faults)},
        "Flag": {f"g{n}": kind for n, kind in enumerate(kinds)},
        "Section": {f"s{n}": name for n, name in enumerate(sorted({*sections.values()} - {""}))},
    }
    known = {(key[0], words): key for choices in filters.values() for key, words in choices.items()}
    students = tuple(_student(report, keys, sections.get(report.student, ""), known) for report in reports)
    return _ClassPage(
        title=assignment_title(assignment),
        in_short=tuple(_in_short(reports, scores, items, faults, names, to_review, groups)),
        total=len(reports),
        graded=len(summary.graded(reports)),
        to_mark=sum(any(i.verdict is Verdict.NEEDS_MANUAL for i in r.items) for r in summary.graded(reports)),
        scores=scores,
        histogram=figures.histogram(scores) if scores and scores.max_score > 0 else None,
        bins=tuple(figures.bins(scores)) if scores and scores.max_score > 0 else (),
        parts=tuple(_part(item, names[item.key], titles[item.key]) for item in items),
        bars=figures.stacked_bars(items, [names[item.key] for item in items]) if items else None,
        losses=losses[:MOST_LOSSES],
        more_losses=max(0, len(losses) - MOST_LOSSES),
        faults=faults,
        unexplained=sum(_unexplained(report) for report in summary.graded(reports)),
        ungraded=tuple(s for s, r in zip(students, reports, strict=True) if r.state in words.UNGRADED),
        left_out=tuple(run_info.get("left_out", {}).items()),
        missing=tuple(attendance.get("missing", ())),
        unknown=tuple(attendance.get("unknown", ())),
        no_time=tuple(people.get("no_time", ())),
        late=tuple(student for student in students if student.late),
        review=_without_twice(to_review, groups),
        identical=groups,
        repairs=summary.flagged(reports, review=False),
        students=students,
        filters=tuple(_Filter(name, tuple(choices.items())) for name, choices in filters.items() if choices),
        names=names,
        links={student.name: student.link for student in students},
        sections=any(sections.values()),
        most=MOST_NAMED,
        facts=tuple(_facts(run_info, reports)),
        seed_file=str(run_info.get("seed_file") or "seed"),
        tier=summary.tier(reports),
    )


def _without_twice(review: _Flags, groups: Sequence[Sequence[str]]) -> _Flags:
    """The flags, less those that only say of a student what a group of identical submissions says already."""
    grouped = {student for group in groups for student in group}
    kept = [(kind, tuple(f for f in found if kind != "identical" or f[0] not in grouped)) for kind, found in review]
    return tuple((kind, found) for kind, found in kept if found)


def _titles(assignment: Assignment, reports: Sequence[Report], keys: Sequence[ItemKey]) -> dict[ItemKey, str]:
    members: dict[ItemKey, Item] = {}
    for report in reports:
        for item in report.items:
            members.setdefault(ItemKey(item.notebook, item.grade_id), item)
    return {key: item_title(assignment, members[key]) for key in keys}


def _in_short(
    reports: Sequence[Report],
    scores: Scores | None,
    items: Sequence[ItemSummary],
    faults: Sequence[FaultLoss],
    names: Mapping[ItemKey, str],
    to_review: _Flags,
    identical: Sequence[Sequence[str]],
) -> list[str]:
    """The page in three or four sentences, for somebody who reads no further."""
    graded = len(summary.graded(reports))
    said = [f"{graded} of {words.plural(len(reports), 'submission')} graded."]
    if scores and scores.max_score > 0:
        said.append(f"The median is {words.points(scores.median)} of {words.points(scores.max_score)} points.")
    reached = {item.key: item.mean / item.max_points for item in items if item.max_points > 0 and item.mean is not None}
    hardest = min(reached, key=lambda key: reached[key], default=None)
    if hardest and reached[hardest] < 1:
        said.append(
            f"The hardest part was `{names[hardest]}`: {_percent(reached[hardest])} of its points were reached."
        )
    if faults:
        common = max(faults, key=lambda f: len(f.students))
        said.append(
            f"The most frequent known mistake is `{common.fault}`: {words.plural(len(common.students), 'student')}."
        )
    tier = summary.tier(reports)
    if tier is not None and tier.not_kept:
        said.append(f"The sandbox reached only tier {tier.name.lower()}: what that leaves open is listed below.")
    of_kind = {kind: {student for student, _ in flags} for kind, flags in to_review}
    if identical:
        of_kind.setdefault("identical", set()).update(*identical)
    if of_kind:
        kinds = ", ".join(f"`{kind}` ({len(students)})" for kind, students in of_kind.items())
        found = words.plural(len(set().union(*of_kind.values())), "submission")
        said.append(f"For a person to look at, below: {found}, flagged {kinds}.")
    return said


def _part(item: ItemSummary, name: str, title: str) -> _Part:
    mean = "open" if item.mean is None else words.points(item.mean)
    percent = _percent(item.mean / item.max_points) if item.mean is not None and item.max_points > 0 else ""
    verdicts = tuple((words.VERDICT_STYLES[v], item.verdicts[v]) for v in Verdict if item.verdicts.get(v))
    return _Part(name, title, item.key.grade_id, mean, percent, item.max_points, verdicts)


def _student(report: Report, keys: Sequence[ItemKey], section: str, known: Mapping[tuple[str, str], str]) -> _Student:
    """`known`: kind of filter and what it looks for -> key."""
    by_key = {ItemKey(i.notebook, i.grade_id): i for i in report.items}
    found = [f"p{n}" for n, key in enumerate(keys) if key in by_key and _lost_points(by_key[key])]
    looked_for = [*(("f", fault) for fault in words.faults_named(report)), *(("g", f.kind) for f in report.flags)]
    found += [known[one] for one in dict.fromkeys([*looked_for, ("s", section)]) if one in known]
    cells = tuple(_cell(by_key[key]) if key in by_key else None for key in keys)
    return _Student(
        name=report.student,
        # Relative, each part quoted: whatever a student is called, the link stays below the run folder.
        link="/".join(quote(part, safe="") for part in feedback_path(report.student, report.assignment).parts),
        score=words.score_line(report),
        late=words.late_note(report),
        state=words.VERDICT_STYLES[report.state],
        cells=cells,
        faults=words.faults_named(report),
        to_review=len(words.for_review(report.flags)),
        reason=words.reason(report),
        section=section,
        keys=" ".join(found),
    )


def _lost_points(item: Item) -> bool:
    return item.points < item.max_points and item.verdict not in (words.STILL_OPEN | words.UNGRADED)


def _cell(item: Item) -> _Cell:
    unknown = item.verdict in words.UNGRADED or (item.verdict in words.STILL_OPEN and not item.points)
    return _Cell(words.VERDICT_STYLES[item.verdict], "" if unknown else words.points(item.points))


def _unexplained(report: Report) -> int:
    """How many failed checks no known mistake explains."""
    return sum(c.verdict is Verdict.FAILED and not c.fault for item in report.items for c in item.checks)


def _facts(run_info: Mapping[str, Any], reports: Sequence[Report]) -> list[tuple[str, str]]:
    """How the run was done, in the order of reading."""
    found: list[tuple[str, str]] = []
    for key, label in RUN_FACTS.items():
        value = run_info.get(key)
        if value is not None and value != "":
            found.append((label, _seconds(float(value)) if key == "seconds" else str(value)))
    if reports:
        found += _facts_of(reports)
    return found


def _facts_of(reports: Sequence[Report]) -> list[tuple[str, str]]:
    times = sorted(((r.seconds, r.student) for r in reports), reverse=True)
    observed = sum(c.evidence is Evidence.OBSERVED for r in reports for i in r.items for c in i.checks)
    facts = [
        (
            "Time for a submission",
            f"median {_seconds(statistics.median(t for t, _ in times))}, in all {_seconds(sum(t for t, _ in times))}",
        ),
        ("Slowest", ", ".join(f"{student} {_seconds(t)}" for t, student in times[:5])),
        ("Sandbox", _counted(r.sandbox or "not said" for r in reports)),
        ("Device", _counted(r.device or "not said" for r in reports)),
        ("Trust", _counted(str(r.trust) for r in reports)),
    ]
    if any(r.trust is Trust.IN_KERNEL for r in reports):
        facts.append(
            (
                "In the kernel",
                "these verdicts come from test cells beside the student's code: a determined cheat could forge them",
            )
        )
    if observed:
        facts.append(
            (
                "Observed evidence",
                f"{words.plural(observed, 'check')} rest on what was recorded beside the student's code",
            )
        )
    return facts


def _percent(share: float) -> str:
    return f"{round(100 * share)} %"


def _counted(values: Any) -> str:
    counts = Counter(values)
    if len(counts) == 1:
        return str(next(iter(counts)))
    return ", ".join(f"{value} ({count})" for value, count in counts.most_common())


def _seconds(value: float) -> str:
    """A time as a person says it: `0.42 s`, `12.3 s`, `3 min 20 s`."""
    if value >= 120:
        return f"{int(value // 60)} min {int(value % 60)} s"
    return f"{value:.1f} s" if value >= 10 else f"{value:.2f} s"
