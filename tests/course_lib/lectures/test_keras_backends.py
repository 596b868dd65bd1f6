"""One saved model, two processes, two back ends: the same numbers, or a word on what went wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib.lectures import keras_backends

pytestmark = pytest.mark.long

SAVE = """
import sys
import keras
keras.utils.set_random_seed(0)
x = keras.Input((3,), name="x")
model = keras.Model({"x": x}, {"y": keras.layers.Dense(2, name="y")(x)})
model.compile(keras.optimizers.SGD(0.1), {"y": "mse"})
model.optimizer.build(model.trainable_variables)
model.save(sys.argv[1])
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.keras"
    env = {**os.environ, "KERAS_BACKEND": "torch"}
    subprocess.run([sys.executable, "-c", SAVE, str(path)], env=env, check=True, capture_output=True)
    return path


def test_the_back_end_is_the_one_asked_for_and_the_losses_are_those_of_plain_descent(saved: Path) -> None:
    pytest.importorskip("torch")
    x = np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32)
    y = np.ones((8, 2), np.float32)
    kind, result = keras_backends.run_on("torch", saved, {"x": x}, {"y": y}, steps=3)
    assert kind == "torch.Parameter"
    assert sorted(result) == ["loss", "output y", "weight 0", "weight 1"]
    # Forward from the first outputs: the gradient of the mean square is known.
    kernel = np.linalg.lstsq(x.astype(np.float64), result["output y"], rcond=None)[0]
    bias, losses = np.zeros(2), []
    for _ in range(3):
        off = x @ kernel + bias - y
        losses.append((off**2).mean())
        kernel, bias = kernel - 0.1 * 2 * x.T @ off / off.size, bias - 0.1 * 2 * off.sum(axis=0) / off.size
    np.testing.assert_allclose(result["loss"], losses, rtol=1e-4)
    np.testing.assert_allclose(result["weight 0"], kernel, atol=1e-5)
    np.testing.assert_allclose(result["weight 1"], bias, atol=1e-5)


def test_a_process_that_fails_is_quoted(tmp_path: Path) -> None:
    """By a back end that does not exist, since that is noticed before any framework is imported."""
    with pytest.raises(RuntimeError, match=r"(?s)on nothing ended with 1: .*Unable to import backend"):
        keras_backends.run_on("nothing", tmp_path / "missing.keras", {"x": np.ones((1, 3))}, {}, steps=1)
