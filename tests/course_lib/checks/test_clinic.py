"""The scripts of a9 that are handed out: packed as the instructor's folder makes them, others for each student."""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from autograder.assignment import load_assignment
from autograder.judge.faults import modules_of
from course_lib.checks import clinic
from tools import pack_clinic

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "notebooks" / "assignments" / "a9_debugging_clinic"
STUDENTS = [f"student {n}" for n in range(300)]


@pytest.fixture(scope="module")
def faults() -> ModuleType:
    with modules_of(FOLDER):
        return importlib.import_module("faults")


def test_the_packed_scripts_are_those_that_the_tool_would_pack_now() -> None:
    assert clinic._copies() == pack_clinic.scripts(), "run: python tools/pack_clinic.py"


def test_every_copy_is_python_of_60_to_120_lines_and_no_two_faults_cancel_in_the_text(faults: ModuleType) -> None:
    healthy = {c.grade_id: c.source for c in load_assignment(FOLDER, ROOT).notebooks[0].cells}
    for number in clinic.SCRIPTS:
        well = {ast.dump(ast.parse(faults.plant(number, healthy[f"script_{number}"], (), n))) for n in range(4)}
        for texts in clinic._copies()[str(number)].values():
            for text in texts:
                assert 60 <= len(text.splitlines()) <= 120
                assert ast.dump(ast.parse(text)) not in well


def test_everybody_has_one_script_with_one_fault_one_with_three_and_four_with_two() -> None:
    for student in STUDENTS:
        assert Counter(clinic.copy_of(n, student)[0] for n in clinic.SCRIPTS) == {1: 1, 2: 4, 3: 1}


def test_an_identifier_is_the_same_however_it_is_typed_and_another_gives_other_scripts() -> None:
    assert clinic.script(1, " Jane  Doe ") == clinic.script(1, "jane doe")
    for number in clinic.SCRIPTS:
        assert len({clinic.script(number, student) for student in STUDENTS}) > 40


@pytest.mark.parametrize("nobody", ["", "  "])
def test_nobody_has_no_script(nobody: str) -> None:
    with pytest.raises(ValueError, match="first cell"):
        clinic.script(1, nobody)


def test_every_fault_is_planted_in_somebody(faults: ModuleType) -> None:
    for number, pool in faults.POOLS.items():
        planted = {fault.id for many in (1, 2, 3) for chosen, _ in faults.copies(number, many) for fault in chosen}
        assert planted == {fault.id for fault in pool}
