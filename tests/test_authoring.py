"""The walk-through of docs/authoring.md is followed to the letter, and its assignment grades."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest

from autograder import selftest
from autograder.assignment import load_assignment
from autograder.judge.draw import Draw
from autograder.judge.expect import Expect
from autograder.release import check_release, release

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```(?:python|toml)\n(.*?)```", re.DOTALL)
FILES = ("a0_standardize.py", "checks.py", "probes.py", "faults.py", "bank/right_loop.py", "bank/standardize.py")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose only assignment is the one of the page."""
    root = tmp_path_factory.mktemp("course")
    folder = root / "notebooks" / "assignments" / "a0_standardize"
    (folder / "bank").mkdir(parents=True)
    blocks = BLOCK.findall((ROOT / "docs" / "authoring.md").read_text(encoding="utf-8"))
    for name, text in zip((*FILES, "assignment.toml"), blocks, strict=True):
        (folder / name).write_text(text, encoding="utf-8")
    text = folder.with_suffix(".py")
    (folder / text.name).rename(text)
    jupytext.write(jupytext.read(text), folder / "a0_standardize.ipynb")
    return root


def test_two_exercises_a_fault_and_a_bank_take_at_most_120_lines() -> None:
    blocks = BLOCK.findall((ROOT / "docs" / "authoring.md").read_text(encoding="utf-8"))
    lines = [line for block in blocks[: len(FILES)] for line in block.splitlines()]
    assert len(lines) <= 120


SIGNATURE = re.compile(r"^\| `(draw|expect)\.(\w+)(\(.*?\))` \|", re.MULTILINE)


def test_the_page_has_the_signature_of_every_method_of_draw_and_expect() -> None:
    page = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    written = {(fixture, method): signature for fixture, method, signature in SIGNATURE.findall(page)}
    for fixture, kind in (("draw", Draw), ("expect", Expect)):
        methods = {name: function for name, function in vars(kind).items() if not name.startswith("_")}
        assert methods.keys() == {method for of, method in written if of == fixture}
        for name, function in methods.items():
            assert plain(inspect.signature(function)) == written[fixture, name]


def plain(signature: inspect.Signature) -> str:
    """A signature as an author reads it: without self and types."""
    parameters = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()][1:]
    bare = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return bare.replace("<class 'numpy.float64'>", "np.float64").replace("'", '"')


def test_the_page_names_the_files_in_the_order_of_its_blocks() -> None:
    page = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    places = [page.index(f"`{name}`") for name in ("a0_standardize.py", "checks.py", *FILES[4:], "assignment.toml")]
    assert places == sorted(places)


def test_the_assignment_of_the_page_is_consistent(course: Path) -> None:
    selftest.inspect(load_assignment("a0_standardize", course))


@pytest.mark.long
def test_its_bank_meets_every_expected_verdict(course: Path) -> None:
    found = selftest.selftest(load_assignment("a0_standardize", course), 2, lambda done, total: None)
    names = {"right_loop", "right_standardize_dots", "wrong_rows", "wrong_variance"}
    assert {e.name for e in found.entries} == names
    assert not found.wrong and not found.unnamed


def test_it_can_be_released_without_leaking(course: Path) -> None:
    assignment = load_assignment("a0_standardize", course)
    made = release(assignment, course / "notebooks" / "release")
    check_release(made, assignment)
    assert "x.std(axis=0)" not in (made / "a0_standardize.ipynb").read_text(encoding="utf-8")


def test_every_command_of_the_page_exists() -> None:
    page = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    help_text = subprocess.run(
        [sys.executable, "-m", "autograder.cli", "--help"], capture_output=True, text=True, check=True
    ).stdout
    for command in set(re.findall(r"autograder ([a-z-]+)", page)):
        assert command in help_text
