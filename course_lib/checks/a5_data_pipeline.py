"""The visible checks of assignment a5: what a right answer must satisfy, told without the answer.

What is random is counted over many seeds and held against its probability; seeds and inputs are fixed, and the bounds
so wide that a right program meets them, whatever generator it uses.

The first part writes files and makes data sets for workers. The judge's probes use it too.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

Function = Callable[..., Any]

# --- files, data sets and loaders -------------------------------------------------------------------------------------


@contextlib.contextmanager
def forked_workers() -> Iterator[None]:
    """Workers are forked meanwhile, whatever this Python does by itself; no advice on their number is printed."""
    before = multiprocessing.get_start_method(allow_none=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if can_fork():
            multiprocessing.set_start_method("fork", force=True)
        try:
            yield
        finally:
            multiprocessing.set_start_method(before, force=True)


def can_fork() -> bool:
    """Whether this machine can fork a process."""
    return "fork" in multiprocessing.get_all_start_methods()


def epochs_of(loader: Any, epochs: int = 1) -> list[list[Any]]:
    """The batches of each pass over a loader."""
    with forked_workers():
        return [list(loader) for _ in range(epochs)]


def batches_of(dataset: Any, workers: int, epochs: int = 1, **options: Any) -> list[list[Any]]:
    """The batches of each pass of a loader over the data set."""
    with forked_workers():
        return epochs_of(DataLoader(dataset, num_workers=workers, **options), epochs)


def write_images(root: Path | str, images: Sequence[tuple[str, np.ndarray]]) -> None:
    """PNG files under `root` from pairs of a name, `cat/00.png`, and bytes: gray (h, w), RGB or RGBA (h, w, 3 or 4).

    An array of one axis is written as the bytes that it holds, whatever they are.
    """
    for name, pixels in images:
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if pixels.ndim > 1:
            Image.fromarray(pixels).save(path, format="PNG")
        else:
            path.write_bytes(pixels.tobytes())


def write_numbers(folder: Path | str, files: Sequence[np.ndarray]) -> list[str]:
    """Text files of one number in each line, and their paths."""
    paths = []
    for number, values in enumerate(files):
        path = Path(folder) / f"{number}.txt"
        path.write_text("".join(f"{float(value)!r}\n" for value in values))
        paths.append(str(path))
    return paths


class Asked(Dataset[tuple[torch.Tensor, int]]):
    """Pairs of an image and its number; `asked` notes which were asked for."""

    def __init__(self, images: Sequence[np.ndarray]) -> None:
        self.images = [torch.tensor(image) for image in images]
        self.asked: list[int] = []

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        self.asked.append(int(i))
        return self.images[i], int(i)


class Drawing(Dataset[torch.Tensor]):
    """Item i is the pair of i and a random number from `rng`."""

    def __init__(self, length: int, seed: int = 0) -> None:
        self.length = length
        self.rng = np.random.default_rng(seed)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: int) -> torch.Tensor:
        if not 0 <= i < self.length:
            raise IndexError(i)
        return torch.tensor([i, self.rng.random()], dtype=torch.float64)


def seed_everything(seed: int) -> None:
    """Seed the three global generators."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def global_draws() -> np.ndarray:
    """A number from each of the three global generators."""
    return np.array([torch.rand(()).item(), np.random.rand(), random.random()])


def under_noise(use: Callable[[int], Any], seeds: Sequence[int], noise: Sequence[int]) -> dict[str, list[Any]]:
    """What `use(seed)` gives for each seed, with global generators that start from `noise`, and their next numbers."""
    found: dict[str, list[Any]] = {"results": [], "draws": []}
    for seed, start in zip(seeds, noise, strict=True):
        seed_everything(int(start))
        found["results"].append(use(int(seed)))
        found["draws"].append(global_draws())
    return found
