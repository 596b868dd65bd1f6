"""Three processes of DistributedDataParallel do what one does on the whole batch; the lecture asks the rest."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.lectures import distributed
from course_lib.lectures.distributed import exchange
from tests.when_used import when_used

torch = when_used("torch")
nn = when_used("torch.nn")
replicas = when_used("course_lib.lectures.distributed.replicas")
pytestmark = pytest.mark.slow


@pytest.mark.long
def test_three_processes_train_as_one_does() -> None:
    draw = np.random.default_rng(0)
    x, y = draw.standard_normal((30, 64)), draw.integers(0, 10, 30)
    calls = [(replicas.train, {"x": x, "y": y, "rate": 0.1, "batch": 12, "steps": 4})]
    calls += [(replicas.uneven, {"x": x, "y": y, "sizes": [20, 4, 6], "weighted": True})]
    outcomes = distributed.run(replicas.in_group, 3, *calls)
    torch.manual_seed(0)
    start = replicas.weights_of(nn.Linear(64, 10).double())
    alone = exchange.train_alone(start, x, y, 0.1, 12, 4)
    gradient = exchange.softmax_gradient(np.zeros((65, 10)), x, y)[:64]
    for outcome in outcomes:
        (_, wrapped, trained), weighted = outcome.value
        assert np.array_equal(wrapped, start) and np.array_equal(trained, outcomes[0].value[0][2])
        np.testing.assert_allclose(trained, alone, rtol=0, atol=1e-13)
        np.testing.assert_allclose(weighted, gradient, rtol=0, atol=1e-13)


def test_weights_have_the_layout_of_the_exchange() -> None:
    layer = nn.Linear(3, 2)
    weights = replicas.weights_of(layer)
    assert weights.shape == (4, 2) and weights[3].tolist() == layer.bias.tolist()
    weights += 1
    assert layer.bias.tolist() != weights[3].tolist()
