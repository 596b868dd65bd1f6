"""Which student cell stands for which of the instructor's, and where the others belong."""

from __future__ import annotations

from typing import Any

from autograder.submissions.matching import Matching, match
from autograder.submissions.repair import read_notebook


def test_added_cells_belong_after_the_known_cell_before_them() -> None:
    assert Matching([None, 0, None, 1, None]).slots(2) == {0: [0], 1: [2], 2: [4]}


def test_an_added_cell_before_one_that_stands_earlier_runs_before_it() -> None:
    # The student's cells: instructor's 3, an own one, instructor's 1: what is needed by 1 must not wait for 3.
    assert Matching([3, None, 1]).slots(4) == {1: [1]}


def test_every_cell_of_a_release_is_known_with_and_without_its_metadata(little: Any) -> None:
    for strip in (False, True):
        released = little.released()
        for cell in released["cells"] if strip else ():
            cell["metadata"] = {}
        cells = read_notebook(little.bytes(released)).cells
        assert match(little.load().notebooks[0], cells).owner == list(range(len(cells)))


def test_an_unlocked_cell_is_known_by_its_lines_and_a_strange_one_is_nobodys(little: Any) -> None:
    honest = little.honest()
    honest["cells"][1]["source"] = "import math\n# more\nimport numpy as np\nimport os, sys, re, json, time, random"
    honest["cells"][7]["source"] = "completely = 'different'"
    found = match(little.load().notebooks[0], read_notebook(little.bytes(honest)).cells)
    assert found.owner[1] == 1
    assert found.owner[7] is None
