"""A small assignment of every kind of cell, for tests that need one and no particular one."""

from __future__ import annotations

import copy
import importlib
import importlib.abc
import json
import os
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.kernels.zygote import ONE_THREAD
from autograder.records import Assignment
from tests import notebook_builder as builder
from tests import sampling
from tests.sampling import ROOT


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--size` is the one place where the three sizes of a test run are told apart; the Makefile names it."""
    parser.addoption("--size", choices=sampling.SIZES, default="all", help="check: the fast ones, test: a sample, all")
    parser.addoption("--sample-seed", default="", help="draw the samples of `--size test` as another run did")
    parser.addoption("--shard", default="1/1", metavar="I/N", help="run the I-th of N parts")


def pytest_configure(config: pytest.Config) -> None:
    sampling.size, sampling.seed = config.getoption("--size"), config.getoption("--sample-seed")


def pytest_report_header(config: pytest.Config) -> str:
    return f"size: {sampling.size}, sample seed: {sampling.current_seed()}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = {"check": {"slow", "long", "exhaustive"}, "test": {"exhaustive"}, "all": set()}[sampling.size]
    not_drawn = long_tests_not_drawn(items)
    part, parts = map(int, config.getoption("--shard").split("/"))

    def chosen(item: pytest.Item) -> bool:
        if left_out & {mark.name for mark in item.iter_markers()} or group_of(item, item.nodeid) in not_drawn:
            return False
        together = group_of(item, item.nodeid.partition("::")[0])
        return zlib.crc32(together.encode()) % parts == part - 1

    config.hook.pytest_deselected(items=[item for item in items if not chosen(item)])
    items[:] = [item for item in items if chosen(item)]


def group_of(item: pytest.Item, alone: str) -> str:
    """The group that an item runs in, or `alone`."""
    group = item.get_closest_marker("xdist_group")
    return str(group.args[0]) if group else alone


def long_tests_not_drawn(items: Sequence[pytest.Item]) -> set[str]:
    """Of the tests marked `long`, by group: those that `--size test` leaves out.

    It asks one of four, and those of `tests/a/b/` where a file below `a/b/` was changed.
    """
    found = {group_of(item, item.nodeid): item.path for item in items if item.get_closest_marker("long")}

    def changed_beside(name: str) -> list[Path]:
        near = {found[name], ROOT / found[name].relative_to(ROOT / "tests").parent} - {ROOT}
        return [path for path in sampling.changed() if near & {path, *path.parents}]

    return found.keys() - sampling.sample("long tests", sorted(found), len(found) // 4, changed_beside)


FRAMEWORKS = {"torch", "tensorflow", "keras", "jax", "lightning", "onnx", "onnxruntime"}
IMPORTED = pytest.StashKey[set[str]]()


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[IMPORTED] = FRAMEWORKS & sys.modules.keys()


@pytest.fixture
def imported_by_collection(pytestconfig: pytest.Config) -> set[str]:
    """The frameworks that this worker had imported before its first test."""
    return pytestconfig.stash[IMPORTED]


@pytest.fixture(autouse=True)
def _fast_tests_import_no_framework(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hold what the marker `slow` says, in `make check`, where a framework that is imported once would go unnoticed."""
    before = FRAMEWORKS & sys.modules.keys()
    yield
    imported = (FRAMEWORKS & sys.modules.keys()) - before
    if sampling.size == "check" and imported:
        pytest.fail(f"{request.node.nodeid} imports {', '.join(sorted(imported))}: mark it `slow`")


@pytest.fixture(autouse=True)
def _notebooks_run_here_choose_no_back_end_for_others() -> Iterator[None]:
    """Notebooks set `KERAS_BACKEND`. A process started later would take it, and with TensorFlow first that ends it."""
    os.environ.pop("KERAS_BACKEND", None)
    yield
    os.environ.pop("KERAS_BACKEND", None)


# Two workers whose threads wait for each other on two cores take several times as long: small tensors, many barriers.
os.environ.update(ONE_THREAD)


class _DynamoFirst(importlib.abc.MetaPathFinder):
    """Import torch's compiler before TensorFlow, wherever a test does that: see `autograder.kernels.preload`."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Finds nothing."""
        if name == "tensorflow":
            sys.meta_path.remove(self)
            importlib.import_module("torch._dynamo")


sys.meta_path.insert(0, _DynamoFirst())

DOUBLE = '''def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION'''
HALF = '''def half(x):
    """Half of x."""
    ### BEGIN SOLUTION
    return x / 2
    ### END SOLUTION'''
TEST_DOUBLE = """assert double(2) == 4
### BEGIN HIDDEN TESTS
assert double(5) == 10
### END HIDDEN TESTS"""
EXPLORE = """Try it with letters.
### BEGIN MARK SCHEME
One point for an example.
### END MARK SCHEME"""


@dataclass
class Little:
    """The assignment `little`, and notebooks as students could hand them in."""

    folder: Path
    files: dict[str, str] = field(default_factory=dict)

    def load(self) -> Assignment:
        """As the grader reads it."""
        return load_assignment(self.folder, self.folder)

    def released(self) -> dict[str, Any]:
        """What students receive, as plain JSON data."""
        notebook = json.loads((self.folder / "little.ipynb").read_text(encoding="utf-8"))
        for cell, own in zip(notebook["cells"], self.load().notebooks[0].cells, strict=True):
            cell["source"] = own.released
        return notebook

    def honest(self, **changes: str) -> dict[str, Any]:
        """A right and complete submission; `changes` replaces the text of cells by grade_id."""
        answers = {
            "double": 'def double(x):\n    """Twice x."""\n    return x + x',
            "half": 'def half(x):\n    """Half of x."""\n    return 0.5 * x',
            "explain": "Because a half and a half are a whole.",
        }
        notebook = self.released()
        for cell in notebook["cells"]:
            grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
            cell["source"] = (answers | changes).get(grade_id, cell["source"])
        return notebook

    @staticmethod
    def bytes(notebook: dict[str, Any]) -> bytes:
        """A notebook as the bytes of its file."""
        return json.dumps(notebook, indent=1).encode()


@pytest.fixture(name="little_cells")
def little_cells_fixture() -> list[Any]:
    """One cell of every role, most of them twice; the task is the last."""
    return little_cells()


def little_cells() -> list[Any]:
    """One cell of every role, most of them twice."""
    return [
        builder.text("# Little\n\nDouble and half."),
        builder.code("import math\n\nimport numpy as np"),
        builder.code("LIMIT = 3", "setup", locked=True),
        builder.solution(DOUBLE, "double"),
        builder.tests(TEST_DOUBLE, "test_double", 2),
        builder.text("Now the half."),
        builder.solution(HALF, "half"),
        builder.code("half(3)"),
        builder.tests("assert half(4) == 2", "test_half", 3),
        builder.text("It is so.", "explain", 1, grade=True, solution=True),
        builder.text(EXPLORE, "explore", 2, locked=True, task=True),
    ]


@pytest.fixture
def make_little(tmp_path: Path) -> Callable[..., Little]:
    """Write an assignment folder: `make_little(cells, **{"assignment.toml": "..."})`."""

    def make(cells: list[Any] | None = None, **files: str) -> Little:
        folder = tmp_path / "course" / "little"
        builder.write(folder / "little.ipynb", *copy.deepcopy(cells or little_cells()))
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return Little(folder, files)

    return make


@pytest.fixture
def little(make_little: Callable[..., Little]) -> Little:
    """The small assignment without hidden checks: its own test cells grade it."""
    return make_little()


@pytest.fixture
def judged_little(make_little: Callable[..., Little]) -> Little:
    """The small assignment with a `checks.py`: the judge grades it."""
    return make_little(None, **{"checks.py": "", "assignment.toml": 'forbidden = ["torch", "tensorflow"]\n'})


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium. A developer may do without; a machine that declares itself CI may not."""
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not chromium or not driver:
        missing = "Chromium and chromedriver are not installed (apt-get install chromium chromium-driver)"
        if os.environ.get("CI"):
            pytest.fail(f"{missing}, and CI is set: what a page does is not known until a browser has opened it")
        pytest.skip(missing)
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1400,1000")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    try:
        yield started
    finally:
        started.quit()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What each lecture took, in this run: times differ between machines and are reported, not held to a second."""
    reports = (report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome))
    rows = sorted(dict(report.user_properties)["lecture"] for report in reports
                  if "lecture" in dict(report.user_properties))  # fmt: skip
    if rows:
        terminalreporter.section("lectures")
        terminalreporter.write_line("CPU s  wall s  cells  figures  questions  lecture")
        for name, cpu_s, wall_s, cells, figures, questions in rows:
            terminalreporter.write_line(f"{cpu_s:5.1f}  {wall_s:6.1f}  {cells:5}  {figures:7}  {questions:9}  {name}")
