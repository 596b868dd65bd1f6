"""A disk that is full at any write of a run: a sentence, nothing half-written, and with space the same results."""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.gradebook.nbgrader_db import assignment_rows
from autograder.runs.journal import Journal
from tests.autograder.conftest import run_command
from tests.autograder.small_class import InstantPool, make_course, without_times
from tests.sampling import sample

pytestmark = pytest.mark.slow  # it imports nbgrader
SAID = re.compile(r"autograder: .*(No space left|no space left|disk is full).*(Free|Make room|hoose another|kept in)")


class Disk:
    """Lets the n-th write below a folder fail, and all after it.

    A write: a file opened or renamed, a folder made, a database opened.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.writes = str(root), 0
        self.opened: set[str] = set()
        self.full_after: int | None = None
        """how many writes succeed; None: all"""
        sys.addaudithook(self._look)  # for good: silent while that is None

    def empty(self) -> None:
        self.full_after = None

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.full_after is None or event not in ("open", "os.rename", "os.mkdir", "sqlite3.connect"):
            return
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
        if not isinstance(arguments[0], (str, os.PathLike)) or not os.fspath(arguments[0]).startswith(self.root):
            return
        self.writes += 1
        if event == "open":
            self.opened.add(os.path.relpath(arguments[0], self.root))
        if self.writes > self.full_after:
            if event == "sqlite3.connect":
                raise sqlite3.OperationalError("database or disk is full")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(arguments[0]))


@dataclasses.dataclass
class Room:
    """A class to grade, with what is there before the run and what it makes."""

    tmp_path: Path
    before: Path | None
    """a run folder that the run goes on in, with `--regrade`"""
    disk: Disk
    out: Path = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.out = self.tmp_path / "out"

    def begin(self) -> None:
        assignment_rows.cache_clear()  # or later runs in this process would write less than the first
        for path in self.out.iterdir() if self.out.exists() else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if self.before:
            shutil.copytree(self.before, self.out, dirs_exist_ok=True)

    def grade(self, *options: str) -> tuple[int, str]:
        options += ("--regrade",) * bool(self.before)
        command = ("grade", "small", "submitted", "--out", self.out, "--seed-file", self.tmp_path / "seed", *options)
        status, _, said = run_command(*command)
        return status, said

    def made(self) -> tuple[Any, set[str]]:
        names = {str(path.relative_to(self.out)) for path in self.out.rglob("*")}
        return without_times(self.out / "results.json"), {name for name in names if not name.startswith("history")}


@pytest.fixture(params=["first", "again"])
def room(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    make_course(tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    monkeypatch.setattr("autograder.runs.run.LocalPool", InstantPool)
    monkeypatch.setenv("AUTOGRADER_SPAWN", "1")  # no warm process either
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "seed").write_text("5eed" * 16)
    made = Room(tmp_path, None, Disk(tmp_path))
    if request.param == "again":
        made.grade("--only", "ann")  # so that all files grow
        made.before = (tmp_path / "out").rename(tmp_path / "before")
    yield made
    made.disk.empty()


def fails_and_goes_on(room: Room, whole: tuple[Any, set[str]], make_room: Callable[[], None], what: object) -> None:
    """What must hold of a run that finds no space, and of the one after it."""
    results = room.out / "results.json"
    before = results.read_bytes() if results.exists() else None
    status, said = room.grade()
    kept = len(Journal(room.out / "journal.jsonl").entries())
    assert status == 1 and SAID.search(said), (what, said)
    assert (results.read_bytes() if results.exists() else None) == before, (what, said)
    make_room()
    assert room.grade() == (0, ""), what
    assert room.made() == whole, what
    assert len(Journal(room.out / "journal.jsonl").entries()) == 3 >= kept


def test_each_write_of_a_run_may_fail(room: Room) -> None:
    room.begin()
    room.disk.full_after = sys.maxsize
    room.grade()
    room.disk.full_after, writes, whole = None, room.disk.writes, room.made()
    assert writes > 40
    # Whatever else has a name in the folder got it by being renamed when it was whole.
    assert {"journal.jsonl", "run.log", ".lock"} >= {name for name in whole[1] if f"out/{name}" in room.disk.opened}
    for number in sample("full disk", range(writes), 4):
        room.begin()
        room.disk.full_after, room.disk.writes = number, 0
        fails_and_goes_on(room, whole, room.disk.empty, f"write {number} of {writes}")


def mount(*words: object) -> bool:
    return subprocess.run(["mount", *map(str, words)], capture_output=True).returncode == 0


def test_a_file_system_of_any_size_may_be_too_small(room: Room) -> None:
    room.out.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", room.out):
        pytest.skip("no file system can be mounted here")
    try:
        room.begin()
        there = os.statvfs(room.out)
        assert room.grade()[0] == 0
        whole, full = room.made(), os.statvfs(room.out)
        # A log that cannot be written is no reason to stop: some pages fewer may do.
        sizes = range(there.f_blocks - there.f_bfree + 1, full.f_blocks - full.f_bfree - 3, 5)
        for size in sample("full file system", sizes, 3):
            room.begin()
            assert mount("-o", f"remount,size={size * full.f_bsize}", room.out)
            fails_and_goes_on(room, whole, lambda: mount("-o", "remount,size=64m", room.out), f"{size} pages")
    finally:
        subprocess.run(["umount", "-l", str(room.out)], check=True)
