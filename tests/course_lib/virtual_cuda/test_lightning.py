"""Lightning's Trainer takes the virtual device for a GPU, and loses on it what it loses on the CPU."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from course_lib import virtual_cuda

lightning = pytest.importorskip("lightning")

WITHOUT_FILES = {"logger": False, "enable_checkpointing": False}
WITHOUT_OUTPUT = {"enable_progress_bar": False, "enable_model_summary": False}


class Net(lightning.LightningModule):  # type: ignore[misc, name-defined, unused-ignore]
    """A regression with everything that has a state: parameters, running averages, random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.ReLU(), nn.Linear(8, 1))
        self.losses: list[torch.Tensor] = []
        self.seen: set[str] = set()

    def loss(self, batch: Any) -> torch.Tensor:
        """Of one batch; where it was is noted."""
        x, y = batch
        self.seen.add(str(x.device))
        return nn.functional.mse_loss(self.net(x).squeeze(1), y)

    def training_step(self, batch: Any, index: int) -> torch.Tensor:
        loss = self.loss(batch)
        self.log("train", loss)
        self.losses.append(loss.detach().cpu())
        return loss

    def validation_step(self, batch: Any, index: int) -> None:
        self.log("validation", self.loss(batch))

    def test_step(self, batch: Any, index: int) -> None:
        self.log("test", self.loss(batch))

    def predict_step(self, batch: Any, index: int) -> torch.Tensor:
        self.seen.add(str(batch[0].device))
        return self.net(batch[0])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), 0.01)


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


def test_without_the_device_lightning_says_that_there_is_no_gpu() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a real GPU")
    with pytest.raises(Exception, match="No supported gpu backend found"):
        lightning.Trainer(accelerator="gpu", devices=1, **WITHOUT_FILES, **WITHOUT_OUTPUT)


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
