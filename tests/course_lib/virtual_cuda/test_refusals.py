"""The same programs fail as on CUDA, in the same words, and the same mixtures are allowed."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from course_lib import virtual_cuda
from course_lib.virtual_cuda.refusals import record
from course_lib.virtual_cuda.refusals.cases import Allowance, Case, Outcome, Refusal
from course_lib.virtual_cuda.refusals.table import CASES

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def two_devices() -> Iterator[None]:
    """Most rows need one device, some two; the words are the same."""
    with virtual_cuda.session(devices=2, quiet=True, force=True):
        yield


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_virtual_cuda_does_what_the_table_says(case: Case, two_devices: None) -> None:
    trouble = case.expect.explain(case.run())
    assert not trouble, f"{case.description}\n{trouble}\nexpected because of {case.source}"


def test_virtual_cuda_says_what_a_real_gpu_said(two_devices: None) -> None:
    if not record.place().exists():
        pytest.skip(f"no record of a real GPU for torch {record.version()}")
    real = record.Record.read(record.place())
    wrong = []
    for case in CASES:
        said = real.outcomes.get(case.name)
        if said is not None and _essence(said) != _essence(found := case.run()):
            wrong.append(f"{case.name}: {_essence(found)} instead of {_essence(said)}")
    assert not wrong, "\n".join(wrong)


def _essence(outcome: Outcome) -> tuple[str | None, str | None, list[str]]:
    # The first line is the mistake; what follows is advice about debugging, or names the GPU.
    return outcome.device, outcome.error, outcome.text.splitlines()[:1]


def test_a_record_is_of_a_real_gpu() -> None:
    for path in record.RECORDS.glob("*.json"):
        assert record.Record.read(path).device != record.VIRTUAL, f"{path.name} is not of a real GPU"


def test_a_row_has_a_name_of_its_own_a_description_and_a_source() -> None:
    assert len(CASES) >= 120
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        assert case.description.endswith("."), case.name
        assert case.source.startswith(("https://", "torchgen", "FakeTensor", "the installed torch", "the format")), (
            case.name
        )


def test_every_kind_of_row_is_there() -> None:
    kinds = {type(case.expect) for case in CASES}
    assert kinds == {Refusal, Allowance}
    assert {case.devices for case in CASES} == {1, 2}


def test_the_table_notices_what_is_wrong() -> None:
    refusal, allowance = Refusal("RuntimeError", "same device"), Allowance("cuda:0")
    classes = ("AcceleratorError", "RuntimeError", "Exception")
    assert refusal.explain(Outcome(device="cuda:0")).startswith("allowed")
    assert refusal.explain(Outcome(error="TypeError", classes=("TypeError",), text="same device"))
    assert refusal.explain(Outcome(error=classes[0], classes=classes, text="other words"))
    assert not refusal.explain(Outcome(error=classes[0], classes=classes, text="the same device"))
    assert allowance.explain(Outcome(error="TypeError", text="no")).startswith("refused")
    assert allowance.explain(Outcome(device="cpu"))
    assert not allowance.explain(Outcome(device="cuda:0"))


def test_refused_programs_leave_virtual_cuda_usable(two_devices: None) -> None:
    for case in CASES:
        case.run()
    assert torch.cuda.current_device() == 0
    assert torch.ones(2).device.type == "cpu"
    assert (torch.ones(2, device="cuda") + 1).sum().item() == 4


def test_no_row_passes_unchecked() -> None:
    with virtual_cuda.session(devices=2, quiet=True, force=True) as log:
        for case in CASES:
            case.run()
    assert not log.unchecked


# -- the recorder ----------------------------------------------------------------------------------------------------


def test_the_recorder_writes_what_it_can_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "virtual.json"
    assert record.main(["--virtual", "--out", str(path)]) == 0
    stored = record.Record.read(path)
    assert stored.device == record.VIRTUAL
    assert (stored.torch, stored.devices) == (record.version(), 2)
    assert stored.outcomes.keys() == {case.name for case in CASES}
    assert None not in stored.outcomes.values()
    assert f"{len(CASES)} rows on virtual" in capsys.readouterr().out
    stored.write(again := tmp_path / "again.json")
    assert again.read_bytes() == path.read_bytes()


def test_a_record_unlike_the_table_is_told_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "virtual.json"
    record.main(["--virtual", "--out", str(path)])
    stored = record.Record.read(path)
    wrong = {**stored.outcomes, CASES[0].name: Outcome(device="cuda:0"), CASES[1].name: None}
    told = dataclasses.replace(stored, outcomes=wrong).disagreements()
    assert len(told) == 1
    assert told[0].startswith(CASES[0].name) and CASES[0].source in told[0]


def test_rows_for_two_devices_are_skipped_on_one() -> None:
    with virtual_cuda.session(devices=1, quiet=True, force=True):
        found = record.record(record.VIRTUAL, 1)
    skipped = {name for name, outcome in found.outcomes.items() if outcome is None}
    assert skipped == {case.name for case in CASES if case.devices == 2}
    assert not found.disagreements()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a real GPU")
def test_without_a_gpu_nothing_is_recorded(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "course_lib.virtual_cuda.refusals.record", "--out", str(tmp_path / "real.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "No GPU here" in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_virtual_cuda_says_is_no_source() -> None:
    with pytest.raises(SystemExit):
        record.main(["--virtual"])
