"""The reference: solution cells whole, of the rest only what defines something, nothing that takes time."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from autograder.errors import BadAssignment
from autograder.judge.reference import reference_names

Judge = Callable[..., Any]
CHECKS = '@pytest.mark.cell("test_f")\ndef test_f(student): student.f()\n'


def names(judged: Judge, before: str, solution: str = "def f(): pass", edits: Any = None) -> dict[str, Any]:
    return reference_names(judged({"f": solution}, CHECKS, before=before).assignment, edits)


def test_imports_functions_classes_and_constants_around_the_solution_are_there(judged: Judge) -> None:
    found = names(
        judged,
        "import math\nfrom math import pi as PI\nSIZES = [2, (3, 4)]\nRATE: float = -0.1\nclass A:\n    x = 1\n"
        "def helper():\n    return math.floor(PI)\n",
        "def f(): return helper() + A.x + SIZES[0] + RATE",
    )
    assert found["f"]() == pytest.approx(3 + 1 + 2 - 0.1)


def test_what_a_cell_between_shows_or_computes_is_not_run(judged: Judge) -> None:
    ended = "import sys\nsys.exit()\nx = sys.exit()\nprint('shown')\nfor _ in range(9): sys.exit()"
    assert "x" not in names(judged, ended)


def test_everything_in_a_solution_cell_is_run_and_magics_in_cells_between_do_no_harm(judged: Judge) -> None:
    found = names(judged, "%matplotlib inline\n!ls\nimport math", "cache = dict(a=1)\nf = lambda: cache['a']")
    assert found["f"]() == 1


def test_edits_replace_solution_cells_by_grade_id(judged: Judge) -> None:
    assert names(judged, "", "def f(): return 1", {"f": "def f(): return 2"})["f"]() == 2


def test_two_namespaces_share_nothing(judged: Judge) -> None:
    one = judged({"f": "seen = []\ndef f():\n    seen.append(1)\n    return len(seen)"}, CHECKS).assignment
    first, second = reference_names(one), reference_names(one)
    assert (first["f"](), first["f"](), second["f"]()) == (1, 2, 1)


@pytest.mark.parametrize(
    ("solution", "words"),
    [
        ("def f(:", "'f' is not valid Python"),
        ("import no_such_module", "'f' does not run in the judge: ModuleNotFound"),
    ],
)
def test_a_broken_reference_is_the_assignments_fault_and_names_the_cell(
    judged: Judge, solution: str, words: str
) -> None:
    with pytest.raises(BadAssignment, match=words):
        names(judged, "", solution)


def test_the_source_of_each_variant_can_be_read(judged: Judge) -> None:
    one = judged({"f": "def f(): return 1"}, CHECKS).assignment
    found = [reference_names(one, edits)["f"] for edits in ({}, {"f": "def f(): return 2"})]
    assert [inspect.getsource(f) for f in found] == ["def f(): return 1\n", "def f(): return 2\n"]
