"""Training loops with one hidden fault each, for lecture 10: judge them by what they record, then read their source."""

from __future__ import annotations

from typing import Any


def mystery_one(net: Any, batches: Any, epochs: int, rate: float) -> dict[str, list[float]]:
    """Train `net`; for each update, its loss, the norm of its gradient, and how far it moved the weights."""
    import torch
    import torch.nn.functional as F

    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
    record: dict[str, list[float]] = {"loss": [], "gradient": [], "movement": []}
    for _ in range(epochs):
        net.train()
        for x, y in batches:
            before = [parameter.detach().clone() for parameter in net.parameters()]
            loss: Any = F.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            record["loss"].append(loss.item())
            record["gradient"].append(_norm(parameter.grad for parameter in net.parameters()))
            moved = (now.detach() - old for now, old in zip(net.parameters(), before, strict=True))
            record["movement"].append(_norm(moved))
    return record


def mystery_two(net: Any, batches: Any, held_out: Any, epochs: int, rate: float) -> dict[str, list[float]]:
    """Train `net`; for each epoch, the loss on `batches` and on `held_out`, both in eval mode."""
    import torch
    import torch.nn.functional as F

    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    record: dict[str, list[float]] = {"train": [], "held out": []}
    for _ in range(epochs):
        for x, y in batches:
            loss: Any = F.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        net.eval()
        for name, judged in (("train", batches.dataset.tensors), ("held out", held_out.dataset.tensors)):
            with torch.no_grad():
                record[name].append(F.cross_entropy(net(judged[0]), judged[1]).item())
    return record


def _norm(tensors: Any) -> float:
    """The length of all tensors together, laid end to end."""
    return float(sum(tensor.square().sum() for tensor in tensors) ** 0.5)
