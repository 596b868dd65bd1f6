"""What a lecture needs besides its subject: a place for code that fails on purpose, and a check for an exercise."""

from __future__ import annotations

import re
import signal
import sysconfig
import textwrap
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
NOTHING_RETURNED = "Your function returns None. Is there a `return`?"
"""the hint of many exercises"""
LIMIT_S = 60
"""seconds that the checks of an attempt may take; ours take a few on any machine"""
WIDTH = 110
"""columns of a printed message, so that a long one needs no scrolling"""


@contextmanager
def on_purpose(lines: int = 5, start: str = "") -> Iterator[None]:
    """Run a block that is meant to fail or to warn, and print what it says; the notebook goes on after it.

    lines: how many lines of the message to print. start: where the message begins to matter; what stands before, such
    as the places in files that TensorFlow lists first, is left out. Says so if nothing went wrong, for whoever mended
    the code.
    """
    said = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except Exception as error:
            message = str(error)
            said.append(f"{type(error).__name__}: {message[max(message.find(start), 0) :]}")
            # An error that keeps its frames keeps what stood in them: a loader's workers would live until collected.
            error.__traceback__ = None
    said = [f"{warning.category.__name__}: {warning.message}" for warning in caught] + said
    for message in said or ["No error, no warning."]:
        wrapped = [part for line in message.splitlines() for part in textwrap.wrap(line, WIDTH, break_on_hyphens=False)]
        print("\n".join(wrapped[:lines]) + (" ..." if len(wrapped) > lines else ""))


def exercise(name: str, *tests: tuple[Callable[[], object], str]) -> None:
    """Say how far the reader is with an exercise: waiting, a hint, or right.

    tests: in order, a question whose answer should be true, and the hint for whoever gets it wrong. A function that
    still raises a bare NotImplementedError is not wrong but waiting; any other error of the reader's own code is passed
    on, a framework's NotImplementedError too, which has a message.
    """
    _is_right(name, *tests)


def attempt_or_solution(name: str, attempt: T, solution: T, *tests: tuple[Callable[[], object], str]) -> T:
    """What the lecture continues with: the reader's `attempt` if it is right, else our `solution`; says which.

        double = attempt_or_solution("double", double, _solution, (lambda: double(2) == 4, "Twice 2 is 4."))

    tests: as for `exercise`; but an error is told by its message and the reader's line, since a traceback would show
    the checks, and the lecture goes on. So it does after `LIMIT_S` seconds in a loop that does not end.
    """
    try:
        with _time_limit():
            if _is_right(name, *tests):
                return attempt
    except _Late as late:
        print(f"{name}: after {LIMIT_S} seconds your code had not ended, and was stopped. Does each of its loops end?")
        if line := _line_of_reader(late):
            print(f"    in this line: {line}")
    except Exception as error:
        print(f"{name}: your code raises {_told(error)}")
        if line := _line_of_reader(error):
            print(f"    in this line: {line}")
        print("Call it yourself to see the whole error; for arrays, print the shapes that meet in that line.")
    print("Until it is right, the lecture continues with our solution.")
    return solution


class _Late(BaseException):
    """Not an Exception, so that no attempt catches it."""


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise _Late in what takes longer than `LIMIT_S`, where that can be done: Python can only interrupt main threads,
    and Windows has no such signal.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, stop)
    left, _ = signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, before)


_IN_USER_CODE = re.compile(r'^ +File "(.+)", line \d+, in .+\n +(.+)$', re.MULTILINE)
"""a place in the message of an error in a `tf.function`, whose own frames AutoGraph leaves out of the traceback"""


def _line_of_reader(error: BaseException) -> str:
    """The innermost line that is neither ours, nor a library's, nor written by AutoGraph; empty if there is none."""
    paths = sysconfig.get_paths()
    libraries = [str(Path(__file__).parent), *(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))]
    places = [(frame.filename, frame.line or "") for frame in traceback.extract_tb(error.__traceback__)]
    if _tells_its_places(error):
        places += _IN_USER_CODE.findall(str(error))
    lines = [
        line.strip()
        for file, line in places
        if not file.startswith((*libraries, "<frozen")) and "__autograph_generated" not in file
    ]
    return lines[-1] if lines else ""


def _tells_its_places(error: BaseException) -> bool:
    return str(error).startswith("in user code:")


def _told(error: BaseException) -> str:
    """Kind and message on one line, without the places that AutoGraph puts before them."""
    kind, message = f"{type(error).__name__}: ", str(error)
    if _tells_its_places(error):
        kind, message = "", _IN_USER_CODE.split(message)[-1]
    return kind + " ".join(message.split())[:300]


def _is_right(name: str, *tests: tuple[Callable[[], object], str]) -> bool:
    try:
        for number, (holds, hint) in enumerate(tests, start=1):
            if not holds():
                print(f"{name}: check {number} of {len(tests)} does not hold yet. {hint}")
                return False
    except NotImplementedError as error:
        if error.args:
            raise
        print(f"{name}: waits for you.")
        return False
    print(f"{name}: right, all {len(tests)} checks hold.")
    return True
