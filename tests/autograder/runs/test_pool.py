"""A class graded by several judges: the same verdicts however it is spread, and nobody pays for another."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from autograder.errors import BadAssignment
from autograder.records import Report, Verdict, to_data
from autograder.runs import pool as local_pool
from autograder.runs.pool import GradedSubmission, LocalPool
from autograder.submissions.intake import StudentFiles

pytestmark = pytest.mark.slow

ANSWERS = {
    "right": {},
    "loops": {
        "square": "import numpy as np\ndef square(x):\n    return np.array([v * v for v in x.ravel()]).reshape(x.shape)"
    },
    "doubled": {"square": "def square(x):\n    return x * 2"},
    "in_place": {"square": "def square(x):\n    x *= x\n    return x"},
    "raises": {"square": "def square(x):\n    raise ValueError(x.shape)"},
    "nothing": {"square": "", "total": ""},
    "dies": {"square": "def square(x):\n    import os; os._exit(3)"},
    "loops_forever": {"total": "def total(x):\n    while True: pass"},
    "dies_at_once": {"square": "import os; os._exit(0)"},
}


def class_of(squares: Any, names: Any = ANSWERS) -> list[StudentFiles]:
    return [StudentFiles(name, {"squares.ipynb": squares.notebook(ANSWERS[name])}) for name in names]


def without_times(report: Report) -> Any:
    data = to_data(report)
    del data["seconds"]
    for run in data["runs"]:
        del run["seconds"]
    return data


def grade(squares: Any, handed: list[StudentFiles], workers: int) -> dict[str, Report]:
    with LocalPool(squares.assignment, squares.assignment.folder, b"secret", workers) as pool:
        found = list(pool.grade(handed))
    assert sorted(g.number for g in found) == list(range(len(handed)))
    for graded in found:
        assert graded.submission.student == graded.report.student == handed[graded.number].student
    return {g.report.student: g.report for g in found}


@pytest.mark.slow
def test_results_are_the_same_at_any_number_of_workers_and_in_any_order(squares: Any) -> None:
    handed = class_of(squares)
    alone = {name: without_times(r) for name, r in grade(squares, handed, 1).items()}
    scores = {name: report["score"] for name, report in alone.items()}
    assert scores == {
        **{"right": 4.0, "loops": 4.0, "doubled": 3.0, "in_place": 3.0, "raises": 2.0, "nothing": 0.0},
        **{"dies": 2.0, "loops_forever": 2.0, "dies_at_once": 2.0},
    }
    for workers in (2, 3):
        shuffled = handed[:]
        random.Random(workers).shuffle(shuffled)
        assert {name: without_times(r) for name, r in grade(squares, shuffled, workers).items()} == alone


def judges_of(pool: LocalPool) -> list[psutil.Process]:
    assert pool.judges.process is not None
    return psutil.Process(pool.judges.process.pid).children()


SLEEPS = {"square": "import time; time.sleep(1.5)\ndef square(x):\n    return x ** 2"}


def while_at_work(pool: LocalPool, action: Callable[[], None]) -> threading.Thread:
    """Do `action` once a submission is being graded: the first judge is at work, the next one is getting ready."""

    def wait() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if pool.judges.process and len(judges_of(pool)) >= 2:
                time.sleep(1)  # it has slept into its first cell
                return action()
            time.sleep(0.05)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["judges", "judge zygote", "kernel zygote"])
def test_what_is_killed_at_work_is_replaced_and_nobody_notices(squares: Any, lost: str) -> None:
    handed = [StudentFiles(name, {"squares.ipynb": squares.notebook(SLEEPS)}) for name in ("ann", "bob", "cid")]
    killed: list[psutil.Process] = []
    with LocalPool(squares.assignment, squares.assignment.folder, b"secret", 1) as pool:

        def kill() -> None:
            zygote = {"judge zygote": pool.judges, "kernel zygote": pool.kernels}.get(lost)
            killed.extend(judges_of(pool) if zygote is None else [psutil.Process(zygote.process.pid)])  # type: ignore[union-attr]
            for process in killed:
                process.send_signal(signal.SIGKILL)

        killer = while_at_work(pool, kill)
        reports = {g.report.student: g.report for g in pool.grade(handed)}
        killer.join()
    assert killed
    assert {name: (r.score, r.state) for name, r in reports.items()} == {
        name: (4.0, Verdict.PASSED) for name in ("ann", "bob", "cid")
    }


@pytest.mark.slow
def test_a_judge_that_hangs_is_killed_and_costs_its_own_submission_alone(
    squares: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = local_pool._Judge.grade
    hung: list[psutil.Process] = []

    def grade_one(self: Any, job: dict[str, Any], blobs: Any, patience_s: float) -> Any:
        return real(self, job, blobs, 4.0 if job["student"] == "cursed" else patience_s)

    def expect(self: Any, deadline: float) -> None:
        if self.pid and deadline - time.monotonic() < 10:
            # A judge that neither answers nor looks at its socket.
            hung.append(psutil.Process(self.pid))
            hung[-1].suspend()
        real_expect(self, deadline)

    real_expect = local_pool._Judge._wait_for_answer
    monkeypatch.setattr(local_pool._Judge, "grade", grade_one)
    monkeypatch.setattr(local_pool._Judge, "_wait_for_answer", expect)
    handed = [StudentFiles(n, {"squares.ipynb": squares.notebook()}) for n in ("ann", "cursed", "zoe")]
    with LocalPool(squares.assignment, squares.assignment.folder, b"secret", 1) as pool:
        for warm in (pool.kernels, pool.judges):
            warm.connect({"kernels": None}).close()  # type: ignore[union-attr]  # both are warm before the clocks run
        reports = {g.report.student: g.report for g in pool.grade(handed)}
        assert len(hung) == 2, "it was tried twice"
        psutil.wait_procs(hung, timeout=10)
        assert not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in hung)
    assert reports["ann"].score == reports["zoe"].score == 4.0
    assert reports["cursed"].state is Verdict.GRADER_ERROR and "in time" in reports["cursed"].reason


def test_a_student_whose_value_asks_a_check_for_all_memory_fails_that_check(
    judged: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = """
@pytest.mark.cell("test_square")
def test_all(student, expect):
    \"\"\"As much as the student says.\"\"\"
    expect.true(np.ones(int(student.square(2))).size > 0, "size")
"""
    monkeypatch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))
    solutions = {"square": "def square(x):\n    return x ** 2"}
    greedy = judged(solutions, checks, name="greedy")
    wants = {"square": "def square(x):\n    return 2 ** 30"}  # 8 GiB of float64, overcommitted or not
    handed = [
        StudentFiles(name, {"greedy.ipynb": greedy.notebook(cells)}) for name, cells in (("ann", {}), ("greedy", wants))
    ]
    reports = grade(greedy, handed, 1)
    assert reports["ann"].state is Verdict.PASSED
    assert (reports["greedy"].score, reports["greedy"].state) == (0.0, Verdict.FAILED)


def test_a_judge_that_dies_again_and_again_costs_its_own_submission_alone(
    squares: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = local_pool._Judge.grade

    def deadly(self: Any, job: dict[str, Any], *more: Any) -> Any:
        if job["student"] == "cursed":
            raise EOFError("the other end has gone")
        return real(self, job, *more)

    monkeypatch.setattr(local_pool._Judge, "grade", deadly)
    handed = [StudentFiles(n, {"squares.ipynb": squares.notebook()}) for n in ("ann", "cursed", "zoe")]
    reports = grade(squares, handed, 2)
    assert reports["ann"].score == reports["zoe"].score == 4.0
    assert reports["cursed"].state is Verdict.GRADER_ERROR and "gone" in reports["cursed"].reason
    assert {i.verdict for i in reports["cursed"].items} == {Verdict.GRADER_ERROR}


@pytest.mark.slow
def test_what_the_clock_ended_is_tried_once_more_alone_at_the_end(
    squares: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses

    alone: list[tuple[str, int]] = []
    real = LocalPool._grade_one
    at_work = [0]

    def busy(self: Any, judge: Any, number: int, handed: StudentFiles) -> GradedSubmission:
        at_work[0] += 1
        graded = real(self, judge, number, handed)
        first = handed.student not in [name for name, _ in alone]
        alone.append((handed.student, at_work[0]))
        at_work[0] -= 1
        if handed.student == "slow" and first:
            runs = tuple(dataclasses.replace(r, by_wall_clock=True) for r in graded.report.runs)
            return dataclasses.replace(graded, report=dataclasses.replace(graded.report, runs=runs, score=0.0))
        return graded

    monkeypatch.setattr(LocalPool, "_grade_one", busy)
    handed = [StudentFiles(n, {"squares.ipynb": squares.notebook()}) for n in ("slow", "ann", "bob")]
    assert {n: r.score for n, r in grade(squares, handed, 2).items()} == {"slow": 4.0, "ann": 4.0, "bob": 4.0}
    assert alone[-1] == ("slow", 1), "last, and with nobody beside it"


@pytest.mark.slow
def test_a_call_that_the_clock_ended_is_marked_for_another_try(squares: Any) -> None:
    sleeps = {"total": "import time\ndef total(x):\n    time.sleep(60)"}
    handed = [StudentFiles("sleeper", {"squares.ipynb": squares.notebook(sleeps)})]
    with LocalPool(squares.assignment, squares.assignment.folder, b"secret", 1) as pool:
        (graded,) = pool._distribute([0], handed, 1)
    assert local_pool._stopped_by_clock(graded.report)
    assert [i.verdict for i in graded.report.items] == [
        Verdict.PASSED,
        Verdict.TIME,
    ]


def test_leaving_in_mid_work_leaves_no_process(squares: Any, still_alive: Callable[..., Any]) -> None:
    handed = [StudentFiles(f"s{n}", {"squares.ipynb": squares.notebook(SLEEPS)}) for n in range(4)]
    family: list[psutil.Process] = []
    began = 0.0
    with pytest.raises(KeyboardInterrupt), LocalPool(squares.assignment, squares.assignment.folder, b"s", 2) as pool:
        for _ in pool.grade(handed):
            for zygote in (pool.judges, pool.kernels):
                assert zygote is not None and zygote.process is not None
                own = psutil.Process(zygote.process.pid)
                family += [own, *own.children(recursive=True)]
            began = time.monotonic()
            raise KeyboardInterrupt
    assert time.monotonic() - began < 15 and len(family) >= 6
    assert not still_alive(family)


def test_a_zygote_that_cannot_start_ends_the_run_with_its_reason(squares: Any) -> None:
    (squares.assignment.folder / "checks.py").write_text("import no_such_module\n")
    with pytest.raises(BadAssignment, match="no_such_module"):
        grade(squares, class_of(squares, ["right"]), 1)


def test_files_that_cannot_be_read_are_rejected_with_the_reason_and_the_rest_is_graded(
    squares: Any, tmp_path: Path
) -> None:
    class Unreadable(dict[str, bytes]):
        def items(self) -> Any:  # type: ignore[override]
            raise PermissionError("no permission to read it")

    handed = [StudentFiles("ann", Unreadable()), StudentFiles("bob", {"squares.ipynb": squares.notebook()})]
    reports = grade(squares, handed, 1)
    assert reports["ann"].state is Verdict.REJECTED and "no permission" in reports["ann"].reason
    assert reports["bob"].score == 4.0


def test_by_default_there_is_a_worker_for_each_core_of_ours() -> None:
    assert local_pool.default_workers() == len(os.sched_getaffinity(0))
