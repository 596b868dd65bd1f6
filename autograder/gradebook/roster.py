"""Who is in the class: a list of people, by which a run finds out who handed in nothing and a platform finds its own.

The list is a CSV file with a line of names on top. Its own names are `student, first_name, last_name, email, section,
login, id, sis_id, org_id, extension, extended_until, days_late, handed_in`; the lists of people and grades that Canvas,
Moodle, Blackboard and Brightspace export can be used as they are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import WrongUse

FIELDS = (
    *("student", "first_name", "last_name", "email", "section", "login", "id", "sis_id", "org_id"),
    *("extension", "extended_until", "days_late", "handed_in"),
)
"""of a person: what the folder of a submission is called; names; address; group; how the platform calls them to people
(`login`), to itself (`id`), and how the institution does (`sis_id` in Canvas, `org_id` in Brightspace); how many days
later than others they may hand in, or until when, how many they did, and when"""
IDENTIFYING = ("student", "login", "email", "id", "sis_id", "org_id")
_ALIASES = {
    "first": "first_name",
    "firstname": "first_name",
    "last": "last_name",
    "lastname": "last_name",
    "surname": "last_name",
    "email_address": "email",
    "e_mail": "email",
    "name": "name",
    "full_name": "name",
    "group": "section",
    "groups": "section",
    "username": "login",
    "user_name": "login",
    "sis_login_id": "login",
    "canvas_id": "id",
    "identifier": "id",
    "sis_user_id": "sis_id",
    "student_id": "sis_id",
    "id_number": "sis_id",
    "orgdefinedid": "org_id",
    "last_modified_submission": "handed_in",  # of Moodle's grading worksheet
}

_EXTENDED = re.compile(r"Extension granted until:? *(.+?)(?: -|$)")
"""in the column `Status` of Moodle's grading worksheet: `userextensiondate` of its `mod/assign/gradingtable.php`"""
_DAYS = re.compile(r"(?:(?P<assignment>\S*[^\W\d]\S*)\s+)?(?P<days>\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Roster:
    """The people of a class."""

    people: list[Mapping[str, str]]
    """each with those of `FIELDS` that are known; in the order of the file"""
    _by_key: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def find(self, student: str, number: str = "", full_name: str = "") -> Mapping[str, str]:
        """Whom the platform's `number` of a submission means, else its name: `ada`, her address or login; else the only
        one of the `full_name` that the platform gives.

        A number in the name is not read: `team_7`, or a file that a student called `me_4711`, is nobody's 7 or 4711.
        """
        known = (self._by_key.get(key.casefold()) for key in (number, student))
        called = [person for person in self.people if full_name and _full_name(person) == full_name.casefold()]
        return next((person for person in known if person), called[0] if len(called) == 1 else {})

    def key(self, person: Mapping[str, str]) -> str:
        """What tells one of the people from the others; empty for somebody who is not in the list."""
        keys = (person.get(key, "").casefold() for key in IDENTIFYING)
        return next((key for key in keys if key in self._by_key), "")


@dataclass(frozen=True)
class Attendance:
    """How the list of people and those who handed in fit together."""

    missing: tuple[str, ...] = ()
    """of the list, who handed in nothing"""
    unknown: tuple[str, ...] = ()
    """who handed in and is not in the list"""
    twice: tuple[tuple[str, ...], ...] = ()
    """submissions of one person"""

    def sentences(self) -> list[str]:
        """What to tell the instructor."""
        told = [f"Handed in nothing: {some(self.missing)}."] if self.missing else []
        told += [f"Not in the roster: {some(self.unknown)}."] if self.unknown else []
        return told + [f"{some(several)} are one person of the roster." for several in self.twice]


def attendance(roster: Roster, people: Mapping[str, Mapping[str, str]], section: str = "") -> Attendance:
    """`people`: student -> what is known of them, for everybody who handed in; `section`: to look at it alone."""
    found: dict[str, list[str]] = {}
    for student, person in people.items():
        found.setdefault(roster.key(person), []).append(student)
    unknown = found.pop("", [])
    expected = [person for person in roster.people if section in ("", person.get("section"))]
    missing = tuple(shown(person) for person in expected if roster.key(person) not in found)
    return Attendance(missing, tuple(unknown), tuple(tuple(names) for names in found.values() if len(names) > 1))


def some(names: Sequence[str]) -> str:
    """At most ten names, and how many more."""
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def to_complete(roster: Roster | None, people: Mapping[str, Mapping[str, str]], columns: Sequence[str]) -> str:
    """What to do so that of everybody in `people` (student -> what is known of them) one of `columns` is known."""
    wanted = " or ".join(filter(None, (", ".join(columns[:-1]), columns[-1])))
    if roster is None:
        return f"Give --roster, a list of people with the column {wanted}."
    absent = [student for student, person in people.items() if not roster.key(person)]
    lacking = [student for student in people if student not in absent]
    told = [f"The roster has no line for {some(absent)}: add one with student and {wanted}."] if absent else []
    told += [f"The roster has no {wanted} for {some(lacking)}: fill it in."] if lacking else []
    return " ".join(told)


def full_name(student: str, platform: str, number: str) -> str:
    """What stands before the number in the names that Moodle and Brightspace give; empty for other platforms'."""
    return student.removesuffix(f"_{number}") if platform in ("moodle", "brightspace") else ""


def _full_name(person: Mapping[str, str]) -> str:
    return f"{person.get('first_name', '')} {person.get('last_name', '')}".strip().casefold()


def shown(person: Mapping[str, str]) -> str:
    """`Doe, Ada (ada)`."""
    name = ", ".join(part for part in (person.get("last_name"), person.get("first_name")) if part)
    key = next(person[k] for k in IDENTIFYING if k in person)
    return f"{name} ({key})" if name else key


def read_roster(path: Path) -> Roster:
    """Raises WrongUse where the file cannot be read, has no column that identifies people, or has somebody twice."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        finding = (error.strerror if isinstance(error, OSError) else None) or "it is not UTF-8"
        raise WrongUse(f"{path}: cannot be read ({finding}); save the list of people as CSV in UTF-8.") from None
    separator = max(",;\t", key=text.partition("\n")[0].count)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    columns = [_column(name, rows[0]) for name in rows[0]] if rows else []
    if not set(columns) & set(IDENTIFYING):
        raise WrongUse(f"{path}: the first line names no column of {', '.join(IDENTIFYING)}.")
    roster = Roster([])
    lines: dict[str, int] = {}
    for number, row in enumerate(rows[1:], 2):
        person = _person({name: cell.strip() for name, cell in zip(columns, row, strict=False) if cell.strip()})
        keys = [person[key].casefold() for key in IDENTIFYING if key in person]
        if not keys or "points possible" in " ".join(row).casefold():  # Canvas's second line
            continue
        for key in dict.fromkeys(keys):
            if key in lines:
                raise WrongUse(f"{path}: lines {lines[key]} and {number} are both {key!r}; name everybody once.")
            lines[key] = number
            roster._by_key[key] = person
        for column in ("extension", "days_late"):
            try:
                days_for(person.get(column, ""), "")
            except ValueError as error:
                raise WrongUse(f"{path}: line {number}, {column}: {error}.") from None
        roster.people.append(person)
    return roster


def days_for(text: str, assignment: str) -> float | None:
    """Of `2`, or `a1_numpy_backprop 2, a2_autograd_engine 1`, the days that concern `assignment`; None if none do.

    Raises ValueError where the text is of another form.
    """
    days: dict[str | None, float] = {}
    for part in filter(None, (part.strip() for part in re.split("[,;]", text))):
        found = _DAYS.fullmatch(part)
        if found is None:
            raise ValueError(f"{part!r} is no number of days; write 2, or ASSIGNMENT 2, ASSIGNMENT 1")
        days[found["assignment"]] = float(found["days"])
    return days.get(assignment, days.get(None))


def _column(name: str, head: list[str]) -> str:
    plain = re.sub(r"\W+", "_", name.strip().casefold()).strip("_")
    if plain == "student" and "ID" in head:
        return "name"  # Canvas's own list: `Lovelace, Ada`
    return _ALIASES.get(plain, plain)


def _person(cells: dict[str, str]) -> Mapping[str, str]:
    name = cells.pop("name", "")
    if name and "last_name" not in cells:
        last, comma, first = name.partition(",")
        given, _, family = name.rpartition(" ")
        cells |= {"last_name": last, "first_name": first} if comma else {"last_name": family, "first_name": given}
    if extended := _EXTENDED.search(cells.get("status", "")):
        cells.setdefault("extended_until", extended[1])
    if "id" in cells:
        cells["id"] = cells["id"].removeprefix("Participant ")
    # Brightspace puts # before a number, to keep its zeros.
    return {key: cells[key].strip().removeprefix("#") for key in FIELDS if cells.get(key, "").strip()}
