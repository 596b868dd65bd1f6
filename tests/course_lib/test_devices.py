"""Which device: asked of torch, said in a sentence, the same with a stand-in for a machine that has a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from course_lib import devices
from tests.when_used import when_used

torch = when_used("torch")

WITH_GPU: Any = SimpleNamespace(
    cuda=SimpleNamespace(is_available=lambda: True, get_device_name=lambda index: "Tester 9000", synchronize=print)
)
WITHOUT: Any = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))


def test_the_gpu_is_used_where_there_is_one() -> None:
    assert devices.best_device(WITH_GPU) == "cuda"
    assert devices.describe(WITH_GPU) == "GPU: Tester 9000."
    assert devices.waiter("cuda:0", WITH_GPU) is print


def test_without_a_gpu_it_says_so_and_how_to_get_one() -> None:
    assert devices.best_device(WITHOUT) == "cpu"
    assert devices.describe(WITHOUT).startswith("No GPU here") and "Runtime" in devices.describe(WITHOUT)
    assert devices.waiter("cpu", WITHOUT) is None


@pytest.mark.slow
def test_the_real_torch_is_asked_by_default() -> None:
    assert devices.best_device() == ("cuda" if torch.cuda.is_available() else "cpu")
