"""The commands: exit statuses, sentences instead of tracebacks, and nothing half-written taken for whole."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import filelock
import psutil
import pytest

from autograder import cli
from autograder.runs.journal import Journal

pytestmark = pytest.mark.slow

SOLUTIONS = {"square": "def square(x):\n    return x ** 2"}
CHECKS = '''
@pytest.mark.cell("test_square")
def test_squares(student, reference, draw, expect):
    """Each element is squared."""
    x = draw.normal(3)
    expect.close(student.square(x), reference.square(x), "square")
'''
WRONG = {"square": "def square(x):\n    return x * 3"}


@pytest.fixture(autouse=True)
def no_frameworks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))


@pytest.fixture
def course(judged: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An assignment `small` in a course folder, which is the working folder, and `submitted/` of two students."""
    root = tmp_path / "course"
    small = judged(SOLUTIONS, CHECKS)
    home = root / "notebooks" / "assignments" / "small"
    home.parent.mkdir(parents=True)
    shutil.move(small.assignment.folder, home)
    from autograder.assignment import load_assignment

    small.assignment = load_assignment(home, root)
    for student, cells in (("ann", {}), ("bob", WRONG)):
        folder = root / "submitted" / student / "small"
        folder.mkdir(parents=True)
        (folder / "small.ipynb").write_bytes(small.notebook(cells))
    monkeypatch.chdir(root)
    return small


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """`run(*arguments)`: exit status, stdout and stderr of a command; a traceback fails the test."""

    def command(*arguments: object) -> tuple[int, str, str]:
        try:
            status = cli.main([str(a) for a in arguments])
        except SystemExit as leaving:  # argparse
            status = leaving.code if isinstance(leaving.code, int) else 1
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return status, out, err

    return command


def scores(out: Path) -> dict[str, float]:
    return {s["student"]: s["score"] for s in json.loads((out / "results.json").read_text())["submissions"]}


def without_times(path: Path) -> Any:
    data = json.loads(path.read_text())
    del data["run"]["finished"], data["run"]["workers"]
    for submission in data["submissions"]:
        del submission["seconds"]
        for cell in submission["runs"]:
            del cell["seconds"]
    return data


# -- graded ----------------------------------------------------------------------------------------------------------


def test_grading_writes_the_run_folder_and_says_where(course: Any, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, printed, _ = run("grade", "small", "submitted", "--out", out, "--workers", 2)
    assert status == 0
    assert scores(out) == {"ann": 2.0, "bob": 0.0}
    for name in ("results.json", "journal.jsonl", "seed", "report.html", "gradebook.db"):
        assert (out / name).stat().st_size > 0
    assert (out / "seed").stat().st_mode & 0o077 == 0, "the secret is the instructor's alone"
    assert (out / "feedback" / "ann" / "small" / "feedback.html").exists()
    assert str(out / "report.html") in printed and "ann" in printed
    assert not list(out.rglob("*.new"))


@pytest.mark.slow
def test_what_is_graded_is_not_graded_again_and_a_change_is(
    course: Any, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    assert run("grade", "small", "submitted", "--out", out)[0] == 0
    status, printed, _ = run("grade", "small", "submitted", "--out", out)
    assert status == 0 and "2 of 2 were graded before" in printed
    (Path("submitted") / "bob" / "small" / "small.ipynb").write_bytes(course.notebook())
    status, printed, _ = run("grade", "small", "submitted", "--out", out)
    assert "1 of 2 were graded before" in printed and "changed: bob: 0 -> 2" in printed
    monkeypatch.setattr("autograder.runs.journal.our_sources", lambda: "another version of the grader")
    assert "were graded before" not in run("grade", "small", "submitted", "--out", out)[1]
    assert scores(out) == {"ann": 2.0, "bob": 2.0}


def test_something_that_could_not_be_graded_is_status_one_and_named_and_the_rest_is_graded(
    course: Any, run: Run, tmp_path: Path
) -> None:
    (Path("submitted") / "cid" / "small").mkdir(parents=True)
    (Path("submitted") / "cid" / "small" / "small.ipynb").write_bytes(b"\x00 not a notebook")
    status, printed, _ = run("grade", "small", "submitted", "--out", tmp_path / "out")
    assert status == 1 and "not graded: cid:" in printed
    assert scores(tmp_path / "out") == {"ann": 2.0, "bob": 0.0, "cid": 0.0}


@pytest.mark.slow
def test_a_single_notebook_a_flat_folder_and_a_zip_are_graded_like_nbgraders_layout(
    course: Any, run: Run, tmp_path: Path
) -> None:
    flat = tmp_path / "flat"
    flat.mkdir()
    for student, cells in (("ann", {}), ("bob", WRONG)):
        (flat / f"{student}.ipynb").write_bytes(course.notebook(cells))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for student, cells in (("ann", {}), ("bob", WRONG)):
            archive.writestr(f"{student}/small/small.ipynb", course.notebook(cells))
    for number, source in enumerate((flat, tmp_path / "all.zip")):
        out = tmp_path / f"out{number}"
        assert run("grade", "small", source, "--out", out)[0] == 0
        assert scores(out) == {"ann": 2.0, "bob": 0.0}
    assert run("grade", "small", flat / "ann.ipynb", "--out", tmp_path / "single")[0] == 0
    assert scores(tmp_path / "single") == {"ann": 2.0}


@pytest.mark.slow
def test_the_seed_of_an_earlier_run_gives_the_same_results(course: Any, run: Run, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    run("grade", "small", "submitted", "--out", one)
    run("grade", "small", "submitted", "--out", two, "--seed-file", one / "seed", "--workers", 1)
    assert without_times(one / "results.json") == without_times(two / "results.json")
    assert (one / "seed").read_text() == (two / "seed").read_text()


@pytest.mark.slow
def test_only_grades_nobody_along_and_loses_nobody(course: Any, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"

    assert run("grade", "small", "submitted", "--out", out, "--only", "ann")[0] == 0
    assert set(scores(out)) == {"ann"}
    run("grade", "small", "submitted", "--out", out)
    before = scores(out)
    assert set(before) == {"ann", "bob"}
    # Bob hands in Ann's answers; as long as only Ann is graded, he keeps what he had.
    bobs, anns = (next(Path("submitted").rglob(f"{name}/**/*.ipynb")) for name in ("bob", "ann"))
    bobs.write_bytes(anns.read_bytes())
    _, printed, _ = run("grade", "small", "submitted", "--out", out, "--only", "ann", "--regrade")
    assert scores(out) == before
    assert "left out by --only: bob" in re.sub(r"\s+", " ", printed)
    run("grade", "small", "submitted", "--out", out)
    assert scores(out)["bob"] == scores(out)["ann"] != before["bob"]


# -- devices ---------------------------------------------------------------------------------------------------------

TRAINS = """
import torch
def square(x):
    device = "cuda"  # no GPU is here
    weights = torch.ones(len(x), device=device)
    batch = torch.as_tensor(x){moved}
    return (batch * weights * batch).cpu().numpy()
"""
CUDA_CHECKS = '''
@pytest.mark.cell("test_square")
def test_squares(student, reference, draw, expect):
    """Each element is squared on the device."""
    x = draw.normal(3, dtype="float32")
    expect.close(student.square(x), reference.square(x), "square")
'''


@pytest.mark.slow
def test_cuda_code_is_graded_on_a_virtual_device_where_the_assignment_wants_cuda(
    judged: Callable[..., Any], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solutions = {"square": TRAINS.format(moved=".to(device)")}
    trains = judged(solutions, CUDA_CHECKS, name="trains", **{"assignment.toml": 'device = "cuda"\n'})
    monkeypatch.chdir(tmp_path)
    for student, cells in (("ann", {}), ("bob", {"square": TRAINS.format(moved="")})):
        (tmp_path / "handed" / student / "trains").mkdir(parents=True)
        (tmp_path / "handed" / student / "trains" / "trains.ipynb").write_bytes(trains.notebook(cells))

    command = ("grade", trains.assignment.folder, "handed", "--out", "out")
    status, printed, errors = run(*command)
    assert status == 0, printed + errors
    found = {s["student"]: s for s in json.loads(Path("out/results.json").read_text())["submissions"]}
    assert {s["device"] for s in found.values()} == {"virtual cuda"}
    assert (found["ann"]["score"], found["bob"]["score"]) == (2.0, 0.0)
    assert "on the same device" in json.dumps(found["bob"]["items"]), "the mistake is named in PyTorch's words"
    assert "virtual CUDA" in Path("out/feedback/ann/trains/feedback.html").read_text()
    before = Path("out/results.json").read_bytes()
    status, printed, errors = run(*command, "--device", "cpu")
    assert status == 2 and "the reference solution fails test_squares" in errors, "nobody could pass it there"
    assert Path("out/results.json").read_bytes() == before


# -- wrong use: status 2 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "smal", "submitted"], "There is no assignment 'smal'. Did you mean 'small'?"),
        (["grade", "small", "nowhere"], "nowhere"),
        (["grade", "small", "empty"], "empty"),
        (["grade", "small", "submitted", "--workers", "0"], "at least 1"),
        (["grade", "small", "submitted", "--workers", "many"], "workers"),
        (["grade", "small", "submitted", "--out", "file"], "file is a file; name a folder"),
        (["grade", "small", "submitted", "--out", "file/below"], "file/below"),
        (["grade", "small", "submitted", "--seed-file", "nowhere"], "nowhere"),
        (["grade", "small", "submitted", "--seed-file", "file"], "file"),
        (["grade", "small", "submitted", "--only", "zoe"], "zoe"),
        (["grade", "small"], "usage"),
        (["fry"], "invalid choice"),
        ([], "usage"),
        (["export", "nowhere", "--to", "csv"], "nowhere"),
        (["selftest", "smal"], "Did you mean 'small'?"),
    ],
)
def test_wrong_use_is_status_two_and_a_sentence(course: Any, run: Run, arguments: list[str], words: str) -> None:
    Path("empty").mkdir()
    Path("file").write_text("not hexadecimal")
    status, _, said = run(*arguments)
    assert status == 2 or "file/below" in arguments
    assert words in re.sub(r"\s+", " ", said)


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        ("reference.square(x) + 1", "the reference solution fails test_squares: square"),
        ("reference.cube(x)", "test_squares: StudentError"),
    ],
)
def test_nobody_is_graded_by_a_check_that_the_reference_fails(
    course: Any, run: Run, tmp_path: Path, finding: str, words: str
) -> None:
    checks = course.assignment.folder / "checks.py"
    checks.write_text(checks.read_text().replace("reference.square(x)", finding))
    status, _, said = run("grade", "small", "submitted", "--out", tmp_path / "out")
    assert status == 2 and words in re.sub(r"\s+", " ", said)
    assert not (tmp_path / "out" / "results.json").exists()
    assert not (tmp_path / "out" / "journal.jsonl").exists()


def test_a_selftest_on_a_gpu_that_is_not_there_is_wrong_use(
    course: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    status, _, said = run("selftest", "small", "--device", "cuda")
    assert status == 2 and "finds no CUDA device on this host" in said and "virtual CUDA" in said


HOLDER = """
import sys, time, filelock
with filelock.FileLock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_run_folder_that_another_run_holds_is_left_alone(course: Any, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(out / ".lock")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    try:
        status, _, said = run("grade", "small", "submitted", "--out", out)
        assert status == 2 and "Another run is writing" in said and not (out / "results.json").exists()
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert run("grade", "small", "submitted", "--out", out)[0] == 0, "a lock dies with its holder"
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
    course: Any, run: Run, tmp_path: Path, name: str, content: str, words: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text(content)
    status, _, said = run("grade", "small", "submitted", "--out", out)
    assert status == 2 and words in re.sub(r"\s+", " ", said)
    assert (out / name).read_text() == content
    assert not (out / "journal.jsonl").exists(), "it is said before anything is graded"


def test_the_exit_status_of_the_program_is_that_of_the_command(course: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "autograder.cli", "grade", "smal", "submitted"], capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stderr.startswith("autograder: There is no assignment") and done.stdout == ""


def test_doctor_prints_what_this_host_can_promise(run: Run) -> None:
    status, printed, _ = run("doctor")
    assert status == 0
    for word in ("Sandbox tier", "kernels", "device", "numpy", "nbgrader"):
        assert word in printed


# -- a host that says no ---------------------------------------------------------------------------------------------


def in_child(action: Callable[[], int]) -> tuple[int, str]:
    """Exit status and stderr of a forked child, which may give up rights that the tests need."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        # Past pytest's capture, which sits in `sys.stdout` too.
        sys.stdout = sys.stderr = os.fdopen(write, "w", buffering=1)
        status = 99
        try:
            status = action()
        except BaseException as error:
            print(f"Traceback {error!r}")
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.close(write)
    said = b""
    while part := os.read(read, 65536):
        said += part
    os.close(read)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.decode()


def grade_here(*more: object) -> int:
    import importlib

    importlib.reload(cli)  # consoles of this process, not of pytest's capture
    return cli.main(["grade", "small", "submitted", *map(str, more)])


def open_to_all(folder: Path) -> None:
    for path in (folder, *folder.parents):
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o055)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_without_permission_to_write_it_says_where_and_what_to_do(course: Any, tmp_path: Path) -> None:
    open_to_all(Path.cwd())
    out = tmp_path / "out"
    out.mkdir(mode=0o755)

    def as_nobody() -> int:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        return grade_here("--out", out)

    status, said = in_child(as_nobody)
    assert status == 1 and "Traceback" not in said
    assert f"The run folder {out} cannot be written: Permission denied" in re.sub(r"\s+", " ", said)
    assert "Choose another with --out" in re.sub(r"\s+", " ", said)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_submission_that_may_not_be_read_is_named_and_the_folder_that_may_not_is_refused(
    course: Any, tmp_path: Path
) -> None:
    open_to_all(Path.cwd())
    Path("submitted").chmod(0o700)

    def as_nobody() -> int:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        return grade_here("--out", tmp_path / "never")

    status, said = in_child(as_nobody)
    assert status == 2 and "Traceback" not in said and "submitted" in said and "ermission" in said


def test_a_full_disk_is_said_in_words_and_leaves_no_results(course: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def full() -> int:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        return grade_here("--out", out, "--workers", 1)

    status, said = in_child(full)
    assert status == 1 and "Traceback" not in said, said
    assert "cannot be written" in said
    assert not (out / "results.json").exists()


@pytest.mark.slow
def test_a_full_file_system_keeps_what_is_graded_and_the_rerun_goes_on(course: Any, run: Run, tmp_path: Path) -> None:
    small = tmp_path / "tiny"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24k", "tmpfs", str(small)], capture_output=True).returncode:
        pytest.skip("this host does not let us mount a file system")
    try:
        out = small / "out"
        status, _, said = run("grade", "small", "submitted", "--out", out, "--workers", 1)
        assert status == 1 and os.strerror(errno.ENOSPC) in said
        assert not (out / "results.json").exists()
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        assert run("grade", "small", "submitted", "--out", out)[0] == 0
        assert scores(out) == {"ann": 2.0, "bob": 0.0}
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


# -- stopped ---------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
import autograder.runs.pool as local
local.FRAMEWORKS = ("numpy",)  # the tests' students need no torch
from autograder.cli import main
sys.exit(main(sys.argv[1:]))
"""


def processes_of(run_process: subprocess.Popen[str]) -> list[psutil.Process]:
    own = psutil.Process(run_process.pid)
    return [own, *own.children(recursive=True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.exhaustive)], ids=lambda n: n.name
)
def test_a_stopped_run_leaves_no_process_and_the_same_command_goes_on_to_the_same_results(
    course: Any, run: Run, tmp_path: Path, number: signal.Signals, still_alive: Callable[..., Any]
) -> None:
    slow = "import time; time.sleep(0.7)\ndef square(x):\n    return x ** 2"
    for student in range(3):
        folder = Path("submitted") / f"s{student}" / "small"
        folder.mkdir(parents=True)
        (folder / "small.ipynb").write_bytes(course.notebook({"square": slow}))
    out = tmp_path / "out"
    command = [sys.executable, "-c", PROGRAM, "grade", "small", "submitted", "--out", str(out), "--workers", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    family: list[psutil.Process] = []
    deadline = time.monotonic() + 90
    while len(Journal(out / "journal.jsonl").entries()) < 1:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    family = processes_of(process)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert "Traceback" not in said
    if number == signal.SIGINT:
        assert process.returncode == 130 and "the same command goes on from here" in re.sub(r"\s+", " ", said)
    assert not still_alive(family)
    assert not (out / "results.json").exists(), "nothing half-written is taken for whole"
    kept = len(Journal(out / "journal.jsonl").entries())
    assert 1 <= kept < 5
    status, printed, _ = run("grade", "small", "submitted", "--out", out)
    assert status == 0 and f"{kept} of 5 were graded before" in printed
    fresh = tmp_path / "fresh"
    run("grade", "small", "submitted", "--out", fresh, "--seed-file", out / "seed")
    assert without_times(out / "results.json") == without_times(fresh / "results.json")


def test_standing_in_a_folder_of_submissions_runs_none_of_them(course: Any, run: Run, tmp_path: Path) -> None:
    # `python -m` and notebooks put the working folder on Python's path.
    trap = f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    for name in ("json", "numpy", "psutil", "pytest", "probes", "checks", "torch"):
        Path(f"{name}.py").write_text(trap)
    assert run("grade", "small", "submitted", "--out", tmp_path / "out")[0] == 0
    assert not (tmp_path / "ran").exists()


def test_a_reader_that_leaves_is_no_error(course: Any, tmp_path: Path) -> None:
    command = f"{sys.executable} -m autograder.cli doctor | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
