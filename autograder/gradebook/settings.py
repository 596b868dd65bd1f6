"""What a course decides about grades, in `[tool.course]` of its pyproject.toml: rounding, people, due times, totals.

[tool.course]
round = 2                                              # digits of exported points
roster = "people.csv"                                  # beside pyproject.toml

[tool.course.due]
a1_numpy_backprop = 2026-10-01T23:59:00+02:00

[tool.course.late]
grace_hours = 1
percent_per_day = 10                                   # of the assignment's points, for each day begun
cap_percent = 50

[tool.course.extensions]                               # in days
ada = 2
bob = "a1_numpy_backprop 3, a2_autograd_engine 1"

[[tool.course.totals]]
name = "homework"
assignments = ["a1_numpy_backprop", "a2_autograd_engine"]
best = 1
weight = 60
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.errors import WrongUse
from autograder.gradebook.roster import Roster, days_for, read_roster


@dataclass(frozen=True)
class Group:
    """Assignments that count together."""

    name: str
    assignments: tuple[str, ...]
    weight: float = 1.0
    best: int | None = None
    """how many of them count, the best ones of each student; None for all"""


@dataclass(frozen=True)
class Course:
    """The settings of a course."""

    digits: int = 2
    """after the point, in what is exported"""
    roster: Roster | None = None
    due: Mapping[str, datetime] = field(default_factory=dict)
    grace: timedelta = timedelta()
    percent_per_day: float = 0.0
    cap_percent: float = 100.0
    extensions: Mapping[str, str] = field(default_factory=dict)
    """student, or another key of the list of people, in lower case -> as in the column `extension` there"""
    groups: tuple[Group, ...] = ()


def read_course(root: Path) -> Course:
    """The settings of the course at `root`; the defaults where it has none. Raises WrongUse for one without sense."""
    path = root / "pyproject.toml"
    try:
        project = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return _course(project.get("tool", {}).get("course", {}), root)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WrongUse(f"{path}: cannot be read ({error}).") from None
    except ValueError as error:
        raise WrongUse(f"{path}: [tool.course] {error}.") from None


def _course(table: Mapping[str, Any], root: Path) -> Course:
    late = _table(table, "late")
    _refuse_unknown("late", late, "grace_hours", "percent_per_day", "cap_percent")
    roster = _of_kind(str, table, "roster", "")
    return Course(
        digits=int(_number(table, "round", 2, most=6, whole=True)),
        roster=read_roster(root / roster) if roster else None,
        due=dict(_due(_table(table, "due"))),
        grace=timedelta(hours=_number(late, "grace_hours", 0, most=24 * 366)),
        percent_per_day=_number(late, "percent_per_day", 0, most=100),
        cap_percent=_number(late, "cap_percent", 100, most=100),
        extensions=dict(_extensions(_table(table, "extensions"))),
        groups=tuple(_groups(_of_kind(list, table, "totals", []))),
    )


def _due(table: Mapping[str, Any]) -> Iterator[tuple[str, datetime]]:
    for assignment, time in table.items():
        if not isinstance(time, datetime) or time.tzinfo is None:
            raise ValueError(
                f"due.{assignment} = {time} is no time with its offset from UTC; write 2026-10-01T23:59:00+02:00"
            )
        yield assignment, time


def _extensions(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for student, days in table.items():
        try:
            days_for(str(days), "")
        except ValueError as error:
            raise ValueError(f"extensions.{student}: {error}") from None
        yield student.casefold(), str(days)


def _groups(tables: list[Any]) -> Iterator[Group]:
    seen: set[str] = set()
    names: set[str] = set()
    for table in tables:
        if not isinstance(table, dict):
            raise ValueError("totals is no list of tables; begin each with [[tool.course.totals]]")
        _refuse_unknown("totals", table, "name", "assignments", "weight", "best")
        assignments = tuple(str(name) for name in _of_kind(list, table, "assignments", []))
        if not assignments or seen & set(assignments):
            raise ValueError(f"totals: {table.get('name', '')!r} needs assignments, and no other group may have them")
        seen |= set(assignments)
        best = int(_number(table, "best", 0, most=len(assignments), whole=True)) or None
        name = _of_kind(str, table, "name", assignments[0])
        if name in names:
            raise ValueError(f"totals: two groups are called {name!r}")
        names.add(name)
        yield Group(name, assignments, _number(table, "weight", 1, most=1e6), best)


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = _of_kind(dict, table, key, {})
    return found


def _of_kind(kind: type, table: Mapping[str, Any], key: str, default: Any) -> Any:
    value = table.get(key, default)
    if not isinstance(value, kind):
        raise ValueError(f"{key} = {value!r} is no {'text' if kind is str else 'list' if kind is list else 'table'}")
    return value


def _number(table: Mapping[str, Any], key: str, default: float, most: float, *, whole: bool = False) -> float:
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 <= value <= most:
        raise ValueError(f"{key} = {value!r} is no {'whole ' * whole}number from 0 to {most:g}")
    return float(value)


def _refuse_unknown(name: str, table: Mapping[str, Any], *known: str) -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ValueError(f"{name}: {unknown[0]} is no setting; there are {', '.join(known)}")
