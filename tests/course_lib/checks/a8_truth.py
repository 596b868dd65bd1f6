"""What the reference of a8 should give, worked out in NumPy and PyTorch, without Keras's layers, losses and optimizers.

Run in a process of its own, on either back end: see `test_a8_keras`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional

from course_lib.checks import a8_keras as checks

RNG = np.random.default_rng(0)


def drawn(*shape: int, scale: float = 1.0) -> np.ndarray:
    return RNG.normal(size=shape, scale=scale).astype(np.float32)


def differences(reference: dict[str, Any]) -> dict[str, float]:
    """Name of a result -> the largest difference between the reference and the truth."""
    found: dict[str, float] = {}
    for part in (pair, context, two_losses, schedule, transfer):
        found |= {f"{part.__name__} {name}": float(value) for name, value in part(reference).items()}
    return found


def far(got: Any, wanted: Any) -> float:
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    return float(np.abs(got - wanted).max())


def pair(reference: dict[str, Any]) -> dict[str, float]:
    """Codes, and the weights of two heads after three steps, by PyTorch's autograd."""
    weights = [drawn(6, 4), drawn(4), drawn(4, 2), drawn(2)]
    encoder = reference["make_encoder"]((2, 3), 4, 2)
    encoder.set_weights(weights)
    x = drawn(5, 2, 3)
    code = np.tanh(np.maximum(x.reshape(5, 6) @ weights[0] + weights[1], 0) @ weights[2] + weights[3])
    found = {"code": far(checks.plain(encoder(x)), code)}
    start = {"digit kernel": drawn(2, 3), "digit bias": drawn(3), "same kernel": drawn(2, 1), "same bias": drawn(1)}
    model = checks.build_heads(start)
    reference["compile_pair_model"](model, 0.3, 0.4)
    there = {name: torch.tensor(value, requires_grad=True) for name, value in start.items()}
    optimizer = torch.optim.SGD(there.values(), lr=0.3)
    for _ in range(3):
        x, digit, same = drawn(6, 2), RNG.integers(0, 3, 6), RNG.integers(0, 2, (6, 1)).astype(np.float32)
        model.train_on_batch(x, {"digit": digit, "same": same})
        logits, logit = (torch.tensor(x) @ there[f"{n} kernel"] + there[f"{n} bias"] for n in ("digit", "same"))
        loss = functional.cross_entropy(logits, torch.tensor(digit))
        loss = loss + 0.4 * functional.binary_cross_entropy_with_logits(logit, torch.tensor(same))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    got = checks.arrays(model)
    return found | {name: far(got[name], value.detach()) for name, value in there.items()}


def context(reference: dict[str, Any]) -> dict[str, float]:
    """Each sequence by itself, without its padding."""
    kernel, mix, bias = drawn(3, 2), drawn(3, 2), drawn(2)
    layer = checks.built_context(reference["ContextMix"], [kernel, mix, bias], {"activation": "sigmoid"})
    x, mask = drawn(4, 5, 3), RNG.random((4, 5)) < 0.5
    mask[1] = False
    got, found = checks.plain(layer(x, mask=mask)), {}
    for k, (row, valid) in enumerate(zip(x, mask, strict=True)):
        mean = row[valid].mean(axis=0) if valid.any() else np.zeros(3)
        found[f"row {k}"] = far(got[k], 1 / (1 + np.exp(-(row @ kernel + mean @ mix + bias))))
    return found


def two_losses(reference: dict[str, Any]) -> dict[str, float]:
    """Two epochs of clipped steps, with PyTorch's batch normalization, losses and clipping."""
    start = {
        "code kernel": drawn(3, 4),
        "norm gamma": 1 + abs(drawn(4)),
        "norm beta": drawn(4),
        "norm moving_mean": drawn(4),
        "norm moving_variance": 1 + abs(drawn(4)),
        "class kernel": drawn(4, 2),
        "class bias": drawn(2),
        "image kernel": drawn(4, 3),
        "image bias": drawn(3),
    }
    x, y = drawn(7, 3), RNG.integers(0, 2, 7)
    settings = {"alpha": 0.6, "max_norm": 0.7}
    got, history = checks.two_loss_fit(reference["TwoLossModel"], start, 0.05, settings, 0.3, (x, y), 4, epochs=2)
    there = {name: torch.tensor(value, requires_grad="moving" not in name) for name, value in start.items()}
    trained = [value for value in there.values() if value.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.3)
    losses = []
    for _ in range(2):
        total = 0.0
        for rows in (slice(0, 4), slice(4, 7)):
            batch, labels = torch.tensor(x[rows]), torch.tensor(y[rows])
            code = batch @ there["code kernel"]
            with torch.no_grad():
                for name, value in (("mean", code.mean(0)), ("variance", code.var(0, unbiased=False))):
                    moving = there[f"norm moving_{name}"]
                    moving += 0.3 * (value - moving)
            code = functional.batch_norm(
                code, None, None, there["norm gamma"], there["norm beta"], training=True, eps=0.01
            ).tanh()
            loss = functional.cross_entropy(code @ there["class kernel"] + there["class bias"], labels)
            loss = loss + 0.6 * functional.mse_loss(code @ there["image kernel"] + there["image bias"], batch)
            loss = loss + 0.05 * sum((there[f"{name} kernel"] ** 2).sum() for name in ("code", "image"))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, 0.7)
            optimizer.step()
            total += float(loss.detach()) * len(labels)
        losses.append(total / 7)
    found = {name: far(got[name], value.detach()) for name, value in there.items()}
    return found | {"history": far(history["loss"], losses)}


def schedule(reference: dict[str, Any]) -> dict[str, float]:
    """Against PyTorch's own schedulers, one after the other, and their closed form at the ends."""
    found = {}
    for warmup, total, floor in ((4, 10, 0.1), (1, 6, 0.0), (0, 5, 0.2)):
        weight = torch.nn.Parameter(torch.zeros(1))
        optimizer = torch.optim.SGD([weight], lr=0.9)
        falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total - warmup, eta_min=floor)
        wanted = [0.9 * (k + 1) / warmup for k in range(warmup)]
        for _ in range(total - warmup + 1):
            wanted.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            falling.step()
        made = reference["WarmupCosine"](0.9, warmup, total, floor)
        found[f"{warmup} of {total}"] = far(checks.rates(made, range(total + 1)), wanted)
        found[f"after {total}"] = far(checks.rates(made, [total + 1, 3 * total]), [floor, floor])
    return found


def transfer(reference: dict[str, Any]) -> dict[str, float]:
    """Both phases by PyTorch's autograd; batch normalization is a fixed scale and shift."""
    start = {name: value.copy() for name, value in checks._BASE.items()}
    base = checks.build_base(start)
    model = reference["make_transfer_model"](base, 3, 0.4)
    start |= {"head kernel": drawn(2, 3), "head bias": drawn(3)}
    checks.load(model, start)
    there = {name: torch.tensor(value) for name, value in start.items()}

    def steps(names: list[str], rate: float) -> None:
        for name in names:
            there[name].requires_grad_()
        optimizer = torch.optim.SGD([there[name] for name in names], lr=rate)
        for _ in range(2):
            x, y = drawn(5, 3), RNG.integers(0, 3, 5)
            model.train_on_batch(x, y)
            h = torch.tensor(x)
            for k in (1, 2, 3):
                h = h @ there[f"dense{k} kernel"] + there[f"dense{k} bias"]
                if k < 3:
                    scale = there[f"norm{k} gamma"] / torch.sqrt(there[f"norm{k} moving_variance"] + 0.01)
                    h = torch.relu((h - there[f"norm{k} moving_mean"]) * scale + there[f"norm{k} beta"])
            loss = functional.cross_entropy(h @ there["head kernel"] + there["head bias"], torch.tensor(y))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    head = ["head kernel", "head bias"]
    steps(head, 0.4)
    reference["fine_tune"](model, base, 4, 0.2)
    steps([*head, "dense2 kernel", "dense2 bias", "dense3 kernel", "dense3 bias"], 0.2)
    got = checks.arrays(model)
    return {name: far(got[name], value.detach()) for name, value in there.items()}
