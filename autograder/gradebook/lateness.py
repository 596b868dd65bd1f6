"""When each student handed in, and what the course takes off for being late.

The time is what the list of people says, else what the platform or nbgrader wrote down. A platform's bare mark that
work is late counts as one day. Where nothing tells, that is said and costs nothing. The penalty is Canvas's: a
percentage of the assignment's points for each day begun, up to a cap and never more than the work earned.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from dateutil import parser, tz

from autograder.gradebook.roster import IDENTIFYING, Attendance, attendance, days_for, full_name, some
from autograder.gradebook.settings import Course
from autograder.records import Lateness, Report
from autograder.submissions.intake import StudentFiles

_DAY = timedelta(days=1)
_MONTH_OR_DAY = re.compile(r"\b\d{1,2}[./-]\d{1,2}[./-]\d")
"""`3/10/2026`, of which nothing tells which is the month"""
UNREADABLE = "You have an extension, but when it ends could not be read, so nothing was taken off."
UNKNOWN = "It is not known when this was handed in, so nothing was taken off."


@dataclass(frozen=True)
class ClassFacts:
    """What a run knows of its students beside their work."""

    attendance: Attendance
    sections: Mapping[str, str]
    """student -> section, of the list of people"""
    no_time: tuple[str, ...]
    """who handed in at a time that nothing tells, though the course has a due time"""
    unmatched: tuple[str, ...]
    """extensions of somebody who handed in nothing and is in no list"""
    unreadable: tuple[str, ...]
    """who is late but for an extension whose end cannot be read; it stands behind the name"""

    def sentences(self) -> list[str]:
        """What to tell the instructor."""
        told = self.attendance.sentences()
        if self.no_time:
            told.append(f"When it was handed in is not known, so that nothing was taken off: {some(self.no_time)}.")
        if self.unmatched:
            told.append(f"Extensions in [tool.course] that are nobody's: {some(self.unmatched)}.")
        if self.unreadable:
            told.append(
                f"When an extension ends cannot be read, so that nothing was taken off: {some(self.unreadable)}. "
                "Write it in the roster's column extended_until, as 2026-10-03 23:59, and grade again."
            )
        return told


def judge_lateness(
    reports: Sequence[Report], handed_in: Sequence[StudentFiles], course: Course
) -> tuple[list[Report], ClassFacts]:
    """The reports of a class with what being late costs each, and what else is known of its people."""
    files = {one.student: one for one in handed_in}
    people: dict[str, Mapping[str, str]] = {}
    judged = []
    for report in reports:
        one = files[report.student]
        called = full_name(report.student, *one.platform[:2])
        person = course.roster.find(report.student, one.platform[1], called) if course.roster else {}
        people[report.student] = person
        marked = any(flag.kind == "late" for flag in one.flags)
        judged.append(with_lateness(report, course, person, one.handed_in, marked=marked))
    known = {key for student in people for key in _keys(student, people[student])}
    known |= {key for person in (course.roster.people if course.roster else ()) for key in _keys("", person)}
    facts = ClassFacts(
        attendance(course.roster, people) if course.roster else Attendance(),
        {student: person["section"] for student, person in people.items() if person.get("section")},
        tuple(r.student for r in judged if r.late and r.late.sentence == UNKNOWN),
        tuple(sorted(course.extensions.keys() - known)),
        tuple(
            f"{r.student} ({people[r.student]['extended_until']})"
            for r in judged
            if r.late and r.late.sentence == UNREADABLE
        ),
    )
    return judged, facts


def with_lateness(
    report: Report, course: Course, person: Mapping[str, str], handed_in: str = "", *, marked: bool = False
) -> Report:
    """The report with what being late costs; whatever it said of that before is replaced.

    `person`: of the list of people, as far as known. `handed_in`: the time as the platform or nbgrader wrote it down.
    `marked`: whether the platform marks the work as late.
    """
    return replace(report, late=_lateness(report, course, person, handed_in, marked=marked))


def read_time(text: str, zone: datetime | None = None) -> datetime | None:
    """A time as people and platforms write it, by default in the zone of another one; None if it is none."""
    try:
        time = parser.parse(text[:100], default=datetime(1, 1, 1), tzinfos=_zone)
    except (ValueError, OverflowError):
        return None
    if time.year == 1:  # none was named
        return None
    return time if time.tzinfo or zone is None else time.replace(tzinfo=zone.tzinfo)


def _zone(name: str | None, offset: int | None) -> tzinfo | None:
    return tz.tzoffset(name, offset) if offset is not None else tz.gettz(name) if name else None


def extension_of(student: str, course: Course, person: Mapping[str, str], assignment: str) -> timedelta:
    """By how much a student may hand in later than others: the greater of what settings and list of people say."""
    keys = _keys(student, person) & course.extensions.keys()
    texts = [person.get("extension", ""), *(course.extensions[key] for key in keys)]
    return timedelta(days=max((days_for(text, assignment) or 0.0 for text in texts), default=0.0))


def _keys(student: str, person: Mapping[str, str]) -> set[str]:
    return {key.casefold() for key in (student, *(person.get(name, "") for name in IDENTIFYING)) if key}


def _lateness(
    report: Report, course: Course, person: Mapping[str, str], handed_in: str, *, marked: bool
) -> Lateness | None:
    due = course.due.get(report.assignment)
    stated = days_for(person.get("days_late", ""), report.assignment)
    time = read_time(person.get("handed_in", ""), due) or read_time(handed_in, due)
    extension = extension_of(report.student, course, person, report.assignment)
    stated_end = person.get("extended_until", "")
    end = None if _MONTH_OR_DAY.search(stated_end) else read_time(stated_end, due)
    if due and end:
        extension = max(extension, end - due)
    when = time.isoformat(timespec="seconds") if time else ""
    until = due + extension if due else None
    known = Lateness(when, until.isoformat(timespec="seconds") if until else "")
    extended = f", which includes an extension of {_span(extension)}" if extension else ""
    if stated is not None:
        return _costing(known, course, math.ceil(stated), "Your instructor noted that this was handed in late.")
    if until and time:
        late = time - until
        if late <= timedelta():
            return known
        if stated_end and not end:
            return replace(known, sentence=UNREADABLE)
        said = f"Handed in {_span(late)} after it was due ({until:%b %d, %Y, %H:%M, UTC%z}{extended})"
        if late <= course.grace:
            return replace(known, sentence=f"{said}, which is within the grace period and costs nothing.")
        grace = f"; a grace period of {_span(course.grace)} does not count" if course.grace else ""
        return _costing(known, course, math.ceil((late - course.grace) / _DAY), f"{said}{grace}.")
    if marked and extension:
        said = "Marked as late by the platform, which does not say by how much. You have an extension of"
        return replace(known, sentence=f"{said} {_span(extension)}, so nothing was taken off.")
    if marked:
        said = "Marked as late by the platform, which does not say by how much: it counts as one day."
        return _costing(known, course, 1, said)
    return replace(known, sentence=UNKNOWN) if due else None


def _costing(known: Lateness, course: Course, days: int, said: str) -> Lateness:
    percent = min(course.cap_percent, days * course.percent_per_day)
    if not percent:
        return replace(known, days=days, sentence=f"{said} Nothing was taken off." if days else "")
    each = f"This is {days} day{'s' * (days > 1)} late, and each day costs {course.percent_per_day:g} % of the points"
    cap = f", {course.cap_percent:g} % at most" if days * course.percent_per_day > course.cap_percent else ""
    return replace(known, days=days, percent=percent, sentence=f"{said} {each}{cap}.")


def _span(length: timedelta) -> str:
    """`2 days`, `1 day and 3 hours`, `20 minutes`."""
    minutes = math.ceil(length / timedelta(minutes=1))
    counts = [(minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute")]
    parts = [f"{count} {unit}{'s' * (count > 1)}" for count, unit in counts if count]
    return " and ".join(parts[:2]) or "0 minutes"
