"""What learning platforms call the files and folders of a download: whose they are, and which of several hand-ins.

A platform puts what it knows in front of the name that the student gave the file. Only that front is believed, read
from the left: `hw_ada_attempt_2026-11-02-09-30-00_hw_bob_attempt_2099-01-01-00-00-00_x.ipynb` is Ada's.

Sources: Canvas, `lib/content_zipper.rb`; Moodle, `mod/assign/locallib.php`; nbgrader, `exchange/default/submit.py`; the
names that Blackboard and Brightspace give are those that public programs for sorting such downloads read.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True)
class HandIn:
    """A file or folder as a platform names it."""

    student: str
    """name and number, as the platform has them"""
    file: str
    """what the student called the file; empty for a folder"""
    platform: str = ""
    """`canvas`, `moodle`, `brightspace`: whose number `number` is"""
    number: str = ""
    """by which that platform knows the student, in its own lists of grades"""
    attempt: str = ""
    """when it was handed in; a later one is a greater text; empty where only the last one is downloaded"""
    version: int = 0
    """of several files of one student that are called alike, the greatest is the last"""
    late: bool = False
    """whether the platform marks it as late"""
    assignment: str = ""
    """what it was handed in for, if the name says so"""
    fronted: bool = False
    """whether the assignment's name still stands before the student's: see `without_front`"""


def name_to_return(platform: str, student: str, number: str, file: str = "") -> str:
    """What a page must be called that goes back to a student, so that the platform finds whose it is; empty where it
    cannot.

    `file`: what the platform called the student's own file or folder. Canvas finds a comment's place by the student's
    number and that of the file, and shows what comes back under the student's own name for it: a notebook remains one.
    Moodle finds it by the participant's number alone, with a name in front that has no underscore.
    """
    handed_in = read_name(file)
    if platform == "canvas":
        if handed_in is None or handed_in.platform != "canvas" or not handed_in.version:
            return ""
        front = re.sub(r"\W", "", handed_in.student)
        kind = "ipynb" if handed_in.file.lower().endswith(".ipynb") else "html"
        return f"{front}_{handed_in.version}_feedback.{kind}"
    name = re.sub(r"[\W_]+", " ", handed_in.student.rpartition("_")[0] if handed_in else student).strip()
    return f"{name or 'student'}_{number}_assignsubmission_file_feedback.html" if number.isdecimal() else ""


_MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.S)
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>\d+)_(?:(?P<version>\d+)_)?(?P<file>.+)", re.S)
_CANVAS_ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon)_(?P<id>[0-9A-Za-z]{5})_(?:(?P<version>\d+)_)?(?P<file>.+)", re.S
)
_BLACKBOARD = re.compile(r"(?P<front>.+?)_attempt_(?P<attempt>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|\.txt)", re.S)
_BRIGHTSPACE = re.compile(
    r"(?P<id>\d+)-\d+ - (?P<name>.+?) - (?P<time>\w+ \d+, \d{4} \d+ [AP]M)(?: - (?P<file>.+))?", re.S
)
_NBGRADER = re.compile(
    r"(?P<name>[^+]+)\+(?P<assignment>[^+]+)\+(?P<attempt>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^+]*)(?:\+.*)?", re.S
)
_TYPED = frozenset({"text.html", "link.html"})
"""what Canvas calls a text or an address that was typed in: the only files without a version"""


def read_name(name: str) -> HandIn | None:
    """What a name says that a platform gave; None if it is no such name."""
    if found := _MOODLE.fullmatch(name):
        return HandIn(f"{found['name']}_{found['id']}", found["file"], "moodle", found["id"])
    if found := _NBGRADER.fullmatch(name):
        return HandIn(found["name"], "", attempt=found["attempt"], assignment=found["assignment"])
    if found := _BRIGHTSPACE.fullmatch(name):
        student, when = f"{found['name']}_{found['id']}", _brightspace_time(found["time"])
        return HandIn(student, found["file"] or "", "brightspace", found["id"], attempt=when)
    if found := _BLACKBOARD.fullmatch(name):
        day, time = found["attempt"][:10], found["attempt"][11:].replace("-", ":")
        return HandIn(found["front"], found["file"] or "attempt.txt", attempt=f"{day} {time}", fronted=True)
    found = _CANVAS_ANONYMOUS.fullmatch(name) or _CANVAS.fullmatch(name)
    if found and (found["version"] or found["file"] in _TYPED):
        known = found["id"] if found["name"] != "anon" else ""
        late, version = bool(found["late"]), int(found["version"] or 0)
        student = f"{found['name']}_{found['id']}"
        return HandIn(student, found["file"], "canvas", known, version=version, late=late)
    return None


def without_front(hand_ins: Iterable[HandIn]) -> list[HandIn]:
    """Blackboard's `hw_1_ada` and `hw_1_b_roe` are of ada and b_roe: what all begin with is the assignment's name.

    Of one student alone it is what stands before the last underscore.
    """
    hand_ins = list(hand_ins)
    cut = len(_common_front({hand_in.student for hand_in in hand_ins if hand_in.fronted}, "_"))
    return [replace(h, student=h.student[cut:], fronted=False) if h.fronted else h for h in hand_ins]


def _brightspace_time(text: str) -> str:
    """`Mar 29, 2026 1205 PM` in an order that sorts."""
    for form in ("%b %d, %Y %I%M %p", "%B %d, %Y %I%M %p"):
        try:
            return datetime.strptime(re.sub(r"(\d+) ([AP]M)", lambda m: f"{m[1]:0>4} {m[2]}", text), form).isoformat()
        except ValueError:
            continue
    return ""


def alike(file: str) -> str:
    """A file's name without the number that Canvas gives one that was handed in again: `a1-2.ipynb` -> `a1.ipynb`."""
    return re.sub(r"-\d+(?=\.\w+$|$)", "", file).casefold()


def classroom_prefix(folder: str, names: Iterable[str]) -> str:
    """What GitHub Classroom puts before each student's login: `a1-` of `a1-ada` and `a1-bob`, in `a1-submissions`."""
    names = list(names)
    if folder.endswith("-submissions") and all(name.startswith(folder.removesuffix("submissions")) for name in names):
        return folder.removesuffix("submissions")
    return _common_front(names, "-") if len(names) > 1 else ""


def _common_front(names: Iterable[str], separator: str) -> str:
    """The words that all names begin with, but for the last word of each."""
    places = zip(*(name.split(separator)[:-1] for name in names), strict=False)
    return "".join(words[0] + separator for words in itertools.takewhile(lambda words: len(set(words)) == 1, places))
