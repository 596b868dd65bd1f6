"""A class graded by the workers of a Dask cluster: the same results, whoever is lost, refused or interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import LocalCluster, Security

from autograder.errors import BadAssignment, ClusterFailed
from autograder.records import CUDA, Verdict
from autograder.runs.cluster import Cluster, DaskPool, differences
from autograder.runs.pool import LocalPool
from autograder.sandbox import gpu
from tests.autograder.conftest import run_command
from tests.autograder.runs.test_pool import ANSWERS, SLEEPS, grade, handed_in, without_times
from tests.autograder.small_class import RIGHT, SCORES, hand_in, make_course, scores
from tests.autograder.small_class import without_times as whole_results
from tests.sampling import ROOT


class NumpyPool(LocalPool):
    """Its students need no torch."""

    def __init__(self, *arguments: Any) -> None:
        import autograder.runs.pool

        autograder.runs.pool.FRAMEWORKS = ("numpy",)
        super().__init__(*arguments)


class NumpyDaskPool(DaskPool):
    pool = NumpyPool


@contextmanager
def cluster_of(workers: int, security: Security | None = None, **more: Any) -> Iterator[LocalCluster]:
    options = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": "127.0.0.1:0", **more}
    with LocalCluster(n_workers=workers, silence_logs=60, security=security, **options) as cluster:
        yield cluster


def pool_on(of: Any, cluster: LocalCluster) -> DaskPool:
    return NumpyDaskPool(of.assignment, b"secret", Cluster(cluster.scheduler_address), [of.assignment.folder])


def below(process: psutil.Process, function: str) -> list[psutil.Process]:
    """The zygotes of some kind that a worker owns."""
    found = []
    for one in process.children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            if any(function in word for word in one.cmdline()):
                found.append(one)
    return found


@pytest.mark.slow
@pytest.mark.long
def test_two_machines_find_field_by_field_what_one_finds(squares: Any) -> None:
    # Of a loop without an end a busy machine's clock may see the end before the limit on computing time does.
    handed = handed_in(squares, {name: cells for name, cells in ANSWERS.items() if name != "loops_forever"})
    alone = {name: without_times(report) for name, report in grade(squares, handed, 1).items()}
    with cluster_of(2) as cluster, pool_on(squares, cluster) as pool:
        found = list(pool.grade(handed))
    assert {one.report.student: without_times(one.report) for one in found} == alone
    assert all(handed[one.number].student == one.submission.student for one in found)


def kill_a_worker_at_work(cluster: LocalCluster, times: int) -> threading.Thread:
    """SIGKILL for a worker that grades for a second, and again for one that grades after it."""

    def at_work() -> psutil.Process | None:
        for nanny in list(cluster.workers.values()):
            process = psutil.Process(nanny.pid) if nanny.pid else None
            # Two judges: one grades, the next one gets ready.
            if process and any(len(zygote.children()) > 1 for zygote in below(process, "judge_child")):
                return process
        return None

    def kill() -> None:
        for _ in range(times):
            deadline = time.monotonic() + 100
            while time.monotonic() < deadline:
                try:
                    if worker := at_work():
                        time.sleep(0.5)
                        worker.kill()
                        worker.wait()
                        break
                except psutil.Error:
                    pass  # it has just ended
                time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


@pytest.mark.slow
@pytest.mark.long
def test_workers_that_are_killed_while_they_grade_cost_one_more_try_and_nobody_notices(squares: Any) -> None:
    with cluster_of(2) as cluster, pool_on(squares, cluster) as pool:
        killer = kill_a_worker_at_work(cluster, times=1)
        reports = {
            one.report.student: one.report for one in pool.grade(handed_in(squares, dict.fromkeys("abcd", SLEEPS)))
        }
        killer.join()
    assert {name: (one.score, one.state) for name, one in reports.items()} == dict.fromkeys(
        "abcd", (4.0, Verdict.PASSED)
    )
    assert not any(report.flags for report in reports.values())


@pytest.mark.slow
@pytest.mark.long
def test_a_submission_whose_worker_is_lost_twice_is_left_to_a_person(squares: Any) -> None:
    with cluster_of(1) as cluster, pool_on(squares, cluster) as pool:
        killer = kill_a_worker_at_work(cluster, times=2)
        (lost,) = pool.grade(handed_in(squares, {"ann": SLEEPS}))
        killer.join()
    assert lost.report.state is Verdict.GRADER_ERROR
    assert lost.report.reason == "2 of Dask's workers were lost while they graded it"


def start_worker(cluster: LocalCluster, name: str, first_on_path: Path) -> subprocess.Popen[bytes]:
    """A worker that finds other modules than ours first."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--name", name]
    return subprocess.Popen(
        [*command, "--nthreads", "1", "--no-dashboard"],
        cwd=first_on_path,
        env={**os.environ, "PYTHONPATH": f"{first_on_path}{os.pathsep}{ROOT}"},
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.slow
@pytest.mark.long
def test_a_worker_of_another_version_is_refused_by_name_and_the_others_grade(
    squares: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "newer" / "torch-99.0.dist-info").mkdir(parents=True)
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "autograder.py").write_text("raise ImportError('no grader here')")
    with cluster_of(0) as cluster:
        unfit = [start_worker(cluster, name, tmp_path / name) for name in ("newer", "without")]
        try:
            wait_for_workers(cluster, 2)
            with pytest.raises(ClusterFailed) as refused, pool_on(squares, cluster) as pool:
                list(pool.grade(handed_in(squares, {"ann": {}})))
            cluster.scale(1)
            wait_for_workers(cluster, 3)
            with pool_on(squares, cluster) as pool:
                (graded,) = pool.grade(handed_in(squares, {"ann": {}}))
        finally:
            for worker in unfit:
                worker.terminate()
                worker.wait()
    said = str(refused.value)
    assert said.startswith("None of Dask's workers can grade.")
    assert "torch is 99.0 there and " in said and "Worker newer (tcp://" in said and "no grader here" in said
    assert graded.report.score == 4.0


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("offered", "said"),
    [
        ({}, r"it offers no GPU\. Start it with `dask worker --resources GPU=1`"),
        ({"GPU": 1}, "no device file of an NVIDIA GPU"),  # its kernels are asked, and find that there is none
    ],
    ids=["no resource", "no device"],
)
def test_a_worker_is_taken_for_the_gpu_that_it_offers(squares: Any, offered: dict[str, float], said: str) -> None:
    if offered and gpu.count():
        pytest.skip("this host has a GPU: the worker would grade")
    with cluster_of(1, resources=offered) as cluster, pytest.raises(ClusterFailed, match=said):
        pool = DaskPool(replace(squares.assignment, device=CUDA), bytes(32), Cluster(cluster.scheduler_address))
        with pool:
            list(pool.grade(handed_in(squares, {"ann": {}})))


def wait_for_workers(cluster: LocalCluster, number: int) -> None:
    deadline = time.monotonic() + 60
    while len(cluster.scheduler.workers) < number:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_what_differs_between_two_machines_is_named_and_what_is_more_is_counted() -> None:
    ours = {"grader": "a", "packages": {"Python": "3.11.7", "numpy": "2.4.0", "torch": "2.14.1"}}
    assert differences(ours, ours) == ""
    assert differences(ours, {**ours, "grader": "b"}) == "its copy of autograder, course_lib or data is another one"
    theirs = {"Python": "3.12.0", "torch": "2.6.0", "a": "1", "b": "1", "c": "1"}
    assert differences(ours, {**ours, "packages": theirs}) == (
        "Python is 3.12.0 there and 3.11.7 here, a is 1 there and missing here, b is 1 there and missing here, "
        "c is 1 there and missing here and 2 more"
    )


@pytest.mark.slow
@pytest.mark.long
def test_a_reference_that_fails_its_own_checks_stops_the_run(squares: Any) -> None:
    with (squares.assignment.folder / "checks.py").open("a") as checks:
        checks.write('\n@pytest.mark.cell("test_total")\ndef test_no(student):\n    """Never."""\n    assert False\n')
    with cluster_of(1) as cluster, pytest.raises(BadAssignment, match="test_no"), pool_on(squares, cluster) as pool:
        list(pool.grade(handed_in(squares, {"ann": {}})))


# -- the command -------------------------------------------------------------------------------------------------------

PROGRAM = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.autograder.runs.test_cluster import NumpyPool
from autograder.runs.cluster import DaskPool
DaskPool.pool = NumpyPool
from autograder.cli import main
if __name__ == "__main__":
    sys.exit(main(["grade", "small", "submitted", "--engine", "dask", *sys.argv[1:]]))
"""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`make_course` in the working folder."""
    made = make_course(tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return made


def begin(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        env={**os.environ, "COLUMNS": "1000", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_until(found: Callable[[], object], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 200
    while not found():
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()[0]
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.long
def test_after_ctrl_c_the_same_command_goes_on_and_the_results_are_those_of_one_machine(
    course: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for student in ("dan", "eve", "fay"):
        hand_in(Path("submitted"), student, course.notebook({"square": f"import time; time.sleep(1)\n{RIGHT}"}))
    out, options = tmp_path / "out", ("--dask-workers", 1)
    process = begin("--out", out, *options)
    wait_until(lambda: (out / "journal.jsonl").exists(), process)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=100)[0]
    assert process.returncode == 130 and "Traceback" not in said, said
    assert "the same command goes on from here" in said
    kept = len((out / "journal.jsonl").read_text().splitlines())
    process = begin("--out", out, *options)
    said = process.communicate(timeout=200)[0]
    assert 0 < kept < 6 and f"{kept} of 6 were graded before" in said, said
    monkeypatch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))
    run_command("grade", "small", "submitted", "--out", tmp_path / "alone", "--seed-file", out / "seed")
    ours, alone = (whole_results(folder / "results.json") for folder in (out, tmp_path / "alone"))
    assert (ours["run"].pop("engine"), alone["run"].pop("engine")) == ("dask", "local")
    assert ours == alone


@pytest.mark.slow
@pytest.mark.long
def test_tls_is_passed_through_and_a_worker_lets_go_of_a_command_that_was_killed(course: Any, tmp_path: Path) -> None:
    made = Security.temporary()
    (tmp_path / "key.pem").write_text(made.tls_client_key)
    (tmp_path / "cert.pem").write_text(made.tls_ca_file)
    names = {"ca-file": "cert.pem", "client__cert": "cert.pem", "client__key": "key.pem"}
    tls = {f"DASK_DISTRIBUTED__COMM__TLS__{k.upper().replace('-', '_')}": str(tmp_path / v) for k, v in names.items()}
    hand_in(Path("submitted"), "dan", course.notebook({"square": f"import time; time.sleep(30)\n{RIGHT}"}))
    with cluster_of(1, made) as cluster:
        (nanny,) = cluster.workers.values()
        worker = psutil.Process(nanny.pid)
        where = ("--scheduler", cluster.scheduler_address)
        process = begin("--out", tmp_path / "out", *where, **tls)
        wait_until(lambda: below(worker, "kernel_child"), process)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 60
        while below(worker, "_child") and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not below(worker, "_child") and worker.is_running()
        said = begin("--out", tmp_path / "out", *where, "--only", "ann", **tls).communicate(timeout=200)[0]
        assert scores(tmp_path / "out") == {"ann": SCORES["ann"]}, said
        assert "autograder: --scheduler" in begin("--out", tmp_path / "no", *where).communicate(timeout=200)[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--scheduler tcp://a:1", "belong to --engine dask"),
        ("--dask-workers 2", "belong to --engine dask"),
        ("--engine dask --workers 2", "--workers belongs to the local engine"),
        ("--engine dask --scheduler tcp://a:1 --dask-workers 2", "not allowed with"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_use(course: Any, words: str, said: str) -> None:
    status, _, error = run_command("grade", "small", "submitted", *words.split())
    assert status == 2 and said in error


def test_without_dask_the_command_says_how_to_install_it(course: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "autograder.runs.cluster")
    monkeypatch.setitem(sys.modules, "distributed", None)
    status, _, error = run_command("grade", "small", "submitted", "--engine", "dask")
    assert status == 2 and 'python -m pip install -e ".[autograder,cluster]"' in error
