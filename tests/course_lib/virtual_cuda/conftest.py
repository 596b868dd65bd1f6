"""What the tests of virtual CUDA have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import torch
from tests.course_lib.virtual_cuda.same_numbers import compare


@pytest.fixture(autouse=True)
def one_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Sums of floats depend on how many threads share them."""
    if request.node.get_closest_marker("slow") is None:  # pure Python
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    assert not virtual_cuda.is_enabled(), "a test left virtual CUDA on"


@pytest.fixture
def cuda() -> Iterator[Any]:
    """Two virtual devices, and their log."""
    with virtual_cuda.session(devices=2, force=True, quiet=True) as log:
        yield log


@pytest.fixture
def same_numbers() -> Callable[..., None]:
    """`compare`, for tests that compare several programs, or make them."""
    return compare
