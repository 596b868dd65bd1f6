"""The observers of training loops: they change nothing and miss nothing."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

from course_lib import virtual_cuda
from tests.when_used import when_used

torch = when_used("torch")
nn = when_used("torch.nn")
training = when_used("course_lib.checks.training")
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["cnn", "dropout", "mlp", "norm", "norm with drawn gains"])
def test_a_network_has_the_arrays_it_was_given_and_they_stay_its_own(kind: str) -> None:
    sizes = (3, 4, 5)
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in training.shapes(kind, sizes).items()}
    given = {"1.running_mean": np.array([1.0, 2.0, 3.0, 4.0], dtype=np.float32)} if kind.startswith("norm") else {}
    model = training.network(kind, sizes, weights, given)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 1
    after = training.parameters(model)
    for name, value in weights.items():
        np.testing.assert_allclose(after[name], value + 1, rtol=1e-6)
    for name, value in given.items():
        np.testing.assert_array_equal(training.buffers(model)[name], value)
    x = torch.zeros(2, 1, 8, 8) if kind == "cnn" else torch.zeros(2, 3)
    assert model(x).shape == (2, 5)


def test_a_layer_that_draws_gives_other_values_on_a_gpu_than_on_the_cpu_and_the_same_in_every_call() -> None:
    layer, x = training.DrawnLinear(3, 4, bias=False), torch.ones(2, 3)
    here = layer(x)
    with virtual_cuda.session(devices=2, force=True, quiet=True):
        first, second = (copy.deepcopy(layer).to(f"cuda:{i}")(x.to(f"cuda:{i}")).cpu() for i in range(2))
    assert torch.equal(here, layer(x)) and torch.equal(first, second)
    gains = here / nn.functional.linear(x, layer.weight)
    assert gains.min() >= 0.5 and gains.max() <= 1.5
    assert ((first - here).abs() > 0.02 * here.abs()).all()


def test_batches_come_in_order_with_the_rest_last_and_are_announced() -> None:
    calls: list[int] = []
    x, y = np.arange(5, dtype=np.float32)[:, None], np.arange(5)
    batches = list(training.batches_of(x, y, 2, lambda: calls.append(1)))
    assert [b[1].tolist() for b in batches] == [[0, 1], [2, 3], [4]]
    assert len(calls) == 3
    assert [b[1].tolist() for b in training.batches_of(x, y, 2, drop_last=True)] == [[0, 1], [2, 3]]


def test_steps_are_counted_whoever_takes_them() -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    count = training.count_steps(optimizer)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    optimizer.step(lambda: model(torch.ones(1, 2)).sum())  # type: ignore[arg-type]
    assert count == [2]


def test_a_watch_changes_no_number_and_sees_mode_graph_and_dtype() -> None:
    watch = training.Watch()
    x = torch.ones(2, 3, requires_grad=True)
    out = watch(x)
    out.sum().backward()
    assert torch.equal(out, x) and torch.equal(x.grad, torch.ones(2, 3))  # type: ignore[arg-type]
    watch.eval()
    with torch.no_grad():
        watch(x.half())
    assert watch.training_modes == [True, False]
    assert watch.builds_graph == [True, False]
    assert watch.dtypes == ["float32", "float16"]
    assert watch.devices == ["cpu", "cpu"]
    copy.deepcopy(watch)(x)
    assert watch.training_modes == [True, False, False]


def test_a_watch_counts_the_graphs_that_somebody_holds() -> None:
    model = nn.Sequential(nn.Linear(2, 1), training.Watch())
    watch = model[1]
    assert isinstance(watch, training.Watch)
    kept = [model(torch.ones(1, 2)).sum() for _ in range(3)]
    assert watch.graphs_alive() == 3
    kept[0].backward()
    assert watch.graphs_alive() == 3  # backward frees what was saved; the graph itself is held by the loss
    del kept[:2]
    assert watch.graphs_alive() == 1
    kept = [loss.detach() for loss in kept]
    assert watch.graphs_alive() == 0


def test_the_device_step_counts_copies_and_waits() -> None:
    x = torch.ones(256)
    with virtual_cuda.session(force=True, quiet=True), training.device_step() as found:
        x.to("cuda").sum().item()
    assert found[0].nbytes["host to device"] == 1024 and sum(found[0].syncs.values()) == 1


def test_without_a_device_there_is_no_device_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with training.device_step() as found:
        pass
    assert found == []


def test_scalars_are_read_back_without_tensorflow(tmp_path: Path) -> None:
    training.without_tensorflow()
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:  # type: ignore[no-untyped-call]
        writer.add_scalar("loss", 0.5, 1)  # type: ignore[no-untyped-call]
        writer.add_scalar("loss", 0.25, 2)  # type: ignore[no-untyped-call]
    assert training.read_scalars(str(tmp_path)) == {"loss": [(1, 0.5), (2, 0.25)]}
    empty = tmp_path / "nothing"
    empty.mkdir()
    assert training.read_scalars(str(empty)) == {}


def test_a_writer_that_is_left_open_has_written_nothing_yet(tmp_path: Path) -> None:
    training.without_tensorflow()
    from torch.utils.tensorboard import SummaryWriter

    with training.patient_writers():
        writer = SummaryWriter(str(tmp_path))  # type: ignore[no-untyped-call]
        for step in range(20):
            writer.add_scalar("loss", 0.5, step)  # type: ignore[no-untyped-call]
        assert training.read_scalars(str(tmp_path)) == {}
        writer.flush()  # type: ignore[no-untyped-call]
        assert len(training.read_scalars(str(tmp_path))["loss"]) == 20
        writer.add_scalar("loss", 0.5, 20)  # type: ignore[no-untyped-call]
        writer.close()  # type: ignore[no-untyped-call]
    assert len(training.read_scalars(str(tmp_path))["loss"]) == 21
