"""The stopwatch list, the rule for lines, and a version that runs in a process of its own and says what it took."""

from __future__ import annotations

import math
import sys
import textwrap
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from course_lib.lectures import framework_costs

SOURCE = '''
import numpy as np


def helper(x):
    return x + 1


def train(task, log):
    """Two lines
    of words."""
    w = float(task.start["0.kernel"].sum())
    for _ in range(task.epochs):
        for first in range(0, len(task.x), task.batch):
            w = helper(w)  # a comment after code

            log.append(np.float32(w))
    # a comment alone
    return {"0.kernel": np.array([w])}, task.x_test
'''


def _task(rows: int = 10, epochs: int = 3, batch: int = 4) -> framework_costs.Task:
    x, y = np.ones((rows, 2)), np.arange(rows)
    start = {"0.kernel": np.full((2, 5), 0.5), "0.bias": np.zeros(5)}
    return framework_costs.Task(x, y, x[:2], y[:2], start, epochs, batch, lr=0.25)


def _version(source: str = SOURCE) -> framework_costs.Version:
    def train(task: framework_costs.Task, log: framework_costs.Log) -> Any:
        raise AssertionError("only its name counts; it runs elsewhere")

    return framework_costs.Version(train, source)


def test_a_task_knows_its_sizes_and_changes_its_dtype_as_a_whole() -> None:
    task = _task()
    assert (task.steps, _task(rows=8).steps, task.hidden) == (3, 2, 5)
    cast = task.cast("float32")
    assert {cast.x.dtype, cast.x_test.dtype, *(array.dtype for array in cast.start.values())} == {np.dtype("float32")}
    assert task.x.dtype == np.float64 and cast.y.dtype == task.y.dtype and cast.lr == task.lr


def test_a_log_is_a_list_with_a_time_for_each_loss_and_its_best_epoch_leaves_out_the_first() -> None:
    log = framework_costs.Log()
    for loss in (np.float32(0.5), 0.25, np.array(0.125), 3, 4, 5):
        log.append(loss)  # type: ignore[arg-type]
    assert log == [0.5, 0.25, 0.125, 3, 4, 5] and {type(loss) for loss in log} == {float}
    assert len(log.times) == 6 and log.times == sorted(log.times)
    log.times = [5.0, 9.0, 10.0, 12.0, 14.5, 16.0]
    assert log.best_epoch(2) == 3.0  # from 9 to 12; the first ended at 9, the last took 4
    with pytest.raises(ValueError, match="less than two epochs"):
        log.best_epoch(4)


@pytest.mark.parametrize(("source", "lines"), [
    (SOURCE, 12),  # import, def, return, def, two of words, w, for, for, w, log, return
    ("", 0), ("# nothing\n\n\n", 0), ("a = [\n    1,\n\n    # one\n    2,\n]\n", 4), ('a = """x\n\ny"""\n', 3),
])  # fmt: skip
def test_lines_of_code_are_lines_that_hold_code(source: str, lines: int) -> None:
    assert framework_costs.lines_of_code(source) == _version(source).lines == lines


def test_the_batches_are_slices_in_order_and_the_last_may_be_smaller() -> None:
    task = replace(_task(rows=5, epochs=2, batch=2), y=np.arange(5))
    assert [y.tolist() for _, y in task.batches()] == 2 * [[0, 1], [2, 3], [4]]
    assert [y.tolist() for _, y in task.batches(epochs=1)] == [[0, 1], [2, 3], [4]]
    assert all(x.base is task.x and len(x) == len(y) for x, y in task.batches())


def test_a_version_is_put_together_from_its_functions_without_their_docstrings() -> None:
    found = framework_costs.version(_train_of_a_test, _helper_of_a_test, imports="import numpy as np")
    assert found.train is _train_of_a_test and found.lines == 6
    names = dict[str, Any]()
    exec(found.source, names)
    log: list[float] = []
    names["_train_of_a_test"](_task(), log)
    assert log == [2.0] and "words" not in found.source


class _ClassOfATest:
    def method(self) -> int:
        """Words."""
        return 1


def test_a_class_is_found_where_its_methods_are() -> None:
    found = framework_costs.version(_train_of_a_test, _ClassOfATest, _helper_of_a_test, imports="import numpy as np")
    assert found.lines == 9 and "class _ClassOfATest:" in found.source and "Words" not in found.source


def _helper_of_a_test(x: float) -> float:
    """Two lines

    of words.
    """
    return x + 1


def _train_of_a_test(task: object, log: list[float]) -> object:
    """More words."""
    log.append(_helper_of_a_test(1.0))
    # a comment
    return task, np.ones(1)


@pytest.mark.parametrize("rows", [10, 60])
def test_a_version_runs_elsewhere_and_its_losses_come_back(rows: int) -> None:
    """One with fewer steps in an epoch than are counted, and one with more."""
    task, log, names = _task(rows), framework_costs.Log(), dict[str, Any]()
    cost = framework_costs.measure(_version(), task)
    exec(SOURCE, names)
    names["train"](task, log)
    assert cost.losses == tuple(log) and len(log) == 3 * task.steps
    assert min(cost.imports, cost.first, cost.epoch) > 0
    # helper; then Log.append and the list's own clock live in the logger, whose frames count alike in every version
    assert cost.calls == pytest.approx(framework_costs.measure(_version(), replace(task, epochs=4)).calls)


def test_one_more_call_in_a_step_counts_as_one() -> None:
    twice = SOURCE.replace("w = helper(w)", "w = helper(helper(w)) - 1")
    fewer, more = (framework_costs.measure(_version(source), _task()).calls for source in (SOURCE, twice))
    assert more - fewer == pytest.approx(1)


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="the system does not say")
def test_memory_is_that_of_the_process_itself() -> None:
    """A large parent makes no large child; a large array in the child does."""
    ballast = np.ones(40_000_000)  # 320 MB here
    greedy = SOURCE.replace("import numpy as np\n", "import numpy as np\nballast = np.ones(20_000_000)\n")
    small, large = (framework_costs.measure(_version(source), _task()).peak for source in (SOURCE, greedy))
    assert framework_costs.peak_bytes() > ballast.nbytes > small
    assert 150e6 < large - small < 180e6
    assert not math.isnan(small)


def test_a_version_that_fails_is_quoted() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)ended with 1.*ZeroDivisionError"):
        framework_costs.measure(_version(SOURCE.replace("helper(w)", "1 / 0")), _task())
    with pytest.raises(ValueError, match="two epochs"):
        framework_costs.measure(_version(), _task(epochs=1))


def test_the_dtype_and_the_settings_arrive() -> None:
    source = textwrap.dedent("""
        def train(task, log):
            assert str(task.x.dtype) == "float32" and task.lr == 0.25 and task.momentum == 7 / 8
            assert sorted(task.start) == ["0.bias", "0.kernel"] and task.y.tolist()[:3] == [0, 1, 2]
            for _ in range(task.epochs * task.steps):
                log.append(0.0)
    """)
    assert set(framework_costs.measure(_version(source), _task().cast("float32")).losses) == {0.0}
