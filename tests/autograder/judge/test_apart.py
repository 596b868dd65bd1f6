"""The reference tried in a fork: TensorFlow's runtime, once started, is of no use to the judges forked later."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import BadAssignment
from autograder.judge.run import Checks, in_a_fork
from autograder.records import Verdict
from tests.conftest import Little

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


def test_what_the_trial_found_is_kept_for_the_same_key_alone(
    make_little: Callable[..., Little], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = '\n@pytest.mark.cell("test_double")\ndef test_same(student, reference):\n    '
    same += "assert student.double(2.0) == reference.double(2.0)\n"
    assignment = make_little(None, **{"checks.py": CHECKS + same, "probes.py": PROBES}).load()
    file, tries = tmp_path / "reference", []

    def counted(work: Callable[[], Any]) -> Any:
        tries.append(1)
        return in_a_fork(work)

    monkeypatch.setattr("autograder.judge.run.in_a_fork", counted)
    first, again = Checks(assignment), Checks(assignment)
    first.warm_up_apart(b"s", (file, "key"))
    again.warm_up_apart(b"s", (file, "key"))
    assert len(tries) == 1 and first._memories and again._memories == first._memories
    assert again._observed == first._observed and file.stat().st_mode & 0o077 == 0
    whole = file.read_bytes()
    for content in (whole[:-1], whole[:5], b"", b"x" * 100):
        file.write_bytes(content)
        Checks(assignment).warm_up_apart(b"s", (file, "key"))
    Checks(assignment).warm_up_apart(b"s", (file, "another"))
    assert len(tries) == 6
    Checks(assignment).warm_up_apart(b"s", (tmp_path / "no" / "folder", "key"))
    assert len(tries) == 7


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
    print(*sorted(check.name for check in found["test_row_norms"] if check.verdict == "passed"))
"""


@pytest.mark.slow
def test_judges_forked_after_the_trial_can_use_tensorflow() -> None:
    program = [sys.executable, "-c", PROGRAM]
    quiet = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(program, cwd=ROOT, env=quiet, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == ["test_norms", "test_norms"], "right for rows of moderate size, and only there"


CHECKS = """
import threading

import pytest
from probes import doubled


@pytest.mark.cell("test_double")
def test_doubles(student, expect):
    \"""double doubles.\"""
    threading.Thread(target=threading.Event().wait, daemon=True, name="left").start()
    expect.close(student.run(doubled, x=3), 6)
"""
PROBES = "def doubled(ns, x):\n    return ns.double(x)\n"


def test_threads_that_the_trial_leaves_end_with_its_fork(make_little: Callable[..., Little]) -> None:
    little = make_little(None, **{"checks.py": CHECKS, "probes.py": PROBES})
    Checks(little.load()).warm_up_apart(b"any")
    assert "left" not in [thread.name for thread in threading.enumerate()]


def test_probes_that_are_edited_while_a_class_is_graded_are_sent_as_they_were(
    make_little: Callable[..., Little],
) -> None:
    little = make_little(None, **{"checks.py": CHECKS, "probes.py": PROBES})
    checks = Checks(little.load())
    checks.warm_up_apart(b"any")
    (little.folder / "probes.py").write_text(f"def other(ns, x):\n    return 0\n\n\n{PROBES}")
    found = checks.run_on_reference(secret=b"other").checks
    assert [check.verdict for check in found["test_double"]] == [Verdict.PASSED]
