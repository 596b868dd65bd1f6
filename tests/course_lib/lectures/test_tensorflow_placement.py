"""The placement log is the runtime's own, from a process of its own; this process's error stream stays empty."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from course_lib.lectures import tensorflow_placement

SAID = """WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1.2    7 placer.cc:162] a: (Square): /job:localhost/replica:0/task:0/device:CPU:2
I0000 00:00:1.3    7 placer.cc:162] scope/b_1: (AddV2): /job:localhost/replica:0/task:0/device:CPU:3
"""


def _ran(monkeypatch: pytest.MonkeyPatch, returncode: int, stderr: str) -> list[Any]:
    asked: list[Any] = []

    def run(command: list[str], **kwargs: Any) -> SimpleNamespace:
        asked.append((command, kwargs["env"]))
        return SimpleNamespace(returncode=returncode, stderr=stderr)

    monkeypatch.setattr(tensorflow_placement.subprocess, "run", run)
    return asked


def _tensor() -> Any:
    definition = SimpleNamespace(SerializeToString=lambda: b"")
    return SimpleNamespace(name="b:0", graph=SimpleNamespace(as_graph_def=lambda: definition))


def test_of_all_that_is_written_the_lines_of_the_placer_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _ran(monkeypatch, 0, SAID)
    assert tensorflow_placement.placement_log(_tensor(), cpus=4) == [
        "a: (Square): /job:localhost/replica:0/task:0/device:CPU:2",
        "scope/b_1: (AddV2): /job:localhost/replica:0/task:0/device:CPU:3",
    ]
    [(command, env)] = asked
    assert command[-2:] == ["b:0", "4"] and env["TF_CPP_MIN_LOG_LEVEL"] == "0"


def test_a_graph_that_cannot_be_run_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    _ran(monkeypatch, 1, "Traceback ...\nCannot assign a device for operation a\n")
    with pytest.raises(RuntimeError, match="Cannot assign a device"):
        tensorflow_placement.placement_log(_tensor())
