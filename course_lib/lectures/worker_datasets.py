"""Data sets for DataLoader workers.

They live in a module and not in a notebook, because a worker that is not forked imports the class of its data set by
name, and a notebook cannot be imported. Each shows one thing about workers, and most are a few lines long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

__all__ = [
    "Counted",
    "FromGlobalNumpy",
    "FromIndex",
    "FromTorch",
    "Numbers",
    "OwnGenerator",
    "WhoLoads",
    "Working",
    "fresh_generator",
    "worker_number",
]

BELOW = 1_000_000
"""for the random numbers: large, so that two equal ones are no accident"""


def worker_number() -> int:
    """The number of the worker that runs this, from 0 on; -1 in the main process."""
    info = get_worker_info()
    return -1 if info is None else info.id


class WhoLoads(Dataset[tuple[int, int]]):
    """Item i is i itself and the number of the worker that made it."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: int) -> tuple[int, int]:
        return i, worker_number()


class Counted(WhoLoads):
    """Counts the items that it was asked for, in `asked`."""

    asked = 0

    def __getitem__(self, i: int) -> tuple[int, int]:
        self.asked += 1
        return i, self.asked


class OwnGenerator(Dataset[int]):
    """Random numbers below a million, from a generator made once, in the main process: the seeding trap."""

    def __init__(self, length: int, seed: int = 0) -> None:
        self.length = length
        self.rng = np.random.default_rng(seed)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: int) -> int:
        return int(self.rng.integers(BELOW))


class FromGlobalNumpy(OwnGenerator):
    """The same from NumPy's global generator."""

    def __getitem__(self, i: int) -> int:
        return int(np.random.randint(BELOW))


class FromTorch(OwnGenerator):
    """The same from torch's global generator."""

    def __getitem__(self, i: int) -> int:
        return int(torch.randint(BELOW, ()))


class FromIndex(OwnGenerator):
    """The same from a generator of each item's own, made from the seed, the epoch and the index."""

    def __init__(self, length: int, seed: int = 0) -> None:
        super().__init__(length)
        self.seed, self.epoch = seed, 0

    def __getitem__(self, i: int) -> int:
        return int(np.random.default_rng((self.seed, self.epoch, i)).integers(BELOW))


def fresh_generator(worker: int) -> None:
    """A `worker_init_fn` for data sets with a generator `rng`: every worker makes a new one from its own seed."""
    info = get_worker_info()
    if info is None:
        raise RuntimeError("fresh_generator: this is the main process; give it to a DataLoader as worker_init_fn")
    dataset: Any = info.dataset
    dataset.rng = np.random.default_rng(info.seed)


class Numbers(IterableDataset[int]):
    """The stream 0, 1, 2, ... below `stop`. split: each worker takes its share of it; otherwise each takes all."""

    def __init__(self, stop: int, split: bool = False) -> None:
        self.stop, self.split = stop, split

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        if info is None or not self.split:
            return iter(range(self.stop))
        return iter(range(info.id, self.stop, info.num_workers))


class Working(Dataset[dict[str, Any]]):
    """`items[i]` as "item" after some work, with the worker and the seconds of the clock at begin and end.

    wait: seconds to sleep, as for a disk or a network. compute: seconds of processor time to spend, as on a transform.
    """

    def __init__(self, items: Sequence[Any], wait: float = 0.0, compute: float = 0.0) -> None:
        self.items, self.wait, self.compute = items, wait, compute

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> dict[str, Any]:
        begin = time.perf_counter()
        time.sleep(self.wait)
        until = time.process_time() + self.compute
        while time.process_time() < until:
            pass
        return {"item": self.items[i], "worker": worker_number(), "begin": begin, "end": time.perf_counter()}
