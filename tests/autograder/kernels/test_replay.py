"""A notebook whose cells kill their kernel: restarted, replayed without the offender, and not for ever."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import psutil
import pytest

from autograder.errors import KernelFailed, LimitReached, StudentError
from autograder.kernels.replay import MAX_RESTARTS, NOTEBOOK_OUTPUT, SHOWN_OUTPUT, StudentKernel
from autograder.kernels.session import Account, Kernel
from autograder.kernels.zygote import Zygote
from autograder.records import Limits, PlannedCell, SubmittedNotebook, Verdict

pytestmark = pytest.mark.slow

DIE = "import os; os._exit(1)"
LIMITS = Limits(cell_s=2, notebook_s=60, memory_bytes=512 << 20)


class Counting:
    """Starts kernels, and counts them."""

    def __init__(self, zygote: Zygote, limits: Limits) -> None:
        self.zygote, self.limits, self.count = zygote, limits, 0

    def __call__(self) -> Kernel:
        self.count += 1
        return Kernel(self.zygote, self.limits)


Notebook = Callable[..., tuple[StudentKernel, Counting]]


@pytest.fixture
def notebook(zygote: Zygote) -> Iterator[Notebook]:
    made: list[StudentKernel] = []

    def make(
        *cells: str, limits: Limits = LIMITS, account: Account | None = None, forbidden: Sequence[str] | None = None
    ) -> tuple[StudentKernel, Counting]:
        start = Counting(zygote, limits)
        plan = tuple(PlannedCell(source, "student", f"cell{n}") for n, source in enumerate(cells))
        made.append(StudentKernel(start, SubmittedNotebook("n", plan), account, forbidden))
        made[-1].run()
        return made[-1], start

    yield make
    for student in made:
        student.close()


def verdicts(student: StudentKernel) -> list[Verdict]:
    return [run.status for run in student.runs]


def value(student: StudentKernel, expression: str) -> Any:
    """The value of a student's name or of an expression over `ns`."""
    return student.call(f"def probe(ns):\n    return {expression}\n", "probe", {}).value


@pytest.mark.parametrize(
    ("cells", "found", "kernels", "expression", "expected", "kernels_then"),
    [
        (["x = 1", "1 / 0", "y = x + 1"], "passed failed passed", 1, "ns.y", 2, 1),
        (["x = ['kept']", DIE, "x.append('on')"], "passed crash passed", 2, "ns.x", ["kept", "on"], 2),
        # The half of a cell that ran before its interrupt has happened; the replay leaves the whole cell out.
        (["x = 0", "x = 1\nwhile True: pass", "y = x", DIE], "passed time passed crash", 1, "(ns.x, ns.y)", (0, 0), 2),
    ],
    ids=["fails", "dies", "is interrupted"],
)
def test_a_cell_that_stops_does_not_stop_the_rest_and_is_left_out_of_a_replay(
    notebook: Notebook, cells: list[str], found: str, kernels: int, expression: str, expected: Any, kernels_then: int
) -> None:
    student, start = notebook(*cells, limits=Limits(cell_s=0.4))
    assert verdicts(student) == list(map(Verdict, found.split())) and start.count == kernels
    assert value(student, expression) == expected and start.count == kernels_then


def test_a_call_that_kills_the_kernel_leaves_later_calls_their_answers(notebook: Notebook) -> None:
    student, start = notebook("x = 41", "def f(): import os; os._exit(0)")
    with pytest.raises(LimitReached) as caught:
        value(student, "ns.f()")
    assert caught.value.verdict == Verdict.CRASH
    assert value(student, "ns.x + 1") == 42 and start.count == 2


STUBBORN = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"


@pytest.mark.parametrize(
    ("cell", "disturbed"),
    [
        ("raise KeyboardInterrupt", True),
        (DIE, False),
        ("1 / 0", False),
        (STUBBORN, False),
        ("held = []\nwhile True: held.append(bytearray(1 << 20))", False),
    ],
)
def test_what_ended_itself_or_met_a_limit_is_not_taken_for_disturbed(
    notebook: Notebook, cell: str, disturbed: bool
) -> None:
    student, _ = notebook(cell, limits=dataclasses.replace(LIMITS, cell_s=0.5))
    student.close()
    assert student.disturbed == disturbed


@pytest.mark.parametrize(
    ("supervisor", "number"),
    [(False, signal.SIGKILL), (True, signal.SIGKILL), (True, signal.SIGTERM), (True, signal.SIGINT)],
    ids=str,
)
def test_that_somebody_killed_a_kernel_or_its_supervisor_is_known_at_once(
    notebook: Notebook, supervisor: bool, number: signal.Signals
) -> None:
    student, _ = notebook("x = 1")
    assert student.kernel is not None and not student.disturbed
    pid = student.kernel.process.pid
    os.kill(psutil.Process(pid).ppid() if supervisor else pid, number)
    deadline = time.monotonic() + 20
    while not student.disturbed and time.monotonic() < deadline:
        with contextlib.suppress(LimitReached):  # where it is not yet known when the call is made
            assert value(student, "ns.x") == 1
    assert student.disturbed and value(student, "ns.x") == 1


def test_there_are_at_most_three_restarts_and_then_nothing_more_runs(notebook: Notebook) -> None:
    student, start = notebook("x = 1", *[DIE] * 6, "y = 2")
    assert verdicts(student) == [Verdict.PASSED] + [Verdict.CRASH] * 4 + [Verdict.NOT_RUN] * 3
    assert start.count == 1 + MAX_RESTARTS
    assert "for the fourth time" in student.runs[-1].error
    with pytest.raises(LimitReached, match="fourth time"):
        value(student, "ns.x")
    assert start.count == 1 + MAX_RESTARTS
    student.turn_to("an exercise")
    assert value(student, "ns.x") == 1
    with pytest.raises(StudentError, match="'y' is not defined"):  # said not to have run, and has not
        value(student, "ns.y")


def test_a_fresh_kernel_for_showing_has_run_the_same_cells_and_seen_no_call(notebook: Notebook) -> None:
    student, start = notebook("seen = []")
    assert value(student, "ns.seen.append(1) or len(ns.seen)") == 1
    student.renew()
    assert value(student, "len(ns.seen)") == 0 and start.count == 2


def test_what_calls_did_to_a_library_is_not_forgotten_with_the_kernel(notebook: Notebook) -> None:
    student, _ = notebook("import numpy", forbidden=[])
    value(student, "setattr(__import__('numpy'), 'sum', max)")
    assert not student.footprints
    student.renew()
    assert student.footprints == {"patched": {"numpy.sum": None}}


def test_restarts_spent_on_hidden_inputs_do_not_cost_the_student_the_explanation(notebook: Notebook) -> None:
    student, _ = notebook("x = 1")
    for _ in range(MAX_RESTARTS + 1):
        with pytest.raises(LimitReached):
            value(student, "__import__('os')._exit(1)")
    with pytest.raises(LimitReached):
        value(student, "ns.x")
    student.renew()
    assert value(student, "ns.x") == 1


def test_what_one_exercises_calls_do_to_the_kernel_takes_no_other_exercises_restarts(notebook: Notebook) -> None:
    student, start = notebook("x = 1")
    for part, expected in (("first", MAX_RESTARTS), ("second", 2 * MAX_RESTARTS + 1)):
        student.turn_to(part)
        assert value(student, "ns.x") == 1
        for _ in range(MAX_RESTARTS + 2):
            with pytest.raises(LimitReached):
                value(student, "__import__('os')._exit(1)")
        assert start.count == 1 + expected
    student.turn_to("first")
    with pytest.raises(LimitReached, match="fourth time"):
        value(student, "ns.x")


def test_a_restart_does_not_renew_the_notebooks_time(notebook: Notebook) -> None:
    busy = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass"
    student, _ = notebook(busy, DIE, busy, limits=Limits(cell_s=5, notebook_s=1))
    assert verdicts(student) == [Verdict.PASSED, Verdict.CRASH, Verdict.TIME]


def test_what_is_replayed_and_repeated_comes_out_of_one_account(notebook: Notebook) -> None:
    busy = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"
    account = Account(cpu_limit_s=1.8, wall_limit_s=60)
    # 0.5 s, and as much again after each crash: the notebook's own allowance of 60 s never sees it.
    student, start = notebook(busy, DIE, DIE, "x = 1", account=account)
    assert verdicts(student) == [Verdict.PASSED, Verdict.CRASH, Verdict.CRASH, Verdict.PASSED]
    student.renew()
    with pytest.raises(LimitReached, match=r"all its runs together had used 1\.8 s of computing time"):
        value(student, "ns.x")
        student.renew()
        value(student, "ns.x")
    kernels = start.count
    with pytest.raises(LimitReached, match="all its runs together"):
        value(student, "ns.x")
    assert start.count == kernels, "no kernel is started for nothing"
    assert account.cpu_s < 3
    assert not student.stopped_by_clock
    account.cpu_s, account.wall_s = 0.0, 61.0
    with pytest.raises(LimitReached, match="all its runs together had taken 60 s"):
        value(student, "ns.x")
    assert student.stopped_by_clock, "the machine may have been busy: it is tried once more"


def test_what_a_cell_printed_is_kept_to_the_size_of_a_page(notebook: Notebook) -> None:
    student, _ = notebook("print('x' * 100_000)")
    assert len(student.runs[0].output) < SHOWN_OUTPUT + 100 and "more characters" in student.runs[0].output


def test_of_many_cells_that_print_much_no_more_is_kept_than_a_notebooks_share(notebook: Notebook) -> None:
    loud = "from IPython.display import display\nfor i in range(40): display('x' * 5_000)\n1 / 0"
    student, _ = notebook(*[loud] * 30)
    outputs = [run.output for run in student.runs]
    assert sum(map(len, outputs)) < NOTEBOOK_OUTPUT + 30 * 100
    assert outputs[0].startswith("'x") and outputs[-1] == "\n[... 200120 more characters]"
    # All that is kept besides is what a foreign test cell is graded by.
    assert [len(result.outputs) for result in student.cell_results] == [1] * 30
    assert not any(result.text for result in student.cell_results)


def test_kept_objects_are_released_and_a_dead_kernel_does_not_mind(notebook: Notebook) -> None:
    student, _ = notebook(
        "import weakref\nclass Net: pass\nalive = []\n"
        "def make():\n    n = Net()\n    alive.append(weakref.ref(n))\n    return n"
    )
    handle = value(student, "ns.keep(ns.make())")
    assert value(student, "ns.alive[0]() is not None")
    student.release([handle.number])
    assert not value(student, "ns.alive[0]() is not None")
    assert student.kernel is not None
    student.kernel.process.kill()
    student.release([handle.number])


def test_a_grader_that_cannot_start_kernels_is_not_the_students_fault() -> None:
    def broken() -> Kernel:
        raise KernelFailed("no kernels today")

    with pytest.raises(KernelFailed):
        StudentKernel(broken, SubmittedNotebook("n", (PlannedCell("1", "student"),))).run()


def test_a_kernel_killed_before_the_students_first_line_is_not_the_students_fault(
    zygote: Zygote, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_traps = Kernel.lay_traps

    def killed_then(kernel: Kernel, forbidden: Any) -> None:
        os.kill(kernel.process.pid, signal.SIGKILL)
        lay_traps(kernel, forbidden)

    monkeypatch.setattr(Kernel, "lay_traps", killed_then)
    kernels = Counting(zygote, LIMITS)
    student = StudentKernel(kernels, SubmittedNotebook("n", (PlannedCell("1", "student"),)), forbidden=())
    with pytest.raises(KernelFailed, match="ended while starting"):
        student.run()
    assert student.kernel is None and kernels.count == 1
