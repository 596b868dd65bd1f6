"""A zygote for the provisioner's tests: small, and with the figures' library."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.kernels import provisioner
from autograder.kernels.zygote import Zygote


@pytest.fixture(scope="session")
def figure_zygote() -> Iterator[Zygote]:
    preload = ("numpy", "matplotlib.pyplot", "matplotlib_inline.backend_inline")
    with Zygote("autograder.kernels.supervisor:kernel_child", preload) as started:
        yield started


@pytest.fixture
def provisioned(figure_zygote: Zygote, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of the kernelspec `autograder` come from the small zygote: torch is not needed here."""
    monkeypatch.setattr(provisioner, "_launcher", figure_zygote)
