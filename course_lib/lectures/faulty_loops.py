"""Training loops with one hidden fault each, for lecture 10: judge them by what they record, then read their source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def under_letters(curves: Mapping[str, T]) -> dict[str, T]:
    """The same curves as A, B, C, ..., sorted by their names read backward: a puzzle."""
    names = sorted(curves, key=lambda name: name[::-1])
    return {chr(ord("A") + place): curves[name] for place, name in enumerate(names)}


def mystery_one(model: Any, loader: Any, epochs: int, lr: float) -> dict[str, list[float]]:
    """Train `model`; for each update, its loss, the norm of its gradient, and how far it moved the weights."""
    import torch
    import torch.nn.functional as F

    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
    record: dict[str, list[float]] = {"loss": [], "gradient": [], "movement": []}
    for _ in range(epochs):
        model.train()
        for x, y in loader:
            before = [parameter.detach().clone() for parameter in model.parameters()]
            loss: Any = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            record["loss"].append(loss.item())
            record["gradient"].append(_norm(parameter.grad for parameter in model.parameters()))
            moved = (now.detach() - old for now, old in zip(model.parameters(), before, strict=True))
            record["movement"].append(_norm(moved))
    return record


def mystery_two(model: Any, loader: Any, held_out: Any, epochs: int, lr: float) -> dict[str, list[float]]:
    """Train `model`; for each epoch, the loss on the data of `loader` and on that of `held_out`, both in eval mode."""
    import torch
    import torch.nn.functional as F

    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    record: dict[str, list[float]] = {"train": [], "held out": []}
    for _ in range(epochs):
        for x, y in loader:
            loss: Any = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        for name, judged in (("train", loader.dataset.tensors), ("held out", held_out.dataset.tensors)):
            with torch.no_grad():
                record[name].append(F.cross_entropy(model(judged[0]), judged[1]).item())
    return record


def _norm(tensors: Any) -> float:
    """The length of all tensors together, laid end to end."""
    return float(sum(tensor.square().sum() for tensor in tensors) ** 0.5)
