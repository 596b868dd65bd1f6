"""A regression as a module of Lightning."""

from __future__ import annotations

from typing import Any

import lightning
import torch
from torch import nn


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
