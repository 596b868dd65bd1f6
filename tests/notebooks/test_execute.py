"""Every notebook runs: lectures and sources from top to bottom, releases up to the checks that wait for the student."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
CPU_LIMIT_S = {"14_one_model_every_framework": 120, "15_distributed_training": 120}
"""of the kernel and the processes it started and awaited, on a core of its own; all others: 60"""
CROWDED = 2.0
"""how much longer the same work may take where other work shares caches and the core's second thread"""


def _in(folder: str) -> list[str]:
    found = sorted((NOTEBOOKS / folder).rglob("*.ipynb"))
    return [path.relative_to(NOTEBOOKS).as_posix() for path in found if ".ipynb_checkpoints" not in path.parts]


LECTURES, SOURCES, RELEASES = _in("lectures"), _in("assignments"), _in("release")


def test_there_are_lectures_and_assignments_to_run() -> None:
    assert LECTURES and SOURCES


@pytest.mark.parametrize("ran", LECTURES + SOURCES, indirect=True)
def test_it_runs_from_top_to_bottom(ran: Any) -> None:
    assert ran.errors() == {}


@pytest.mark.parametrize("ran", LECTURES, indirect=True)
def test_a_lecture_takes_less_than_a_minute_of_one_core(ran: Any, record_property: Any) -> None:
    """Processor time, since a crowded machine takes any wall time; two minutes where CPU_LIMIT_S says so."""
    cpu_s = ran.value("sum(__import__('os').times()[:4])")
    cells = ran.notebook.cells
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    figures = sum("image/png" in output.get("data", {}) for output in outputs)
    questions = ran.prose.count("**Check yourself.**")
    record_property("lecture", (ran.path.stem, cpu_s, ran.wall_s, len(cells), figures, questions))
    assert cpu_s < CROWDED * CPU_LIMIT_S.get(ran.path.stem, 60)


@pytest.mark.parametrize("ran", LECTURES, indirect=True)
def test_every_figure_says_in_words_what_it_shows(ran: Any) -> None:
    outputs = [output for cell in ran.notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    figures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(figures) >= 4
    for figure in figures:
        description = figure.metadata["image/png"]["alt"]
        assert len(description) > 40
        assert f'<img alt="{description.split(chr(39))[0][:20]}' in figure.data["text/html"]


@pytest.mark.parametrize("ran", LECTURES, indirect=True)
def test_no_figure_is_empty(ran: Any) -> None:
    """Ink on at least a hundredth of the picture, in more than two shades: axes alone have less."""
    outputs = [output for cell in ran.notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    for output in outputs:
        if "image/png" in output.get("data", {}):
            pixels = matplotlib.image.imread(io.BytesIO(base64.b64decode(output.data["image/png"])))[..., :3]
            background = pixels[0, 0]
            assert np.mean(np.abs(pixels - background).max(axis=-1) > 0.1) > 0.01, output.metadata
            assert len(np.unique(pixels.mean(axis=-1).round(2))) > 2, output.metadata


@pytest.mark.parametrize("ran", LECTURES, indirect=True)
def test_nothing_is_written_to_the_error_stream(ran: Any) -> None:
    """A warning in a lecture is either explained or removed."""
    outputs = [output for cell in ran.notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []


@pytest.mark.parametrize("ran", RELEASES, indirect=True)
def test_in_a_release_the_checks_fail_and_nothing_else(ran: Any) -> None:
    checks = {
        cell.id
        for cell in ran.notebook.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade") and cell.source.strip()
    }
    assert set(ran.errors()) == checks
