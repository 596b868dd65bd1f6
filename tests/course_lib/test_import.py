"""Importing the helpers costs next to nothing and brings in none of the heavy libraries."""

from __future__ import annotations

import subprocess
import sys

import pytest

import course_lib

HEAVY = ("torch", "tensorflow", "keras", "matplotlib.pyplot", "IPython", "nbgrader", "nbformat", "autograder")


def _fresh(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_the_package_takes_less_than_a_tenth_of_a_second_and_loads_nothing_else() -> None:
    program = (
        "import sys, time; start = time.perf_counter(); import course_lib; took = time.perf_counter() - start;"
        "print(took, [name for name in ('numpy', 'matplotlib') if name in sys.modules])"
    )
    answers = [_fresh(program).split(maxsplit=1) for _ in range(3)]
    assert min(float(took) for took, _ in answers) < 0.1
    assert {loaded for _, loaded in answers} == {"[]"}


LIGHT = ("student.doctor", "student.handin", "student.findings", "timing", "devices")


@pytest.mark.parametrize("module", [*LIGHT, "plots", "checks", "compare", "data"])
def test_no_helper_imports_a_framework_or_the_notebook_and_only_the_plots_load_matplotlib(module: str) -> None:
    heavy = (*HEAVY, "matplotlib") if module in LIGHT else HEAVY
    assert (
        _fresh(f"import sys, course_lib.{module}; print([name for name in {heavy!r} if name in sys.modules])") == "[]"
    )


def test_a_submodule_is_loaded_when_it_is_named_and_an_unknown_name_is_an_attribute_error() -> None:
    assert _fresh("import course_lib; print(course_lib.timing.best_seconds(int) >= 0)") == "True"
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_the_kind'"):
        course_lib.nothing_of_the_kind  # noqa: B018 - reading the attribute is the test
