"""The oracle of virtual CUDA: the same program on the CPU, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, torch

pytree = lazy("torch.utils", "_pytree")
BaseTorchDispatchMode = lazy("torch.utils._python_dispatch", "BaseTorchDispatchMode")


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


Program = Callable[[str], Any]


@pytest.fixture
def same_numbers() -> Callable[..., None]:
    """`same_numbers(program)`: run it with "cpu", and with "cuda" under virtual CUDA; what it returns must be equal.

    The program returns tensors in lists, tuples and dictionaries of any depth. Those of the second run must be on the
    device; all others in it (numbers, strings) must be equal.

    `watched`: while any dispatch mode is active, some composite functions of torch's C++ take another way to the same
    result (`isTensorSubclassLike`). Then the CPU's run is one under a mode that does nothing: equal bit for bit; and
    the plain run is equal up to `watched`, as a multiple of its largest number.
    """

    def compare(program: Program, *, watched: float = 0.0, **settings: Any) -> None:
        torch.manual_seed(0)
        expected, form = pytree.tree_flatten(program("cpu"))
        if watched:
            plain = expected
            torch.manual_seed(0)
            with BaseTorchDispatchMode():
                expected = pytree.tree_leaves(program("cpu"))
            for one, other in zip(expected, plain, strict=True):
                torch.testing.assert_close(one, other, rtol=0, atol=watched * float(other.abs().max()))
        with virtual_cuda.session(same_numbers=True, quiet=True, **settings):
            torch.manual_seed(0)
            found, found_form = pytree.tree_flatten(program("cuda"))
            strays = [x.device for x in found if isinstance(x, torch.Tensor) and not x.is_cuda]
            assert not strays, f"{len(strays)} results are on {strays[0]}"
        assert found_form == form
        assert len(found) > 0
        for index, (one, other) in enumerate(zip(found, expected, strict=True)):
            if isinstance(one, torch.Tensor):
                assert identical(one, other), f"result {index}: {difference(one, other)}"
            else:
                assert one == other

    return compare


def identical(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equal dtype, shape and bits; NaN equals NaN."""
    if (one.dtype, one.shape, one.layout) != (other.dtype, other.shape, other.layout):
        return False
    if one.layout is not torch.strided:
        one, other = one.to_dense(), other.to_dense()
    one, other = one.detach(), other.detach()
    return torch.equal(one, other) or bool(((one == other) | ((one != one) & (other != other))).all())


def difference(one: torch.Tensor, other: torch.Tensor) -> str:
    """How two tensors differ, in one line."""
    if (one.dtype, one.shape, one.layout) != (other.dtype, other.shape, other.layout):
        return f"{one.dtype} {tuple(one.shape)} instead of {other.dtype} {tuple(other.shape)}"
    gap = (one.detach().cpu().double() - other.detach().double()).abs()
    return f"{int((gap != 0).sum())} of {gap.numel()} numbers differ, by at most {float(gap.max()):.2e}"
