"""Put what people decided in formgrader on top of what the grader found: one record holds both.

The gradebook owns marks and comments, the record keeps what the grader had said beside them. So a mark can be put on,
changed and taken back again and again, and whoever reads the record needs to know nothing of the gradebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograder.gradebook.course import UNDECIDED, student_id
from autograder.gradebook.nbgrader_db import read_marks
from autograder.grading import overall, unmarked
from autograder.records import Item, Mark, Report, Verdict


def with_marks(run: Path, reports: Sequence[Report]) -> list[Report]:
    """The reports of one assignment with exactly the marks and comments that are in the gradebook of `run` now."""
    if not reports:
        return []
    marks = read_marks(run, reports[0].assignment)
    marked = []
    for report in reports:
        who = student_id(report.student)
        items = tuple(
            _marked(i, *marks.grades.get((who, i.notebook, i.grade_id), (None, 0.0, False))) for i in report.items
        )
        comments = marks.comments.get(who, ())
        if any(item.mark for item in items):
            items = tuple(_left_to_person(item) for item in items)
        if items != report.items:
            score = round(sum(i.points for i in items), 6)
            report = replace(report, items=items, score=score, state=_state(items))
        marked.append(report if report.comments == comments else replace(report, comments=comments))
    return marked


def _marked(item: Item, manual: float | None, extra: float, waits: bool) -> Item:
    item = unmarked(item)
    points, verdict, message = item.points, item.verdict, item.message
    decided = verdict not in UNDECIDED
    if manual is not None:
        full = manual >= item.max_points
        points, verdict = manual, Verdict.PASSED if full else Verdict.PARTIAL if manual > 0 else Verdict.FAILED
        message = message if decided else ""
    elif waits and decided:
        verdict, message = Verdict.NEEDS_MANUAL, "A person graded an earlier answer, and will look at this one."
    elif not extra:
        return item
    mark = Mark(manual, extra, (item.points, item.verdict, item.message))
    return replace(item, points=round(points + extra, 6), verdict=verdict, message=message, mark=mark)


def _left_to_person(item: Item) -> Item:
    """What could not be read, where a person has begun to grade it."""
    if item.verdict is not Verdict.REJECTED:
        return item
    mark = Mark(None, 0.0, (item.points, item.verdict, item.message))
    return replace(item, verdict=Verdict.NEEDS_MANUAL, message="A person will grade this.", mark=mark)


def _state(items: Sequence[Item]) -> Verdict:
    unread = {item.verdict for item in items} == {Verdict.REJECTED}
    return Verdict.REJECTED if unread else overall(items)
