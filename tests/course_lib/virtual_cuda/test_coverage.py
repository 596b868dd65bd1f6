"""PyTorch's own databases of operators and modules give on the virtual device what they give on the CPU."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))
import covering
import known_limits
import module_samples
import op_samples

sys.path.pop(0)

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(known_limits.ELSEWHERE, reason="PyTorch's databases are those of another release"),
]
CHUNKS = 6
COMMON = "add sub mul div neg abs exp log sqrt pow sin tanh sigmoid clamp where maximum minimum sum mean std"
COMMON += " var_mean amax argmax cumsum sort topk gather scatter_add index_select index_put masked_select"
COMMON += " masked_fill cat stack chunk split permute reshape flatten squeeze unsqueeze expand tril flip roll"
COMMON += " matmul mm bmm addmm einsum outer linalg_norm linalg_solve linalg_qr nn_functional_relu"
COMMON += " nn_functional_gelu nn_functional_softplus softmax log_softmax nn_functional_linear"
COMMON += " nn_functional_mse_loss nn_functional_embedding nn_functional_dropout randn"


def test_sixty_common_operators_are_the_same() -> None:
    operators = [op for op in op_samples.operators() if op.formatted_name in COMMON.split()]
    assert len(operators) >= 60
    check(covering.cover(operators, op_samples.operator_cases, lambda op: op.formatted_name))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_operator_is_the_same(chunk: int) -> None:
    operators = op_samples.operators()[chunk::CHUNKS]
    check(covering.cover(operators, op_samples.operator_cases, lambda op: op.formatted_name))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(2))
def test_every_module_is_the_same(chunk: int) -> None:
    modules = module_samples.modules()[chunk::2]
    check(covering.cover(modules, module_samples.module_cases, lambda info: info.name))


def check(tally: covering.Tally) -> None:
    """All is right but for the known limits, all of which are there."""
    names = {name for _, name in tally.tried}
    known = {(m.stage, m.name): m.samples for m in known_limits.LIMITS if m.name in names}
    assert tally.failed() == Counter(known), [f for f in tally.failures if (f.stage, f.name) not in known][:3]
    other_ways = {(stage, name) for w in known_limits.WATCHED for stage in w.stages for name in w.names}
    assert set(tally.watched) <= other_ways, set(tally.watched) - other_ways
    for stage in {stage for stage, _ in tally.tried}:
        tried = sum(count for (of, _), count in tally.tried.items() if of == stage)
        equal = tried - sum(f.stage == stage for f in tally.failures)
        assert equal > 0.99 * tried, stage


def test_the_account_names_every_known_limit() -> None:
    account = (Path(__file__).parents[3] / "docs" / "virtual_cuda_coverage.md").read_text(encoding="utf-8")
    for limit in (*known_limits.LIMITS, *known_limits.FAKE_TENSOR):
        assert limit.name in account and limit.why in account


def test_a_difference_is_found() -> None:
    """The comparison is worth something."""
    one = torch.arange(6.0).reshape(2, 3)

    def why(other: Any) -> str:
        return covering.difference(one, other, where=False)

    assert why(one.clone()) == ""
    assert "another value" in why(torch.nextafter(one, one + 1))
    assert "strides" in why(one.T.contiguous().T)
    assert "dtype" in why(one.double())
    assert "on the CPU" in covering.difference(one, one)
