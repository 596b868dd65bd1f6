"""Both builds of torch, and other Pythons: the same program everywhere.

    VIRTUAL_CUDA_PYTHONS=/path/to/cpu-build/bin/python:/path/to/python3.12 pytest tests/.../test_builds.py

Each named interpreter needs torch and numpy; what it imports of this project comes from this checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.course_lib.virtual_cuda.lazy import lazy

make_rules = lazy("course_lib.virtual_cuda.core.make_rules")
rules = lazy("course_lib.virtual_cuda.core.rules")
wheel = lazy("tests.course_lib.virtual_cuda.refusals.wheel")

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("smoke_program.py")
ROOT = Path(__file__).parents[4]
VARIABLE = "VIRTUAL_CUDA_PYTHONS"
OTHERS = [python for python in os.environ.get(VARIABLE, "").split(os.pathsep) if python]


def smoke(python: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [python, "-W", "ignore", str(PROGRAM)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("smoke: torch ")


@pytest.mark.exhaustive
def test_the_smoke_program_runs_here() -> None:
    smoke(sys.executable)


@pytest.mark.parametrize("python", OTHERS or [""])
def test_the_smoke_program_runs_in_the_other_pythons(python: str) -> None:
    if not python:
        pytest.skip(f"no other interpreters are named in {VARIABLE}")
    smoke(python)


@pytest.fixture
def another_version(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """The shipped rules are for another torch than the one that is installed."""
    monkeypatch.setattr(rules, "_release", lambda version, seen=[]: seen.append(version) or len(seen))
    rules.generated_checks.cache_clear()
    yield monkeypatch
    rules.generated_checks.cache_clear()


def test_rules_are_made_anew_for_another_version(another_version: pytest.MonkeyPatch) -> None:
    another_version.setattr(make_rules, "rules", lambda: {"mm": "wrapper_of_tomorrow"})
    assert rules.generated_checks() == {"mm": "wrapper_of_tomorrow"}


def test_shipped_rules_serve_where_none_can_be_made(another_version: pytest.MonkeyPatch) -> None:
    def fail() -> dict[str, str]:
        raise ModuleNotFoundError("No module named 'yaml'")

    another_version.setattr(make_rules, "rules", fail)
    assert rules.generated_checks()["mm"] == "wrapper_CUDA_mm"


def test_the_shipped_rules_are_what_the_installed_torch_gives() -> None:
    pytest.importorskip("yaml", reason="torchgen needs PyYAML")
    installed = make_rules.rules()
    if rules.generated_checks.cache_info().currsize:
        rules.generated_checks.cache_clear()
    assert rules.generated_checks() == installed


def test_the_words_are_those_of_the_installed_torch() -> None:
    if not wheel.is_readable():
        pytest.skip("the libraries of this system's torch have another form")
    old, new = " (when checking argument for argument ", ", different from other tensors on "
    assert wheel.says(old if rules.OLD_WORDS else new)
