"""The numbers of a7's text, and its reference against PyTorch: another framework's autograd, and NumPy."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.assignment import load_assignment
from autograder.judge.reference import reference_names
from autograder.judge.student import LocalSide
from course_lib.virtual_cuda import tensorflow as virtual_gpus
from tests.apart import apart
from tests.course_lib.checks.visible import VisibleApart, errors_of
from tests.when_used import when_used

torch = when_used("torch")
ROOT = Path(__file__).resolve().parents[3]
A7 = VisibleApart("a7_tensorflow_graphs")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def some(seed: int, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(0, 0.7, shape).astype(np.float32) for shape in shapes]


W, B = some(1, (3, 2), (2,))
BATCHES = [dict(zip(("x1", "x2", "y"), some(seed, (4, 3), (4, 3), (4,)), strict=True)) for seed in (2, 3)]
X, UPSTREAM = some(4, (5, 3), (5,))


def answers_of_the_reference(calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    # TensorFlow counts its devices once, and the visible checks in this process need two GPUs.
    virtual_gpus.enable(devices=2, force=True, quiet=True)
    folder = ROOT / "notebooks" / "assignments" / A7.name
    spec = importlib.util.spec_from_file_location("probes_of_a7", folder / "probes.py")
    assert spec is not None and spec.loader is not None
    probes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(probes)
    side = LocalSide(reference_names(load_assignment(A7.name, ROOT)))
    return [side.run(getattr(probes, name), **data) for name, data in calls]


def siamese(w: Any, b: Any, x1: Any, x2: Any, y: Any) -> tuple[Any, Any]:
    distance = (torch.tanh(x1 @ w + b) - torch.tanh(x2 @ w + b)).square().sum(dim=1)
    return distance, (distance - y).square().mean()


def test_the_reference_computes_what_pytorch_does() -> None:
    settings = {"learning_rate": 0.3, "momentum": 0.5}
    calls = [
        ("graph_values", {"w": W, "b": B, "learning_rate": 0.3, "batches": BATCHES}),
        ("graph_after_steps", {"w": W, "b": B, "learning_rate": 0.3, "batches": BATCHES[:1]}),
        ("tape_training", {"w": W, "b": B, "settings": settings, "batches": [tuple(b.values()) for b in BATCHES]}),
        ("norms_and_gradients", {"x": X, "upstream": UPSTREAM}),
    ]
    values, stepped, taped, norms = apart(answers_of_the_reference, calls)

    w, b = torch.tensor(W, requires_grad=True), torch.tensor(B, requires_grad=True)
    optimizer = torch.optim.SGD([w, b], lr=0.3, momentum=0.5)
    for number, batch in enumerate(BATCHES):
        x1, x2, y = map(torch.tensor, batch.values())
        distance, loss = siamese(torch.tensor(W), torch.tensor(B), x1, x2, y)
        same(values[number][:2], [distance, loss])
        x1.requires_grad_()
        optimizer.zero_grad()
        loss = siamese(w, b, x1, x2, y)[1]
        loss.backward()
        same([taped["losses"][number], taped["sensitivities"][number]], [loss, x1.grad])
        if number == 0:
            same(values[0][2:], [w.grad, b.grad])
        optimizer.step()
        if number == 0:
            same(stepped["steps"][0], [siamese(w, b, x1, x2, y)[1], w, b])
    same([taped["after"]["w"], taped["after"]["b"]], [w, b])

    x = torch.tensor(X, requires_grad=True)
    lengths = torch.linalg.norm(x, dim=1)
    lengths.backward(torch.tensor(UPSTREAM))
    same([norms["norms"], norms["gradient"]], [lengths, x.grad])


def same(found: Any, wanted: Any) -> None:
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=2e-5, atol=2e-6)


def test_the_worked_numbers_are_right() -> None:
    t = math.tanh(1)
    slope = 2 * t**2 * 2 * t  # of the loss with respect to the code of x1
    grad_w, grad_b = slope * (1 - t**2), slope * ((1 - t**2) - 1)
    assert [round(v, 3) for v in (t, t**2, t**4, grad_w, grad_b)] == [0.762, 0.58, 0.336, 0.742, -1.025]
    w, b = 1 - 0.1 * grad_w, -0.1 * grad_b
    after = (math.tanh(w + b) - math.tanh(b)) ** 4
    assert [round(v, 3) for v in (w, b, after)] == [0.926, 0.102, 0.203]
    A7.stated("the variables are 0.926 and 0.102; `step` gives 0.203", "The gradient is 0.742 for `w` and -1.025")
    A7.stated("give the losses 1.0 and 6.25", "ends at 1.75", "return 5.0 and 0.0", "receives `[6., 8.]`")
    assert ((1 - 0) ** 2 + (3 - 0) ** 2) / 2 == 5 and 0.25 * 2 * (1 + 3) / 2 == 1


def test_a_wrong_step_of_a_graph_is_told() -> None:
    source = A7.bank["wrong_identity_of_the_loss"].cells["build_graph"]
    told = errors_of(A7.outcomes({"build_graph": source}, only=["test_build_graph"]))
    assert any("the loss before the step" in error for error in told), told
