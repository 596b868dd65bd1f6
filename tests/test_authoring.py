"""The walk-through of docs/authoring.md is followed to the letter, and its assignment grades."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest

from autograder.assignment import load_assignment
from autograder.gradebook import check_release, release
from autograder.selftest import inspect, selftest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```(?:python|toml)\n(.*?)```", re.DOTALL)
FILES = ("a0_standardise.py", "checks.py", "probes.py", "faults.py", "bank/right_loop.py", "bank/wrong_mean_kept.py")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose only assignment is the one of the page."""
    root = tmp_path_factory.mktemp("course")
    folder = root / "notebooks" / "assignments" / "a0_standardise"
    (folder / "bank").mkdir(parents=True)
    blocks = BLOCK.findall((ROOT / "docs" / "authoring.md").read_text(encoding="utf-8"))
    for name, text in zip((*FILES, "assignment.toml"), blocks, strict=True):
        (folder / name).write_text(text, encoding="utf-8")
    jupytext.write(jupytext.read(folder / "a0_standardise.py"), folder / "a0_standardise.ipynb")
    (folder / "a0_standardise.py").unlink()
    return root


def test_the_page_names_the_files_in_the_order_of_its_blocks() -> None:
    page = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    places = [page.index(f"`{name}`") for name in ("a0_standardise.py", "checks.py", *FILES[4:], "assignment.toml")]
    assert places == sorted(places)


def test_the_assignment_of_the_page_is_consistent(course: Path) -> None:
    inspect(load_assignment("a0_standardise", course))


@pytest.mark.slow
def test_its_bank_meets_every_expected_verdict(course: Path) -> None:
    found = selftest(load_assignment("a0_standardise", course), course, 2, lambda done, total: None)
    assert {e.name for e in found.entries} == {"right_loop", "wrong_mean_kept"}
    assert not found.wrong
    # The page shows a bank that is not complete, and the selftest says so.
    assert found.unnamed == ("rows-instead-of-columns",)


def test_it_can_be_released_without_leaking(course: Path) -> None:
    assignment = load_assignment("a0_standardise", course)
    made = release(assignment, course / "notebooks" / "release")
    check_release(made, assignment)
    assert "x.std(axis=0)" not in (made / "a0_standardise.ipynb").read_text(encoding="utf-8")


def test_every_command_of_the_page_exists() -> None:
    page = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    help_text = subprocess.run(
        [sys.executable, "-m", "autograder.cli", "--help"], capture_output=True, text=True, check=True
    ).stdout
    for command in set(re.findall(r"autograder ([a-z-]+)", page)):
        assert command in help_text
