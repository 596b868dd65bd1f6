"""Six training programs, each with its own spelling of devices, lose what they lose on the CPU, bit for bit."""

from __future__ import annotations

import random
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import torch
from tests.sampling import sample

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).with_name("programs")
PROGRAMS = sorted(p.stem for p in FOLDER.glob("*.py"))


@pytest.fixture(autouse=True)
def as_a_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A folder of its own, and no default device left behind."""
    monkeypatch.chdir(tmp_path)
    state = random.getstate(), np.random.get_state()
    yield
    torch.set_default_device(None)
    random.setstate(state[0])
    np.random.set_state(state[1])


def for_the_cpu(text: str) -> str:
    """The program for the CPU: as it is if it asks what there is, else with the word replaced."""
    return text if "is_available" in text else re.sub(r"cuda(:\d)?", "cpu", text)


def run(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[list[float], str]:
    """The losses and the output of a program."""
    try:
        return runpy.run_path(str(path), run_name="__main__")["losses"], capsys.readouterr().out
    finally:
        torch.set_default_device(None)


@pytest.mark.parametrize("name", sample("training programs", PROGRAMS, 2))
def test_the_same_losses_as_on_the_cpu(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / f"{name}.py"
    rewritten = tmp_path / f"{name}.py"
    rewritten.write_text(for_the_cpu(path.read_text(encoding="utf-8")), encoding="utf-8")
    expected = run(rewritten, capsys)
    with virtual_cuda.session(devices=2, same_numbers=True, quiet=True) as log:
        found = run(path, capsys)
    assert found == expected
    assert log.launches, "nothing ran on the device"
    assert len(found[0]) >= 6 and all(np.isfinite(found[0]))


@pytest.mark.parametrize("name", sample("training programs", PROGRAMS, 2))
def test_the_device_draws_other_numbers_than_the_cpu_unless_told(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / f"{name}.py"
    runs = []
    for same in (True, False, False):
        with virtual_cuda.session(devices=2, same_numbers=same, quiet=True):
            runs.append(run(path, capsys))
    assert runs[1] == runs[2], "a seed repeats the run"
    draws_on_the_device = {"transformer_lm", "vae", "resume", "gan"}
    assert (runs[0][0] != runs[1][0]) == (name in draws_on_the_device)
