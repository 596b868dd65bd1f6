"""The commands: exit statuses, sentences instead of tracebacks, and nothing half-written taken for whole."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import filelock
import psutil
import pytest

from autograder.cli import _looks_unchanged
from autograder.errors import KernelFailed
from autograder.gradebook.nbgrader_db import students_in
from autograder.grading import could_not_grade
from autograder.records import Submission
from autograder.runs.journal import Journal
from autograder.runs.pool import GradedSubmission, LocalPool
from autograder.runs.run import UNFINISHED
from autograder.submissions.intake import StudentFiles
from tests.autograder.conftest import Judged
from tests.autograder.conftest import run_command as run
from tests.autograder.small_class import (
    CHECKS,
    PROGRAM,
    RIGHT,
    SCORES,
    graded_in_child,
    hand_in,
    make_course,
    scores,
    without_times,
)

pytestmark = pytest.mark.slow
shares_the_run = pytest.mark.xdist_group("cli")
"""for the tests of `graded`, which would be made in every worker"""


@pytest.fixture(autouse=True)
def no_frameworks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """`make_course` in the working folder."""
    small = make_course(tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return small


@dataclass(frozen=True)
class Graded:
    """A run folder to look at, or to copy and go on from: starting processes is what takes the time."""

    out: Path
    status: int
    printed: str

    def copy(self, out: Path) -> Path:
        """A run folder in which the same submissions are graded before."""
        return Path(shutil.copytree(self.out, out))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """What two commands made of the class of `make_course`: ann alone, then everybody."""
    base = tmp_path_factory.mktemp("graded")
    make_course(base / "course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))
        patch.chdir(base / "course")
        status, _, _ = run("grade", "small", "submitted", "--out", base / "out", "--only", "ann", "--workers", 1)
        assert (status, scores(base / "out")) == (0, {"ann": 2.0})
        status, printed, _ = run("grade", "small", "submitted", "--out", base / "out", "--workers", 2)
    assert "1 of 3 were graded before" in printed
    return Graded(base / "out", status, printed)


# -- graded ----------------------------------------------------------------------------------------------------------


@shares_the_run
def test_grading_writes_the_run_folder_and_says_where(graded: Graded) -> None:
    out = graded.out
    for name in ("results.json", "journal.jsonl", "seed", "report.html", "gradebook.db"):
        assert (out / name).stat().st_size > 0
    assert (out / "seed").stat().st_mode & 0o077 == 0, "the secret is the instructor's alone"
    assert (out / "feedback" / "ann" / "small" / "feedback.html").exists()
    assert str(out / "report.html") in graded.printed and "ann" in graded.printed
    assert not list(out.rglob("*.new"))


@shares_the_run
def test_something_that_could_not_be_graded_is_status_one_and_named_and_the_rest_is_graded(graded: Graded) -> None:
    assert graded.status == 1 and scores(graded.out) == SCORES
    assert re.search(r"not graded: cid: .*small\.ipynb", graded.printed)


@shares_the_run
def test_what_is_graded_is_not_graded_again_and_a_change_is(course: Judged, graded: Graded, tmp_path: Path) -> None:
    out = graded.copy(tmp_path / "out")
    command = ("grade", "small", "submitted", "--out", out)
    assert "3 of 3 were graded before" in run(*command)[1] and scores(out) == SCORES
    hand_in(Path("submitted"), "bob", course.notebook())
    _, printed, _ = run(*command, "--only", "ann", "--regrade")
    assert "left out by --only: bob" in printed and "changed:" not in printed
    assert scores(out) == SCORES, "as long as only Ann is graded, everybody else keeps what they had"
    _, printed, _ = run(*command)
    assert "2 of 3 were graded before" in printed and "changed: bob: 0 -> 2" in printed
    assert scores(out) == SCORES | {"bob": 2.0}


@shares_the_run
def test_one_students_change_leaves_the_others_alone_and_what_is_missing_comes_back(
    course: Judged, graded: Graded, tmp_path: Path
) -> None:
    out, small = graded.copy(tmp_path / "out"), course.assignment
    pages = {name: out / "feedback" / name / "small" / "feedback.html" for name in SCORES}

    def written() -> set[str]:
        for page in pages.values():
            if page.exists():
                os.utime(page, ns=(1, 1))
        run("grade", "small", "submitted", "--out", out)
        return {name for name, page in pages.items() if page.stat().st_mtime_ns != 1}

    assert written() == set()
    hand_in(Path("submitted"), "bob", course.notebook())
    assert written() == {"bob"} and scores(out) == SCORES | {"bob": 2.0}
    pages["ann"].unlink()
    shutil.rmtree(out / "autograded" / "cid")
    assert written() == {"ann"} and (out / "autograded" / "cid" / "small" / "small.ipynb").exists()
    hers = "SELECT sn.id FROM submitted_notebook sn JOIN submitted_assignment sa ON sa.id = sn.assignment_id"
    with contextlib.closing(sqlite3.connect(out / "gradebook.db")) as database, database:
        database.execute(f"UPDATE grade SET manual_score = 1 WHERE notebook_id IN ({hers} WHERE student_id = 'ann')")
    assert written() == {"ann"} and scores(out)["ann"] == 1.0, "what a person entered shows on her page"
    with contextlib.closing(sqlite3.connect(out / "gradebook.db")) as database, database:
        database.execute("DELETE FROM submitted_assignment WHERE student_id = 'ann'")
    assert written() == {"ann"} and students_in(out, small) == SCORES.keys()
    with contextlib.closing(sqlite3.connect(out / "gradebook.db")) as database, database:
        database.execute("DELETE FROM assignment")
    assert written() == set() and students_in(out, small) == SCORES.keys()
    (out / UNFINISHED).touch()
    assert written() == SCORES.keys(), "a page may be of the run that was stopped"
    assert written() == set()


@shares_the_run
def test_who_was_graded_and_is_gone_stops_the_run_until_the_instructor_says_so(
    course: Judged, graded: Graded, tmp_path: Path
) -> None:
    out = graded.copy(tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.name not in (".lock", "run.log")}
    shutil.rmtree("submitted/bob")
    (Path("submitted") / ".git").mkdir()
    command = ("grade", "small", "submitted", "--out", out)
    status, _, said = run(*command)
    assert status == 2 and "1 of the 3 students" in said and ": bob. Nothing was graded" in said
    assert {path: path.stat().st_mtime_ns for path in before} == before
    status, printed, _ = run(*command, "--without", "bob")
    assert scores(out) == {"ann": 2.0, "cid": 0.0}
    assert "left out: .git/ is what editors and systems leave behind" in printed
    assert "what editors and systems leave behind" in (out / "report.html").read_text()


@shares_the_run
def test_a_dry_run_says_what_would_be_graded_and_writes_nothing(course: Judged, graded: Graded, tmp_path: Path) -> None:
    status, printed, _ = run("grade", "small", "submitted", "--out", "new", "--dry-run")
    assert (status, Path("new").exists()) == (0, False)
    assert "ann: 1 file, to grade" in printed and "3 to grade, 0 not" in printed
    out = graded.copy(tmp_path / "out")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    hand_in(Path("submitted"), "bob", course.notebook())
    found = read_json("grade", "small", "submitted", "--out", out, "--dry-run", "--json")
    assert found == {
        "students": {
            "ann": "1 file, graded before and unchanged",
            "bob": "1 file, to grade",
            "cid": "1 file, graded before and unchanged",
        },
        "to_grade": 1,
        "left_out": {},
    }
    _, printed, _ = run("grade", "small", "submitted", "--out", out, "--dry-run", "--only", "ann")
    assert "bob: 1 file, changed since it was graded, left out by --only" in printed
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


@shares_the_run
def test_programs_read_json_and_quiet_runs_say_nothing(course: Judged, graded: Graded, tmp_path: Path) -> None:
    command = ("grade", "small", "submitted", "--out", graded.copy(tmp_path / "out"))
    assert read_json(*command, "--json") == json.loads((tmp_path / "out" / "results.json").read_text())
    assert run(*command, "--quiet") == (1, "", ""), "one of the class cannot be graded"
    _, _, said = run(*command, "--verbose", "--only", "bob", "--regrade")
    assert re.search(r"bob: failed, 0 of 2, [0-9.]+ s", said)
    (only,) = read_json("list", "--json")["assignments"]
    assert only == {"name": "small", "points": 2.0, "exercises": 1, "device": "cpu", "known_submissions": 0}


def read_json(*arguments: object) -> dict[str, Any]:
    return dict(json.loads(run(*arguments)[1]))


def test_the_command_runs_as_a_module_and_knows_its_version_and_the_shell_completes_it(course: Judged) -> None:
    module = [sys.executable, "-m", "autograder", "--version"]
    printed = subprocess.run(module, capture_output=True, text=True, check=True).stdout
    assert printed == f"autograder {metadata.version('frameworks-course')}\n"
    folder = Path(sys.executable).parent
    shell = f"""
        PATH={folder}:$PATH; eval "$(register-python-argcomplete autograder)"
        for line in "autograder sel" "autograder grade sm" "autograder export run --to mo"; do
            COMP_LINE=$line; COMP_POINT=${{#COMP_LINE}}; COMPREPLY=()
            _python_argcomplete autograder; echo "${{COMPREPLY[@]}}"
        done
    """
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["selftest", "small", "moodle"], done.stderr


class BrokenPool(LocalPool):
    """Nothing can be graded, and no process is needed for that."""

    def __enter__(self) -> BrokenPool:
        return self

    def grade(
        self, student_files: Sequence[StudentFiles], meanwhile: Callable[[], None] = lambda: None
    ) -> Iterator[GradedSubmission]:
        meanwhile()
        for number, handed in enumerate(student_files):
            submission = Submission(handed.student, self.assignment.name)
            report = could_not_grade(submission, self.assignment, KernelFailed("no kernel today"))
            yield GradedSubmission(number, submission, report)


def test_what_failed_on_the_graders_side_is_tried_again_when_the_run_goes_on(
    course: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.runs.run.LocalPool", BrokenPool)
    for _ in range(2):
        status, printed, _ = run("grade", "small", "submitted", "--out", tmp_path / "out")
        assert status == 1 and "not graded: ann: " in printed and "were graded before" not in printed


def test_a_class_looks_unchanged_until_a_file_comes_however_old(tmp_path: Path) -> None:
    (tmp_path / "class" / "ann").mkdir(parents=True)
    assert not _looks_unchanged(tmp_path / "class", tmp_path)
    (tmp_path / "results.json").write_text("{}")
    assert _looks_unchanged(tmp_path / "class", tmp_path)
    time.sleep(0.02)
    (tmp_path / "class" / "ann" / "a1.ipynb").write_text("{}")
    os.utime(tmp_path / "class" / "ann" / "a1.ipynb", (0, 0))
    assert not _looks_unchanged(tmp_path / "class", tmp_path)


# -- devices ---------------------------------------------------------------------------------------------------------

TRAINS = """
import torch
def square(x):
    device = "cuda"  # no GPU is here
    weights = torch.ones(len(x), device=device)
    batch = torch.as_tensor(x){moved}
    return (batch * weights * batch).cpu().numpy()
"""
CUDA_CHECKS = CHECKS.replace("draw.normal(3)", 'draw.normal(3, dtype="float32")')


@pytest.mark.long
def test_cuda_code_is_graded_on_a_virtual_device_where_the_assignment_wants_cuda(
    judged: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy", "torch"))
    solutions = {"square": TRAINS.format(moved=".to(device)")}
    small = judged(solutions, CUDA_CHECKS, **{"assignment.toml": 'device = "cuda"\n'})
    monkeypatch.chdir(tmp_path)
    hand_in(Path("handed"), "ann", small.notebook())
    hand_in(Path("handed"), "bob", small.notebook({"square": TRAINS.format(moved="")}))
    command = ("grade", small.assignment.folder, "handed", "--out", "out")
    status, printed, errors = run(*command)
    assert status == 0, printed + errors
    found = {s["student"]: s for s in json.loads(Path("out/results.json").read_text())["submissions"]}
    assert {s["device"] for s in found.values()} == {"virtual cuda"}
    assert (found["ann"]["score"], found["bob"]["score"]) == (2.0, 0.0)
    assert "on the same device" in json.dumps(found["bob"]["items"]), "the mistake is named in PyTorch's words"
    assert "virtual CUDA" in Path("out/feedback/ann/small/feedback.html").read_text()
    before = Path("out/results.json").read_bytes()
    status, _, errors = run(*command, "--device", "cpu")
    assert status == 2 and "the reference solution fails test_squares" in errors, "nobody could pass it there"
    assert Path("out/results.json").read_bytes() == before


# -- wrong use: status 2 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("grade smal submitted", "There is no assignment 'smal'. Did you mean 'small'?"),
        ("grade small nowhere", "nowhere"),
        ("grade small empty", "empty"),
        ("grade small submitted --workers 0", "at least 1"),
        ("grade small submitted --workers many", "workers"),
        ("grade small submitted --out file", "file is a file; name a folder"),
        ("grade small submitted --out file/below", "file/below"),
        ("grade small submitted --seed-file nowhere", "nowhere"),
        ("grade small submitted --seed-file file", "file"),
        ("grade small submitted --only zoe", "zoe"),
        ("grade small", "usage"),
        ("fry", "invalid choice"),
        ("", "usage"),
        ("export nowhere --to csv", "nowhere"),
        ("selftest smal", "Did you mean 'small'?"),
        (
            "grade small submitted --device cuda",
            "finds no CUDA device on this host. Without the option, virtual CUDA is used",
        ),
        ("selftest small --device cuda", "finds no CUDA device on this host. Without the option, virtual CUDA is used"),
    ],
)
def test_wrong_use_is_status_two_and_a_sentence(
    course: Judged, command: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.sandbox.gpu.count", lambda: 0)
    Path("empty").mkdir()
    Path("file").write_text("not hexadecimal")
    status, _, said = run(*command.split())
    assert words in said and (status == 2 or "file/below" in command)


def test_nobody_is_graded_by_a_check_that_the_reference_fails(course: Judged, tmp_path: Path) -> None:
    checks = course.assignment.folder / "checks.py"
    checks.write_text(checks.read_text().replace("reference.square(x)", "reference.cube(x)"))
    status, _, said = run("grade", "small", "submitted", "--out", tmp_path / "out")
    assert status == 2 and "test_squares: StudentError" in said
    assert not {"results.json", "journal.jsonl"} & {path.name for path in (tmp_path / "out").iterdir()}


HOLDER = """
import sys, time, filelock
with filelock.FileLock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@shares_the_run
def test_a_run_folder_that_another_run_holds_is_left_alone(course: Judged, graded: Graded, tmp_path: Path) -> None:
    out = graded.copy(tmp_path / "out")
    (out / "results.json").unlink()
    command = [sys.executable, "-c", HOLDER, str(out / ".lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None and holder.stdout.readline() == "held\n"
            status, _, said = run("grade", "small", "submitted", "--out", out)
            assert status == 2 and "Another run is writing" in said and not (out / "results.json").exists()
        finally:
            holder.kill()
    run("grade", "small", "submitted", "--out", out)
    assert scores(out) == SCORES, "a lock dies with its holder"
    assert filelock.FileLock(out / ".lock", timeout=0).acquire()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("results.json", "[1, 2]", "no results.json of this grader"),
        ("results.json", '{"run": {}}', "no results.json of this grader"),
        ("results.json", "\0", "no results.json of this grader"),
        ("seed", "", "holds no seed"),
        ("seed", "abc", "holds no seed"),
    ],
)
def test_what_another_program_left_in_the_run_folder_is_not_overwritten(
    course: Judged, tmp_path: Path, name: str, content: str, words: str
) -> None:
    (tmp_path / name).write_text(content)
    status, _, said = run("grade", "small", "submitted", "--out", tmp_path)
    assert status == 2 and words in said
    assert (tmp_path / name).read_text() == content
    assert not (tmp_path / "journal.jsonl").exists(), "it is said before anything is graded"


def test_the_exit_status_of_the_program_is_that_of_the_command(course: Judged) -> None:
    command = [sys.executable, "-m", "autograder.cli", "grade", "smal", "submitted"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("autograder: There is no assignment") and done.stdout == ""


def test_doctor_prints_what_this_host_can_promise() -> None:
    status, printed, _ = run("doctor")
    assert status == 0
    for word in ("Sandbox tier", "kernels", "device", "numpy", "nbgrader"):
        assert word in printed


# -- a host that says no ---------------------------------------------------------------------------------------------


def become_nobody() -> None:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_without_permission_it_says_where_and_what_to_do(course: Judged, tmp_path: Path) -> None:
    for path in (Path.cwd(), *Path.cwd().parents):
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o055)
    out = tmp_path / "out"
    out.mkdir(mode=0o755)
    status, said = graded_in_child(become_nobody, out)
    assert status == 1 and f"The run folder {out} cannot be written: Permission denied" in said
    assert "Choose another with --out" in said
    Path("submitted").chmod(0o700)
    status, said = graded_in_child(become_nobody, tmp_path / "never")
    assert status == 2 and "submitted" in said and "ermission" in said


@shares_the_run
def test_a_full_disk_is_said_in_words_and_leaves_no_results_and_the_rerun_goes_on(
    course: Judged, graded: Graded, tmp_path: Path
) -> None:
    out = graded.copy(tmp_path / "out")
    (out / "results.json").unlink()
    shutil.rmtree(out / "feedback")

    def fill_the_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    status, said = graded_in_child(fill_the_disk, out)
    assert status == 1 and "Make room" in said  # the gradebook is written before the pages, which show what is in it
    assert not (out / "results.json").exists()
    assert "3 of 3 were graded before" in run("grade", "small", "submitted", "--out", out)[1]
    assert scores(out) == SCORES


# -- stopped ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.exhaustive)], ids=lambda n: n.name
)
def test_a_stopped_run_leaves_no_process_and_the_same_command_goes_on_to_the_same_results(
    course: Judged, tmp_path: Path, number: signal.Signals, still_alive: Callable[..., Any]
) -> None:
    slow = course.notebook({"square": f"import time; time.sleep(1)\n{RIGHT}"})
    for student in ("bob", "cid"):
        hand_in(Path("submitted"), student, slow)
    out, fresh, archive = (tmp_path / name for name in ("out", "fresh", "class.zip"))
    command = [sys.executable, "-c", PROGRAM, "grade", "small", "submitted", "--out", str(out), "--workers", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 90
    while len(Journal(out / "journal.jsonl").entries()) < 1:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    started = psutil.Process(process.pid)
    family = [started, *started.children(recursive=True)]
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert "Traceback" not in said
    if number == signal.SIGINT:
        assert process.returncode == 130 and "the same command goes on from here" in " ".join(said.split())
    assert not still_alive(family)
    assert not (out / "results.json").exists(), "nothing half-written is taken for whole"
    kept = len(Journal(out / "journal.jsonl").entries())
    assert 1 <= kept < 3
    status, printed, _ = run("grade", "small", "submitted", "--out", out)
    assert status == 0 and f"{kept} of 3 were graded before" in printed
    # The same seed gives the same results, from a zip as from a folder and with any number of workers.
    with zipfile.ZipFile(archive, "w") as packed:
        for path in Path("submitted").rglob("*.ipynb"):
            packed.write(path, path.relative_to("submitted"))
    run("grade", "small", archive, "--out", fresh, "--seed-file", out / "seed", "--workers", 3)
    assert without_times(out / "results.json") == without_times(fresh / "results.json")
    assert (out / "seed").read_text() == (fresh / "seed").read_text()


def test_standing_in_a_folder_of_submissions_runs_none_of_them(course: Judged, tmp_path: Path) -> None:
    # `python -m` and notebooks put the working folder on Python's path.
    trap = f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    for name in ("json", "numpy", "psutil", "pytest", "probes", "checks", "torch"):
        Path(f"{name}.py").write_text(trap)
    # One notebook is a class of one.
    assert run("grade", "small", "submitted/ann/small/small.ipynb", "--out", tmp_path / "out")[0] == 0
    assert scores(tmp_path / "out") == {"ann": 2.0} and not (tmp_path / "ran").exists()


def test_a_reader_that_leaves_is_no_error(course: Judged) -> None:
    command = f"{sys.executable} -m autograder.cli doctor | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
