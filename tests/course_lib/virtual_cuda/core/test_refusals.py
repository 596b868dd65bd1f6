"""The same programs fail as on CUDA, in the same words, and the same mixtures are allowed."""

from __future__ import annotations

import dataclasses
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, torch
from tests.course_lib.virtual_cuda.refusals import PARTS

rules = lazy("course_lib.virtual_cuda.core.rules")
cases = lazy("tests.course_lib.virtual_cuda.refusals.cases")
record = lazy("tests.course_lib.virtual_cuda.refusals.record")
table = lazy("tests.course_lib.virtual_cuda.refusals.table")
wheel = lazy("tests.course_lib.virtual_cuda.refusals.wheel")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
SOURCES = ("https://github.com/", "torchgen", "FakeTensor", "the installed torch", "matplotlib", "not settled")


@pytest.fixture
def two_devices() -> Iterator[None]:
    """Most rows need one device, some two; the words are the same."""
    with virtual_cuda.session(devices=2, quiet=True, force=True):
        yield


@pytest.mark.parametrize("part", PARTS)
def test_virtual_cuda_does_what_the_table_says(part: str) -> None:
    troubles = []
    with virtual_cuda.session(devices=2, quiet=True, force=True) as log:
        for case in table.rows_of(part):
            if trouble := case.expect.explain(case.run()):
                troubles.append(f"{case.name}: {trouble}\n    {case.description} Expected because of {case.source}")
        assert not troubles, "\n".join(troubles)
        assert not log.unchecked
        # Refusals leave the device usable.
        assert torch.cuda.current_device() == 0 and torch.ones(2).device.type == "cpu"
        assert (torch.ones(2, device="cuda") + 1).sum().item() == 4


def test_virtual_cuda_says_what_a_real_gpu_said(two_devices: None) -> None:
    if not record.place().exists():
        pytest.skip(f"no record of a real GPU for torch {record.version()}")
    real = record.Record.read(record.place())
    wrong = []
    for case in table.CASES:
        said = real.outcomes.get(case.name)
        if said is not None and _essence(said) != _essence(found := case.run()):
            wrong.append(f"{case.name}: {_essence(found)} instead of {_essence(said)}")
    assert not wrong, "\n".join(wrong)


def _essence(outcome: cases.Outcome) -> tuple[str | None, str | None, list[str]]:
    # The first line is the mistake; what follows is advice about debugging, or names the GPU.
    return outcome.device, outcome.error, outcome.text.splitlines()[:1]


def test_a_record_is_of_a_real_gpu() -> None:
    for path in record.RECORDS.glob("*.json"):
        assert record.Record.read(path).device != record.VIRTUAL, f"{path.name} is not of a real GPU"


def test_a_row_has_a_name_of_its_own_a_description_and_a_source() -> None:
    assert len({case.name for case in table.CASES}) == len(table.CASES)
    for case in table.CASES:
        assert case.description.endswith("."), case.name
        assert case.source.startswith(SOURCES), case.name


def test_the_table_notices_what_is_wrong() -> None:
    refusal, allowance = cases.Refusal("RuntimeError", "same device"), cases.Allowance("cuda:0")
    classes = ("AcceleratorError", "RuntimeError", "Exception")
    assert refusal.explain(cases.Outcome(device="cuda:0")).startswith("allowed")
    assert refusal.explain(cases.Outcome(error="TypeError", classes=("TypeError",), text="same device"))
    assert refusal.explain(cases.Outcome(error=classes[0], classes=classes, text="other words"))
    assert not refusal.explain(cases.Outcome(error=classes[0], classes=classes, text="the same device"))
    assert allowance.explain(cases.Outcome(error="TypeError", text="no")).startswith("refused")
    assert allowance.explain(cases.Outcome(device="cpu"))
    assert not allowance.explain(cases.Outcome(device="cuda:0"))


VARIABLE_PARTS = re.compile(
    r"cuda:\d+|(?<=[ (])cpu\b|'\w+'|torch\.(?:cuda\.)?\w+Tensor|wrapper_\w+|(?<=got )\w+(?= is on)|(?<=index )\d+"
    r"|(?<=input )\d+|(?<=but got )\d+D|(?<=for argument )\w+|(?<=Function )\w+|(?<=type: )\w+"
    r"|(?<= )(?:hidden|parameter)\b|torch\.take_along_dim\(\):|Long tensor|invalid device ordinal|\n.*"
)
"""what a message names: devices, types, arguments, and CUDA's own words; between them are constants of torch"""


@pytest.mark.exhaustive
def test_what_virtual_cuda_says_is_compiled_into_the_installed_torch(two_devices: None) -> None:
    if not wheel.is_readable():
        pytest.skip("the libraries of this system's torch have another form")
    foreign = []
    for case in table.CASES:
        if isinstance(case.expect, cases.Refusal) and (text := _own_words(case)):
            pieces = [piece for piece in VARIABLE_PARTS.split(text) if len(piece.strip()) > 3]
            foreign += [f"{case.name}: {piece!r}" for piece in pieces if not _is_compiled(piece)]
    assert not foreign, "\n".join(foreign)


def _is_compiled(piece: str) -> bool:
    """As one constant, or as two that are printed one after the other."""
    cuts = [place for match in re.finditer(" ", piece) for place in match.span()]
    return wheel.says(piece) or any(wheel.says(piece[:cut]) and wheel.says(piece[cut:]) for cut in cuts)


def _own_words(case: Any) -> str:
    """The message of a refusal that is raised by virtual CUDA's code, and not by torch's own."""
    try:
        torch.manual_seed(0)
        case.program()
    except Exception as error:
        *_, last = traceback.walk_tb(error.__traceback__)
        if Path(virtual_cuda.__file__).parent in Path(last[0].f_code.co_filename).parents:
            return "" if case.source == cases.SAME else str(error)
    return ""


def test_methods_in_the_rules_are_the_wrappers_of_the_cuda_library() -> None:
    compiled = wheel.methods()
    if not compiled:
        pytest.skip("this build of torch has no CUDA")
    named = {rule for name, rule in rules.generated_checks().items() if rule != rules.ITERATOR and _takes_tensors(name)}
    assert named == compiled


def _takes_tensors(name: str) -> bool:
    operator, _, overload = name.partition(".")
    schema = getattr(getattr(torch.ops.aten, operator), overload or "default")._schema
    return any("Tensor" in str(argument.type) for argument in schema.arguments)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The recorder's table: five rows, three of which need two devices."""
    rows = [c for c in table.CASES if c.devices == 1][:2] + [c for c in table.CASES if c.devices == 2][:3]
    monkeypatch.setattr(record, "CASES", rows)
    return rows


def test_the_recorder_writes_what_it_can_read_and_tells_what_differs_from_the_table(
    few: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "virtual.json"
    assert record.main(["--virtual", "--out", str(path)]) == 0
    stored = record.Record.read(path)
    assert stored.device == record.VIRTUAL
    assert (stored.torch, stored.devices) == (record.version(), 2)
    assert stored.outcomes.keys() == {case.name for case in few}
    assert None not in stored.outcomes.values()
    assert "5 rows on virtual" in capsys.readouterr().out
    stored.write(again := tmp_path / "again.json")
    assert again.read_bytes() == path.read_bytes()
    wrong = {**stored.outcomes, few[0].name: cases.Outcome(device="cuda:0"), few[1].name: None}
    (told,) = dataclasses.replace(stored, outcomes=wrong).disagreements()
    assert told.startswith(few[0].name) and few[0].source in told


def test_rows_for_two_devices_are_skipped_on_one(few: list[Any]) -> None:
    with virtual_cuda.session(devices=1, quiet=True, force=True):
        found = record.record(record.VIRTUAL, 1)
    assert [outcome is None for outcome in found.outcomes.values()] == [False] * 2 + [True] * 3
    assert not found.disagreements()


def test_without_a_gpu_or_with_what_plays_one_nothing_is_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = ["--out", str(tmp_path / "real.json")]
    if not torch.cuda.is_available():
        assert record.main(out) == 2
        assert ("No GPU here" if torch.version.cuda else "built without CUDA") in capsys.readouterr().err
    with virtual_cuda.session(quiet=True, force=True):
        assert torch.cuda.is_available() and record.main(out) == 2
        assert "Virtual CUDA is on" in capsys.readouterr().err
        monkeypatch.setattr(virtual_cuda, "is_enabled", lambda: False)
        monkeypatch.setattr(torch.version, "cuda", "13.0")
        assert record.obstacle().startswith("Something plays a GPU") and record.main(out) == 2
        monkeypatch.undo()
    assert not list(tmp_path.iterdir())
    with pytest.raises(SystemExit):
        record.main(["--virtual"])  # what virtual CUDA says is no source: it needs a file of its own


def test_on_a_gpu_the_record_is_kept_beside_the_recorder(
    few: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "RECORDS", tmp_path)
    monkeypatch.setattr(record, "obstacle", lambda: "")
    with virtual_cuda.session(name="NVIDIA A100", quiet=True, force=True):
        assert record.main([]) == 0
    stored = record.Record.read(tmp_path / f"torch-{record.version()}.json")
    assert (stored.device, stored.devices) == ("NVIDIA A100", 1)
    assert list(stored.outcomes) == [case.name for case in few]


def test_a_row_that_breaks_the_gpu_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **settings: object) -> None:
        raise RuntimeError("CUDA error: device-side assert triggered")

    def program() -> torch.Tensor:
        monkeypatch.setattr(torch, "ones", broken)
        return torch.zeros(1)

    case = dataclasses.replace(table.CASES[0], program=program)
    monkeypatch.setattr(record, "CASES", (case, *table.CASES[1:3]))
    with pytest.raises(RuntimeError, match=f"{case.name} has left the device unusable"):
        record.record("a GPU", 1)
