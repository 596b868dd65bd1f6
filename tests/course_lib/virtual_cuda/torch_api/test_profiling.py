"""The profiler: tutorials ask it for CUDA times and get the host's, without pages of C++ frames for each operator."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, torch

ProfilerActivity, profile, record_function, schedule = lazy(
    "torch.profiler", "ProfilerActivity profile record_function schedule"
)
profiling = lazy("course_lib.virtual_cuda.torch_api.profiling")

pytestmark = pytest.mark.slow


def chosen(activities: str) -> list[Any]:
    return [getattr(ProfilerActivity, name) for name in activities.split()]


def step() -> None:
    with record_function("the step"):
        torch.ones(8, 8, device="cuda").mm(torch.ones(8, 8, device="cuda")).sum().item()


@pytest.mark.parametrize("activities", ["CPU CUDA", "CUDA", None])
def test_a_profile_of_cuda_has_the_host_s_times(activities: str | None, capfd: pytest.CaptureFixture[str]) -> None:
    with virtual_cuda.session(quiet=True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            with profile(activities=activities and chosen(activities), profile_memory=True) as profiled:
                step()
        table = profiled.key_averages().table(sort_by="cuda_time_total", row_limit=10)
    assert "aten::mm" in table and "the step" in table and "CPU time avg" in table
    notes = [str(one.message) for one in caught if "profiler" in str(one.message)]
    assert notes == ([profiling.NOTE] if activities else []), (
        "said once; without activities torch asks for what there is"
    )
    assert "Exception raised" not in capfd.readouterr().err


def test_the_old_profiler_s_cuda_switch_does_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    noted = pytest.warns(UserWarning, match="host's time")
    with virtual_cuda.session(quiet=True), noted, torch.autograd.profiler.profile(use_device="cuda") as profiled:
        step()
    assert any(event.key == "aten::mm" for event in profiled.key_averages())
    assert "Exception raised" not in capfd.readouterr().err


def test_a_schedule_and_a_chrome_trace_work(tmp_path: Path) -> None:
    traces = []
    with virtual_cuda.session(quiet=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = schedule(wait=1, warmup=1, active=2)
        with profile(activities=chosen("CPU CUDA"), schedule=plan, on_trace_ready=traces.append) as profiled:
            for _ in range(4):
                step()
                profiled.step()
        profiled.export_chrome_trace(str(tmp_path / "trace.json"))
    assert len(traces) == 1
    names = [event.get("name") for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]]
    assert names.count("the step") == 2
    # Twice for each call: as the program's call, and as the call that virtual CUDA passes on to the CPU.
    assert names.count("aten::mm") == 4
