"""Failing code is shown and the notebook goes on; an exercise waits, hints, and says when it is right."""

from __future__ import annotations

import signal
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from course_lib.exercises import WIDTH, attempt_or_solution, exercise, on_purpose


def test_an_error_or_a_warning_on_purpose_is_printed_with_its_type_and_goes_no_further(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with on_purpose():
        raise ValueError("two shapes differ")
    assert capsys.readouterr() == ("ValueError: two shapes differ\n", "")
    with on_purpose():
        warnings.warn("not a leaf", UserWarning, stacklevel=1)
    assert capsys.readouterr() == ("UserWarning: not a leaf\n", "")
    with on_purpose():
        pass
    assert capsys.readouterr().out == "No error, no warning.\n"
    with pytest.raises(KeyboardInterrupt), on_purpose():
        raise KeyboardInterrupt


def test_a_long_message_is_wrapped_and_cut(capsys: pytest.CaptureFixture[str]) -> None:
    with on_purpose(lines=2):
        raise RuntimeError("word " * 100)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 2 and out[1].endswith(" ...") and max(map(len, out)) <= WIDTH + 4


def test_a_message_can_be_printed_from_where_it_matters(capsys: pytest.CaptureFixture[str]) -> None:
    for start in ("Division", "nowhere in it"):
        with on_purpose(start=start):
            raise ValueError("In file 7. Division by zero")
    assert capsys.readouterr().out == "ValueError: Division by zero\nValueError: In file 7. Division by zero\n"


def test_what_the_failing_code_held_is_let_go_at_once() -> None:
    """Without a garbage collection, even where the error stands in a frame of its own traceback, as a loader's does."""

    class Held:
        pass

    def fail() -> None:
        held, error = Held(), ValueError("no")
        seen.append(weakref.ref(held))
        raise error

    seen: list[weakref.ref[Held]] = []
    with on_purpose():
        fail()
    assert seen[0]() is None


def _unwritten(*said: str) -> object:
    raise NotImplementedError(*said)


@pytest.mark.parametrize(("tests", "said"), [
    ([(_unwritten, "h")], "Exercise 1: waits for you.\n"),
    ([(lambda: True, "a"), (lambda: False, "Is it 2?")], "Exercise 1: check 2 of 2 does not hold yet. Is it 2?\n"),
    ([(lambda: True, "a"), (lambda: 1, "b")], "Exercise 1: right, all 2 checks hold.\n"),
])  # fmt: skip
def test_an_exercise_waits_hints_or_is_right(tests: list, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    exercise("Exercise 1", *tests)
    assert capsys.readouterr().out == said


def test_the_readers_own_error_and_a_frameworks_not_implemented_are_passed_on() -> None:
    with pytest.raises(ZeroDivisionError):
        exercise("Exercise 1", (lambda: 1 / 0, "hint"))
    with pytest.raises(NotImplementedError, match="lerp_cpu"):
        exercise("Exercise 1", (lambda: _unwritten("lerp_cpu not implemented for Long"), "hint"))


@pytest.mark.parametrize(("value", "goes_on_with"), [(2, "attempt"), (3, "solution")])
def test_a_lecture_goes_on_with_what_is_right(value: int, goes_on_with: str) -> None:
    assert attempt_or_solution("E", "attempt", "solution", (lambda: value == 2, "Is it 2?")) == goes_on_with


def test_a_lecture_goes_on_with_our_solution_while_there_is_no_attempt(capsys: pytest.CaptureFixture[str]) -> None:
    assert attempt_or_solution("E", "attempt", "solution", (_unwritten, "hint")) == "solution"
    assert "waits for you" in capsys.readouterr().out


def test_the_readers_own_error_is_told_with_its_line_and_the_lecture_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def attempt(x: int) -> float:
        return x / 0

    assert attempt_or_solution("E", attempt, None, (lambda: attempt(1) == 2, "hint")) is None
    said = capsys.readouterr().out
    assert "ZeroDivisionError: division by zero" in said and "in this line: return x / 0" in said


def test_a_long_message_is_cut_and_not_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    def attempt() -> None:
        raise ValueError("x" * 2000)

    attempt_or_solution("E", attempt, None, (attempt, "hint"))
    assert "ValueError: " + "x" * 300 + "\n" in capsys.readouterr().out


def test_a_loop_that_does_not_end_is_stopped_with_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless() -> int:
        while True:
            try:
                n = 1
            except Exception:
                n = 2
        return n

    monkeypatch.setattr("course_lib.exercises.LIMIT_S", 0.2)
    before = signal.getsignal(signal.SIGALRM)
    assert attempt_or_solution("endless", endless, len, (lambda: endless() == 1, "")) is len
    out = capsys.readouterr().out
    assert out.startswith("endless: after 0.2 seconds your code had not ended, and was stopped. Does each of its loops")
    assert "in this line: " in out and out.endswith("continues with our solution.\n")
    assert signal.getsignal(signal.SIGALRM) is before


def test_in_another_thread_checks_have_no_time_limit() -> None:
    with ThreadPoolExecutor() as pool:
        assert pool.submit(attempt_or_solution, "int", int, len, (lambda: int("2") == 2, "")).result() is int


def test_of_an_error_in_a_graph_of_tensorflow_only_the_readers_line_and_the_message_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def attempt() -> None:
        exec(compile("raise error", "/tmp/__autograph_generated_fileab12.py", "exec"), {"error": error})

    error = AttributeError(
        'in user code:\n\n    File "/tmp/ipykernel_1/5.py", line 3, in read  *\n        h = tf.zeross([1])\n\n'
        "    AttributeError: module 'tensorflow' has no attribute 'zeross'\n"
    )
    attempt_or_solution("E", attempt, None, (attempt, "hint"))
    said = capsys.readouterr().out
    assert "your code raises AttributeError: module 'tensorflow' has no attribute 'zeross'\n" in said
    assert "in this line: h = tf.zeross([1])\n" in said
