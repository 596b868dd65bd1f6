"""A program in a box cannot read what it was not given, nor write anywhere but in its own folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.autograder.sandbox.zygote import outcomes

ROOT = Path(__file__).resolve().parents[3]


def attempt_to_read(paths: list[str]) -> dict[str, str]:
    """What happens at each path."""

    def look(path: str) -> object:
        return os.listdir(path) if os.path.isdir(path) else Path(path).read_bytes()

    return outcomes({path: lambda path=path: look(path) for path in paths})


def test_course_sources_other_submissions_the_gradebook_and_keys_do_not_exist(boxed: Any, course: Path) -> None:
    ours = [*course.rglob("*"), *(ROOT / name for name in ("notebooks", "autograder", "tests", ".git"))]
    system = "/etc/shadow /etc/ssh /etc/hostname /home /var/log /run /boot /sys/fs/cgroup /dev/vda /dev/kmsg"
    hidden = [*map(str, ours), str(Path.home() / ".ssh"), str(Path.home() / ".bashrc"), *system.split()]
    # The repository may be readable to everybody: the box, not permissions, must hide it.
    assert boxed(attempt_to_read, paths=hidden).result == dict.fromkeys(hidden, "FileNotFoundError")


def test_what_the_view_names_can_be_read_and_not_written(boxed: Any, course: Path) -> None:
    def touch(folder: str, prefix: str) -> dict[str, str]:
        found = {"content": Path(folder, "source/a1/a1.ipynb").read_text()}
        for path in (f"{folder}/source/a1/a1.ipynb", f"{folder}/new", "/usr/new", f"{prefix}/new", "/new", "/etc/new"):
            try:
                with open(path, "a"):
                    found[path] = "opened"
            except OSError as error:
                found[path] = os.strerror(error.errno or 0)
        return found

    (course / "source").chmod(0o777)
    seen = boxed(touch, folder=str(course), prefix=sys.prefix, readable=(str(course),)).result
    assert seen.pop("content") == "hidden\n"
    assert set(seen.values()) <= {"Permission denied", "Read-only file system"}
    assert (course / "source/a1/a1.ipynb").read_text() == "hidden\n"


def test_a_link_out_of_the_private_folder_leads_nowhere(boxed: Any, course: Path) -> None:
    def link(target: str) -> dict[str, str]:
        private = Path.cwd().parent
        os.symlink(target, "gradebook")
        return outcomes(
            {
                "read by symlink": lambda: Path("gradebook").read_text(),
                "write by symlink": lambda: Path("gradebook").write_text("100"),
                "hard link": lambda: os.link(target, "linked"),
                "symlink beside the sockets": lambda: os.symlink(target, private / "gradebook"),
                "file beside the sockets": lambda: (private / "file").write_text("x"),
                "folder beside the sockets": lambda: (private / "folder").mkdir(),
                "own folder moved away": lambda: os.rename(private / "work", private / "away"),
                "root": lambda: os.listdir("/proc/1/root/home"),
                "parent": lambda: os.listdir("../../../home"),
            }
        )

    outcome = boxed(link, target=str(course / "gradebook.db"))
    assert set(outcome.result.values()) <= {"FileNotFoundError", "PermissionError", "OSError"}, outcome.result
    assert outcome.written == {}
    assert (course / "gradebook.db").read_text() == "hidden\n"


def test_another_boxs_files_are_not_there(boxed: Any) -> None:
    def write() -> str:
        for place in ("/tmp/answer", "/dev/shm/answer", "answer"):
            Path(place).write_text("42")
        return str(Path.cwd())

    first = boxed(write)
    assert first.written == {}, "what the program wrote was in memory and ended with it"
    places = ["/tmp/answer", "/dev/shm/answer", first.private, f"{first.result}/answer"]
    assert set(boxed(attempt_to_read, paths=places).result.values()) == {"FileNotFoundError"}
    assert not any(Path(place).exists() for place in places)


def test_the_environment_of_whoever_started_the_grader_is_gone_and_nothing_of_others_is_seen(boxed: Any) -> None:
    def look() -> list[Any]:
        import glob
        import pwd

        seen = [str(dict(os.environ))]
        for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
            with contextlib.suppress(OSError):
                seen.append(Path(path).read_bytes().decode(errors="replace"))
        private = os.stat("..").st_mode & 0o777
        return [[text for text in seen if "hunter2" in text], [user.pw_name for user in pwd.getpwall()], private]

    assert boxed(look).result == [[], ["root", "student"], 0o700]


def test_no_descriptor_of_the_grader_is_left_open(boxed: Any) -> None:
    def descriptors() -> dict[str, str]:
        links = {}
        for fd in os.listdir("/proc/self/fd"):
            try:
                links[fd] = os.readlink(f"/proc/self/fd/{fd}")
            except FileNotFoundError:  # the listing's own, closed by now
                continue
        return links

    links = boxed(descriptors).result
    assert links.pop("0") == links.pop("1") == "/dev/null"
    del links["2"]  # kept by this test, as is one pipe
    assert [link.split(":")[0] for link in links.values()] == ["pipe"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a program that would run as root")
def test_a_setuid_program_runs_as_the_student(boxed: Any, course: Path) -> None:
    def run(program: str) -> list[str]:
        return [subprocess.check_output([program, "-u"], text=True).strip(), str(os.getuid())]

    program = course / "id"
    shutil.copy(str(shutil.which("id")), program)
    program.chmod(0o6755)
    euid, uid = boxed(run, program=str(program), readable=(str(course),)).result
    assert euid == uid


def test_a_box_that_shows_what_must_be_hidden_does_not_start(boxed: Any, course: Path) -> None:
    def start() -> str:
        return "started"

    (course / "link").symlink_to(course)
    assert boxed(start, hidden=[str(course), str(course / "checks.py")]).result == "started"
    for shown in (course, course / ".ssh", course / "link"):
        outcome = boxed(start, hidden=[str(course / ".ssh" / "id_ed25519")], readable=[str(shown)])
        assert outcome.result is None and f"which shows all of {shown}" in outcome.traceback
