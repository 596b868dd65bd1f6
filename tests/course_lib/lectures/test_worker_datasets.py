"""The data sets for workers: what each does with none, with forked workers and with workers that import."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.when_used import when_used

torch = when_used("torch")
data = when_used("torch.utils.data")
worker_datasets = when_used("course_lib.lectures.worker_datasets")

# There are more workers than cores.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:This DataLoader will create")]


def _epochs(dataset: Any, workers: int = 2, **options: Any) -> list[Any]:
    chance = torch.Generator().manual_seed(0)
    loader: Any = data.DataLoader(dataset, batch_size=2, num_workers=workers, generator=chance, **options)
    return [[batch.tolist() for batch in loader] for _ in range(2)]


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_the_data_sets_reach_workers_however_they_are_started(start: str) -> None:
    dataset = worker_datasets.WhoLoads(4)
    loader: Any = data.DataLoader(dataset, batch_size=2, num_workers=2, multiprocessing_context=start)
    assert [[part.tolist() for part in batch] for batch in loader] == [[[0, 1], [0, 0]], [[2, 3], [1, 1]]]
    assert worker_datasets.worker_number() == -1 and dataset[2] == (2, -1), "the main process"


def test_a_count_made_in_a_worker_stays_there() -> None:
    counted = worker_datasets.Counted(4)
    loaded = [tuple(item) for item in data.DataLoader(counted, batch_size=None, num_workers=1)]
    assert loaded == [(0, 1), (1, 2), (2, 3), (3, 4)] and counted.asked == 0
    list(data.DataLoader(counted, batch_size=None))
    assert counted.asked == 4


def test_a_generator_made_once_repeats_itself_in_every_worker_and_epoch() -> None:
    first, second = _epochs(worker_datasets.OwnGenerator(8))
    assert first == second and first[0] == first[1] and np.unique(first).size == 4


@pytest.mark.parametrize(("kind", "options"), [
    ("OwnGenerator", {"worker_init_fn": "fresh_generator"}), ("FromTorch", {}), ("FromGlobalNumpy", {}),
])  # fmt: skip
def test_the_mended_ones_do_not_repeat_within_a_run_and_a_run_can_be_repeated(kind: str, options: Any) -> None:
    dataset = getattr(worker_datasets, kind)(8)
    options = {name: getattr(worker_datasets, function) for name, function in options.items()}
    epochs = _epochs(dataset, **options)
    assert np.unique(epochs).size == 16
    assert epochs == _epochs(dataset, **options)
    with pytest.raises(RuntimeError, match="worker_init_fn"):
        worker_datasets.fresh_generator(0)


def test_what_comes_from_the_index_is_the_same_with_any_number_of_workers() -> None:
    dataset = worker_datasets.FromIndex(8, seed=5)
    assert _epochs(dataset, 0) == _epochs(dataset, 1) == _epochs(dataset, 3)
    before, dataset.epoch = _epochs(dataset), 1
    assert np.unique([before[0], _epochs(dataset)[0]]).size == 16
    assert _epochs(worker_datasets.FromIndex(8, seed=6))[0] != before[0]


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
def test_a_stream_that_is_split_comes_once_and_another_once_for_each_worker(workers: int) -> None:
    def received(split: bool) -> list[int]:
        numbers = worker_datasets.Numbers(7, split=split)
        return sorted(int(n) for n in data.DataLoader(numbers, batch_size=None, num_workers=workers))

    assert received(split=True) == list(range(7))
    assert received(split=False) == sorted([*range(7)] * max(1, workers))


def test_work_takes_the_time_it_is_told_to_take() -> None:
    for options in ({"wait": 0.02}, {"compute": 0.02}):
        item = worker_datasets.Working([3, 4], **options)[1]
        assert item["item"] == 4 and item["worker"] == -1
        assert item["end"] - item["begin"] >= 0.02
    assert len(worker_datasets.Working([3, 4])) == 2
