"""The reference tried in a fork: TensorFlow's runtime, once started, is of no use to the judges forked later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.errors import BadAssignment
from autograder.judge.run import in_a_fork

ROOT = Path(__file__).resolve().parents[3]


def test_a_fork_answers() -> None:
    assert in_a_fork(lambda: {"done": os.getpid()})["done"] != os.getpid()


def test_an_error_in_a_fork_comes_back() -> None:
    def refuse() -> None:
        raise BadAssignment("the reference solution fails test_x")

    with pytest.raises(BadAssignment, match="fails test_x"):
        in_a_fork(refuse)


def test_a_fork_that_ends_without_an_answer_is_told() -> None:
    with pytest.raises(BadAssignment, match="ended with status 3"):
        in_a_fork(lambda: os._exit(3))


PROGRAM = """
import sys
from pathlib import Path

from autograder.assignment import load_assignment
from autograder.judge.run import Checks, in_a_fork

checks = Checks(load_assignment("a7_tensorflow_graphs", Path()))
checks.warm_up_apart(b"apart")
from tensorflow.python.eager import context
assert context.context()._context_handle is None, "the runtime has started"
for _ in range(2):
    edited = {"row_norms": "def row_norms(x):\\n    return tf.norm(x, axis=1)"}
    found = in_a_fork(lambda: checks.run_on_reference(edited, b"apart", ("test_row_norms",)).checks)
    print(sum(check.verdict == "failed" for check in found["test_row_norms"]))
"""


@pytest.mark.slow
def test_judges_forked_after_the_trial_can_use_tensorflow() -> None:
    program = [sys.executable, "-c", PROGRAM]
    quiet = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(program, cwd=ROOT, env=quiet, capture_output=True, text=True, timeout=500, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["2", "2"]), done.stderr[-2000:]
