"""Submissions found in every layout they arrive in; traps reject their own student and nobody else."""

from __future__ import annotations

import os
import pickle
import shutil
import socket
import stat
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.errors import WrongUse
from autograder.submissions.intake import MAX_NAME_BYTES, StudentFiles, find_submissions, safe_name
from autograder.submissions.sources import MAX_FILES


@pytest.fixture
def honest(little: Any) -> bytes:
    return little.bytes(little.honest())


@pytest.fixture
def place(tmp_path: Path) -> Callable[..., Path]:
    """Write files below a folder `class`: `place({"ada/little.ipynb": b"..."})`."""

    def write(files: dict[str, bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / "class" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return tmp_path / "class"

    return write


def found(path: Path, little: Any) -> dict[str, StudentFiles]:
    return {handed.student: handed for handed in find_submissions(path, little.load())}


def outcomes(path: Path, little: Any) -> dict[str, str]:
    """Student -> `full` for a full honest plan, `rejected`, or what was attempted."""
    assignment = little.load()
    result = {}
    for handed in find_submissions(path, assignment):
        submission = handed.read(assignment)
        attempted = [grade_id for notebook in submission.notebooks for grade_id in notebook.attempted]
        full = attempted == ["double", "half", "explain"]
        result[handed.student] = "rejected" if submission.rejected else "full" if full else str(attempted)
    return result


def zipped(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return path


BOTH = {"ada": "full", "bob": "full"}

LAYOUTS = {
    "nbgrader": ["ada/little/little.ipynb", "bob/little/little.ipynb", "cyd/other/other.ipynb"],
    "folders": ["ada/little.ipynb", "bob/my little work.ipynb"],
    "nested folders": ["ada/hw/little.ipynb", "bob/little.ipynb"],
    "flat": ["ada.ipynb", "bob.ipynb"],
    "flat with the assignment's name": ["ada_little.ipynb", "bob-little.ipynb"],
    "a folder around folders": ["submissions/ada/little.ipynb", "submissions/bob/little.ipynb"],
    "a folder around flat files": ["submissions/ada.ipynb", "submissions/bob.ipynb"],
    "a folder around nbgrader": ["submitted/ada/little/little.ipynb", "submitted/bob/little/little.ipynb"],
    "a whole nbgrader course": [
        "source/little/little.ipynb",
        "release/little/little.ipynb",
        "nbgrader_config.py",
        "submitted/ada/little/little.ipynb",
        "submitted/bob/little/little.ipynb",
    ],
    "with litter": [
        "ada.ipynb",
        "bob.ipynb",
        ".DS_Store",
        "__MACOSX/._ada.ipynb",
        ".ipynb_checkpoints/ada-checkpoint.ipynb",
        "notes.txt",
    ],
}


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_understood(
    layout: str, packed: bool, little: Any, honest: bytes, place: Callable[..., Path], tmp_path: Path
) -> None:
    path = place(dict.fromkeys(LAYOUTS[layout], honest))
    assert outcomes(zipped(path, tmp_path / "class.zip") if packed else path, little) == BOTH


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize(
    ("names", "students"),
    [
        (["doeada_12345_678901_little.ipynb", "bob_LATE_12346_678902_little-1.ipynb"], {"doeada_12345", "bob_12346"}),
        (
            ["Ada Doe_123_assignsubmission_file_/little.ipynb", "Bob Roe_124_assignsubmission_file/x.ipynb"],
            {"Ada Doe_123", "Bob Roe_124"},
        ),
        (
            ["Ada Doe_123_assignsubmission_file_little.ipynb", "Bob_124_assignsubmission_file_x.ipynb"],
            {"Ada Doe_123", "Bob_124"},
        ),
    ],
    ids=["canvas", "moodle folders", "moodle flat"],
)
def test_exports_of_learning_platforms_are_understood(
    names: list[str], students: set[str], packed: bool, little: Any, honest: bytes, place: Any, tmp_path: Path
) -> None:
    path = place(dict.fromkeys(names, honest))
    expected = dict.fromkeys(students, "full")
    assert outcomes(zipped(path, tmp_path / "class.zip") if packed else path, little) == expected


def test_who_handed_in_another_kind_of_file_to_a_platform_is_told(little: Any, honest: bytes, place: Any) -> None:
    path = place({"ada_1_2_little.ipynb": honest, "bob_2_3_report.pdf": b"%PDF"})
    handed = found(path, little)["bob_2"].read(little.load())
    assert "report.pdf" in handed.rejected


def test_two_hand_ins_of_one_canvas_student_are_one_submission(little: Any, honest: bytes, place: Any) -> None:
    released = little.bytes(little.released())
    path = place({"ada_1_20_little.ipynb": released, "ada_1_21_little-1.ipynb": honest})
    assert outcomes(path, little) == {"ada_1": "full"}


@pytest.mark.parametrize(
    ("name", "student"),
    [("ada.ipynb", "ada"), ("ada/little/little.ipynb", "ada"), ("ada/little.ipynb", "little")],
)
def test_one_notebook_is_one_submission(name: str, student: str, little: Any, honest: bytes, place: Any) -> None:
    path = place({name: honest, "eve.ipynb": b"{"}) / name
    assert outcomes(path, little) == {student: "full"}


def test_a_named_link_to_a_notebook_is_followed_as_the_instructor_named_it(
    little: Any, honest: bytes, place: Any
) -> None:
    path = place({"ada.ipynb": honest})
    (path / "link.ipynb").symlink_to("ada.ipynb")
    assert outcomes(path / "link.ipynb", little) == {"link": "full"}


def test_one_students_folder_is_one_submission(little: Any, honest: bytes, place: Any) -> None:
    path = place({"ada/little/little.ipynb": honest})
    assert outcomes(path / "ada" / "little", little) == {"ada": "full"}
    assert outcomes(path / "ada", little) == {"ada": "full"}


def test_a_student_without_a_notebook_is_rejected_and_named(little: Any, honest: bytes, place: Any) -> None:
    path = place({"ada/little.ipynb": honest, "bob/little.py": b"", "cyd/x": b""})
    (path / "dan").mkdir()
    assert outcomes(path, little) == {"ada": "full", "bob": "rejected", "cyd": "rejected", "dan": "rejected"}


# --- wrong use -------------------------------------------------------------------------------------------------------


def test_what_cannot_be_found_is_said_in_a_sentence(little: Any, place: Any, tmp_path: Path) -> None:
    assignment = little.load()
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    path = place(
        {"notes.txt": b"", "class.tar": b"ustar", "broken.zip": b"PK\x03\x04", "empty.zip": b"PK\x05\x06" + bytes(18)}
    )
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
            find_submissions(wrong, assignment)


@pytest.fixture
def unprivileged() -> Any:
    """Root may open everything; give that up for the time of a test."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


def test_a_folder_that_may_not_be_opened_rejects_its_student(
    little: Any, honest: bytes, request: Any, tmp_path: Path
) -> None:
    assignment = little.load()
    root = Path(os.path.realpath(tmp_path))
    for folder in (root, *root.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    path = root / "readable"
    for name in ("ada", "bob", "cyd"):
        (path / name).mkdir(parents=True)
        (path / name / "little.ipynb").write_bytes(honest)
    (path / "bob").chmod(0)
    (path / "cyd" / "little.ipynb").chmod(0)
    (root / "closed").mkdir(mode=0)
    request.getfixturevalue("unprivileged")
    rejected = {handed.student: handed.read(assignment).rejected for handed in find_submissions(path, assignment)}
    assert rejected["ada"] == ""
    assert "Permission denied" in rejected["bob"]
    assert "Permission denied" in rejected["cyd"]
    with pytest.raises(WrongUse, match="Permission denied"):
        find_submissions(root / "closed", assignment)


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
def test_what_is_no_plain_file_rejects_its_student_only(
    name: str, kind: str, little: Any, honest: bytes, place: Any
) -> None:
    path = place({"ada/little/little.ipynb": honest, "bob/little/little.ipynb": honest})
    if name.startswith("mal/little/"):
        place({"mal/little/other.ipynb": honest})
    (path / name).parent.mkdir(parents=True, exist_ok=True)
    special(path / name, kind)
    began = time.monotonic()
    assert outcomes(path, little) == {"ada": "full", "bob": "full", "mal": "rejected"}
    reason = found(path, little)["mal"].rejected
    assert "symbolic link" in reason or "named pipe" in reason or "socket" in reason or "device" in reason
    assert time.monotonic() - began < 30  # opening a pipe would wait for ever


def test_a_file_swapped_for_a_link_after_the_look_is_not_followed(
    little: Any, honest: bytes, place: Any, tmp_path: Path
) -> None:
    path = place({"ada/little/little.ipynb": honest, "bob/little/little.ipynb": honest})
    assignment = little.load()
    handed = found(path, little)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "little.ipynb").write_bytes(honest)
    (path / "ada" / "little" / "little.ipynb").unlink()
    (path / "ada" / "little" / "little.ipynb").symlink_to(tmp_path / "elsewhere" / "little.ipynb")
    shutil.rmtree(path / "bob" / "little")
    (path / "bob" / "little").symlink_to(tmp_path / "elsewhere")
    assert handed["ada"].read(assignment).rejected
    assert handed["bob"].read(assignment).rejected


def test_a_hard_link_to_the_instructors_solution_is_rejected_and_others_are_told(
    little: Any, honest: bytes, place: Any
) -> None:
    path = place({"ada/little.ipynb": honest, "bob/little.ipynb": honest + b" "})
    (path / "mal").mkdir()
    os.link(little.folder / "little.ipynb", path / "mal" / "little.ipynb")
    os.link(path / "bob" / "little.ipynb", path / "elsewhere")
    assert outcomes(path, little) == {"ada": "full", "bob": "full", "mal": "rejected"}
    handed = found(path, little)
    assert "hard link" in handed["mal"].rejected
    assert [flag.kind for flag in handed["bob"].flags] == ["hard-link"]


def test_a_huge_or_deep_folder_rejects_its_student_only(little: Any, honest: bytes, place: Any) -> None:
    path = place(
        {"ada/little.ipynb": honest, "many/little.ipynb": honest, "deep/" + "d/" * 40 + "little.ipynb": honest}
    )
    for number in range(MAX_FILES + 5):
        (path / "many" / f"{number}.txt").touch()
    assert outcomes(path, little) == {"ada": "full", "deep": "rejected", "many": "rejected"}


def test_a_huge_notebook_is_not_read_and_huge_other_files_are_not_opened(
    little: Any, honest: bytes, place: Any
) -> None:
    path = place({"ada/little.ipynb": honest, "mal/little.ipynb": b""})
    for name in ("ada/data.bin", "mal/little.ipynb"):
        os.truncate(place({name: b""}) / name, 1 << 40)
    assert outcomes(path, little) == {"ada": "full", "mal": "rejected"}
    assert found(path, little)["ada"].files["data.bin"] == b""
    assert "MiB" in found(path, little)["mal"].read(little.load()).rejected


# --- zips ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def archive(tmp_path: Path, honest: bytes) -> Callable[..., Path]:
    """A zip with an honest submission of ada's and what the caller writes into it."""

    def make(write: Callable[[zipfile.ZipFile], None]) -> Path:
        path = tmp_path / "class.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("ada/little.ipynb", honest)
            write(file)
        return path

    return make


def linked(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize(
    "write",
    [
        lambda z: z.writestr("mal/../../evil.ipynb", b"{}"),
        lambda z: z.writestr("../evil.ipynb", b"{}"),
        lambda z: z.writestr("/etc/cron.d/evil.ipynb", b"{}"),
        lambda z: z.writestr("C:\\evil.ipynb", b"{}"),
        lambda z: z.writestr("..\\evil.ipynb", b"{}"),
        lambda z: z.writestr(linked("mal/little.ipynb"), b"/etc/passwd"),
        lambda z: z.writestr("mal/little.ipynb", b"x", zipfile.ZIP_BZIP2),
        lambda z: z.writestr("mal/little.ipynb", b"x", zipfile.ZIP_LZMA),
        lambda z: z.writestr("mal/" + "d/" * 60 + "little.ipynb", b"x"),
        lambda z: [z.writestr(f"mal/{n}", b"") for n in range(MAX_FILES + 5)],
        lambda z: z.writestr("mal/little.ipynb", b" " * (100 << 20)),
        lambda z: z.writestr("mal/little.zip", b"PK\x05\x06" + bytes(18)),
        lambda z: [z.writestr("mal/little.ipynb/x", b""), z.writestr("mal/little.ipynb", b"")],
    ],
    ids=[
        "slip",
        "slip at the top",
        "absolute",
        "drive",
        "backslashes",
        "link",
        "bzip2",
        "lzma",
        "deep",
        "many",
        "bomb",
        "nested zip",
        "file and folder",
    ],
)
def test_a_trap_in_a_zip_rejects_its_student_only(write: Any, archive: Any, little: Any, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    path = archive(write)
    began = time.process_time()
    result = outcomes(path, little)
    assert result.pop("ada") == "full"
    assert list(result.values()) == ["rejected"]
    assert time.process_time() - began < 5
    assert sorted(tmp_path.rglob("*")) == sorted([*before, path])


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice_in_a_zip_is_rejected(archive: Any, little: Any) -> None:
    path = archive(lambda z: [z.writestr("mal/little.ipynb", b"{}"), z.writestr("mal/little.ipynb", b"[]")])
    assert outcomes(path, little) == {"ada": "full", "mal": "rejected"}


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
def test_a_damaged_entry_of_a_zip_rejects_its_student_only(
    offset: int, value: bytes, archive: Any, little: Any, honest: bytes
) -> None:
    path = archive(lambda z: [z.writestr("mal/little.ipynb", honest), z.writestr("zoe/little.ipynb", honest)])
    result = outcomes(patched(path, b"mal/little.ipynb", offset, value), little)
    # Of two entries that share bytes nobody can tell the true one.
    assert result == {"ada": "rejected" if offset == 42 else "full", "mal": "rejected", "zoe": "full"}


def test_a_zip_is_known_by_its_content_and_its_handed_files_can_be_sent_to_a_worker(
    archive: Any, little: Any, honest: bytes
) -> None:
    path = archive(lambda z: z.writestr("bob/little.ipynb", honest))
    renamed = path.rename(path.with_name("download"))
    handed = found(renamed, little)
    assert handed["ada"].files["little.ipynb"] == honest
    assert pickle.loads(pickle.dumps(handed["bob"])).files["little.ipynb"] == honest


# --- names -----------------------------------------------------------------------------------------------------------

NASTY = [
    "..",
    "-rf",
    "a\nb",
    'a"b',
    "=cmd|' /C calc'!A0",
    "con",
    "NUL.txt",
    "a" * 250,
    "\u202egpj.exe",
    "é" * 120,
    "a\udcffb",
    "  ",
    "a/../b",
    "$(id)",
    "~root",
    "",
]


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


def test_nasty_names_in_a_folder_are_graded_under_harmless_ones(little: Any, honest: bytes, place: Any) -> None:
    path = place({"ada/little.ipynb": honest})
    for number, raw in enumerate(("-rf", "a\nb", "=1+1", "con", "x" * 250)):
        (path / raw).mkdir()
        (path / raw / "little.ipynb").write_bytes(honest + b" " * number)
    result = outcomes(path, little)
    assert set(result.values()) == {"full"}
    assert {"_-rf", "a_b", "_=1+1", "_con"} < set(result)
    assert [flag.kind for flag in found(path, little)["a_b"].flags][:1] == ["renamed-student"]


def test_a_name_that_is_not_utf8_is_graded(little: Any, honest: bytes, place: Any) -> None:
    path = place({"ada/little.ipynb": honest})
    folder = os.fsencode(path) + b"/b\xe9b"
    os.mkdir(folder)
    with open(folder + b"/little.ipynb", "wb") as file:
        file.write(honest)
    assert outcomes(path, little) == {"ada": "full", "b_b": "full"}


def test_names_that_differ_in_case_alone_get_different_folders(little: Any, honest: bytes, archive: Any) -> None:
    path = archive(lambda z: [z.writestr("Ada/little.ipynb", honest), z.writestr("a\nb/little.ipynb", honest)])
    assert outcomes(path, little) == {"Ada": "full", "ada-2": "full", "a_b": "full"}
    assert "case" in found(path, little)["ada-2"].note


# --- between students ------------------------------------------------------------------------------------------------


def test_the_same_bytes_under_two_names_are_graded_and_flagged(little: Any, honest: bytes, place: Any) -> None:
    released = little.bytes(little.released())
    names = {"ada": honest, "bob": honest, "cyd": honest + b"\n", "dan": released, "eve": released}
    path = place({f"{name}.ipynb": content for name, content in names.items()})
    assignment = little.load()
    flags = {
        handed.student: [flag.message for flag in handed.read(assignment).flags if flag.kind == "identical"]
        for handed in find_submissions(path, assignment)
    }
    assert flags == {
        "ada": ["The same bytes as the submission of bob."],
        "bob": ["The same bytes as the submission of ada."],
        "cyd": [],
        "dan": [],  # two untouched releases are equal without copying
        "eve": [],
    }


def test_a_class_of_a_thousand_is_listed_in_seconds(little: Any, honest: bytes, place: Any) -> None:
    path = place({f"s{number:04}/little.ipynb": honest for number in range(1000)})
    began = time.process_time()
    assert len(find_submissions(path, little.load())) == 1000
    assert time.process_time() - began < 10


@pytest.mark.slow
def test_nbgraders_own_example_course_is_found_and_read(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "nbgrader", "quickstart", "example"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, timeout=240)
    course = tmp_path / "example"
    assignment = load_assignment(course / "source" / "ps1", tmp_path)
    submitted = course / "submitted"
    for student in ("ada", "bob"):
        shutil.copytree(course / "source" / "ps1", submitted / student / "ps1")
    (submitted / "bob" / "ps1" / "problem1.ipynb").write_bytes(b"{")
    by_student = {handed.student: handed.read(assignment) for handed in find_submissions(course, assignment)}
    assert set(by_student) >= {"ada", "bob"}
    assert "problem1.ipynb" in by_student["bob"].rejected
    first, second = by_student["ada"].notebooks
    tests = [cell.grade_id for cell in first.plan if cell.origin == "instructor" and cell.grade_id]
    assert tests == [
        "correct_squares",
        "squares_invalid_input",
        "correct_sum_of_squares",
        "sum_of_squares_uses_squares",
    ]
    answers = ("squares", "sum_of_squares", "sum_of_squares_equation", "sum_of_squares_application")
    assert (first.attempted, second.attempted) == (answers, ("part-a", "part-b"))
    assert by_student["ada"].flags[-1].message == "Dropped files beside the notebook: jupyter.png."
