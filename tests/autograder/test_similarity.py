"""Who copied is found in disguise, who wrote the natural solution is left alone, and no text breaks the comparison."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.bank import load_bank, notebook_of
from autograder.records import Assignment
from autograder.report.similarity_page import MOST_CHARS, MOST_SHOWN, similarity_page
from autograder.similarity import (
    MAX_CHARS,
    Answer,
    Comparison,
    Pair,
    Program,
    _clusters,
    compare,
    measure_baseline,
)
from autograder.submissions.intake import find_submissions
from tests.autograder.conftest import run_command
from tests.copied_class import build

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def a1() -> Assignment:
    return load_assignment("a1_numpy_backprop", ROOT)


def compared(assignment: Assignment, folder: Path) -> Comparison:
    submissions = [one.read(assignment) for one in find_submissions(folder, assignment).students]
    return compare(assignment, load_bank(assignment), submissions)


def names(pair: Pair) -> tuple[str, str]:
    return pair.left.student, pair.right.student


def test_copies_in_disguise_are_found_and_nobody_else(a1: Assignment, tmp_path: Path) -> None:
    planted = build(a1, 24, 3, tmp_path)
    found = compared(a1, tmp_path)
    assert {names(pair) for pair in found.pairs} == planted
    assert all(pair.alike > 0.9 for pair in found.pairs)
    assert similarity_page(a1, found).count("side by side</a>") == 3


def test_the_natural_solution_is_nobodys(a1: Assignment, tmp_path: Path) -> None:
    build(a1, 6, 0, tmp_path)
    for student in ("ada", "ben"):
        (tmp_path / student / a1.name).mkdir(parents=True)
        (tmp_path / student / a1.name / f"{a1.name}.ipynb").write_bytes(notebook_of(a1, {}))
    assert ("ada", "ben") not in map(names, compared(a1, tmp_path).pairs)


def test_right_programs_of_the_bank_share_nothing_unusual(a1: Assignment, tmp_path: Path) -> None:
    for entry in load_bank(a1):
        if entry.kind == "correct":
            (tmp_path / f"{entry.name}.ipynb").write_bytes(notebook_of(a1, entry.cells, entry.extra))
    assert compared(a1, tmp_path).pairs == ()


def test_a_group_is_told_once_through_its_strongest_pairs(a1: Assignment) -> None:
    programs = [Program(name, ()) for name in "abcde"]

    def pair(left: int, right: int, unusual: float) -> Pair:
        return Pair(programs[left], programs[right], unusual, 1.0)

    trees = _clusters([pair(0, 1, 0.9), pair(3, 4, 0.8), pair(0, 2, 0.7), pair(1, 2, 0.6)])
    assert [[names(pair) for pair in tree] for tree in trees] == [[("a", "b"), ("a", "c")], [("d", "e")]]


ORIGINAL = """def scaled(values, factor):
    total = 0
    for index in range(len(values)):
        total += np.exp(values[index]) * factor
    return {"total": total, "count": len(values)}
"""


@pytest.mark.parametrize(
    "same",
    [
        ORIGINAL.replace("values", "v").replace("factor", "f").replace("index", "i"),
        ORIGINAL.replace("    total = 0\n", '    """What it does."""\n\n    total = 0  # start\n'),
        ORIGINAL.replace('{"total": total, ', "{\n        'total': total,\n        "),
    ],
)
def test_names_comments_docstrings_and_layout_make_no_difference(same: str) -> None:
    assert same != ORIGINAL
    assert Answer("", same).fingerprints.tolist() == Answer("", ORIGINAL).fingerprints.tolist()


def test_another_function_of_a_library_makes_a_difference() -> None:
    other = ORIGINAL.replace("np.exp", "np.log")
    assert Answer("", other).fingerprints.tolist() != Answer("", ORIGINAL).fingerprints.tolist()


@pytest.mark.parametrize(
    "unit", ["\t \n", '"', "'''", "(", "\\", 'f"{', "a.", "0x", " ", "\r\n", "\0", "\ud800", "é", "#", '"""\\', "r'"]
)
def test_any_text_is_compared_in_linear_time(unit: str) -> None:
    began = time.process_time()
    answer = Answer("", unit * (MAX_CHARS // len(unit)))
    assert len(answer.fingerprints) <= len(answer.spans)
    assert time.process_time() - began < 5


def test_the_page_is_bounded(a1: Assignment) -> None:
    """However long the programs are and however often they repeat themselves."""
    lines = (f"print({number} + {number % 7}, <b>, [{number}] * {number % 11})\n" for number in range(200))
    long = "x = 1\n" * 1000 + "".join(lines)
    programs = [Program(f"<i>{number:03}", (Answer("train", long[number:]),)) for number in range(100)]
    pairs = tuple(Pair(one, other, 0.9, 0.9) for one, other in itertools.pairwise(programs)) * 5
    found = Comparison(measure_baseline(a1, ()), tuple(programs), (), pairs, (pairs,))
    page = similarity_page(a1, found)
    assert page.count("<details") == MOST_SHOWN
    assert len(page.encode()) < 300_000 + MOST_SHOWN * 2 * MOST_CHARS * 3
    assert "<b>" not in page and "<i>" not in page


def test_the_command_writes_a_page_and_changes_no_score(a1: Assignment, tmp_path: Path) -> None:
    build(a1, 6, 1, tmp_path / "class")
    (tmp_path / "class" / "lost" / a1.name).mkdir(parents=True)
    (tmp_path / "class" / "lost" / a1.name / f"{a1.name}.ipynb").write_text("{")
    status, said, _ = run_command("similarity", a1.name, tmp_path / "class", "--out", tmp_path / "page.html")
    assert status == 0
    assert "6 submissions compared; 1 pair to look at, in 1 group." in said
    assert "not compared: lost" in said
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Likeness is no proof" in page and "copy000" in page
