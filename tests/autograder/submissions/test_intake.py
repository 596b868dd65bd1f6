"""Submissions found in every layout they arrive in; traps reject their own student and nobody else.

More traps, in folders and zips, are those of `tests/attacks/files`.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import re
import shutil
import socket
import stat
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.errors import WrongUse
from autograder.records import Assignment
from autograder.submissions.intake import MAX_NAME_BYTES, StudentFiles, find_submissions, safe_name
from autograder.submissions.sources import MAX_LIST_BYTES


@dataclass(frozen=True)
class Room:
    """A folder `class` in which students hand in `little`."""

    little: Any
    folder: Path
    assignment: Assignment
    honest: bytes

    def place(self, files: dict[str, bytes]) -> Path:
        """Write files below the folder: `place({"ada/little.ipynb": b"..."})`."""
        for name, content in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(content)
        return self.folder

    def archive(self, write: Callable[[zipfile.ZipFile], object]) -> Path:
        """A zip with an honest submission of ada's and what the caller writes into it."""
        path = self.folder.with_name("class.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("ada/little.ipynb", self.honest)
            write(file)
        return path

    def found(self, path: Path) -> dict[str, StudentFiles]:
        return {handed.student: handed for handed in find_submissions(path, self.assignment).students}

    def outcomes(self, path: Path) -> dict[str, str]:
        """Student -> `full` for a full honest plan, `rejected`, or what was attempted."""
        result = {}
        for student, handed in self.found(path).items():
            submission = handed.read(self.assignment)
            attempted = [grade_id for notebook in submission.notebooks for grade_id in notebook.attempted]
            full = attempted == ["double", "half", "explain"]
            result[student] = "rejected" if submission.rejected else "full" if full else str(attempted)
        return result


@pytest.fixture
def room(little: Any, tmp_path: Path) -> Room:
    return Room(little, tmp_path / "class", little.load(), little.bytes(little.honest()))


def zipped(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return path


PLATFORMS = {
    "canvas": ("ada_12345", "bob_12346"),
    "moodle folders": ("Ada Doe_123", "Bob Roe_124"),
    "moodle flat": ("Ada Doe_123", "Bob_124"),
    "canvas without names": ("anon_x7Qp2", "anon_b29Lk"),
    "moodle with typed texts": ("Participant_123", "Participant_124"),
    "blackboard": ("ada", "b_roe"),
    "brightspace": ("Ada Doe_71", "Bob Roe_72"),
    "brightspace folders": ("Ada Doe_71", "Bob Roe_72"),
    "gradescope": ("Ada Doe_901", "Eve Foe_905", "bob@example.org"),
}
"""What students are called where it is not ada and bob."""

# fmt: off
LAYOUTS = {
    "nbgrader": ["ada/little/little.ipynb", "bob/little/little.ipynb", "cyd/other/other.ipynb"],
    "folders": ["ada/little.ipynb", "bob/my little work.ipynb"],
    "nested folders": ["ada/hw/little.ipynb", "bob/little.ipynb"],
    "flat": ["ada.ipynb", "bob.ipynb"],
    "flat with the assignment's name": ["ada_little.ipynb", "bob-little.ipynb"],
    "a folder around folders": ["submissions/ada/little.ipynb", "submissions/bob/little.ipynb"],
    "a folder around flat files": ["submissions/ada.ipynb", "submissions/bob.ipynb"],
    "a folder around nbgrader": ["submitted/ada/little/little.ipynb", "submitted/bob/little/little.ipynb"],
    "canvas": ["ada_12345_678901_little.ipynb", "bob_LATE_12346_678902_little-1.ipynb"],
    "moodle folders": ["Ada Doe_123_assignsubmission_file_/little.ipynb", "Bob Roe_124_assignsubmission_file/x.ipynb"],
    "moodle flat": ["Ada Doe_123_assignsubmission_file_little.ipynb", "Bob_124_assignsubmission_file_x.ipynb"],
    "canvas without names": ["anon_x7Qp2_20_little.ipynb", "LATE_anon_b29Lk_21_little.ipynb"],
    "moodle with typed texts": ["Participant_123_assignsubmission_file/little.ipynb",
                                "Participant_123_assignsubmission_onlinetext/onlinetext.html",
                                "Participant_124_assignsubmission_file/little.ipynb"],
    "blackboard": ["HW_1_ada_attempt_2026-11-02-09-30-00_little.ipynb", "HW_1_ada_attempt_2026-11-02-09-30-00.txt",
                   "HW_1_b_roe_attempt_2026-11-03-09-30-00_little.ipynb", "HW_1_b_roe_attempt_2026-11-03-09-30-00.txt"],
    "brightspace": ["71-5001 - Ada Doe - Nov 2, 2026 930 AM - little.ipynb",
                    "72-5001 - Bob Roe - Nov 12, 2026 1205 PM - my - little.ipynb", "index.html"],
    "brightspace folders": ["71-5001 - Ada Doe - Nov 2, 2026 930 AM/little.ipynb",
                            "72-5001 - Bob Roe - Nov 12, 2026 1205 PM/little.ipynb", "index.html"],
    "gradescope": ["assignment_9_export/submission_17/little.ipynb", "assignment_9_export/submission_18/little.ipynb",
                   "assignment_9_export/submission_metadata.yml"],
    "github classroom": ["hw-1-submissions/hw-1-ada/little.ipynb", "hw-1-submissions/hw-1-ada/.git/HEAD",
                         "hw-1-submissions/hw-1-bob/little.ipynb", "hw-1-submissions/hw-1-bob/.git/HEAD"],
    "nbgrader's exchange": ["ada+little+2026-11-02 09:30:00 UTC+mTk/little.ipynb",
                            "ada+little+2026-11-02 09:30:00 UTC+mTk/timestamp.txt",
                            "bob+little+2026-11-03 09:30:00 UTC/little.ipynb",
                            "cyd+other+2026-11-03 09:30:00 UTC/other.ipynb"],
    "a whole nbgrader course": ["source/little/little.ipynb", "release/little/little.ipynb", "nbgrader_config.py",
                                "submitted/ada/little/little.ipynb", "submitted/bob/little/little.ipynb"],
    "with litter": ["ada.ipynb", "bob.ipynb", ".DS_Store", "__MACOSX/._ada.ipynb",
                    ".ipynb_checkpoints/ada-checkpoint.ipynb", "notes.txt"],
}
# fmt: on


METADATA = b"""\
submission_17:
  :submitters:
  - :name: Ada Doe
    :sid: '901'
    :email: ada@example.org
  - :name: Eve Foe
    :sid: '905'
  :created_at: 2026-11-02 09:30:00.123456789 Z
  :score:
submission_18:
  :submitters:
  - :name:
    :sid:
    :email: bob@example.org
"""
"""of Gradescope's export; the first was handed in by two"""


def contents(names: list[str], notebook: bytes) -> dict[str, bytes]:
    return {name: METADATA if name.endswith(".yml") else notebook if ".ipynb" in name else b"" for name in names}


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_understood(room: Room, layout: str, packed: bool, tmp_path: Path) -> None:
    (room.little.folder.parent / "other").mkdir()  # another assignment of the course
    path = room.place(contents(LAYOUTS[layout], room.honest))
    expected = dict.fromkeys(PLATFORMS.get(layout, ("ada", "bob")), "full")
    assert room.outcomes(zipped(path, tmp_path / "class.zip") if packed else path) == expected


TAKEOVERS = {
    "a folder named like the assignment": ["mal/little/x.ipynb"],
    "a student named like the assignment": ["little/x.ipynb"],
    "a notebook named like the assignment's": ["little.ipynb"],
    "the same in another case": ["LITTLE/little/little.ipynb", "Little.ipynb"],
    "what looks like a course": ["submitted/x.ipynb", "source/x.ipynb", "nbgrader_config.py"],
    "a course and the assignment": ["submitted/little/x.ipynb", "source/x.ipynb"],
    "a hidden folder": [".mal/little.ipynb"],
    "names of the others": ["bob:/x.ipynb", "Ada/little.ipynb", "ada:.ipynb"],
}


@pytest.mark.parametrize("added", TAKEOVERS.values(), ids=TAKEOVERS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_student_takes_another_ones_row_or_name(room: Room, layout: str, added: list[str]) -> None:
    first, last = (name.split("/") for name in LAYOUTS[layout][-2:])
    inside = f"{first[0]}/" if first[0] == last[0] and layout not in ("with litter", "nbgrader's exchange") else ""
    (room.little.folder.parent / "other").mkdir()
    room.place(dict.fromkeys((f"{inside}{name}" for name in added), b"{}"))
    path = room.place(contents(LAYOUTS[layout], room.honest))
    outcomes = room.outcomes(path)
    honest = PLATFORMS.get(layout, ("ada", "bob"))
    assert {student: outcomes.get(student) for student in honest} == dict.fromkeys(honest, "full")
    left_out = find_submissions(path, room.assignment).left_out
    there = [p.name for p in (path / inside).iterdir() if p.name != ".DS_Store"]
    second = [name for name in there if "onlinetext" in name or re.search(r"_attempt_[\d-]+\.txt", name)]
    together = len(honest) - 2  # who handed in one folder with somebody else
    assert len(outcomes) + len(left_out) == len(there) - len(second) + together


def test_what_lies_beside_the_submissions_is_named_with_the_reason(room: Room) -> None:
    (room.little.folder.parent / "other").mkdir()
    names = ["ada/little/little.ipynb", ".git/x", "__MACOSX/x", "roster.csv", "cyd/other/little.ipynb"]
    found = find_submissions(room.place(dict.fromkeys(names, room.honest)), room.assignment)
    assert [one.student for one in found.students] == ["ada"]
    assert found.left_out == {
        ".git/": "is what editors and systems leave behind",
        "__MACOSX/": "is what editors and systems leave behind",
        "cyd/": "holds other assignments only (other)",
        "roster.csv": "is no notebook",
    }
    flat = find_submissions(
        room.place({"flat/bob.ipynb": room.honest, "flat/img/x.png": b""}) / "flat", room.assignment
    )
    assert flat.left_out == {"img/": "holds no notebook"}
    one = room.place({"one/little/little.ipynb": room.honest, "one/bob/bob.py": b"", "one/notes.txt": b""}) / "one"
    assert set(find_submissions(one, room.assignment).left_out) == {"bob/", "notes.txt"}
    wrapped = room.place({"in/class/ada/little.ipynb": room.honest, "in/bob.pdf": b"", "in/class/x.txt": b""}) / "in"
    assert set(find_submissions(wrapped, room.assignment).left_out) == {"bob.pdf", "x.txt"}


def test_who_handed_in_another_kind_of_file_to_a_platform_is_told(room: Room) -> None:
    path = room.place({"ada_1_2_little.ipynb": room.honest, "bob_2_3_report.pdf": b"%PDF"})
    handed = room.found(path)["bob_2"].read(room.assignment)
    assert "report.pdf" in handed.rejected


def test_what_the_platform_called_the_file_that_counts_is_kept(room: Room) -> None:
    files = ("ada_1_22_notes.txt", "ada_1_20_little.ipynb", "ada_LATE_1_21_little-1.ipynb", "bob_2_30_a.zip")
    path = room.place(dict.fromkeys(files, room.honest))
    folder = room.place({"Cyn Doe_3_assignsubmission_file/little.ipynb": room.honest, "dan/little.ipynb": room.honest})
    kept = {who: one.platform for where in (path, folder) for who, one in room.found(where).items()}
    assert kept["ada_1"] == ("canvas", "1", "ada_LATE_1_21_little-1.ipynb")
    assert kept["bob_2"] == ("canvas", "2", "bob_2_30_a.zip")
    assert kept["Cyn Doe_3"] == ("moodle", "3", "Cyn Doe_3_assignsubmission_file")
    assert kept["dan"] == ("", "", "")


AGAIN = {
    "canvas": ("ada_1_20_little.ipynb", "ada_LATE_1_21_little-1.ipynb", "ada_1"),
    "blackboard": (
        "hw_ada_attempt_2026-11-02-09-30-00_little.ipynb",
        "hw_ada_attempt_2026-11-10-09-30-00_solved.ipynb",
        "ada",
    ),
    "brightspace": (
        "71-5 - Ada Doe - Nov 2, 2026 1150 AM/little.ipynb",
        "71-5 - Ada Doe - Nov 2, 2026 1210 PM/other name.ipynb",
        "Ada Doe_71",
    ),
    "nbgrader": (
        "ada+little+2026-11-02 09:30:00 UTC+x/little.ipynb",
        "ada+little+2026-11-10 09:30:00 UTC+b/little.ipynb",
        "ada",
    ),
}


@pytest.mark.parametrize(("first", "last", "student"), AGAIN.values(), ids=AGAIN)
@pytest.mark.parametrize("turned", [False, True])
def test_of_several_hand_ins_the_last_one_counts_and_that_is_said(
    room: Room, first: str, last: str, student: str, turned: bool
) -> None:
    released = room.little.bytes(room.little.released())
    path = room.place({first: room.honest, last: released} if turned else {first: released, last: room.honest})
    assert room.outcomes(path) == {student: "[]" if turned else "full"}
    flags = {flag.kind: flag.message for flag in room.found(path)[student].read(room.assignment).flags}
    assert flags["handed-in-again"] == f"The last hand-in was graded, not {first.partition('/')[0]}."
    assert ("late" in flags) == ("LATE" in last)


def test_a_file_that_is_called_like_another_ones_hand_in_stays_its_own(room: Room) -> None:
    released = room.little.bytes(room.little.released())
    front = "hw_ada_attempt_2026-11-02-09-30-00_"
    path = room.place(
        {
            f"{front}little.ipynb": room.honest,
            "hw_mal_attempt_2026-11-02-09-30-00_hw_ada_attempt_2099-01-01-00-00-00_little.ipynb": released,
            "hw_bob_attempt_2026-11-02-09-30-00_little.ipynb": room.honest,
        }
    )
    assert room.outcomes(path) == {"ada": "full", "bob": "full", "mal": "[]"}


def test_who_typed_a_text_into_the_platform_and_handed_in_no_notebook_is_told(room: Room) -> None:
    path = room.place({"ada_1_20_little.ipynb": room.honest, "bob_2_text.html": b"<p>Here it is."})
    assert room.outcomes(path) == {"ada_1": "full", "bob_2": "rejected"}
    assert "only text.html" in room.found(path)["bob_2"].read(room.assignment).rejected


# --- a student's own zip ---------------------------------------------------------------------------------------------


def zip_of(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_a_notebook_in_a_students_own_zip_is_found(room: Room, packed: bool, tmp_path: Path) -> None:
    work = zip_of({"hw/little.ipynb": room.honest, "hw/data.csv": b"1", "__MACOSX/hw/._little.ipynb": b"x"})
    names = ["ada/work.zip", "bob/work.ZIP", "Cy Doe_7_assignsubmission_file_/w.zip", "dan_1_20_w.zip"]
    path = room.place(dict.fromkeys(names, work))
    expected = dict.fromkeys(("ada", "bob", "Cy Doe_7", "dan_1"), "full")
    assert room.outcomes(zipped(path, tmp_path / "class.zip") if packed else path) == expected


def test_a_zip_beside_a_notebook_is_not_opened(room: Room) -> None:
    released = room.little.bytes(room.little.released())
    path = room.place({"ada/little.ipynb": room.honest, "ada/old.zip": zip_of({"little.ipynb": released})})
    assert room.outcomes(path) == {"ada": "full"}
    assert list(room.found(path)["ada"].files) == ["little.ipynb", "old.zip"]


def test_a_students_zip_that_is_a_trap_or_broken_rejects_that_student_alone(room: Room) -> None:
    link = zipfile.ZipInfo("little.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    zips = {
        "broken": b"PK\x03\x04",
        "link": packed.getvalue(),
        "outside": zip_of({"../ada/little.ipynb": room.honest}),
        "nested": zip_of({"in.zip": zip_of({"little.ipynb": room.honest})}),
        "empty": zip_of({}),
        "large": zip_of({"little.ipynb": bytes(65 << 20)}),
    }
    path = room.place({f"{name}/w.zip": content for name, content in zips.items()} | {"ada/little.ipynb": room.honest})
    assert room.outcomes(path) == {"ada": "full"} | dict.fromkeys(zips, "rejected")
    said = {name: one.read(room.assignment).rejected for name, one in room.found(path).items()}
    assert "w.zip cannot be opened" in said["broken"]
    assert said["link"].startswith("w.zip/little.ipynb is a symbolic link.")
    assert "leads out of the zip" in said["outside"]
    assert "No notebook was handed in" in said["nested"] and "65 MiB" in said["large"]


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("ada.ipynb", "ada"),
        ("ada/little/little.ipynb", "ada"),
        ("ada/little.ipynb", "little"),
        ("ada/little", "ada"),
        ("ada", "ada"),
    ],
)
def test_one_notebook_or_one_students_folder_is_one_submission(room: Room, name: str, student: str) -> None:
    handed_in = name if name.endswith(".ipynb") else "ada/little/little.ipynb"
    assert room.outcomes(room.place({handed_in: room.honest, "eve.ipynb": b"{"}) / name) == {student: "full"}


def test_a_named_link_to_a_notebook_is_followed_as_the_instructor_named_it(room: Room) -> None:
    path = room.place({"ada.ipynb": room.honest})
    (path / "link.ipynb").symlink_to("ada.ipynb")
    assert room.outcomes(path / "link.ipynb") == {"link": "full"}


def test_a_student_without_a_notebook_is_rejected_and_named(room: Room) -> None:
    path = room.place({"ada/little.ipynb": room.honest, "bob/little.py": b"", "cyd/x": b""})
    (path / "dan").mkdir()
    assert room.outcomes(path) == {"ada": "full", "bob": "rejected", "cyd": "rejected", "dan": "rejected"}


# --- wrong use -------------------------------------------------------------------------------------------------------


def test_what_cannot_be_found_is_said_in_a_sentence(room: Room, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    no_zips = {"broken.zip": b"PK\x03\x04", "empty.zip": b"PK\x05\x06" + bytes(18)}
    path = room.place({"notes.txt": b"", "class.tar": b"ustar", **no_zips})
    for wrong, words in (
        (tmp_path / "nowhere", "No such file"),
        (tmp_path / "empty", "it is empty"),
        (path, r"it holds .*notes\.txt.*Looked for STUDENT/little/"),
        (path / "notes.txt", "neither a notebook nor a zip"),
        (path / "class.tar", "Unpack other archives"),
        (path / "broken.zip", "not a zip file"),
        (path / "empty.zip", "it is empty"),
        (tmp_path / "pipe", "neither a folder nor a file"),
        (tmp_path / ("x" * 300), "too long"),
    ):
        with pytest.raises(WrongUse, match=words):
            find_submissions(wrong, room.assignment)


def test_a_folder_that_may_not_be_opened_rejects_its_student(room: Room, tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    for folder in (root, *root.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    path = root / "readable"
    for name in ("ada", "bob", "cyd"):
        (path / name).mkdir(parents=True)
        (path / name / "little.ipynb").write_bytes(room.honest)
    (path / "bob").chmod(0)
    (path / "cyd" / "little.ipynb").chmod(0)
    (root / "closed").mkdir(mode=0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # root may open everything
    try:
        rejected = {
            handed.student: handed.read(room.assignment).rejected
            for handed in find_submissions(path, room.assignment).students
        }
        with pytest.raises(WrongUse, match="Permission denied"):
            find_submissions(root / "closed", room.assignment)
    finally:
        os.seteuid(user)
    assert rejected["ada"] == "" and all("Permission denied" in rejected[name] for name in ("bob", "cyd"))


# --- what is not a plain file ----------------------------------------------------------------------------------------


def special(path: Path, kind: str) -> None:
    if kind == "link":
        path.symlink_to("/etc/passwd")
    elif kind == "dangling link":
        path.symlink_to("nowhere")
    elif kind == "link to a folder":
        path.symlink_to("/etc")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        try:
            os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # endless zeros
        except PermissionError:
            pytest.skip("making a device file takes a right that this user does not have")
    else:
        here = os.open(path.parent, os.O_RDONLY)  # socket paths are short
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


@pytest.mark.parametrize("kind", ["link", "dangling link", "link to a folder", "pipe", "socket", "device"])
@pytest.mark.parametrize(
    "name", ["mal/little/little.ipynb", "mal/little/data.csv", "mal/little/sub/x", "mal/little", "mal", "mal.ipynb"]
)
def test_what_is_no_plain_file_rejects_its_student_only(room: Room, name: str, kind: str) -> None:
    path = room.place({"ada/little/little.ipynb": room.honest, "bob/little/little.ipynb": room.honest})
    if name.startswith("mal/little/"):
        room.place({"mal/little/other.ipynb": room.honest})
    (path / name).parent.mkdir(parents=True, exist_ok=True)
    special(path / name, kind)
    began = time.monotonic()
    assert room.outcomes(path) == {"ada": "full", "bob": "full", "mal": "rejected"}
    reason = room.found(path)["mal"].rejected
    assert "symbolic link" in reason or "named pipe" in reason or "socket" in reason or "device" in reason
    assert time.monotonic() - began < 30  # opening a pipe would wait for ever


def test_a_file_swapped_for_a_link_after_the_look_is_not_followed(room: Room, tmp_path: Path) -> None:
    path = room.place({"ada/little/little.ipynb": room.honest, "bob/little/little.ipynb": room.honest})
    handed = room.found(path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "little.ipynb").write_bytes(room.honest)
    (path / "ada" / "little" / "little.ipynb").unlink()
    (path / "ada" / "little" / "little.ipynb").symlink_to(tmp_path / "elsewhere" / "little.ipynb")
    shutil.rmtree(path / "bob" / "little")
    (path / "bob" / "little").symlink_to(tmp_path / "elsewhere")
    assert handed["ada"].read(room.assignment).rejected
    assert handed["bob"].read(room.assignment).rejected


def test_a_hard_link_to_the_instructors_solution_is_rejected_and_others_are_told(room: Room) -> None:
    path = room.place({"ada/little.ipynb": room.honest, "bob/little.ipynb": room.honest + b" "})
    (path / "mal").mkdir()
    os.link(room.little.folder / "little.ipynb", path / "mal" / "little.ipynb")
    os.link(path / "bob" / "little.ipynb", path / "elsewhere")
    assert room.outcomes(path) == {"ada": "full", "bob": "full", "mal": "rejected"}
    handed = room.found(path)
    assert "hard link" in handed["mal"].rejected
    assert [flag.kind for flag in handed["bob"].flags] == ["hard-link"]


def test_a_huge_notebook_is_not_read_and_other_huge_files_are_not_opened(room: Room) -> None:
    path = room.place({"ada/little.ipynb": room.honest, "mal/little.ipynb": b""})
    for name in ("ada/data.bin", "mal/little.ipynb"):
        os.truncate(room.place({name: b""}) / name, 1 << 40)
    assert room.outcomes(path) == {"ada": "full", "mal": "rejected"}
    ada = room.found(path)["ada"]
    assert list(ada.files) == ["little.ipynb"]
    assert [f.message for f in ada.flags if f.kind == "dropped-file"] == [
        "Not used: data.bin. A submission may have 50 files beside its notebooks, 32 MiB together."
    ]
    assert "MiB" in room.found(path)["mal"].read(room.assignment).rejected


def test_one_submission_of_gigabytes_costs_the_run_little_memory_and_nobody_else_anything(room: Room) -> None:
    blank = b" " * (8 << 20)

    def write(archive: zipfile.ZipFile) -> None:
        for number in range(30):
            archive.writestr(f"mal/{number:02}.ipynb", blank)
        for number in range(100):
            archive.writestr(f"eve/{number:02}.ipynb", b"{}")

    path = room.archive(write)
    tracemalloc.start()
    try:
        found = room.found(path)
        digests = {student: one.digests() for student, one in found.items()}
        assert sum(len(piece) for piece in found["ada"].pieces("little.ipynb")) == len(room.honest)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert "160 MiB together; the limit is 96" in found["mal"].rejected  # of 30 notebooks 20 are looked at
    assert not found["ada"].rejected and digests["ada"]["little.ipynb"] == hashlib.sha256(room.honest).hexdigest()
    assert len(found["eve"].files) == 70 and "and 25 more" in found["eve"].flags[0].message


def test_the_list_of_a_zip_is_not_read_if_it_alone_would_fill_the_memory(room: Room, tmp_path: Path) -> None:
    path = tmp_path / "class.zip"
    entry = b"PK\x01\x02" + bytes(24) + struct.pack("<H", 1) + bytes(16) + b"a"
    entries = entry * (MAX_LIST_BYTES // len(entry) + 1)
    # A zip says how long its list is, and how many entries it has; only the length is believed, also beyond 65,535.
    path.write_bytes(b"PK\x03\x04" + entries + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(entries), 0, 0))
    with pytest.raises(WrongUse, match=r"list of files has 8 MiB; .* Unpack it and name the folder"):
        find_submissions(path, room.assignment)


# --- zips ------------------------------------------------------------------------------------------------------------


TRAPS: dict[str, tuple[Callable[[zipfile.ZipFile], object], str]] = {
    "slip at the top": (lambda z: z.writestr("../evil.ipynb", b"{}"), "leads out of the zip"),
    "drive": (lambda z: z.writestr("C:\\evil.ipynb", b"{}"), "leads out of the zip"),
    "lzma": (lambda z: z.writestr("mal/little.ipynb", b"x", zipfile.ZIP_LZMA), "a method other than deflate"),
    "deep": (lambda z: z.writestr(f"mal/{'d/' * 60}little.ipynb", b"x"), "folders deep"),
    "file and folder": (lambda z: [z.writestr(f"mal/little.ipynb{rest}", b"") for rest in ("/x", "")], ""),
    "a name twice": (lambda z: [z.writestr("mal/little.ipynb", text) for text in (b"{}", b"[]")], "there twice"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("write", "reason"), TRAPS.values(), ids=TRAPS)
def test_a_trap_in_a_zip_rejects_its_student_only(room: Room, write: Any, reason: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    path = room.archive(write)
    began = time.process_time()
    result = room.outcomes(path)
    assert result.pop("ada") == "full"
    assert list(result.values()) == ["rejected"]
    assert reason in room.found(path)[next(iter(result))].rejected
    assert time.process_time() - began < 5
    assert sorted(tmp_path.rglob("*")) == sorted([*before, path])


def patched(path: Path, name: bytes, offset_in_central: int, value: bytes) -> Path:
    """Change bytes of the central directory entry of `name`."""
    data = bytearray(path.read_bytes())
    entry = data.rindex(name) - 46
    assert data[entry : entry + 4] == b"PK\x01\x02"
    data[entry + offset_in_central : entry + offset_in_central + len(value)] = value
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("offset", "value"),
    [(8, b"\x01\x00"), (16, b"\0\0\0\0"), (42, b"\0\0\0\0"), (24, struct.pack("<I", 5)), (10, b"\x63\x00")],
    ids=["encrypted", "wrong checksum", "overlapping", "lies about its size", "unknown method"],
)
def test_a_damaged_entry_of_a_zip_rejects_its_student_only(room: Room, offset: int, value: bytes) -> None:
    path = room.archive(
        lambda z: [z.writestr("mal/little.ipynb", room.honest), z.writestr("zoe/little.ipynb", room.honest)]
    )
    result = room.outcomes(patched(path, b"mal/little.ipynb", offset, value))
    # Of two entries that share bytes nobody can tell the true one.
    assert result == {"ada": "rejected" if offset == 42 else "full", "mal": "rejected", "zoe": "full"}


def test_a_zip_is_known_by_its_content_and_its_handed_files_can_be_sent_to_a_worker(room: Room) -> None:
    path = room.archive(lambda z: z.writestr("bob/little.ipynb", room.honest))
    renamed = path.rename(path.with_name("download"))
    handed = room.found(renamed)
    assert handed["ada"].files["little.ipynb"] == room.honest
    assert pickle.loads(pickle.dumps(handed["bob"])).files["little.ipynb"] == room.honest


# --- names -----------------------------------------------------------------------------------------------------------

NASTY = ["..", "-rf", "a\nb", 'a"b', "=cmd|' /C calc'!A0", "con", "NUL.txt", "a" * 250, "\u202egpj.exe", "é" * 120,
         "a\udcffb", "  ", "a/../b", "$(id)", "~root", ""]  # fmt: skip


@pytest.mark.parametrize("raw", NASTY)
def test_a_nasty_name_becomes_a_harmless_one_with_a_note(raw: str) -> None:
    name, note = safe_name(raw)
    assert name and name not in (".", "..")
    assert len(name.encode()) <= MAX_NAME_BYTES
    assert name[0] not in "-=+@~." and not set(name) & set('/\\"\n$|:')
    assert name.isprintable()
    assert note
    assert safe_name(name) == (name, "")


@pytest.mark.parametrize("raw", ["ada", "Ada Lovelace_123", "O'Brien", "jürgen.müller", "李雷", "a-b_c.d"])
def test_an_ordinary_name_stays(raw: str) -> None:
    assert safe_name(raw) == (raw, "")


def test_a_name_that_is_not_utf8_is_graded(room: Room) -> None:
    path = room.place({"ada/little.ipynb": room.honest})
    folder = os.fsencode(path) + b"/b\xe9b"
    os.mkdir(folder)
    with open(folder + b"/little.ipynb", "wb") as file:
        file.write(room.honest)
    assert room.outcomes(path) == {"ada": "full", "b_b": "full"}


def test_whose_name_it_is_keeps_it_and_others_get_a_digest(room: Room) -> None:
    decomposed = "jose\u0301"
    names = ["a_b", "a:b", "a*b", "Ada", "ADA", decomposed, "jos\xe9", "zoe"]
    path = room.archive(lambda z: [z.writestr(f"{name}/little.ipynb", room.honest) for name in names])
    found = room.found(path)
    assert {"a_b", "ada", "Ada", "ADA", "jos\xe9", "zoe"} <= found.keys()
    renamed = {student: one.note for student, one in found.items() if one.note}
    assert sorted(student[: student.index("-")] for student in renamed) == ["a_b", "a_b", "jos\xe9"]
    assert all(
        len(student.rpartition("-")[2]) == 8 and "another one is called" in note for student, note in renamed.items()
    )
    assert {student.student for student in find_submissions(path, room.assignment).students} == found.keys()


def test_a_file_gives_way_to_the_folder_and_the_name_in_full_to_the_shortened_one(room: Room) -> None:
    both = room.place({"ada/little.ipynb": room.honest, "ada.ipynb": b"{}", "zoe_little.ipynb": b"{}"})
    assert room.outcomes(both)["ada"] == "full"
    assert [student[:4] for student in room.found(both)] == ["ada", "ada-", "zoe"]
    flat = room.place({"flat/bob.ipynb": room.honest, "flat/bob_little.ipynb": b"{}"}) / "flat"
    assert room.outcomes(flat)["bob"] == "full" and len(room.found(flat)) == 2


def test_where_case_does_not_count_no_two_names_are_one_folder(room: Room) -> None:
    path = room.archive(lambda z: [z.writestr(f"{name}/little.ipynb", room.honest) for name in ("Ada", "bob")])
    students = [one.student for one in find_submissions(path, room.assignment, fold_case=True).students]
    assert len({student.casefold() for student in students}) == 3 and "bob" in students


def test_a_platforms_folders_of_one_student_are_one_submission(room: Room) -> None:
    kinds = {"file_": "little.ipynb", "onlinetext_": "onlinetext.html"}
    names = [f"Ada Doe_1_assignsubmission_{kind}/{name}" for kind, name in kinds.items()]
    assert room.outcomes(room.place(dict.fromkeys(names, room.honest))) == {"Ada Doe_1": "full"}


def test_everybody_who_handed_in_together_has_a_row_and_nobody_copied(room: Room) -> None:
    names = ["submission_17/little.ipynb", "submission_18/little.ipynb", "submission_metadata.yml"]
    other = room.little.bytes(room.little.released())
    path = room.place(contents(names, room.honest) | {"submission_18/little.ipynb": other})
    found = room.found(path)
    flags = {name: [(f.kind, f.message) for f in one.flags] for name, one in found.items()}
    assert flags == {
        "Ada Doe_901": [("group", "Handed in together with Eve Foe_905.")],
        "Eve Foe_905": [("group", "Handed in together with Ada Doe_901.")],
        "bob@example.org": [],
    }
    room.place({"submission_18/little.ipynb": room.honest})
    kinds = {name: {f.kind for f in one.flags} for name, one in room.found(path).items()}
    assert all("identical" in found for found in kinds.values())  # now Bob has the same


def test_two_people_of_one_name_who_handed_in_together_are_two(room: Room) -> None:
    people = [{":name": "Jo Li", ":sid": None, ":email": f"{name}@x.org"} for name in ("a", "b", "c")]
    metadata = yaml.safe_dump({"submission_17": {":submitters": people}}).encode()
    path = room.place({"submission_17/little.ipynb": room.honest, "submission_metadata.yml": metadata})
    assert len(room.found(path)) == 3


TIMES = {
    "nbgrader": ("ada/little/timestamp.txt", "2026-11-02 09:30:00 UTC"),
    "nbgrader's exchange": ("", "2026-11-02 09:30:00 UTC"),
    "blackboard": ("", "2026-11-02 09:30:00"),
    "brightspace": ("", "2026-11-02T09:30:00"),
    "gradescope": ("", "2026-11-02 09:30:00.123456+00:00"),
    # A student's own file is nobody's word.
    "folders": ("ada/timestamp.txt", ""),
    "moodle folders": ("Ada Doe_123_assignsubmission_file_/timestamp.txt", ""),
    "github classroom": ("hw-1-submissions/hw-1-ada/little/timestamp.txt", ""),
}
"""Layout -> where a file with a time lies, and when Ada has handed in."""


@pytest.mark.parametrize("layout", TIMES)
def test_the_time_of_a_hand_in_is_the_platforms_word_or_nbgraders(room: Room, layout: str) -> None:
    (room.little.folder.parent / "other").mkdir()
    place, time = TIMES[layout]
    path = room.place(contents(LAYOUTS[layout], room.honest) | ({place: b"2026-11-02 09:30:00 UTC\n"} if place else {}))
    assert room.found(path)[PLATFORMS.get(layout, ("ada",))[0]].handed_in == time


# --- between students ------------------------------------------------------------------------------------------------


def test_the_same_bytes_under_two_names_are_graded_and_flagged(room: Room) -> None:
    released = room.little.bytes(room.little.released())
    names = {"ada": room.honest, "bob": room.honest, "cyd": room.honest + b"\n", "dan": released, "eve": released}
    path = room.place({f"{name}.ipynb": content for name, content in names.items()})
    flags = {
        handed.student: [flag.message for flag in handed.read(room.assignment).flags if flag.kind == "identical"]
        for handed in find_submissions(path, room.assignment).students
    }
    assert flags == {
        "ada": ["The same bytes as the submission of bob."],
        "bob": ["The same bytes as the submission of ada."],
        "cyd": [],
        "dan": [],  # two untouched releases are equal without copying
        "eve": [],
    }


def test_a_class_of_a_thousand_is_listed_in_seconds(room: Room) -> None:
    path = room.place({f"s{number:04}/little.ipynb": room.honest for number in range(1000)})
    began = time.process_time()
    assert len(find_submissions(path, room.assignment).students) == 1000
    assert time.process_time() - began < 10
