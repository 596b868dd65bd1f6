"""Below autograd: what a dispatch mode changes by itself is put right, on both sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import Tensor, torch

pytestmark = pytest.mark.slow

CONJUGATING: dict[str, Callable[[Tensor], Any]] = {
    "pinv": lambda a: torch.linalg.pinv(a),
    "pinverse": lambda a: torch.pinverse(a),
    "lstsq": lambda a: torch.linalg.lstsq(a, a.mH).solution,
    "hfft": lambda a: torch.fft.hfft(a),
    "hfftn": lambda a: torch.fft.hfftn(a),
    "vecdot": lambda a: torch.linalg.vecdot(a, a.mH),
}


@pytest.mark.parametrize("where", ["cpu", "cuda"])
@pytest.mark.parametrize("inference", [False, True])
@pytest.mark.parametrize("name", CONJUGATING)
def test_a_conjugate_inside_an_operator_is_computed(name: str, inference: bool, where: str) -> None:
    """C++ leaves conjugates for the next operator to compute, and that one forgets it inside a mode."""
    torch.manual_seed(0)
    matrix = torch.randn(4, 4, dtype=torch.complex64)
    expected = CONJUGATING[name](matrix)
    with virtual_cuda.session(quiet=True), torch.inference_mode(inference):
        found = CONJUGATING[name](matrix.to(where)).cpu()
    torch.testing.assert_close(found.clone(), expected)


def test_the_rank_of_a_matrix_is_on_its_device_and_in_out() -> None:
    with virtual_cuda.session(quiet=True):
        matrix, out = torch.eye(3, device="cuda"), torch.zeros((), dtype=torch.int64, device="cuda")
        assert torch.linalg.matrix_rank(matrix, out=out) is out and out.item() == 3
        assert torch.linalg.matrix_rank(torch.empty(0, 0, device="cuda")).is_cuda
        with pytest.raises(RuntimeError, match="but got rtol on cpu and input on cuda:0"):
            torch.linalg.matrix_rank(matrix, rtol=torch.tensor(0.1))
