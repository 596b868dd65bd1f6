"""The oracle of virtual CUDA: the same program on the CPU, bit for bit."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, torch

pytree = lazy("torch.utils", "_pytree")
BaseTorchDispatchMode = lazy("torch.utils._python_dispatch", "BaseTorchDispatchMode")


def as_on_the_cpu(program: Callable[..., Any] | None = None, **settings: Any) -> Any:
    """Decorator: the function, which takes a `device`, is a program for `compare`, and a test."""
    if program is None:
        return functools.partial(as_on_the_cpu, **settings)

    def test(**parameters: Any) -> None:
        compare(functools.partial(program, **parameters), **settings)

    signature = inspect.signature(program)
    rest = [one for name, one in signature.parameters.items() if name != "device"]
    vars(test).update(vars(program), __signature__=signature.replace(parameters=rest))
    test.__name__, test.__qualname__, test.__module__ = program.__name__, program.__qualname__, program.__module__
    return test


def compare(program: Callable[[str], Any], *, watched: float = 0.0, **settings: Any) -> None:
    """Run a program with "cpu", and with "cuda" under virtual CUDA; what it returns must be equal.

    The program returns tensors in lists, tuples and dictionaries of any depth. Those of the second run must be on the
    device; all others in it (numbers, strings) must be equal.

    `watched`: while any dispatch mode is active, some composite functions of torch's C++ take another way to the same
    result (`isTensorSubclassLike`). Then the CPU's run is one under a mode that does nothing: equal bit for bit; and
    the plain run is equal up to `watched`, as a multiple of its largest number.
    """
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
            assert one == other, f"result {index}: {one} instead of {other}"


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
