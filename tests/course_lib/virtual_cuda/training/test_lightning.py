"""Lightning's Trainer takes the virtual device for a GPU, and loses on it what it loses on the CPU."""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, torch

DataLoader, TensorDataset = lazy("torch.utils.data", "DataLoader TensorDataset")

Net = lazy("tests.course_lib.virtual_cuda.training.lightning_net", "Net")
lightning = lazy("lightning")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("lightning") is None, reason="Lightning is not installed"),
]


WITHOUT_FILES = {"logger": False, "enable_checkpointing": False}
WITHOUT_OUTPUT = {"enable_progress_bar": False, "enable_model_summary": False}


@pytest.fixture(autouse=True)
def quiet_in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    loggers = [logging.getLogger(name) for name in ("lightning", "lightning.pytorch", "lightning.fabric")]
    before = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    for one, level in zip(loggers, before, strict=True):
        one.setLevel(level)
    assert not list(tmp_path.iterdir()), "files were left in the working folder"


def run(accelerator: str, **settings: Any) -> tuple[Net, Any]:
    """The module after all four of the trainer's loops, and what they measured."""
    lightning.seed_everything(1, verbose=False)
    model = Net()
    data = DataLoader(TensorDataset(torch.randn(24, 4), torch.randn(24)), 8, shuffle=True)
    trainer = lightning.Trainer(
        accelerator=accelerator, devices=1, max_epochs=2, **{**WITHOUT_FILES, **WITHOUT_OUTPUT, **settings}
    )
    trainer.fit(model, data, data)
    validated, tested = trainer.validate(model, data, verbose=False), trainer.test(model, data, verbose=False)
    return model, (validated, tested, trainer.predict(model, data))


def test_all_four_loops_measure_what_they_measure_on_the_cpu() -> None:
    expected, measured = run("cpu")
    with virtual_cuda.session(same_numbers=True, force=True, quiet=True) as log:
        found, measured_there = run("gpu")
    assert expected.seen == {"cpu"} and found.seen == {"cuda:0"}
    assert len(found.losses) == 6 and all(map(torch.equal, found.losses, expected.losses))
    assert measured_there[:2] == measured[:2]
    assert all(map(torch.equal, measured_there[2], measured[2]))
    for one, other in zip(found.state_dict().values(), expected.state_dict().values(), strict=True):
        assert torch.equal(one.cpu(), other)
    assert {copy.target for copy in log.copies} == {"cuda:0", "cpu"}


@pytest.mark.parametrize("precision", ["16-mixed", "bf16-mixed"])
def test_mixed_precision_is_near_full_precision_but_not_it(precision: str) -> None:
    expected, _ = run("cpu")
    with virtual_cuda.session(same_numbers=True, force=True, quiet=True):
        found, _ = run("gpu", precision=precision, gradient_clip_val=None)
    assert found.seen == {"cuda:0"}
    assert not all(map(torch.equal, found.losses, expected.losses))
    torch.testing.assert_close(torch.stack(found.losses[:1]), torch.stack(expected.losses[:1]), rtol=1e-2, atol=1e-2)
    assert all(torch.isfinite(loss) for loss in found.losses)


def test_the_trainer_finds_the_device_by_itself() -> None:
    with virtual_cuda.session(devices=2, same_numbers=True, force=True, quiet=True):
        trainer = lightning.Trainer(accelerator="auto", devices=[1], **WITHOUT_FILES, **WITHOUT_OUTPUT)
        assert str(trainer.strategy.root_device) == "cuda:1"
        assert type(trainer.accelerator).__name__ == "CUDAAccelerator"


def test_a_checkpoint_of_a_run_on_the_device_goes_on_and_is_loaded_on_the_cpu(tmp_path: Path) -> None:
    data = DataLoader(TensorDataset(torch.randn(24, 4), torch.randn(24)), 8)
    path = tmp_path / "one.ckpt"
    with virtual_cuda.session(same_numbers=True, force=True, quiet=True):
        trainer = lightning.Trainer(accelerator="gpu", devices=1, max_epochs=1, **WITHOUT_FILES, **WITHOUT_OUTPUT)
        trainer.fit(Net(), data)
        trainer.save_checkpoint(path)
        again = Net()
        trainer = lightning.Trainer(accelerator="gpu", devices=1, max_epochs=3, **WITHOUT_FILES, **WITHOUT_OUTPUT)
        trainer.fit(again, data, ckpt_path=path)
        assert len(again.losses) == 6 and again.seen == {"cuda:0"}
    loaded = Net.load_from_checkpoint(path, map_location="cpu")
    assert {p.device.type for p in loaded.parameters()} == {"cpu"}
    path.unlink()
