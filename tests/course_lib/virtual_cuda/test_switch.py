"""On and off: what is said, what counts, and that nothing of it is left in torch afterwards."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from course_lib import virtual_cuda
from course_lib.virtual_cuda.core.patches import Patches
from tests.course_lib.virtual_cuda.lazy import nn, torch
from tests.sampling import sample

pytestmark = pytest.mark.slow

SCENARIOS = Path(__file__).with_name("switch_scenarios.py")
ROOT = Path(__file__).parents[3]


def process(*arguments: str, **environment: str) -> str:
    """What a fresh Python prints."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-W", "ignore", *arguments]
    done = subprocess.run(command, env=settings, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


PROGRAMS = re.findall(r"^@(?:scenario\(.*\)|by_itself)\ndef (\w+)", SCENARIOS.read_text(encoding="utf-8"), re.MULTILINE)
ASKED = sample("traces", PROGRAMS, 2)


@pytest.fixture(scope="module")
def traces() -> dict[str, list[str]]:
    """What differs in torch after each scenario, in a process of its own."""
    found: dict[str, list[str]] = json.loads(process(str(SCENARIOS), *ASKED).splitlines()[-1])
    return found


@pytest.mark.long
@pytest.mark.xdist_group("traces")
@pytest.mark.parametrize("program", ASKED)
def test_off_it_leaves_no_trace(program: str, traces: dict[str, list[str]]) -> None:
    assert traces[program] == []


@pytest.mark.exhaustive
def test_the_traces_of_a_patch_that_stays_are_found() -> None:
    said = process(
        "-c",
        "import runpy, torch; "
        f"scenarios = runpy.run_path({str(SCENARIOS)!r}); "
        "where = scenarios['owners'](); before = scenarios['snapshot'](where); kernels = scenarios['kernels'](); "
        "torch.Tensor.cuda = lambda self: self; torch.ones = abs; torch.jit._builtins._get_builtin_table()[1] = 'x'; "
        "library = torch.library.Library('aten', 'IMPL'); library.impl('mm', lambda a, b: a, 'AutocastCUDA'); "
        "print(scenarios['differences'](before, scenarios['snapshot'](where)), kernels != scenarios['kernels']())",
    )
    for trace in ("torch.Tensor.cuda: ", "torch.ones: ", "torch.jit._builtins._builtin_table: other contents"):
        assert trace in said
    assert said.endswith("True\n")


@pytest.fixture
def off_at_the_end() -> Iterator[None]:
    yield
    while virtual_cuda.is_enabled():
        virtual_cuda.disable()


def test_enabled_twice_it_is_disabled_twice_and_the_first_call_decides(off_at_the_end: None) -> None:
    first = virtual_cuda.enable(devices=2, force=True, quiet=True)
    assert virtual_cuda.enable(devices=7, force=True, quiet=True) is first
    assert torch.cuda.device_count() == 2
    virtual_cuda.disable()
    assert virtual_cuda.is_enabled() and torch.ones(1, device="cuda:1").is_cuda
    virtual_cuda.disable()
    assert not virtual_cuda.is_enabled()


def test_disabling_what_is_off_does_nothing() -> None:
    virtual_cuda.disable()
    virtual_cuda.disable()
    assert not virtual_cuda.is_enabled()
    with virtual_cuda.session(force=True, quiet=True):
        assert virtual_cuda.is_enabled()


def test_a_session_inside_a_session_ends_with_the_outer_one() -> None:
    with virtual_cuda.session(force=True, quiet=True) as outer:
        with pytest.raises(KeyError), virtual_cuda.session(quiet=True) as inner:
            assert inner is outer
            raise KeyError
        assert (torch.ones(1).cuda() + 1).is_cuda
    assert not virtual_cuda.is_enabled()


@pytest.mark.parametrize("settings", [{"devices": 0}, {"devices": 65}, {"memory": 0}, {"memory": -1}])
def test_impossible_settings_are_refused_and_nothing_is_on(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"virtual devices|memory limit"):
        virtual_cuda.enable(force=True, quiet=True, **settings)
    assert not virtual_cuda.is_enabled()
    assert "cuda" not in vars(torch.Tensor)


def test_tensors_that_survive_are_ordinary_ones_on_the_cpu() -> None:
    with virtual_cuda.session(force=True, quiet=True):
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        x = torch.randn(5, 3, device="cuda")
        model(x).square().sum().backward()
        optimizer.step()
        sparse = torch.eye(2, device="cuda").to_sparse()
        unfinished = (x * 2).requires_grad_().cpu().sum()
    assert repr(x).startswith("tensor(") and "cuda" not in repr(x) + repr(sparse) + repr(model[0].weight)
    assert {str(t.device) for t in (x, sparse, *model.parameters(), *model.buffers())} == {"cpu"}
    assert x.numpy().sum() == pytest.approx(float(x.sum()))
    unfinished.backward()
    optimizer.zero_grad()
    (model(x) + torch.ones(5, 4)).square().sum().backward()
    optimizer.step()
    with virtual_cuda.session(force=True, quiet=True):
        assert str(x.device) == "cpu" and (x + torch.ones(5, 3)).device.type == "cpu"
        assert x.cuda().is_cuda
        with pytest.raises(RuntimeError, match="on the same device"):
            x + torch.ones(5, 3, device="cuda")


def test_it_says_once_that_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(virtual_cuda, "_said", False)
    for _ in range(3):
        with virtual_cuda.session(force=True), virtual_cuda.session():
            pass
    (line,) = capsys.readouterr().out.splitlines()
    assert line == "Virtual CUDA: there is no GPU here. 'cuda' is this CPU under CUDA's rules; times are the CPU's."


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with virtual_cuda.session(force=True, quiet=True):
        torch.ones(2).cuda()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("value", "devices"), [("1", 1), (" 3 ", 3), ("0", None), ("", None), (None, None)])
def test_the_environment_asks_for_devices(
    value: str | None, devices: int | None, monkeypatch: pytest.MonkeyPatch, off_at_the_end: None
) -> None:
    if value is None:
        monkeypatch.delenv(virtual_cuda.VARIABLE, raising=False)
    else:
        monkeypatch.setenv(virtual_cuda.VARIABLE, value)
    assert virtual_cuda.enable_from_environment() == (devices is not None)
    assert virtual_cuda.is_enabled() == (devices is not None)
    if devices:
        assert torch.cuda.device_count() == devices


@pytest.mark.parametrize("value", ["yes", "-1", "1.5", "two", "100"])
def test_rubbish_in_the_environment_is_refused_by_name(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(virtual_cuda.VARIABLE, value)
    with pytest.raises(ValueError, match="number of virtual devices" if value != "100" else "1 to 64"):
        virtual_cuda.enable_from_environment()
    assert not virtual_cuda.is_enabled()


def test_importing_it_changes_nothing_and_does_not_import_torch() -> None:
    assert process("-c", "import sys; from course_lib import virtual_cuda; print('torch' in sys.modules)") == "False\n"


def test_it_steps_aside_for_a_real_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(virtual_cuda, "_said", False)
    answer, device = torch.Tensor.cuda, vars(torch._C.TensorBase)["device"]
    with virtual_cuda.session() as log:
        assert not virtual_cuda.is_enabled()
        assert torch.Tensor.cuda is answer
        assert torch.Tensor.device is device
        (torch.ones(2) + 1).sum().item()
    assert not log.launches
    assert capsys.readouterr().out == ("Virtual CUDA stays off: this machine has a GPU, and 'cuda' is that GPU.\n")


def test_force_takes_the_virtual_device_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with virtual_cuda.session(force=True, quiet=True):
        assert virtual_cuda.is_enabled()
        assert torch.ones(2, device="cuda").is_cuda
        assert "irtual" in torch.cuda.get_device_name()


class Parent:
    inherited = 1


class Child(Parent):
    own = 2


def test_patches_put_back_exactly_what_was_there() -> None:
    before = dict(vars(Child))
    patches, order = Patches(), []
    patches.set(Child, "own", 3)
    patches.set(Child, "own", 4)
    patches.set(Child, "inherited", 5)
    patches.set(Child, "new", 6)
    patches.also(lambda: order.append(Child.new))
    assert (Child.own, Child.inherited, Parent.inherited) == (4, 5, 1)
    patches.undo()
    assert dict(vars(Child)) == before
    assert order == [6], "what was asked for last is undone first"
    patches.undo()


def test_what_cannot_be_replaced_is_not_put_back() -> None:
    patches = Patches()
    with pytest.raises(TypeError):
        patches.set(int, "real", 1)
    patches.undo()
    assert (3).real == 3
