"""What a call switches over is switched back after it, whether it returned or raised."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

from autograder.judge.student import LocalSide
from autograder.protocol.settings import imported, settings_kept
from autograder.student_side.operation_counts import counted
from tests.when_used import when_used

torch = when_used("torch")
pytestmark = pytest.mark.slow

SWITCHES: dict[str, tuple[Any, Any]] = {
    "recursion limit": (lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1), sys.getrecursionlimit),
    "gradients": (lambda: torch.set_grad_enabled(False), lambda: torch.is_grad_enabled()),
    "default dtype": (lambda: torch.set_default_dtype(torch.float64), lambda: torch.get_default_dtype()),
    "default device": (lambda: torch.set_default_device("meta"), lambda: torch.get_default_device()),
    "threads": (lambda: torch.set_num_threads(torch.get_num_threads() + 1), lambda: torch.get_num_threads()),
    "determinism": (
        lambda: torch.use_deterministic_algorithms(True),
        lambda: torch.are_deterministic_algorithms_enabled(),
    ),
    "anomaly detection": (lambda: torch.autograd.set_detect_anomaly(True), lambda: torch.is_anomaly_enabled()),
    "autocast": (lambda: torch.set_autocast_enabled("cpu", True), lambda: torch.is_autocast_enabled("cpu")),
}


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("raises", [False, True], ids=["returns", "raises"])
def test_a_setting_is_as_before(name: str, raises: bool) -> None:
    switch, ask = SWITCHES[name]
    before = ask()
    try:
        with settings_kept():
            switch()
            assert ask() != before, "the test switches nothing"
            if raises:
                raise ValueError
    except ValueError:
        assert raises
    assert ask() == before


def switch_off(ns: Any) -> Any:
    """A probe."""
    return ns.evaluate()


def still_on(ns: Any) -> Any:
    """A probe."""
    return ns.torch.ones(1).dtype == ns.torch.float32 and ns.torch.is_grad_enabled()


def test_one_function_of_a_students_does_not_ruin_the_next() -> None:
    names: dict[str, Any] = {"torch": torch}
    exec("def evaluate():\n    torch.set_grad_enabled(False)\n    torch.set_default_dtype(torch.float64)\n", names)
    side = LocalSide(names)
    side.run(switch_off)
    assert side.run(still_on) is True


def test_torch_is_left_alone_while_a_thread_is_still_importing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    half = ModuleType("torch")
    half.__spec__ = ModuleSpec("torch", None)
    half.__spec__._initializing = True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", half)
    with settings_kept(), counted(["torch"]) as counts:
        assert imported("torch") is None
    assert not counts
