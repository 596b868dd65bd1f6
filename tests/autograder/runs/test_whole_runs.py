"""Runs that are killed, begun twice, cut off, or graded by a clock that goes back: the results are the same."""

from __future__ import annotations

import ast
import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autograder
from autograder.runs import run as run_module
from autograder.runs.journal import Journal
from tests import sampling
from tests.autograder.conftest import run_command
from tests.autograder.small_class import (
    PROGRAM,
    RIGHT,
    SCORES,
    InstantPool,
    hand_in,
    make_course,
    scores,
    without_times,
)
from tests.kill_harness import Harness

COMMAND = ("grade", "small", "submitted", "--out")
CLOCK = """
import time
told = [time.time()]
def back():
    told[0] -= 3600
    return told[0]
time.time = back
"""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`make_course` in the working folder."""
    made = make_course(tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return made


@pytest.fixture
def instant(course: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The run folder of a class that was graded without a process, as further commands will be."""
    monkeypatch.setattr("autograder.runs.run.LocalPool", InstantPool)
    monkeypatch.setenv("AUTOGRADER_SPAWN", "1")  # no warm process either
    assert run_command(*COMMAND, tmp_path / "out")[0] == 0
    return tmp_path / "out"


def begin(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *COMMAND, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    return Harness(tmp_path_factory.mktemp("killed"), random.Random(sampling.current_seed()))


@pytest.mark.exhaustive
@pytest.mark.xdist_group("killed")
@pytest.mark.parametrize(
    ("kind", "number"),
    [
        *(("main", signal.SIGTERM), ("main", signal.SIGKILL), ("judge", signal.SIGINT), ("judge", signal.SIGKILL)),
        *(("judge zygote", signal.SIGKILL), ("kernel zygote", signal.SIGTERM)),
        *(("supervisor", signal.SIGKILL), ("kernel", signal.SIGINT), ("kernel", signal.SIGKILL)),
    ],
    ids=str,
)
def test_whatever_is_killed_at_any_time_the_results_are_the_same_and_nothing_is_left(
    harness: Harness, kind: str, number: signal.Signals
) -> None:
    kills = (harness.grade(kind, number) for _ in range(5))
    kill = next(filter(None, kills))  # none, where nobody of this kind was there any more
    assert not kill.differences, kill


@pytest.mark.exhaustive
def test_of_two_commands_on_one_run_folder_one_grades_and_the_other_says_why_not(course: Any, tmp_path: Path) -> None:
    both = [begin(PROGRAM, tmp_path / "out") for _ in range(2)]
    said = {process.communicate(timeout=300)[0]: process.returncode for process in both}
    assert sorted(said.values()) == [1, 2], "cid's file is broken"
    (refused,) = (" ".join(text.split()) for text, status in said.items() if status == 2)
    assert f"Another run is writing to {tmp_path / 'out'}. Wait for it, or choose another folder" in refused
    assert scores(tmp_path / "out") == SCORES


def wall_clock(path: Path) -> Iterator[str]:
    """The calls in a module that the clock on the wall answers."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("time.time", "time_ns", ".now", ".utcnow")):
            yield f"{path.name}: {ast.unparse(node)}"


def test_the_clock_on_the_wall_is_asked_for_the_end_of_a_run_and_the_time_of_an_export_alone() -> None:
    found = [call for path in Path(autograder.__file__).parent.rglob("*.py") for call in wall_clock(path)]
    assert sorted(found) == ["exports.py: datetime.now(UTC)", "run.py: datetime.datetime.now(datetime.UTC)"]


@pytest.mark.exhaustive
def test_a_clock_that_goes_back_by_an_hour_at_every_look_changes_nothing(course: Any, tmp_path: Path) -> None:
    """Everywhere: in the run, in its judges through the checks, in a kernel through the student's code."""
    with course.assignment.checks.open("a") as checks:
        checks.write(CLOCK)
    hand_in(Path("submitted"), "ann", course.notebook({"square": f"{CLOCK}time.sleep(0.5)\n{RIGHT}"}))
    for options in ((), ("--regrade",)):
        said = begin(CLOCK + PROGRAM, tmp_path / "out", *options).communicate(timeout=300)[0]
        assert scores(tmp_path / "out") == SCORES, said
    limits = {run["by_wall_clock"] for one in results(tmp_path / "out")["submissions"] for run in one["runs"]}
    assert limits == {False}


def keep_old_results(out: Path) -> None:
    run_module._keep_old_results(out, run_module._old_results(out / "results.json"))


def results(out: Path) -> Any:
    return json.loads((out / "results.json").read_text())


@pytest.mark.slow
def test_a_run_whose_journal_was_cut_off_grades_the_rest_and_has_the_same_results(instant: Path) -> None:
    journal, whole = instant / "journal.jsonl", without_times(instant / "results.json")
    content = journal.read_bytes()
    for cut in sampling.sample("cut journals", range(0, len(content), len(content) // 12), 3):
        journal.write_bytes(content[:cut])
        (instant / "results.json").unlink()
        kept = len(Journal(journal).entries())
        assert kept < 3
        _, printed, _ = run_command(*COMMAND, instant)
        assert f"{kept} of 3 were graded before" in printed or not kept
        assert without_times(instant / "results.json") == whole
        assert len(Journal(journal).entries()) == 3


@pytest.mark.slow
def test_a_run_in_which_nothing_changed_writes_nothing_and_one_that_lacks_a_page_writes_it(instant: Path) -> None:
    def written() -> set[tuple[str, int]]:
        names = ("results.json", "gradebook.db", "report.html", "feedback")
        files = [file for name in names for file in (instant / name, *(instant / name).rglob("*.html"))]
        return {(str(file), file.stat().st_mtime_ns) for file in files if file.is_file()}

    before = written()
    assert len(before) == 6 and run_command(*COMMAND, instant)[0] == 0
    assert written() == before and not (instant / "history").exists()
    next((instant / "feedback").rglob("*.html")).unlink()
    assert run_command(*COMMAND, instant)[0] == 0
    others = [name for name, _ in written() & before]
    assert len(written()) == 6 and len(others) == 2 and all("feedback" in name for name in others)


@pytest.mark.slow
def test_own_files_come_beside_the_graded_notebook_and_are_not_written_again(course: Any, instant: Path) -> None:
    own, shown = Path("submitted", "ann", "small", "mine.csv"), instant / "autograded" / "ann" / "small" / "mine.csv"
    own.write_text("1")
    assert run_command(*COMMAND, instant)[0] == 0 and shown.read_text() == "1"
    before = shown.stat().st_mtime_ns
    for options in ((), ("--regrade",)):
        assert run_command(*COMMAND, instant, *options)[0] == 0 and shown.stat().st_mtime_ns == before
    own.write_text("2")
    assert run_command(*COMMAND, instant, "--only", "bob", "--regrade")[0] == 0
    assert shown.read_text() == "1", "hers is shown as it was graded"
    assert run_command(*COMMAND, instant)[0] == 0 and shown.read_text() == "2"


@pytest.mark.slow
def test_a_regrade_that_is_stopped_and_begun_again_keeps_what_was_there_before_it(
    instant: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*arguments: object) -> None:
        raise KeyboardInterrupt

    before = {name: (instant / name).read_bytes() for name in ("results.json", "gradebook.db")}
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "write_class_report", stopped)  # the gradebook is written by then
        assert run_command(*COMMAND, instant, "--regrade")[0] == 130
    (instant / "gradebook.db").write_bytes(b"of the stopped run")
    (kept,) = (instant / "history").iterdir()
    keep_old_results(instant)
    assert [path.name for path in (instant / "history").iterdir()] == [kept.name]
    assert (kept / "results.json").read_bytes() == before["results.json"]
    assert (kept / "gradebook.db").stat().st_size == len(before["gradebook.db"])


@pytest.mark.slow
def test_results_that_a_clock_set_back_gives_the_time_of_others_do_not_replace_them(instant: Path) -> None:
    keep_old_results(instant)
    (first,) = (instant / "history").iterdir()
    old = (first / "results.json").read_bytes()
    (instant / "results.json").write_bytes(old.replace(b'"workers"', b'"others"'))
    keep_old_results(instant)
    assert {path.name for path in (instant / "history").iterdir()} == {first.name, f"{first.name}-again"}
    assert (first / "results.json").read_bytes() == old
