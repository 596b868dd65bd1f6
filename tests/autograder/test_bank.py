"""A bank is read as it is written, and one that is not right is refused with its file, its entry and the finding."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from autograder.bank import BankEntry, load_bank, notebook_of
from autograder.errors import BadAssignment

RIGHT = '"""By a product."""\nCELLS = {"double": "def double(x):\\n    return x * 2"}\n'
FILE = '''
from autograder.bank import Wrong

BASES = {
    "sum": """
def double(x):
    y = x + x
    return y
""",
    "shift": "def double(x):\\n    return x << 1",
}

WRONG = [
'''
FAILED = 'Wrong("wrong_one", "One.").expect(test_double="failed:tripled")'


def bank(make_little: Callable[..., Any], *wrong: str, **files: str) -> list[BankEntry]:
    """The bank of `little` with these lines in `WRONG` of double.py, and with further files."""
    texts = {"double": FILE + "".join(f"    {one},\n" for one in wrong) + "]\n", **files}
    return load_bank(make_little(None, **{f"bank/{name}.py": text for name, text in texts.items()}).load())


def the(name: str, entries: list[BankEntry]) -> BankEntry:
    return next(entry for entry in entries if entry.name == name)


def test_a_wrong_answer_is_a_base_with_its_edits_made(make_little: Callable[..., Any]) -> None:
    # All at once: what one edit writes is nothing to the others.
    entries = bank(make_little, FAILED + '.edit("return y", "return x + x").edit("x + x", "x + x + x")')
    wrong = the("wrong_one", entries)
    assert wrong.cells == {"double": "\ndef double(x):\n    y = x + x + x\n    return x + x\n"}
    assert (wrong.title, wrong.kind, dict(wrong.expected)) == ("One.", "fault", {"test_double": "failed:tripled"})
    assert wrong.file.name == "double.py"


@pytest.mark.parametrize(
    ("wrong", "cells"),
    [
        ('.base("shift").edit("<< 1", "<< 2")', {"double": "def double(x):\n    return x << 2"}),
        ('.base("right_product").edit("* 2", "* 3")', {"double": "def double(x):\n    return x * 3"}),
        ('.whole("double = None")', {"double": "double = None"}),
        ('.base("stub", cell="half")', {"half": "released"}),
        (
            '.base("shift").edit("<< 1", "<< 2").edit("x / 2", "x / 3", cell="half").edit("return", "return +")',
            {"double": "def double(x):\n    return x << 2", "half": "def half(x):\n    return + x / 3"},
        ),
        ('.whole("half = None", cell="half")', {"half": "half = None"}),
    ],
    ids=["another base", "a right submission", "whole", "as released", "two cells", "another cell"],
)
def test_a_base_is_named_and_several_cells_are_answered(
    make_little: Callable[..., Any], wrong: str, cells: dict[str, str]
) -> None:
    half = 'BASE = "right_half"\nWRONG = []\n'
    right_half = '"""Half."""\nCELLS = {"half": "def half(x):\\n    return x / 2"}\n'
    entries = bank(make_little, FAILED + wrong, right_product=RIGHT, right_half=right_half, half=half)
    got = dict(the("wrong_one", entries).cells)
    if "released" in cells.values():
        assert "raise NotImplementedError" in got["half"] and "BEGIN SOLUTION" not in got["half"]
    else:
        assert got == cells


def test_a_base_is_a_right_submission_of_its_own(make_little: Callable[..., Any]) -> None:
    found = {entry.name: entry.kind for entry in bank(make_little, right_product=RIGHT)}
    assert found == dict.fromkeys(("right_double_shift", "right_double_sum", "right_product"), "correct")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (FAILED + '.base("product")', "'double' has no base 'product'; there are: stub, right_product, sum, shift"),
        (FAILED + '.edit("x - x", "x")', r"'x - x' occurs 0 times in the base of 'double'"),
        (FAILED + '.base("sum").edit("y", "z")', r"'y' occurs 2 times in the base 'sum' of 'double'"),
        (FAILED + '.edit("", "z")', "'' occurs [1-9]"),
        (FAILED + '.edit("x + x", "x").edit("y = x + x", "y = x")', "overlap"),
        (FAILED + '.edit("x + x", "y").edit("x + x", "x")', "overlap"),
        (FAILED + '.edit("x + x", "x + x")', "is the same as the base of 'double'; give it an edit"),
        (FAILED + '.base("sum")', "is the same as the base 'sum' of 'double'"),
        (FAILED + '.edit("x", "y", cell="half")', "'half' has no base of its own, so name one; there are: stub"),
        (FAILED + '.edit("x", "y", cell="haif")', "'haif' has no base of its own"),
        (FAILED + '.whole("x", cell="haif")', "unknown cells: haif"),
        (FAILED + '.whole("x").whole("y")', "answers the cell 'double' twice"),
        (FAILED.replace("test_double", "test_duoble") + '.whole("x")', "unknown cells: test_duoble"),
        (FAILED.replace("One.", " ") + '.whole("x")', "needs a title"),
        ('Wrong("wrong_one", "One.").whole("x")', "expected to pass; say what is expected of it"),
        (
            FAILED.replace("wrong_one", "right_double_sum") + '.whole("x")',
            "in the bank twice; the other one is in double.py",
        ),
        (FAILED.replace("wrong_one", "right_product") + '.whole("x")', "the other one is in (double|right_product).py"),
    ],
)
def test_a_wrong_answer_that_is_not_right_is_refused_with_file_entry_and_finding(
    make_little: Callable[..., Any], wrong: str, words: str
) -> None:
    name = "right_(double_sum|product)" if "right_" in wrong else "wrong_one"
    with pytest.raises(BadAssignment, match=rf"(double|right_product)\.py: {name}: .*{words}"):
        bank(make_little, wrong, right_product=RIGHT)


def entry(cells: Any = (), expected: Any = (), title: str = "What it is.", **facts: Any) -> str:
    facts = {"CELLS": dict(cells), "EXPECTED": dict(expected), **facts}
    return f'"""{title}"""\n' + "".join(f"{name} = {value!r}\n" for name, value in facts.items())


TRIPLED = {"double": "def double(x):\n    return x + x + x"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (entry(title=""), "odd: needs a title"),
        (entry(KIND="innocent"), "has the KIND 'innocent'; there are: correct, fault, attack"),
        (entry({"duoble": ""}), "unknown cells: duoble"),
        (entry({}, {"test_duoble": "failed"}), "unknown cells: test_duoble"),
        (entry({}, {"test_double": "failed"}, KIND="correct"), "said to be correct and expected to fail"),
        (entry(TRIPLED, KIND="fault"), "plants a mistake and is expected to pass"),
        ("def (:", "cannot be read: SyntaxError"),
        ("1 / 0", "cannot be read: ZeroDivisionError"),
        ("WRONG = [1]", r"WRONG holds 1, which is no `Wrong\(name, title\)`"),
        ('BASE = "sum"\nWRONG = []', "BASE names 'sum'; there are: none"),
    ],
)
def test_a_file_that_is_not_right_is_refused_with_its_name(
    make_little: Callable[..., Any], text: str, words: str
) -> None:
    with pytest.raises(BadAssignment, match=rf"odd\.py.*{words}"):
        bank(make_little, odd=text)


def test_what_is_expected_says_whether_a_whole_submission_is_right(make_little: Callable[..., Any]) -> None:
    wrong = entry(TRIPLED, {"test_double": "failed"}, EXTRA=[("double", "1 + 1")])
    entries = bank(make_little, right_product=RIGHT, wrong_three=wrong)
    assert the("right_product", entries).kind == "correct" and the("wrong_three", entries).kind == "fault"
    assert the("wrong_three", entries).extra == (("double", "1 + 1"),)


def test_an_entry_becomes_the_instructors_notebook_with_its_cells_replaced_and_added(little: Any) -> None:
    assignment = little.load()
    made = json.loads(notebook_of(assignment, {"double": "D"}, [("double", "A"), ("double", "B"), ("test_half", "C")]))
    source = json.loads((assignment.folder / "little.ipynb").read_text(encoding="utf-8"))
    texts = [c["source"] for c in made["cells"]]
    first = texts.index("D")
    assert texts[first : first + 3] == ["D", "A", "B"] and "C" in texts and len(texts) == len(source["cells"]) + 3
    assert len({c["id"] for c in made["cells"]}) == len(texts)
