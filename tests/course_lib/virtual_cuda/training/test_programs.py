"""Ten training programs, each with its own spelling of devices, lose what they lose on the CPU, bit for bit."""

from __future__ import annotations

import random
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import nn, torch
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
        losses = runpy.run_path(str(path), run_name="__main__")["losses"]
    finally:
        torch.set_default_device(None)
    return losses, capsys.readouterr().out


@pytest.mark.parametrize("name", sample("training programs", PROGRAMS, 2))
def test_the_same_losses_as_on_the_cpu(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / f"{name}.py"
    rewritten = tmp_path / f"{name}.py"
    rewritten.write_text(for_the_cpu(path.read_text(encoding="utf-8")), encoding="utf-8")
    expected = run(rewritten, capsys)
    with virtual_cuda.session(devices=2, same_numbers=True, quiet=True) as log:
        found = run(path, capsys)
        assert torch.cuda.memory_allocated(0) >= 0
    assert found == expected
    assert log.launches, "nothing ran on the device"
    assert len(found[0]) >= 6
    assert all(np.isfinite(found[0]))


@pytest.mark.parametrize("name", sample("training programs", PROGRAMS, 2))
def test_the_device_draws_other_numbers_than_the_cpu_unless_told(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / f"{name}.py"
    runs = []
    for same in (True, False, False):
        with virtual_cuda.session(devices=2, same_numbers=same, quiet=True):
            runs.append(run(path, capsys))
    assert runs[1] == runs[2], "a seed repeats the run"
    draws_on_the_device = {"mlp_digits", "char_rnn", "transformer_lm", "vae", "transfer", "resume", "gan"}
    assert (runs[0][0] != runs[1][0]) == (name in draws_on_the_device)


def test_data_parallel_on_two_devices_trains_the_module() -> None:
    def train(wrap: Any, device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
        wrapped = wrap(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            out = wrapped(torch.randn(10, 6).to(device))
            assert out.shape == (10, 2)
            out.square().mean().backward()
            optimizer.step()
        assert [str(p.grad.device) for p in model.parameters()] == [str(p.device) for p in model.parameters()]
        return [p.detach().cpu() for p in model.parameters()]

    expected = train(lambda model: model, "cpu")
    seen: list[str] = []

    class Noting(nn.DataParallel):
        def parallel_apply(self, replicas: Any, *rest: Any) -> Any:
            seen.extend(str(next(iter(r._former_parameters.values()), r[0].weight).device) for r in replicas)
            return super().parallel_apply(replicas, *rest)

    with virtual_cuda.session(devices=2, same_numbers=True, quiet=True):
        found = train(Noting, "cuda:0")
    assert seen == ["cuda:0", "cuda:1"] * 3
    # The gradients of two halves are added in another order than those of one batch.
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
