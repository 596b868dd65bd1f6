"""Warm processes and kernels for the tests of the grader: one zygote for all, a kernel for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from autograder.kernels.session import Kernel
from autograder.kernels.zygote import Zygote
from autograder.records import Limits

QUICK = Limits(cell_s=20, notebook_s=120, memory_bytes=512 << 20)


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """Forks kernels that have imported NumPy only: ready in a tenth of a second."""
    with Zygote("autograder.kernels.supervisor:kernel_child", ("numpy",)) as started:
        yield started


@pytest.fixture(scope="session")
def torch_zygote() -> Iterator[Zygote]:
    """Forks kernels that have imported torch."""
    with Zygote("autograder.kernels.supervisor:kernel_child", ("numpy", "torch")) as started:
        yield started


@pytest.fixture
def make_kernel(zygote: Zygote) -> Iterator[Callable[..., Kernel]]:
    """`make_kernel(limits, **arguments)`: a confined kernel that is closed after the test."""
    made: list[Kernel] = []

    def make(limits: Limits = QUICK, launcher: Zygote = zygote, **arguments: object) -> Kernel:
        made.append(Kernel(launcher, limits, **arguments))
        made[-1].wait_until_ready()
        return made[-1]

    yield make
    for kernel in made:
        kernel.close()


@pytest.fixture
def kernel(make_kernel: Callable[..., Kernel]) -> Kernel:
    """A confined kernel with limits that honest tests do not meet."""
    return make_kernel()
