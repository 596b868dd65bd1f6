"""A small assignment of every kind of cell, for tests that need one and no particular one."""

from __future__ import annotations

import copy
import importlib
import importlib.abc
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.assignment import load_assignment
from autograder.kernels.zygote import ONE_THREAD
from autograder.records import Assignment

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


def _cell(kind: str, source: str, grade_id: str = "", points: float | None = None, **roles: bool) -> Any:
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    cell = make(source)
    if grade_id:
        meta = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3} | roles
        cell.metadata["nbgrader"] = meta | {"grade_id": grade_id}
        if points is not None:
            cell.metadata["nbgrader"]["points"] = points
    return cell


@pytest.fixture(name="little_cells")
def little_cells_fixture() -> list[Any]:
    """One cell of every role, most of them twice; the task is the last."""
    return little_cells()


def little_cells() -> list[Any]:
    """One cell of every role, most of them twice."""
    return [
        _cell("markdown", "# Little\n\nDouble and half."),
        _cell("code", "import math\n\nimport numpy as np"),
        _cell("code", "LIMIT = 3", "setup", locked=True),
        _cell("code", DOUBLE, "double", solution=True),
        _cell("code", TEST_DOUBLE, "test_double", 2, grade=True, locked=True),
        _cell("markdown", "Now the half."),
        _cell("code", HALF, "half", solution=True),
        _cell("code", "half(3)"),
        _cell("code", "assert half(4) == 2", "test_half", 3, grade=True, locked=True),
        _cell("markdown", "It is so.", "explain", 1, grade=True, solution=True),
        _cell("markdown", EXPLORE, "explore", 2, locked=True, task=True),
    ]


@pytest.fixture
def make_little(tmp_path: Path) -> Callable[..., Little]:
    """Write an assignment folder: `make_little(cells, **{"assignment.toml": "..."})`."""

    def make(cells: list[Any] | None = None, **files: str) -> Little:
        folder = tmp_path / "course" / "little"
        folder.mkdir(parents=True, exist_ok=True)
        notebook = nbformat.v4.new_notebook(cells=copy.deepcopy(cells or little_cells()))
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, folder / "little.ipynb")
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
