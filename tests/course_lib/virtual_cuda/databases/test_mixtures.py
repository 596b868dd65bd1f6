"""A tensor left on the CPU is refused or allowed as FakeTensor says, or as torchgen's table does."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.course_lib.virtual_cuda.lazy import lazy
from tests.sampling import sample

known_limits = lazy("tests.course_lib.virtual_cuda.databases.known_limits")
mixtures = lazy("tests.course_lib.virtual_cuda.databases.mixtures")
module_samples = lazy("tests.course_lib.virtual_cuda.databases.module_samples")
op_samples = lazy("tests.course_lib.virtual_cuda.databases.op_samples")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("databases")]
CHUNKS = 32


@pytest.mark.parametrize("chunk", sample("mixtures of operators", range(CHUNKS), 1))
def test_mixtures_of_every_operator(chunk: int) -> None:
    known_limits.skip_elsewhere()
    operators, of = op_samples.operators()[chunk::CHUNKS], mixtures.mixtures_of_operator
    check(mixtures.cover_mixtures(mixtures.MIXED, operators, of, lambda op: op.formatted_name))


@pytest.mark.parametrize("chunk", sample("mixtures of modules", range(CHUNKS), 2))
def test_inputs_left_behind_by_every_module(chunk: int) -> None:
    known_limits.skip_elsewhere()
    modules, of = module_samples.modules()[chunk::CHUNKS], mixtures.mixtures_of_module
    check(mixtures.cover_mixtures(mixtures.MIXED_MODULE, modules, of, lambda info: info.name))


def check(found: mixtures.Found) -> None:
    """All verdicts are FakeTensor's but for those where it errs, all of which are there."""
    tally = found.tally
    assert tally.tried
    known = {(m.stage, m.name): m.samples for m in known_limits.FAKE_TENSOR if (m.stage, m.name) in tally.tried}
    wrong = [f for f in tally.failures if (f.stage, f.name) not in known]
    assert tally.failed() == Counter(known), "\n".join(map(str, wrong))
