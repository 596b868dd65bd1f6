"""An assignment's checks, collected by pytest once and run for each side that is asked.

To configure pytest and to collect takes longer than most checks, and one submission is asked several times: with
earlier parts put right, and for each mistake that might explain what it did. So a session stays open here, as in
pytest-xdist's workers, and `run` sets who is asked.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from _pytest.config import _prepareconfig
from _pytest.python import get_direct_param_fixture_func
from _pytest.runner import runtestprotocol

from autograder.errors import BadAssignment
from autograder.judge.draw import Draw
from autograder.judge.expect import Expect
from autograder.judge.faults import modules_of
from autograder.judge.marker import Marker, read_marker
from autograder.judge.student import Side
from autograder.records import CPU, Assignment, Role

if TYPE_CHECKING:
    from autograder.judge.judge import Judge, Submitted

PYTEST_OPTIONS = (
    *("-q", "--no-header", "--no-summary", "--import-mode=importlib", "-c", os.devnull),
    *("--disable-plugin-autoload", "--noconftest"),
    "--assert=plain",  # checks speak through `expect`; rewriting would cost more than the checks
    "-s",  # what is printed is caught below
    # These collect garbage, write files or install handlers: half of the time of a short run, and no use to a judge.
    *(
        f"-pno:{name}"
        for name in ["cacheprovider", "unraisableexception", "threadexception", "faulthandler", "logging"]
    ),
    *(
        f"-pno:{name}"
        for name in ["junitxml", "doctest", "pastebin", "stepwise", "setuponly", "setupplan", "debugging", "warnings"]
    ),
)
"""pytest as a library: no configuration, no plugins but its core and ours"""


@dataclass(frozen=True)
class CollectedCheck:
    """A function of the check file."""

    name: str
    sentence: str
    marker: Marker
    cases: int


class Collection:
    """The checks of one assignment, and the pytest plugin that gives them their fixtures."""

    def __init__(self, assignment: Assignment) -> None:
        assert assignment.checks is not None, "a foreign assignment has no checks to run"
        self.assignment = assignment
        self.asking: Judge | None = None
        self.checks: dict[str, CollectedCheck] = {}
        self.items: list[pytest.Function] = []
        self._plain: frozenset[pytest.Function] = frozenset()
        self.broken = ""
        """why they could not be loaded"""
        self._device = "cpu" if assignment.device == CPU else "cuda"
        with self._quietly() as printed:
            self._collect(printed)
        if not (self.broken or self.items):
            self.broken = f"{assignment.checks} holds no check"
        if self.broken:
            sys.modules.pop("checks", None)  # what is half there would be taken for whole the next time

    @contextlib.contextmanager
    def _quietly(self) -> Iterator[io.StringIO]:
        printed = io.StringIO()
        with (
            modules_of(self.assignment.folder),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            yield printed

    def _collect(self, printed: io.StringIO) -> None:
        arguments = [str(self.assignment.checks), *PYTEST_OPTIONS, f"--rootdir={self.assignment.folder}"]
        try:
            config = _prepareconfig(arguments, [self])
            config._do_configure()
            session = pytest.Session.from_config(config)
            config.hook.pytest_sessionstart(session=session)
            self._state = session._setupstate
            session.perform_collect()
        except pytest.UsageError as error:
            self.broken = f"{self.assignment.checks}: {printed.getvalue()}{error}"[-2000:]
        except BaseException as error:  # a check file may raise SystemExit
            self.broken = self.broken or _with_place(error)

    def run(self, judge: Judge, items: Sequence[pytest.Function], before: Callable[[pytest.Function], bool]) -> str:
        """Run these cases; `before` each says whether to go on. Returns what ended it too early, if anything did."""
        with self._quietly():
            self.asking = judge
            try:
                for item, following in itertools.zip_longest(items, items[1:]):
                    if not before(item):
                        break
                    if item in self._plain:
                        self._run_plain(item)
                    else:
                        runtestprotocol(item, log=False, nextitem=following)  # nobody reads the reports
            except BaseException as error:  # a check may raise KeyboardInterrupt
                return _with_place(error)
            finally:
                self.asking = None
                with contextlib.suppress(Exception):
                    self._state.teardown_exact(None)  # what an early end has left standing
        return ""

    def _is_plain(self, item: pytest.Function) -> bool:
        """Whether a case takes nothing but our fixtures and direct parameters."""
        info = item._fixtureinfo
        # `request` has no maker, nor has a misspelled name: pytest says so.
        makers = [info.name2fixturedefs[name][-1].func for name in info.initialnames if name in info.name2fixturedefs]
        known = [m for m in makers if getattr(m, "__self__", None) is self or m is get_direct_param_fixture_func]
        marked = any(item.get_closest_marker(name) for name in ("skip", "skipif", "xfail"))
        return len(known) == len(info.initialnames) and not marked

    def _run_plain(self, item: pytest.Function) -> None:
        """As pytest runs a plain case, without what it does for others: much of a judge's time, as cases are short."""
        makers = {name: item._fixtureinfo.name2fixturedefs[name][-1].func for name in item._fixtureinfo.argnames}
        request = SimpleNamespace(node=item)
        try:
            item.funcargs = {
                name: item.callspec.params[name] if make is get_direct_param_fixture_func else make(request)
                for name, make in makers.items()
            }
            self._judge.run_case(item, item.funcargs)
        except (KeyboardInterrupt, pytest.exit.Exception):
            raise
        except BaseException as error:  # a check may raise SystemExit
            self._judge.note_error(item, error)

    # -- fixtures ------------------------------------------------------------------------------------------------

    @property
    def _judge(self) -> Judge:
        assert self.asking is not None, "checks run in `run` alone"
        return self.asking

    @pytest.fixture
    def student(self, request: pytest.FixtureRequest) -> Side:
        """The student's code."""
        return self._judge.student_side

    @pytest.fixture
    def reference(self, request: pytest.FixtureRequest) -> Side:
        """The reference solution, in this process."""
        return self._judge.reference_side(request.node.name)

    @pytest.fixture
    def expect(self, request: pytest.FixtureRequest) -> Expect:
        """What may be demanded."""
        return self._judge.expectations()

    @pytest.fixture
    def device(self, request: pytest.FixtureRequest) -> str:
        """The device that the student's kernel offers: `cuda`, virtual or real, or `cpu`."""
        return self._device

    @pytest.fixture
    def flag(self, request: pytest.FixtureRequest) -> Callable[[str], None]:
        """`flag(sentence)` asks a person to look; it costs nothing."""
        return self._judge.notice

    @pytest.fixture
    def submission(self, request: pytest.FixtureRequest) -> Submitted:
        """What was handed in, as text."""
        return self._judge.handed_in

    @pytest.fixture
    def draw(self, request: pytest.FixtureRequest) -> Draw:
        """Random inputs."""
        return self._judge.drawn(request.node.name)

    # -- hooks ---------------------------------------------------------------------------------------------------

    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        tests_cells = [c.grade_id or "" for n in self.assignment.notebooks for c in n.cells if c.role is Role.TESTS]
        cases: dict[str, list[pytest.Function]] = {}
        for item in items:
            cases.setdefault(name_of(item), []).append(item)
        for name, of_check in cases.items():
            try:
                marker = read_marker(of_check[0], tests_cells)
            except BadAssignment as error:
                self.broken = self.broken or str(error)
                return
            self.checks[name] = CollectedCheck(name, _sentence(of_check[0]), marker, len(of_check))
        self.items = items
        self._plain = frozenset(item for item in items if self._is_plain(item))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken = str(report.longrepr)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool:
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        self._judge.run_case(pyfuncitem, arguments)
        return True

    def pytest_runtest_makereport(self, item: pytest.Function, call: pytest.CallInfo[None]) -> None:
        """A fixture of the check file failed, or the check tried to end this process: not the student's doing."""
        if call.excinfo:
            self._judge.note_error(item, call.excinfo.value)


def name_of(item: pytest.Item) -> str:
    """The name of the check of which `item` is a case."""
    return getattr(item, "originalname", None) or item.name


def _sentence(item: pytest.Function) -> str:
    text = (item.obj.__doc__ or "").strip()
    return " ".join(text.split("\n\n")[0].split()) or name_of(item).removeprefix("test_").replace("_", " ")


def _with_place(error: BaseException) -> str:
    caught = pytest.ExceptionInfo.from_exception(error)
    last = caught.traceback[-1]
    return f"{last.path}, line {last.lineno + 1}: {caught.exconly()}"
