"""A tensor left on the CPU is refused or allowed as FakeTensor says, or as torchgen's table does."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import known_limits
import mixtures
import module_samples
import op_samples

sys.path.pop(0)

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(known_limits.ELSEWHERE, reason="PyTorch's databases are those of another release"),
]
CHUNKS = 4
COMMON = "add cat mm addmm where gather index_select nn_functional_linear nn_functional_conv2d nn_functional_layer_norm"
COMMON += " nn_functional_cross_entropy nn_functional_embedding searchsorted ldexp special_chebyshev_polynomial_t"


def test_mixtures_of_common_operators() -> None:
    check(of_operators([op for op in op_samples.operators() if op.formatted_name in COMMON.split()]))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mixtures_of_every_operator(chunk: int) -> None:
    check(of_operators(op_samples.operators()[chunk::CHUNKS]))


@pytest.mark.slow
def test_inputs_left_behind_by_every_module() -> None:
    modules = module_samples.modules()
    check(mixtures.cover_mixtures(mixtures.MIXED_MODULE, modules, mixtures.mixtures_of_module, lambda info: info.name))


def of_operators(operators: list) -> mixtures.Found:
    """The mixtures of some operators."""
    return mixtures.cover_mixtures(
        mixtures.MIXED, operators, mixtures.mixtures_of_operator, lambda op: op.formatted_name
    )


def check(found: mixtures.Found) -> None:
    """All verdicts are FakeTensor's but for those where it errs, all of which are there."""
    tally = found.tally
    assert tally.tried
    known = {(m.stage, m.name): m.samples for m in known_limits.FAKE_TENSOR if (m.stage, m.name) in tally.tried}
    assert tally.failed() == Counter(known), [f for f in tally.failures if (f.stage, f.name) not in known][:3]
