"""The reference tried in a fork: TensorFlow's runtime, once started, is of no use to the judges forked later."""

from __future__ import annotations

import os

import pytest

from autograder.errors import BadAssignment
from autograder.judge.run import in_a_fork


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
