"""The set-up in a few lines: what is there, what is missing, and what to do about it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from course_lib import data
from course_lib.student import doctor
from course_lib.student.findings import Finding, Level, healthy, table


def test_nothing_heavy_is_imported() -> None:
    program = (
        "import sys; from course_lib.student import doctor; doctor.environment();"
        "print({'torch', 'keras'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.slow
def test_this_environment_is_healthy() -> None:
    findings = doctor.environment()
    assert healthy(findings), table(findings)
    subjects = {finding.subject: finding for finding in findings}
    assert subjects["numpy"].text == np.__version__
    assert subjects.keys() == {"Python", "numpy", "matplotlib", "torch", "tensorflow", "GPU", "Colab", "data"}
    lines = table([Finding(Level.OK, "a", "fine"), Finding(Level.STOP, "longer", "mend it")]).splitlines()
    assert lines == ["ok    a       fine", "stop  longer  mend it"]


@pytest.mark.slow
def test_one_line_names_what_is_there_and_what_to_mend_first() -> None:
    line = doctor.one_line()
    assert f"numpy {np.__version__}" in line and line.startswith("Python 3.") and "\n" not in line
    assert line.endswith("All set.")
    missing, unasked = doctor._needed("numpy", (999, 0)), doctor._wanted("none", "x", False)
    broken = doctor.one_line([Finding(Level.OK, "Python", "3.12.1"), missing, unasked])
    assert broken.startswith("Python 3.12.1. Mend first: numpy: ") and "pip install -U 'numpy>=999.0'" in broken


MAJOR, MINOR = map(int, np.__version__.split(".")[:2])


@pytest.mark.parametrize(
    ("least", "level"), [((1, 0), Level.OK), ((999, 0), Level.STOP), ((MAJOR, MINOR + 1), Level.STOP)]
)
def test_versions_are_compared_as_numbers(least: tuple[int, int], level: Level) -> None:
    assert doctor._needed("numpy", least).level is level


def test_an_old_python_stops_and_so_does_a_missing_library_that_every_notebook_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert doctor._python((3, 10, 14)).level is Level.STOP
    assert doctor._python((3, 11, 0)) == Finding(Level.OK, "Python", "3.11.0")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    finding = doctor._needed("numpy", (1, 26))
    assert finding.level is Level.STOP and "pip install 'numpy>=1.26'" in finding.text
    finding = doctor._wanted("torch", "the lectures from 02 on", imports=True)
    assert finding.level is Level.LOOK and "lectures from 02 on need it" in finding.text


@pytest.mark.parametrize(("program", "level", "words"), [
    ("raise ImportError('operator torchvision::nms does not exist')", Level.STOP, "torchvision::nms does not exist"),
    ("import os; os._exit(7)", Level.STOP, "exit status 7"),
    ("__version__ = '4.2'", Level.OK, "imports: 4.2 | GPU: none"),
])  # fmt: skip
def test_a_library_that_does_not_import_or_crashes_the_interpreter_stops_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, level: Level, words: str
) -> None:
    (tmp_path / "some_library.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    finding = doctor._tried("some_library", "4.2")
    assert finding.level is level and words in finding.text


def test_the_gpu_is_named_where_the_driver_names_one(tmp_path: Path) -> None:
    command = tmp_path / "nvidia-smi"
    for program, finding in (
        ("echo Tester 9000", Finding(Level.OK, "GPU", "Tester 9000")),
        ("exit 9", None),
    ):
        command.write_text(f"#!/bin/sh\n{program}\n")
        command.chmod(0o755)
        found = doctor._gpu(lambda name: str(command))
        assert found == finding or (finding is None and found.level is Level.LOOK)
    assert doctor._gpu(lambda name: None).level is Level.OK


def test_a_damaged_data_file_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged() -> Any:
        raise data.BadDataFile("digits.npz was cut short; install course_lib again")

    monkeypatch.setattr(data, "load_digits", damaged)
    [finding] = [finding for finding in doctor._data() if "digits" in finding.text]
    assert finding.level is Level.STOP and "install course_lib again" in finding.text
