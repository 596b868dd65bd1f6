"""A class graded by several judges: the same verdicts however it is spread, and nobody pays for another."""

from __future__ import annotations

import dataclasses
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
from autograder.kernels.preload import ALWAYS
from autograder.records import Report, Verdict, to_data
from autograder.runs import pool as local_pool
from autograder.runs.pool import JUDGES, KERNELS, LocalPool, first_imports, other_imports, preloaded
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
SCORES = {
    **{"right": 4.0, "loops": 4.0, "doubled": 2.0, "in_place": 3.0, "raises": 2.0, "nothing": 0.0},
    **{"dies": 2.0, "loops_forever": 2.0, "dies_at_once": 2.0},
}


@pytest.mark.parametrize(
    ("imports", "device", "last"),
    [
        ("import numpy as np", "cpu", "matplotlib_inline.backend_inline"),
        ("import torch.nn as nn", "cpu", "torch._dynamo"),
        ("from torchvision import datasets", "cpu", "torch._dynamo"),
        ("import numpy as np", "virtual cuda", "torch._dynamo"),
        ("def f():\n    import tensorflow", "cpu", "tensorflow"),
        ("import keras", "cpu", "tensorflow"),
    ],
)
def test_what_no_cell_imports_is_not_waited_for(judged: Any, imports: str, device: str, last: str) -> None:
    small = judged({"square": "def square(x):\n    return x ** 2"}, "", before=imports)
    assert preloaded(dataclasses.replace(small.assignment, device=device))[-1] == last


@pytest.mark.parametrize(("imports", "torch"), [("import numpy as np", ()), ("from torch import nn", ("torch",))])
def test_the_first_imports_are_among_those_of_the_assignment(judged: Any, imports: str, torch: tuple[str, ...]) -> None:
    small = judged({"square": "def square(x):\n    return x ** 2"}, "", before=imports)
    found = first_imports(small.assignment.folder)
    assert set(found[KERNELS]) <= set(preloaded(small.assignment))
    assert found[KERNELS][len(ALWAYS) :] == found[JUDGES][1:] == torch
    assert first_imports(Path("/nowhere"))[KERNELS]


def test_what_the_cells_import_is_imported_ahead_but_for_the_assignments_own_files(judged: Any) -> None:
    imports = "import json, torch.nn as nn\nfrom helper import f\ntry:\n    import pandas.testing\nfinally:\n    pass"
    small = judged({"square": "def square(x):\n    return x ** 2"}, "", before=imports)
    (small.assignment.folder / "helper.py").write_text("f = 1")
    with_file = dataclasses.replace(small.assignment, files=(small.assignment.folder / "helper.py",))
    assert other_imports(with_file) == ["pandas.testing", "torch.nn"]


def handed_in(of: Any, answers: dict[str, dict[str, str]]) -> list[StudentFiles]:
    return [StudentFiles(name, {f"{of.assignment.name}.ipynb": of.notebook(cells)}) for name, cells in answers.items()]


def without_times(report: Report) -> Any:
    data = to_data(report)
    del data["seconds"]
    for run in data["runs"]:
        del run["seconds"]
    return data


def pool_of(of: Any, workers: int) -> LocalPool:
    return LocalPool(of.assignment, b"secret", workers)


def grade(of: Any, handed: list[StudentFiles], workers: int) -> dict[str, Report]:
    with pool_of(of, workers) as pool:
        found = list(pool.grade(handed))
    assert sorted(g.number for g in found) == list(range(len(handed)))
    for graded in found:
        assert graded.submission.student == graded.report.student == handed[graded.number].student
    return {g.report.student: g.report for g in found}


@pytest.mark.long
def test_results_are_the_same_at_any_number_of_workers_and_in_any_order(squares: Any) -> None:
    handed = handed_in(squares, ANSWERS)
    alone = {name: without_times(r) for name, r in grade(squares, handed, 1).items()}
    assert {name: report["score"] for name, report in alone.items()} == SCORES
    random.Random(3).shuffle(handed)
    assert {name: without_times(r) for name, r in grade(squares, handed, 3).items()} == alone


def test_a_students_own_files_lie_beside_the_notebook_and_in_nobody_elses_kernel(squares: Any) -> None:
    own = {
        "square": "from helper import square",
        "total": "assert open('mine.csv').read()\ndef total(x):\n    return x.sum()",
    }
    with_files, without = handed_in(squares, {"with": own, "without": own})
    brought = {"helper.py": b"def square(x):\n    return x * x\n", "mine.csv": b"3"}
    with_files = dataclasses.replace(with_files, files={**with_files.files, **brought})
    reports = grade(squares, [with_files, without], 1)
    assert (reports["with"].score, reports["without"].score) == (4.0, 0.0)
    errors = {run.error for run in reports["without"].runs}
    assert "ModuleNotFoundError: No module named 'helper' (line 1 of your cell \"square\")" in errors


def judges_of(pool: LocalPool) -> list[psutil.Process]:
    assert pool.judges.process is not None
    return psutil.Process(pool.judges.process.pid).children()


def below(pool: LocalPool, kind: str) -> list[psutil.Process]:
    """The judges; or the supervisors, or the kernels below them."""
    if kind == "judges":
        return judges_of(pool)
    assert pool.kernels is not None and pool.kernels.process is not None
    supervisors = psutil.Process(pool.kernels.process.pid).children()
    return supervisors if kind == "supervisors" else [kernel for one in supervisors for kernel in one.children()]


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


@pytest.mark.long
@pytest.mark.parametrize("lost", ["judges", "judge zygote", "kernel zygote", "supervisors", "kernels"])
def test_what_is_killed_at_work_is_replaced_and_nobody_notices(squares: Any, lost: str) -> None:
    killed: list[psutil.Process] = []
    with pool_of(squares, 1) as pool:

        def kill() -> None:
            zygote = {"judge zygote": pool.judges, "kernel zygote": pool.kernels}.get(lost)
            killed.extend([psutil.Process(zygote.process.pid)] if zygote else below(pool, lost))  # type: ignore[union-attr]
            for process in killed:
                process.send_signal(signal.SIGKILL)

        killer = while_at_work(pool, kill)
        reports = {g.report.student: g.report for g in pool.grade(handed_in(squares, {"ann": SLEEPS, "bob": SLEEPS}))}
        killer.join()
    assert killed and not any(report.flags for report in reports.values())
    assert {name: (r.score, r.state) for name, r in reports.items()} == dict.fromkeys(
        ("ann", "bob"), (4.0, Verdict.PASSED)
    )


@pytest.mark.long
@pytest.mark.parametrize(("number", "after_s"), [(signal.SIGKILL, 0.0), (signal.SIGINT, 0.05), (signal.SIGINT, 0.3)])
def test_zygotes_that_are_killed_while_they_warm_up_are_replaced(
    squares: Any, number: signal.Signals, after_s: float
) -> None:
    with pool_of(squares, 2) as pool:
        time.sleep(after_s)
        for zygote in (pool.judges, pool.kernels):
            assert zygote is not None and zygote.process is not None and not os.path.exists(zygote.address)
            zygote.process.send_signal(number)
        reports = [graded.report for graded in pool.grade(handed_in(squares, {"ann": {}, "bob": {}}))]
    assert [report.score for report in reports] == [4.0, 4.0]


CURSE = '''
import os, signal
from pathlib import Path

JUDGES = Path(__file__).parent.with_name("judges.txt")

@pytest.mark.cell("test_total")
def test_curse(student):
    """Some answers make the judge end, hang, or be short of time or of memory once."""
    spell = student.total(np.zeros(1))
    if spell:
        with JUDGES.open("a") as file:
            print(os.getpid(), file=file)
    if spell == 1:
        os._exit(1)
    if spell == 2:
        os.kill(os.getpid(), signal.SIGSTOP)
    if spell == 3:
        student.square(np.full(1, 60.0 if len(JUDGES.read_text().split()) == 1 else 0.0))
    if spell == 4:
        np.ones(1 << 30)  # 8 GiB of float64, overcommitted or not
'''


@pytest.fixture
def cursed(squares: Any) -> Any:
    """The same with a check that some answers put a spell on."""
    with (squares.assignment.folder / "checks.py").open("a") as file:
        file.write(CURSE)
    squares.assignment.folder.with_name("judges.txt").touch()
    return squares


def spell(number: int, **more: str) -> dict[str, str]:
    return {"total": f"def total(x):\n    return {number} if x.shape == (1,) else x.sum()", **more}


def spellbound(of: Any) -> list[int]:
    """The judges that met a spell, by their processes."""
    return list(map(int, of.assignment.folder.with_name("judges.txt").read_text().split()))


@pytest.mark.long
def test_a_judge_that_hangs_is_killed_and_costs_its_own_submission_alone(
    cursed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = local_pool._Judge.grade

    def impatient(self: Any, student_files: StudentFiles, patience_s: float) -> Any:
        return real(self, student_files, 4.0 if student_files.student == "cursed" else patience_s)

    monkeypatch.setattr(local_pool._Judge, "grade", impatient)
    with pool_of(cursed, 1) as pool:
        for warm in (pool.kernels, pool.judges):
            warm.connect({"kernels": None}).close()  # type: ignore[union-attr]  # both are warm before the clocks run
        handed = handed_in(cursed, {"ann": {}, "cursed": spell(2), "zoe": {}})
        reports = {g.report.student: g.report for g in pool.grade(handed)}
        hung = [psutil.Process(pid) for pid in spellbound(cursed) if psutil.pid_exists(pid)]
        assert len(spellbound(cursed)) == 2, "it was tried twice"
        assert not psutil.wait_procs([p for p in hung if p.status() != psutil.STATUS_ZOMBIE], timeout=10)[1]
    assert reports["ann"].score == reports["zoe"].score == 4.0
    assert reports["cursed"].state is Verdict.GRADER_ERROR and "in time" in reports["cursed"].reason


@pytest.mark.long
def test_who_ends_the_judge_asks_it_for_all_memory_or_cannot_be_read_costs_nobody_else_points(cursed: Any) -> None:
    class Unreadable(dict[str, bytes]):
        def __getitem__(self, name: str) -> bytes:
            raise PermissionError("no permission to read it")

    handed = handed_in(cursed, {"ann": {}, "cursed": spell(1), "greedy": spell(4), "zoe": {}})
    reports = grade(cursed, [*handed[:2], StudentFiles("closed", Unreadable({"squares.ipynb": b""})), *handed[2:]], 2)
    assert reports["ann"].score == reports["zoe"].score == 4.0
    assert len(set(spellbound(cursed))) == 3, "the one that ends its judge was tried twice"
    assert reports["cursed"].state is Verdict.GRADER_ERROR and reports["cursed"].reason
    assert {i.verdict for i in reports["cursed"].items} == {Verdict.GRADER_ERROR}
    assert (reports["greedy"].score, reports["greedy"].state) == (3.0, Verdict.PARTIAL)
    assert reports["closed"].state is Verdict.REJECTED and "no permission" in reports["closed"].reason


@pytest.mark.long
def test_what_the_clock_ended_is_tried_once_more_alone_at_the_end(cursed: Any) -> None:
    sleeps = "import time\ndef square(x):\n    if x.sum() == 60: time.sleep(60)\n    return x ** 2"
    tries: dict[str, int] = {}
    with pool_of(cursed, 2) as pool:
        handed = handed_in(cursed, {"slow": spell(3, square=sleeps), "ann": {}, "bob": {}})
        for graded in pool.grade(handed):
            tries[graded.report.student] = len(spellbound(cursed))
            assert graded.report.score == 4.0
    slow = tries.pop("slow")
    assert slow == 2 and tries.keys() == {"ann", "bob"} and max(tries.values()) < 2, "last, and with nobody beside it"


def test_leaving_in_mid_work_leaves_no_process(squares: Any, still_alive: Callable[..., Any]) -> None:
    handed = handed_in(squares, dict.fromkeys(("ann", "bob", "cid", "zoe"), SLEEPS))
    family: list[psutil.Process] = []
    began = 0.0
    with pytest.raises(KeyboardInterrupt), pool_of(squares, 2) as pool:
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
        grade(squares, handed_in(squares, {"right": {}}), 1)


def test_by_default_there_is_a_worker_for_each_core_of_ours() -> None:
    assert local_pool.default_workers() == len(os.sched_getaffinity(0))


def test_an_assignments_back_end_of_keras_reaches_both_zygotes(squares: Any) -> None:
    assignment = dataclasses.replace(squares.assignment, keras_backend="torch")
    pool = LocalPool(assignment, b"secret", 1)
    assert pool.kernels is not None
    assert pool.kernels.environment == pool.judges.environment == {"KERAS_BACKEND": "torch"}
