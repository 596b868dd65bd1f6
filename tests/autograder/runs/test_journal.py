"""The journal remembers what was finished, through every way of being cut off, and nothing that has changed since."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import CannotWrite
from autograder.records import CheckResult, Item, Report, Submission, Trust, Verdict
from autograder.runs import journal as journal_module
from autograder.runs.journal import Journal, JournalEntry, content_of, grading_key, installed, key_of, our_sources
from course_lib.compare import Difference


def entry(student: str = "ann", score: float = 1.0, key: str = "") -> JournalEntry:
    difference = Difference("g", "sign", "has the opposite sign; ä ∑ \ud800", (0, 1), "1", "-1")
    check = CheckResult("t", Verdict.FAILED, "s", fault="f", difference=difference)
    item = Item("n", "test_f", score, 2.0, Verdict.PARTIAL, checks=(check,))
    report = Report(student, "a1", score, 2.0, Verdict.PARTIAL, Trust.JUDGED_APART, "cpu", (item,))
    return JournalEntry(key or f"key-{student}", report, Submission(student, "a1"))


def in_child(action: Callable[[], None]) -> int:
    """Exit status of a forked child that did `action`; what it may not do there does not hurt the tests."""
    child = os.fork()
    if child == 0:
        try:
            action()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl")


def test_entries_come_back_whole_and_the_last_of_a_key_counts(journal: Journal) -> None:
    journal.add(entry("ann", 1.0))
    journal.add(entry("bob", 2.0))
    journal.add(entry("ann", 1.5))
    assert journal.entries() == {"key-ann": entry("ann", 1.5), "key-bob": entry("bob", 2.0)}


def test_what_the_grader_failed_at_is_kept_and_graded_again(journal: Journal) -> None:
    failed = dataclasses.replace(entry("ann").report, state=Verdict.GRADER_ERROR)
    journal.add(entry("ann"))
    journal.add(dataclasses.replace(entry("ann"), report=failed))
    assert journal.entries() == {"key-ann": entry("ann")} and [e.report for e in journal][1] == failed


def test_a_journal_that_is_not_there_is_empty(journal: Journal) -> None:
    assert journal.entries() == {}


@pytest.mark.parametrize("cut", [1, 2, 50, -1])
def test_a_line_that_was_cut_off_is_left_out_and_does_not_swallow_the_next(journal: Journal, cut: int) -> None:
    journal.add(entry("ann"))
    whole = journal.path.read_bytes()
    journal.add(entry("bob"))
    after = journal.path.read_bytes()
    journal.path.write_bytes(after[: len(whole) + cut] if cut > 0 else after[:-2])
    assert set(journal.entries()) == {"key-ann"}
    journal.add(entry("cid"))
    assert set(journal.entries()) == {"key-ann", "key-cid"}


@pytest.mark.slow
def test_a_journal_cut_at_every_byte_holds_every_whole_line_and_goes_on(journal: Journal) -> None:
    made = [dataclasses.replace(e, report=dataclasses.replace(e.report, items=())) for e in map(entry, "abc")]
    ends = []
    for one in made:
        journal.add(one)
        ends.append(journal.path.stat().st_size)
    whole = journal.path.read_bytes()
    for cut in range(len(whole) + 1):
        journal.path.write_bytes(whole[:cut])
        # The break at the end of a line may be missing.
        there = {one.key: one for one, end in zip(made, ends, strict=True) if cut >= end - 1}
        assert journal.entries() == there
        if cut % 97 == 0 or cut in ends or cut + 1 in ends:  # each addition is synced to the disk
            # Zeros are what some file systems make of a line that a power cut took.
            for rest in (b"", b"\0" * 9):
                journal.path.write_bytes(whole[:cut] + rest)
                journal.add(entry("zoe"))
                assert journal.entries().keys() - there.keys() == {"key-zoe"}
                assert rest or journal.entries().keys() >= there.keys()


EMPTY = b'{"key": "k", "report": {}, "submission": {}}'


@pytest.mark.parametrize("line", [b"", b"\xff\xfe", b"5", b"null", b"[]", b"{}", EMPTY, b"[" * 2000])
def test_lines_of_another_kind_are_passed_over(journal: Journal, line: bytes) -> None:
    journal.add(entry("ann"))
    with journal.path.open("ab") as file:
        file.write(line + b"\n")
    journal.add(entry("bob"))
    assert set(journal.entries()) == {"key-ann", "key-bob"}


@pytest.mark.parametrize(
    "change", [{"a_field_of_next_year": 1}, {"state": "a verdict of next year"}, {"score": "a text"}], ids=str
)
def test_an_entry_written_by_another_version_is_not_used(journal: Journal, change: dict[str, Any]) -> None:
    journal.add(entry("ann"))
    data = json.loads(journal.path.read_text())
    data["report"] |= change
    journal.path.write_text(json.dumps(data) + "\n")
    assert journal.entries() == {}


def test_each_entry_is_on_disk_when_add_returns(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_size))
    journal.add(entry("ann"))
    assert synced == [journal.path.stat().st_size]


def test_a_full_disk_is_said_in_words_and_what_was_there_stays(journal: Journal) -> None:
    journal.add(entry("ann"))
    size = journal.path.stat().st_size

    def fill() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, size + 100))
        with pytest.raises(CannotWrite, match=r"journal.jsonl cannot be written: File too large.*choose another --out"):
            journal.add(entry("bob"))

    assert in_child(fill) == 0
    assert set(journal.entries()) == {"key-ann"}
    journal.add(entry("cid"))
    assert set(journal.entries()) == {"key-ann", "key-cid"}


def test_a_journal_that_may_not_be_written_is_said_in_words(journal: Journal) -> None:
    journal.path.mkdir()
    with pytest.raises(CannotWrite, match="Is a directory"):
        journal.add(entry())
    assert stat.S_ISDIR(journal.path.stat().st_mode)


FILES = {"a.ipynb": "1", "b.ipynb": "2"}
SAME: dict[str, Any] = {"student": "ann", "digests": FILES, "grading": "d", "secret": b"s"}


@pytest.mark.parametrize(
    "change",
    [
        {"student": "bob"},
        {"digests": {"a.ipynb": "1", "b.ipynb": "3"}},
        {"digests": {"a.ipynb": "1"}},
        {"digests": {"a.ipynb": "2", "b.ipynb": "1"}},
        {"digests": {"a.ipynb": "12", "b.ipynb": ""}},
        {"digests": {"a.ipynb1": "", "b.ipynb": "2"}},
        {"digests": {}},
        {"grading": "e"},
        {"secret": b"t"},
    ],
    ids=str,
)
def test_anything_that_could_change_a_verdict_changes_the_key(change: dict[str, Any]) -> None:
    assert key_of(**SAME) != key_of(**{**SAME, **change})


def test_the_order_of_files_and_odd_names_do_not_matter_to_a_key() -> None:
    assert key_of(**SAME) == key_of(**{**SAME, "digests": {"b.ipynb": "2", "a.ipynb": "1"}})
    assert len(key_of(**{**SAME, "digests": {"\udcff.ipynb": ""}})) == 64


def test_the_grader_its_folder_its_device_and_what_is_installed_are_in_the_key_of_grading(
    squares: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [grading_key(squares.assignment)]
    assert seen == [grading_key(squares.assignment)]
    seen.append(grading_key(dataclasses.replace(squares.assignment, device="virtual cuda")))
    for name, found in (("installed", ("3.14", "numpy-99.0.dist-info")), ("our_sources", "edited")):
        with monkeypatch.context() as patch:
            patch.setattr(journal_module, name, lambda found=found: found)
            seen.append(grading_key(squares.assignment))
    (squares.assignment.folder / "checks.py").write_text("# other checks")
    seen.append(grading_key(squares.assignment))
    assert len(set(seen)) == 5


def test_our_sources_are_taken_by_their_content(tmp_path: Path) -> None:
    def content(**files: str) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir()))) / "package"
        for name, text in files.items():
            path = folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return content_of([folder])

    same = content(a_py="1", sub__b_json="2")
    assert same == content(a_py="1", sub__b_json="2") == content(a_py="1", sub__b_json="2", sub__b_pyc="3")
    others = [content(a_py="1", sub__b_json="3"), content(a_py="1", b_json="2"), content(a_py="1"), content(a_py="12")]
    assert len({same, *others}) == 5


def test_the_grader_course_lib_and_every_library_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(journal_module, "content_of", lambda folders: str(looked.extend(f.name for f in folders)))
    our_sources.__wrapped__()
    assert looked == ["autograder", "course_lib", "data"]
    names = {name.split("-")[0].lower() for name in installed()}
    assert {"numpy", "torch", "tensorflow", "keras", "ipykernel", "pytest"} <= names
