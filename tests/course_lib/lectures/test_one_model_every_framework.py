"""The faulty ports of lecture 16: each differs from the original first where its fault can show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from course_lib.lectures import framework_costs, one_model_every_framework


def _task() -> framework_costs.Task:
    rng = np.random.default_rng(1)
    start = {"0.kernel": 0.2 * rng.standard_normal((64, 8)), "0.bias": np.zeros(8)}
    start |= {"1.kernel": 0.4 * rng.standard_normal((8, 10)), "1.bias": np.zeros(10)}
    x, y = rng.random((40, 64)), rng.integers(0, 10, 40)
    return framework_costs.Task(x, y, x, y, start, epochs=3, batch=10)


@pytest.mark.slow
def test_each_port_differs_from_the_original_where_its_fault_can_first_show() -> None:
    task = _task()
    original, accuracy = one_model_every_framework.train_port(task)
    assert original.shape == (12,) and 0 <= accuracy <= 1
    found = {
        port: one_model_every_framework.first_difference(one_model_every_framework.train_port(task, port)[0], original)
        for port in one_model_every_framework.PORTS
    }
    assert found == {"A": 0, "B": 1, "C": 2, "D": task.steps}
    with pytest.raises(ValueError, match="'E'"):
        one_model_every_framework.train_port(task, "E")


@pytest.mark.slow
def test_a_record_holds_copies_of_the_values_of_a_port_and_of_numpy_in_the_order_of_computation() -> None:
    import torch

    wrong_from = [1]

    def step(params: Any, velocity: Any, x: Any, y: Any, lr: float, momentum: float) -> float:
        """A right one, which changes its tensors in place, but for the gradients of a step."""
        hidden = torch.relu(x @ params["0.kernel"] + params["0.bias"])
        loss = torch.nn.functional.cross_entropy(hidden @ params["1.kernel"] + params["1.bias"], y)
        grads = torch.autograd.grad(loss, [*params.values()])
        with torch.no_grad():
            for (name, w), grad in zip(params.items(), grads, strict=True):
                w.grad = grad * (2 if name == "1.bias" and wrong_from == [0] else 1)
                velocity[name] = momentum * velocity.get(name, 0) + w.grad
                w -= lr * velocity[name]
        wrong_from[0] -= 1
        return loss.item()

    task = _task()
    port, original = one_model_every_framework.record(step, task)
    names = list(task.start)
    kinds = ("gradient", "velocity", "new")
    assert [*port[0]] == [*original[0]] == ["loss", *(f"{kind} {name}" for kind in kinds for name in names)]
    assert len(port) == len(original) == 3
    assert one_model_every_framework.first_wrong_value(port, original) == (1, "gradient 1.bias")
    wrong_from[0] = 99
    assert one_model_every_framework.first_wrong_value(*one_model_every_framework.record(step, task, 12)) is None


def test_a_comparison_keeps_what_each_version_gave(capsys: pytest.CaptureFixture[str]) -> None:
    task = _task()

    def train(task: framework_costs.Task, log: framework_costs.Log) -> dict[str, np.ndarray]:
        log.append(2.0)
        log.append(1.0)
        return dict(task.start)

    compared = one_model_every_framework.Comparison(task)
    compared.run("NumPy", train)
    compared.repeat("NumPy", "float32")
    assert compared.losses["float64"]["NumPy"].tolist() == [2, 1]
    assert compared.losses["float32"]["NumPy"].dtype == np.float32
    assert compared.weights["NumPy", "float32"]["0.bias"].dtype == np.float32
    hidden = np.maximum(task.x_test @ task.start["0.kernel"] + task.start["0.bias"], 0)
    right = (hidden @ task.start["1.kernel"]).argmax(axis=1) == task.y_test
    assert compared.accuracy == {("NumPy", "float64"): right.mean(), ("NumPy", "float32"): right.mean()}
    assert compared.versions["NumPy"].source.startswith("import numpy as np\n")
    assert capsys.readouterr().out.count("largest difference from NumPy's losses 0.0e+00") == 1


def _slope() -> float:
    return 0.5


def _losses() -> list[float]:
    return [2.0, 2.0 - 2 * _slope()]


def test_a_version_brings_the_helpers_that_the_reader_wrote() -> None:
    task = _task()

    def train(task: framework_costs.Task, log: framework_costs.Log) -> dict[str, np.ndarray]:
        for loss in _losses():
            log.append(loss)
        return dict(task.start)

    compared = one_model_every_framework.Comparison(task)
    compared.run("NumPy", train, _losses)
    source = compared.versions["NumPy"].source
    assert source.count("def _slope") == source.count("def _losses") == 1
