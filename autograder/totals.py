"""One table over the assignments of a term: what each student has everywhere, what of it counts, and the total.

Points are those after people's decisions and after what being late costs. The share of an assignment is its points
over the most there are; a group of assignments gives the mean of all shares or of the best ones, and the total is the
mean of the groups by weight. Work that is missing counts as 0. Where somebody has yet to decide, the total is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.errors import WrongUse
from autograder.gradebook.exports import StudentResult, read_results, write_rows
from autograder.gradebook.roster import IDENTIFYING, some
from autograder.gradebook.settings import Course, Group
from autograder.report.pages import render, write_page

COUNTS, DROPPED, OPEN, MISSING, IN_NO_GROUP = "counts", "dropped", "open", "missing", "in no group"
"""what becomes of a student's work for one assignment: others are better, not decided yet, nothing was handed in"""


@dataclass(frozen=True)
class Mark:
    """What one student has for one assignment."""

    state: str = MISSING
    points: float | None = None
    """after the penalty; None where nothing was handed in or somebody has yet to decide"""
    penalty: float | None = None
    share: float = 0.0


@dataclass
class Row:
    """One student."""

    student: str
    name: str
    section: str
    marks: dict[str, Mark] = field(default_factory=dict)
    """by assignment"""
    shares: dict[str, float | None] = field(default_factory=dict)
    """by group, from 0 to 1; None while something in it is open"""
    total: float | None = None


@dataclass(frozen=True)
class Totals:
    """The table."""

    assignments: Mapping[str, float]
    """name -> the most points there are"""
    groups: tuple[Group, ...]
    """with those of their assignments that the table has"""
    rows: tuple[Row, ...]
    digits: int
    told: tuple[str, ...]
    """what to tell the instructor"""

    def rules(self) -> Iterator[str]:
        """How the total comes about, a sentence for each group."""
        weights = sum(group.weight for group in self.groups)
        for group in self.groups:
            of, names = len(group.assignments), ", ".join(group.assignments)
            what = f"the best {group.best} of {of}" if group.best and group.best < of else "all"
            yield f"{group.name}: {100 * group.weight / weights:.3g} % of the total, {what} ({names})."


def totals(runs: Sequence[Path], course: Course, section: str = "") -> Totals:
    """The results of several run folders as one table. `section`: of the roster, to see it alone.

    Raises WrongUse where a folder holds no results, two hold those of one assignment, or nobody is in the table.
    """
    roster = course.roster
    assignments: dict[str, float] = {}
    rows = {roster.key(person): _row(person) for person in roster.people} if roster else {}
    unknown: list[str] = []
    twice: list[str] = []
    for run in runs:
        assignment, lines = read_results(run, roster)
        if assignment in assignments:
            raise WrongUse(f"{run}: is a second run of {assignment}; name one run of each assignment.")
        assignments[assignment] = max((line.report.max_score for line in lines), default=0.0)
        for line in lines:
            key = roster.key(line.person) if roster else ""
            if not key or assignment in rows[key].marks:
                if roster:
                    (twice if key else unknown).append(line.report.student)
                key = f"submission of {line.report.student}"
                rows.setdefault(key, _row(line.person, line.report.student))
            rows[key].marks[assignment] = _mark(line)
    shown = [row for row in rows.values() if section in ("", row.section)]
    if not shown:
        raise WrongUse(f"Nobody is of section {section!r} in the roster." if section else "These runs hold nobody.")
    groups, told = _groups(course, assignments)
    for row in shown:
        _add_up(row, assignments, groups)
    if unknown and not section:
        told.append(f"Not in the roster: {some(sorted(set(unknown)))}.")
    if twice:
        told.append(f"A second submission of one person, with a row of its own: {some(sorted(set(twice)))}.")
    shown.sort(key=lambda row: (row.name.casefold(), row.student))
    return Totals(assignments, groups, tuple(shown), course.digits, tuple(told))


def write_totals(folder: Path, table: Totals) -> list[Path]:
    """Write `totals.csv` and `totals.html` into a folder; return both. Raises CannotWrite."""
    head = ["student", "name", "section"]
    for assignment in table.assignments:
        head += [assignment, f"{assignment}: late penalty", f"{assignment}: state"]
    rows: list[list[str | float | None]] = [[*head, *(f"{group.name} %" for group in table.groups), "total %"]]
    for row in table.rows:
        cells: list[str | float | None] = [row.student, row.name, row.section]
        for assignment in table.assignments:
            mark = row.marks[assignment]
            cells += [_rounded(mark.points, table.digits), _rounded(mark.penalty, table.digits), mark.state]
        shares = (*(row.shares[group.name] for group in table.groups), row.total)
        rows.append([*cells, *(_rounded(share, table.digits, 100) for share in shares)])
    write_rows(folder / "totals.csv", rows, encoding="utf-8-sig")
    return [folder / "totals.csv", write_page(folder / "totals.html", render("totals.html.j2", table=table))]


def _row(person: Mapping[str, str], student: str = "") -> Row:
    known = student or next(person[key] for key in IDENTIFYING if key in person)
    names = (person.get("last_name", ""), person.get("first_name", ""))
    return Row(known, ", ".join(filter(None, names)) or known, person.get("section", ""))


def _mark(line: StudentResult) -> Mark:
    points, most = line.final_score, line.report.max_score
    if points is None:
        return Mark(OPEN)
    return Mark(COUNTS, points, line.penalty, points / most if most else 0.0)


def _groups(course: Course, assignments: Mapping[str, float]) -> tuple[tuple[Group, ...], list[str]]:
    """What of `assignments` counts together, by default all, and what to tell about it."""
    if not course.groups:
        return (Group("all assignments", tuple(assignments)),), []
    groups = [
        replace(group, assignments=tuple(name for name in group.assignments if name in assignments))
        for group in course.groups
    ]
    named = {name for group in course.groups for name in group.assignments}
    told = []
    if absent := sorted(named - assignments.keys()):
        told.append(f"No run of {', '.join(absent)} was given: the totals are without it.")
    if outside := sorted(assignments.keys() - named):
        told.append(f"In no group of [tool.course], so that it counts nothing: {', '.join(outside)}.")
    kept = tuple(group for group in groups if group.assignments)
    if not sum(group.weight for group in kept):
        raise WrongUse("None of these assignments counts: [[tool.course.totals]] names none of them with a weight.")
    return kept, told


def _add_up(row: Row, assignments: Mapping[str, float], groups: Sequence[Group]) -> None:
    """Fill in what is missing, what is dropped, the groups' shares and the total."""
    grouped = {name for group in groups for name in group.assignments}
    for assignment in assignments:
        mark = row.marks.setdefault(assignment, Mark())
        if assignment not in grouped:
            row.marks[assignment] = replace(mark, state=IN_NO_GROUP)
    for group in groups:
        best_first = sorted(group.assignments, key=lambda name: -row.marks[name].share)
        kept = best_first[: group.best or len(best_first)]
        if any(row.marks[name].state == OPEN for name in group.assignments):
            row.shares[group.name] = None
            continue
        for name in best_first[len(kept) :]:
            if row.marks[name].state == COUNTS:
                row.marks[name] = replace(row.marks[name], state=DROPPED)
        row.shares[group.name] = sum(row.marks[name].share for name in kept) / len(kept)
    shares = [row.shares[group.name] for group in groups]
    if None not in shares:
        weighted = (share * group.weight for share, group in zip(shares, groups, strict=True) if share is not None)
        row.total = sum(weighted) / sum(group.weight for group in groups)


def _rounded(value: float | None, digits: int, times: int = 1) -> float | None:
    return None if value is None else round(times * value, digits)
