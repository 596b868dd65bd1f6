"""PyTorch's own databases of operators and modules give on the virtual device what they give on the CPU."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.course_lib.virtual_cuda.lazy import lazy, torch
from tests.sampling import sample

covering = lazy("tests.course_lib.virtual_cuda.databases.covering")
known_limits = lazy("tests.course_lib.virtual_cuda.databases.known_limits")
module_samples = lazy("tests.course_lib.virtual_cuda.databases.module_samples")
op_samples = lazy("tests.course_lib.virtual_cuda.databases.op_samples")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("databases")]
CHUNKS = 32


@pytest.mark.parametrize("chunk", sample("operators", range(CHUNKS), 1))
def test_every_operator_is_the_same(chunk: int) -> None:
    known_limits.skip_elsewhere()
    operators = op_samples.operators()[chunk::CHUNKS]
    check(covering.cover(operators, op_samples.operator_cases, lambda op: op.formatted_name))


@pytest.mark.parametrize("chunk", sample("modules", range(CHUNKS), 2))
def test_every_module_is_the_same(chunk: int) -> None:
    known_limits.skip_elsewhere()
    modules = module_samples.modules()[chunk::CHUNKS]
    check(covering.cover(modules, module_samples.module_cases, lambda info: info.name))


def check(tally: covering.Tally) -> None:
    """All is right but for the known limits, all of which are there."""
    names = {name for _, name in tally.tried}
    known = {(m.stage, m.name): m.samples for m in known_limits.LIMITS if m.name in names}
    wrong = [f for f in tally.failures if (f.stage, f.name) not in known]
    assert tally.failed() == Counter(known), "\n".join(map(str, wrong))
    other_ways = {(stage, name) for w in known_limits.WATCHED for stage in w.stages for name in w.names}
    assert set(tally.watched) <= other_ways, set(tally.watched) - other_ways


def test_the_account_names_every_known_limit() -> None:
    account = (Path(__file__).parents[4] / "docs" / "virtual_cuda_coverage.md").read_text(encoding="utf-8")
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
