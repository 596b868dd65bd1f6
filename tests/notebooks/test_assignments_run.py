"""Every assignment runs: sources from top to bottom, releases up to the checks that wait for the student."""

from __future__ import annotations

import pytest

from tests import sampling
from tests.executed import NOTEBOOKS, QUICK, ExecutedNotebook, notebooks_in


def _asked(folder: str) -> list[str]:
    if sampling.size == "check":
        return [name for name in notebooks_in(folder) if name in QUICK]
    return sampling.sample(folder, notebooks_in(folder), 1, lambda name: [NOTEBOOKS / name])


@pytest.mark.parametrize("executed", _asked("assignments"), indirect=True)
def test_a_source_runs_from_top_to_bottom(executed: ExecutedNotebook) -> None:
    assert executed.errors() == {}


@pytest.mark.parametrize("executed", _asked("release"), indirect=True)
def test_in_a_release_the_checks_fail_and_nothing_else(executed: ExecutedNotebook) -> None:
    graded = [cell for cell in executed.code_cells if cell.metadata.get("nbgrader", {}).get("grade")]
    # A cell that asks for more than the body of a function raises by itself until it is written.
    bare = [cell for cell in executed.code_cells if cell.source.startswith("# YOUR CODE HERE\n")]
    assert set(executed.errors()) == {cell.id for cell in (*graded, *bare) if cell.source.strip()}
