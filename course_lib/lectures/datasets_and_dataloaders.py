"""Lecture 09: the scans that it works with, two memories of a stream, and a check with a solution for each exercise.

The solutions are classes and functions of torch, so this module imports it, as the lecture has done before.
"""

# The solutions stand as the lecture shows them, without annotations.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs, allow-any-generics

from __future__ import annotations

import csv
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, Subset, get_worker_info
from torch.utils.data._utils import worker as torch_worker
from torchvision.transforms import v2

from course_lib.data import load_digits
from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution
from course_lib.lectures.worker_datasets import OwnGenerator, Working

# The scans: every card bears one digit, and is scanned several times.


def make_scans(cards: np.ndarray, scans: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scan each of `cards`, row numbers of the training digits, `scans` times: other brightness, other noise.

    Returns the images, `(n, 8, 8)` uint8; the digits on them, `(n,)` int64; the card of each, counted from 0.
    """
    digits = load_digits()
    number = np.repeat(np.arange(len(cards)), scans)
    ink = digits.x_train[cards][number]
    n = len(number)
    contrast, paper = rng.uniform(0.6, 1.0, (n, 1, 1)), rng.uniform(0.0, 0.2, (n, 1, 1))
    images = ink * contrast + paper + rng.normal(0, 0.05, ink.shape)
    return (images.clip(0, 1) * 255).astype(np.uint8), digits.y_train[cards][number], number


def write_scans(folder: Path, seed: int = 0) -> None:
    """Write 60 cards, eight scans each, to `folder/scans`, and one scan of each of 300 other cards to `folder/new`.

    Both hold PNG files and a table, `scans.csv`, with the columns file, label and card. The files are numbered in a
    random order.
    """
    rng = np.random.default_rng(seed)
    cards = rng.permutation(1500)
    for name, chosen, scans in (("scans", cards[:60], 8), ("new", cards[60:360], 1)):
        images, labels, number = make_scans(chosen, scans, rng)
        _write(folder / name, images, labels, number, rng)


def _write(
    folder: Path, images: np.ndarray, labels: np.ndarray, cards: np.ndarray, rng: np.random.Generator | None = None
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    order = np.arange(len(images)) if rng is None else rng.permutation(len(images))
    with open(folder / "scans.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "label", "card"])
        for place, i in enumerate(order):
            Image.fromarray(images[i]).save(folder / f"{place:03}.png")
            table.writerow([f"{place:03}.png", labels[i], cards[i]])


def scans_of(folder: Path, cards: Sequence[int]) -> dict[str, list[np.ndarray]]:
    """The scans in `folder` of each of `cards`, for a figure: "card 0" and so on -> its images."""
    found: dict[str, list[np.ndarray]] = {f"card {card}": [] for card in cards}
    with open(folder / "scans.csv", newline="") as file:
        for row in csv.DictReader(file):
            if int(row["card"]) in cards:
                found[f"card {row['card']}"].append(np.array(Image.open(folder / row["file"])))
    return found


# When workers load and when the program trains.


def watch(workers: int, batches: int = 16) -> dict[str, list[tuple[float, float]]]:
    """Spans of loading and of training, in milliseconds from the start: batches of four items that wait 15 ms each.

    A training step sleeps 60 ms, so loading and training a batch take equally long.
    """
    dataset = Working(range(4 * batches), wait=0.015)
    spans: dict[str, list[tuple[float, float]]] = {"program trains": []}
    start = time.perf_counter()
    for batch in DataLoader(dataset, batch_size=4, num_workers=workers):
        loads = "program loads" if workers == 0 else f"worker {batch['worker'][0]} loads"
        spans.setdefault(loads, []).append((batch["begin"][0].item(), batch["end"][-1].item()))
        begin = time.perf_counter()
        time.sleep(0.06)
        spans["program trains"].append((begin, time.perf_counter()))
    return {name: [(1e3 * (b - start), 1e3 * (e - start)) for b, e in rows] for name, rows in spans.items()}


# The solutions of the exercises, word for word.


class ScanFiles(Dataset):
    """Scans in a folder with a table. Item i is (image, label): a float32 tensor (1, height, width) and an int."""

    def __init__(self, folder, transform=None):
        self.folder = Path(folder)
        self.transform = transform
        with open(self.folder / "scans.csv", newline="") as file:
            self.rows = list(csv.DictReader(file))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        with Image.open(self.folder / row["file"]) as file:
            pixels = np.array(file)
        image = torch.from_numpy(pixels)[None] / 255
        if self.transform is not None:
            image = self.transform(image)
        return image, int(row["label"])


def mini_loader(dataset, order, batch_size, collate, drop_last=False):
    """Yields one batch after another: the items of `batch_size` row numbers in `order`, collated."""
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        if drop_last and len(rows) < batch_size:
            break
        items = [dataset[i] for i in rows]
        yield collate(items)


def split_by_group(groups, fraction, seed):
    """groups: (n,) array. Returns (train, valid): arrays of row numbers; no group is in both."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(np.unique(groups))
    chosen = shuffled[: round(fraction * len(shuffled))]
    in_valid = np.isin(groups, chosen)
    return np.flatnonzero(~in_valid), np.flatnonzero(in_valid)


def fit_normalization(dataset, rows):
    """Mean and standard deviation of each channel over the images dataset[i][0], i in rows: two tensors (C,)."""
    total = 0
    squares = 0
    count = 0
    for images, _ in DataLoader(Subset(dataset, rows), batch_size=64):
        images = images.double()
        total = total + images.sum(dim=(0, 2, 3))
        squares = squares + (images**2).sum(dim=(0, 2, 3))
        count += len(images) * images.shape[2] * images.shape[3]
    mean = total / count
    std = (squares / count - mean**2).sqrt()
    return mean.float(), std.float()


def time_loop(loader, train_step):
    """Call train_step(batch) for each batch. Returns the seconds of waiting: for the first batch, for all others."""
    waits = []
    last = time.perf_counter()  # what the clock shows, in seconds
    for batch in loader:
        waits.append(time.perf_counter() - last)
        train_step(batch)
        last = time.perf_counter()
    return waits[0], sum(waits[1:])


def reseed(worker):
    """Gives this worker's copy of the data set a new generator `rng`, made from the worker's seed."""
    info = get_worker_info()
    info.dataset.rng = np.random.default_rng(info.seed)


def make_loaders(folder, augment, seed):
    """Loaders over the scans in `folder`: (train_loader, valid_loader). augment: a transform, for training only."""
    plain = ScanFiles(folder)
    cards = np.array([int(row["card"]) for row in plain.rows])
    train, valid = split_by_group(cards, 0.2, seed)
    mean, std = fit_normalization(plain, train)
    normalize = v2.Normalize(mean.tolist(), std.tolist())
    train_set = Subset(ScanFiles(folder, transform=v2.Compose([augment, normalize])), train)
    valid_set = Subset(ScanFiles(folder, transform=normalize), valid)
    generator = torch.Generator().manual_seed(seed)
    train_loader = DataLoader(train_set, batch_size=50, shuffle=True, generator=generator)
    return train_loader, DataLoader(valid_set, batch_size=50)


def pad_images(items):
    """items: pairs (image, label), images (h, w) of any size. Returns images, mask (both (N, H, W)), labels (N,)."""
    height = max(image.shape[0] for image, _ in items)
    width = max(image.shape[1] for image, _ in items)
    batch = torch.zeros(len(items), height, width)
    mask = torch.zeros(len(items), height, width, dtype=torch.bool)
    for n, (image, _) in enumerate(items):
        h, w = image.shape
        batch[n, :h, :w] = image
        mask[n, :h, :w] = True
    labels = torch.tensor([label for _, label in items])
    return batch, mask, labels


# A pipeline with mistakes, for the reader to find.


class _Suspicious(Dataset):
    """Scans sorted by class, with values up to 255; every second one is mirrored."""

    def __init__(self, folder: Path) -> None:
        self.scans = ScanFiles(folder)
        self.order = np.argsort([int(row["label"]) for row in self.scans.rows], kind="stable")

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        image, label = self.scans[self.order[i]]
        return 255 * (image.flip(-1) if i % 2 else image), label


def suspicious_batch(folder: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """A batch of six from an epoch of a loader with three mistakes: all of them are 2, some are mirrored."""
    images, labels = list(DataLoader(_Suspicious(folder), batch_size=6))[15]
    return images, labels


# Memories of a stream: in "If you want more", and in the extra on reservoirs.


class Reservoir:
    """Keeps `size` items of a stream so that every item so far is kept with the same probability."""

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.size, self.rng, self.seen = size, rng, 0
        self.kept: list[Any] = []

    def offer(self, item: Any) -> None:
        """Show it the next item."""
        self.seen += 1
        if len(self.kept) < self.size:
            self.kept.append(item)
        elif self.rng.random() < self.size / self.seen:
            self.kept[self.rng.integers(self.size)] = item


class BalancedReservoir:
    """Class-balancing reservoir sampling (Chrysakis and Moens, 2020): keeps as many of each class as it can.

    kept: pairs (item, label). seen, stored: how many of each class came by, and how many are kept. full: the classes
    that have been the largest since the memory was filled.
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.size, self.rng = size, rng
        self.kept: list[tuple[Any, Hashable]] = []
        self.seen: Counter[Hashable] = Counter()
        self.stored: Counter[Hashable] = Counter()
        self.full: set[Hashable] = set()

    def largest(self) -> set[Hashable]:
        """The classes with the most items in memory."""
        return {label for label, count in self.stored.items() if count == max(self.stored.values())}

    def _replace_one_of(self, labels: set[Hashable], pair: tuple[Any, Hashable]) -> None:
        places = [place for place, (_, label) in enumerate(self.kept) if label in labels]
        place = places[self.rng.integers(len(places))]
        self.stored[self.kept[place][1]] -= 1
        self.stored[pair[1]] += 1
        self.kept[place] = pair

    def offer(self, item: Any, label: Hashable) -> None:
        """Show it the next item and its class."""
        self.seen[label] += 1
        if len(self.kept) < self.size:
            self.kept.append((item, label))
            self.stored[label] += 1
        elif label not in self.full:
            self._replace_one_of(self.largest(), (item, label))
        elif self.rng.random() < self.stored[label] / self.seen[label]:
            self._replace_one_of({label}, (item, label))
        if len(self.kept) == self.size:
            self.full |= self.largest()


# Exercise 1: a data set over image files.


def _calls_a(kind: str, function: Callable[[], Any]) -> bool:
    """Whether `function` fails because it calls an object of this type."""
    try:
        function()
    except TypeError as error:
        return str(error) == f"'{kind}' object is not callable"
    return False


def check_scan_files(attempt: type) -> Any:
    """What the lecture continues with: `attempt` if its items are right and read when asked for, else `ScanFiles`."""
    drawn = np.random.default_rng(7)
    images = drawn.integers(0, 256, (5, 4, 6)).astype(np.uint8)
    images[0, 0, 0] = 255
    labels = np.array([4, 0, 7, 7, 2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "other"
        _write(folder, images, labels, np.array([0, 1, 2, 2, 3]))
        # The table is not in the order of the file names.
        lines = (folder / "scans.csv").read_text().splitlines()
        (folder / "scans.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")

        def item(i: int = 1, **options: Any) -> Any:
            return attempt(folder, **options)[i]

        def image(i: int = 1, **options: Any) -> torch.Tensor:
            return item(i, **options)[0]  # type: ignore[no-any-return]

        def wanted(i: int) -> torch.Tensor:
            return torch.from_numpy(images[4 - i].astype(np.float32) / 255)[None]

        def close(got: torch.Tensor, right: torch.Tensor) -> bool:
            return got.shape == right.shape and torch.allclose(got.float(), right, atol=1e-6)

        def reads_a_changed_file(*, read_before: bool) -> bool:
            made = attempt(folder)
            if read_before:
                made[2]
            Image.fromarray(images[0]).save(folder / "002.png")
            changed = close(made[2][0], wanted(4))
            Image.fromarray(images[2]).save(folder / "002.png")
            return changed

        def stays_in_order() -> bool:
            made = attempt(folder)
            return all(close(made[i][0], wanted(i)) and made[i][1] == labels[4 - i] for i in (3, 0, 4, 1, 2))

        return attempt_or_solution(
            "ScanFiles",
            attempt,
            ScanFiles,
            (
                lambda: len(attempt(folder)) == 5,
                "The check made a folder with five scans, and `len` should be 5: count the rows of the table in the "
                "folder that is given (its heading is no row).",
            ),
            (lambda: hasattr(attempt(folder), "rows"), "Keep the rows of the table in `self.rows`."),
            (
                lambda: len(attempt(folder).rows) == 5 and all(row["card"] for row in attempt(folder).rows),
                "`self.rows` should be a list of dictionaries, one for each row of the table: "
                "`list(csv.DictReader(file))`.",
            ),
            (
                lambda: not _calls_a("NoneType", item),
                "No `transform` is given here, so `self.transform` is None, which cannot be called. Call it only `if "
                "self.transform is not None`.",
            ),
            (lambda: item() is not None, "`__getitem__` returns None. Is there a `return`?"),
            (
                lambda: isinstance(item(), tuple) and len(item()) == 2,
                "An item should be a pair: `return image, label`.",
            ),
            (
                lambda: not isinstance(item()[1], str),
                "The label is text, because a table holds nothing else. Make it an int.",
            ),
            (lambda: isinstance(item()[1], int), "The label should be a Python int."),
            (
                lambda: torch.is_tensor(image()),
                "The image should be a tensor: turn the array into one with `torch.from_numpy`.",
            ),
            (
                lambda: tuple(image().shape[-2:]) != (8, 8),
                "The check made scans of height 4 and width 6, and this one has 8 and 8: it comes from another folder. "
                "Open the file in `self.folder`.",
            ),
            (
                lambda: tuple(image().shape) != (4, 6),
                "The image has no axis for the channel: (4, 6) where (1, 4, 6) is wanted.",
            ),
            (
                lambda: tuple(image().shape) == (1, 4, 6),
                "A scan of height 4 and width 6 should become a tensor of shape (1, 4, 6): channel, height, width.",
            ),
            (
                lambda: float(image().max()) <= 1,
                "There are values above 1. A file holds bytes from 0 to 255: divide by 255.",
            ),
            (
                lambda: image().dtype == torch.float32,
                "The image should be float32. Divide the tensor, with a single `/`: a tensor of bytes then becomes "
                "float32, but an array float64.",
            ),
            (
                lambda: not all(close(attempt(folder)[i][0], wanted(4 - i)) for i in range(5)),
                "The images come in the order of the file names. Item `i` belongs to row `i` of the table.",
            ),
            (
                lambda: close(image(), wanted(1)),
                "The pixels are not those of the file that row `i` names, divided by 255.",
            ),
            (stays_in_order, "Some items are right, others are not: image and label of item `i` stand in row `i`."),
            (
                lambda: close(image(transform=lambda x: x * 2 + 1), wanted(1) * 2 + 1),
                "With a `transform`, the image should be what `self.transform(image)` returns, where `image` is the "
                "finished tensor.",
            ),
            (
                lambda: reads_a_changed_file(read_before=False),
                "A file changed after the data set was made, and the item is still the old one. Open files in "
                "`__getitem__`, not in `__init__`: a large data set does not fit into memory.",
            ),
            (
                lambda: reads_a_changed_file(read_before=True),
                "A file changed after it was read once, and the item is still the old one. Do not keep images: with "
                "a large data set, the memory would fill up.",
            ),
        )


# Exercise 2: a loader.


class _Asked(Dataset):
    """Item i is the number 100 + i; notes which rows are asked for, and allows no slices."""

    def __init__(self, n: int = 20) -> None:
        self.n = n
        self.asked: list[int] = []

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> int:
        if not isinstance(i, int | np.integer):
            raise TypeError("a data set is asked for one row number at a time")
        self.asked.append(int(i))
        return 100 + int(i)


def check_mini_loader(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """What the lecture continues with: `attempt` if it yields the right batches one by one, else our `mini_loader`."""
    order = [7, 3, 12, 0, 9, 4, 15, 2]

    given: list[Any] = []

    def collate(items: Any) -> str:
        given.append(items)
        return "batch of " + ", ".join(map(str, items))

    def batches(order: Any = order, size: int = 3, **options: bool) -> list[Any]:
        return list(attempt(_Asked(), order, size, collate, **options))

    def wanted(order: Sequence[int] = order, size: int = 3, **options: bool) -> list[str]:
        return list(mini_loader(_Asked(), order, size, collate, **options))

    def asks_for_a_slice() -> bool:
        try:
            batches()
        except TypeError as error:
            return "one row number at a time" in str(error)
        return False

    def asked_before_the_first() -> int:
        dataset = _Asked()
        next(iter(attempt(dataset, order, 3, collate)), None)
        return len(dataset.asked)

    def items_of(batch: str) -> list[int]:
        return [int(item) for item in batch.removeprefix("batch of ").split(", ") if item]

    def all_items() -> list[int]:
        return [item for batch in batches() for item in items_of(batch)]

    return attempt_or_solution(
        "mini_loader",
        attempt,
        mini_loader,
        (
            lambda: attempt(_Asked(), order, 3, collate) is not None,
            "Your function returns None. Inside the loop, `yield` each batch.",
        ),
        (
            lambda: not isinstance(attempt(_Asked(), order, 3, collate), str),
            "`return` ends the function with its first batch. `yield` gives a batch away and goes on.",
        ),
        (
            lambda: not asks_for_a_slice(),
            "Your function asks the data set for several items at once. It answers for one row number at a time: "
            "collect `dataset[i]` in a list.",
        ),
        (lambda: batches(), "There is no batch at all. Is there a `yield` inside the loop?"),
        (
            lambda: all(isinstance(batch, str) for batch in batches()),
            "What comes out was not made by `collate`. Yield `collate(items)`, where `items` is a list.",
        ),
        (
            lambda: all(isinstance(items, (list, tuple)) for items in given),
            "`collate` should get a list of items. In square brackets it is one: `[dataset[i] for i in rows]`.",
        ),
        (
            lambda: not any(isinstance(item, list) for items in given for item in items),
            "`collate` gets a list of lists. It should get the items of one batch in a single list.",
        ),
        (
            lambda: asked_before_the_first() <= 3,
            "The first batch comes only after more than its own items were fetched. A large data set would not fit "
            "into memory: fetch the items of one batch, yield it, and go on.",
        ),
        (
            lambda: all(items_of(batch) for batch in batches()),
            "Some batches are empty. Each slice of `order` should go from `start` to `start + batch_size`, and the "
            "loop should end with `order`, which may be shorter than the data set.",
        ),
        (
            lambda: min(all_items()) >= 100,
            "The batches hold row numbers. Fetch the items first: `dataset[i]` for each row number `i`.",
        ),
        (
            lambda: len(items_of(batches()[0])) != 1,
            "Each batch has a single item. `batch_size` items make a batch.",
        ),
        (
            lambda: all_items()[:6] != list(range(100, 106)),
            "The items come in the order of the data set: 0, 1, 2 and so on. `order` holds the row numbers to fetch.",
        ),
        (
            lambda: batches() != wanted()[:2] and len(batches()) > 1,
            "The last batch is missing. Without `drop_last=True`, the 2 examples that remain make a smaller batch.",
        ),
        (
            lambda: len(batches()) < 2 or len(items_of(batches()[1])) <= 3,
            "The second batch still holds the items of the first. Begin each batch with an empty list.",
        ),
        (
            lambda: batches() == wanted(),
            "The order 7, 3, 12, 0, 9, 4, 15, 2 and `batch_size=3` should give the batches of the rows 7, 3, 12, of 0, "
            "9, 4, and of 15, 2.",
        ),
        (
            lambda: batches(drop_last=True) != wanted(),
            "With `drop_last=True`, the last batch is still there, although it has only 2 of 3 items.",
        ),
        (
            lambda: (
                batches(drop_last=True) == wanted(drop_last=True)
                and batches(order[:6], drop_last=True) == wanted(order[:6])
            ),
            "`drop_last=True` should leave out the last batch if it has fewer than `batch_size` items, and no other.",
        ),
        (
            lambda: batches(np.array(order)) == wanted(),
            "It is right for an order that is a list, but not for an array.",
        ),
        (
            lambda: all(items_of(batch) for batch in batches(range(20), 4)),
            "It yields an empty batch after 20 rows in batches of 4: then nothing remains for a last batch.",
        ),
        (
            lambda: batches(range(20), 4) == wanted(range(20), 4),
            "It is right for eight rows in batches of 3, but not for 20 in batches of 4.",
        ),
    )


# Exercise 3: a split by group.


def check_split_by_group(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """What the lecture continues with: `attempt` if it splits whole groups at random, else our `split_by_group`."""
    groups = np.array([7, 3, 3, 9, 7, 11, 3, 9, 2, 2, 20, 20, 5, 5, 5, 8, 30, 31, 8])  # ten groups in 19 rows

    def split(seed: int = 0, fraction: float = 0.3) -> list[np.ndarray]:
        return [np.asarray(rows) for rows in attempt(groups.copy(), fraction, seed)]

    def sides(seed: int = 0, fraction: float = 0.3) -> list[set[int]]:
        return [set(groups[rows].tolist()) for rows in split(seed, fraction)]

    def draws_twice() -> bool:
        numbers = {len(attempt(np.repeat(np.arange(10), 3), 0.5, seed)[1]) // 3 for seed in range(20)}
        return max(numbers) == 5 and len(numbers) > 1

    def leaves_numpy_alone() -> bool:
        before = np.random.get_state()[1].tolist(), np.random.get_state()[2]  # type: ignore[index]
        split(5)
        after = np.random.get_state()[1].tolist(), np.random.get_state()[2]  # type: ignore[index]
        return before == after

    def of_large(fraction: float) -> int:
        rows = attempt(np.repeat(np.arange(50), 3), fraction, 1)[1]
        return len(rows) // 3

    return attempt_or_solution(
        "split_by_group",
        attempt,
        split_by_group,
        (lambda: attempt(groups.copy(), 0.3, 0) is not None, NOTHING_RETURNED),
        (
            lambda: len(attempt(groups.copy(), 0.3, 0)) == 2,
            "Return two things: the rows for training and the rows for validation.",
        ),
        (
            lambda: all(rows.dtype != bool for rows in split()),
            "These are masks (True and False). Row numbers are wanted: `np.flatnonzero(mask)`.",
        ),
        (
            lambda: all(rows.ndim == 1 and rows.dtype.kind in "iu" for rows in split()),
            "Both should be arrays of one axis that hold row numbers, of an integer dtype. (`np.flatnonzero` returns "
            "such an array; of `np.where`, take `[0]`.)",
        ),
        (
            lambda: all(((rows >= 0) & (rows < len(groups))).all() for rows in split()),
            "Row numbers lie between 0 and n - 1. Did you return the names of the groups?",
        ),
        (
            lambda: not set.intersection(*(set(rows.tolist()) for rows in split())),
            "Some rows are in both parts.",
        ),
        (
            lambda: not set.intersection(*sides()),
            "Some groups are on both sides. Choose among the groups (`np.unique(groups)`), not among the rows.",
        ),
        (
            lambda: sorted(np.concatenate(split()).tolist()) == list(range(len(groups))),
            "Not every row is in one of the two parts, exactly once.",
        ),
        (
            lambda: len(sides()[1]) != 7,
            "The parts are swapped: the training rows come first, and `fraction` is the part for validation.",
        ),
        (
            lambda: not draws_twice(),
            "With some seeds there are too few groups for validation, because the same group was drawn more than once. "
            "Shuffle the names, each once (`np.unique(groups)`), and take the first.",
        ),
        (
            lambda: len(sides()[1]) == 3 and len(sides(0, 0.5)[1]) == 5,
            "Of ten groups and `fraction=0.3`, three groups are for validation, however many rows they have. Choose "
            "from the names, `np.unique(groups)`, and not from the rows or from their places in a list.",
        ),
        (
            lambda: of_large(0.29) in (14, 15) and of_large(0.58) == 29,
            "The number of groups for validation should be `round(fraction * number of groups)`.",
        ),
        (
            lambda: all(np.array_equal(a, b) for a, b in zip(split(3), split(3), strict=True)),
            "Two calls with the same seed differ. Draw from `np.random.default_rng(seed)`.",
        ),
        (
            lambda: len({frozenset(sides(seed)[1]) for seed in range(12)}) > 6,
            "Another seed should choose other groups: `np.random.default_rng(seed)`, and shuffle the groups with "
            "`rng.permutation`.",
        ),
        (
            lambda: len(set().union(*(sides(seed)[1] for seed in range(80)))) == 10,
            "In 80 seeds some groups never came to the validation part. Every group should have the same chance.",
        ),
        (
            leaves_numpy_alone,
            "Your function changes NumPy's global generator. Draw from `np.random.default_rng(seed)` instead.",
        ),
    )


# Exercise 4: statistics of the training set.


class _Images(Dataset):
    """Images of two channels that differ a lot from batch to batch; notes which are asked for."""

    def __init__(self, n: int = 150, height: int = 3, width: int = 5) -> None:
        drawn = torch.Generator().manual_seed(11)
        x = torch.rand(n, 2, height, width, generator=drawn)
        level = torch.linspace(0, 3, n)[:, None, None, None]
        self.images = x * torch.tensor([1.0, 0.2])[:, None, None] + level
        self.asked: list[int] = []

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        self.asked.append(int(i))
        return self.images[i], int(i) % 3


def check_fit_normalization(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """What the lecture continues with: `attempt` if its statistics are right, else our `fit_normalization`."""
    rows = np.arange(0, 150, 2)[:70]
    images = _Images().images
    chosen = images[torch.from_numpy(rows)]
    mean, std = chosen.mean(dim=(0, 2, 3)), chosen.std(dim=(0, 2, 3), unbiased=False)

    def got(rows: Any = rows) -> tuple[torch.Tensor, torch.Tensor]:
        found = attempt(_Images(), rows)
        return torch.as_tensor(found[0]).detach().double(), torch.as_tensor(found[1]).detach().double()

    def close(a: torch.Tensor, b: torch.Tensor, tolerance: float = 2e-3) -> bool:
        return a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=tolerance, atol=1e-6)

    def asked_for() -> set[int]:
        dataset = _Images()
        attempt(dataset, rows)
        return set(dataset.asked)

    def of_the_last() -> bool:
        """True if the means are those of the last few images."""
        return any(
            close(got_once, chosen[-k:].mean(dim=(0, 2, 3)), 1e-5) for got_once in [got()[0]] for k in range(1, 70)
        )

    def variance_of_means() -> torch.Tensor:
        return torch.stack([batch.std(dim=(0, 2, 3)) for batch in chosen.split(64)]).mean(dim=0)

    few = [3, 60, 149]
    three = images[few]
    bright = _Images()
    bright.images = bright.images + 5000
    spread_of_bright = bright.images.double().std(dim=(0, 2, 3), unbiased=False)
    return attempt_or_solution(
        "fit_normalization",
        attempt,
        fit_normalization,
        (lambda: attempt(_Images(), rows) is not None, NOTHING_RETURNED),
        (lambda: len(attempt(_Images(), rows)) == 2, "Return two things: the means and the standard deviations."),
        (
            lambda: all(map(torch.is_tensor, attempt(_Images(), rows))),
            "Both should be tensors.",
        ),
        (
            lambda: got()[0].numel() != 1,
            "These are single numbers for all channels together. Sum over the axes 0, 2 and 3, and keep axis 1, the "
            "channel.",
        ),
        (
            lambda: all(tuple(value.shape) == (2,) for value in got()),
            "With two channels, both results should have the shape (2,).",
        ),
        (
            lambda: not (close(got()[0], std) and close(got()[1], mean)),
            "Mean and standard deviation are swapped: return the mean first.",
        ),
        (
            lambda: not asked_for() < set(rows.tolist()),
            "Your function never asks for some of the `rows`. Is the `return` inside the loop? (Or is there a "
            "`drop_last=True`? The last batch belongs to them, too.)",
        ),
        (
            lambda: asked_for() == set(rows.tolist()),
            "Your function asks for other images than `dataset[i]` with `i` in `rows`. Validation images must not "
            "take part.",
        ),
        (
            lambda: not of_the_last(),
            "These are the statistics of the last batch only. Set the sums and the count to 0 once, before the loop.",
        ),
        (
            lambda: not (got()[0] > 1.5 * mean).all(),
            "The mean is too large: divide by the number of pixels of a channel in all images, which is images times "
            "height times width.",
        ),
        (
            lambda: not (got()[0] < 0.7 * mean).all() or close(got()[0], mean / 2),
            "The mean is too small. Add up the sums of all batches, not only the last, and count `len(images)` images "
            "in each, not 64: the last batch is not full.",
        ),
        (
            lambda: not (got()[0] < 0.7 * mean).all(),
            "The mean is too small: divide by the pixels of one channel, and not by those of all channels together.",
        ),
        (
            lambda: close(got()[0], mean, 1e-4),
            "The means are not those of all chosen pixels. The last batch may be smaller, so a mean of batch means is "
            "not the mean: add up sums, and divide once.",
        ),
        (
            lambda: not close(got()[1], std**2),
            "These are variances. The standard deviation is their square root.",
        ),
        (
            lambda: not close(got()[1], variance_of_means(), 1e-4),
            "A mean of the batches' standard deviations is too small, because it misses how the batches differ from "
            "each other. Add up the squares of all pixels.",
        ),
        (
            lambda: not close(got()[1], (chosen.double() ** 2).mean(dim=(0, 2, 3)).sqrt()),
            "This is the root of the mean square. Subtract the square of the mean first.",
        ),
        (
            lambda: close(got()[1], std),
            "The standard deviations are not those of all chosen pixels. Square each pixel before you sum, "
            "`(images**2).sum(...)`, and after dividing subtract `mean**2`.",
        ),
        (
            lambda: close(torch.as_tensor(attempt(bright, range(150))[1]), spread_of_bright),
            "It is right for these images, but not for bright ones with little contrast: there a small number is left "
            "of two large ones. Convert each batch before you square and add up: `images = images.double()`.",
        ),
        (
            lambda: close(got(few)[0], three.mean(dim=(0, 2, 3))),
            "It is right for 70 rows, but not for three: let `rows` decide how many there are.",
        ),
        (
            lambda: all(value.dtype == torch.float32 for value in attempt(_Images(), rows)),
            "Both should be float32, because images minus a float64 mean are float64, which the network's float32 "
            "weights do not take: end with `.float()`.",
        ),
    )


# Exercise 5: the time of waiting.


def check_time_loop(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """What the lecture continues with: `attempt` if it times the waits, and nothing else, else our `time_loop`.

    The clock shows 1000 at first, and only loading and training move it.
    """
    loads, steps = (7.0, 2.0, 3.0), (10.0, 20.0, 40.0)

    def run() -> tuple[Any, list[int]]:
        """What `attempt` returns ("empty" if there is no wait), and the batches that it trained on."""
        clock = [1000.0]
        trained: list[int] = []

        def loader() -> Iterator[int]:
            for number, seconds in enumerate(loads):
                clock[0] += seconds
                yield number

        def train_step(batch: int) -> None:
            clock[0] += steps[batch]
            trained.append(batch)

        with mock.patch.object(time, "perf_counter", lambda: clock[0]):
            try:
                return attempt(loader(), train_step), trained
            except IndexError:
                return "empty", trained

    def found() -> Any:
        return run()[0]

    return attempt_or_solution(
        "time_loop",
        attempt,
        time_loop,
        (lambda: run()[1], "`train_step` is never called. Train on each batch: `train_step(batch)`."),
        (
            lambda: run()[1] == [0, 1, 2],
            "`train_step` should be called once for each batch, with this batch. The `return` belongs after the loop.",
        ),
        (
            lambda: found() != "empty",
            "`waits` is empty after the loop. In each round, append the seconds that the program waited.",
        ),
        (lambda: found() is not None, NOTHING_RETURNED),
        (
            lambda: isinstance(found(), tuple) and len(found()) == 2,
            "Return two numbers, as the stub does: the first wait, and the sum of the others.",
        ),
        (
            lambda: found()[0] >= 0,
            "The waits are negative. Take later time minus earlier: `time.perf_counter() - last`.",
        ),
        (
            lambda: found()[0] < 1000,
            "These are times of the clock. A wait is the difference of two of them: now, and when the waiting began.",
        ),
        (
            lambda: found()[0] != steps[0],
            "These are the seconds of training. The wait for a batch is over when the loop's body begins.",
        ),
        (
            lambda: found()[0] != loads[0] + steps[0],
            "The waits contain the training steps. The wait for a batch is over when the loop's body begins: append "
            "before you train.",
        ),
        (
            lambda: found() != (7, 61),
            "All waits are counted from the start. After each training step, read the clock again, into `last`.",
        ),
        (
            lambda: found() != (7, 35),
            "The wait for a batch contains the step before it. Read the clock into `last` after `train_step(batch)`.",
        ),
        (
            lambda: found() == (7, 5),
            "The waits are 7, 2 and 3 seconds in the check, so it should return (7, 5). Each wait begins when the step "
            "before it has ended, and the first one before the loop.",
        ),
    )


# Exercise 6: generators for workers.


def check_reseed(attempt: Callable[[int], Any]) -> Callable[[int], Any]:
    """What the lecture continues with: `attempt` if it gives each worker numbers of its own, else our `reseed`.

    It is called here as in a worker, without one: where workers are not forked, they cannot use it.
    """

    def copy_of(worker: int, epoch: int) -> OwnGenerator:
        """The copy of a worker after `attempt`; its loader drew the seed of the `epoch`."""
        dataset, base = OwnGenerator(8, seed=5), (8_000_000_001, 3_000_000_007)[epoch]
        info = torch_worker.WorkerInfo(id=worker, num_workers=2, seed=base + worker, dataset=dataset)
        before = np.random.get_state()
        try:
            with torch.random.fork_rng(devices=[]), mock.patch.object(torch_worker, "_worker_info", info):
                torch.manual_seed(info.seed)  # as PyTorch does in each worker
                np.random.seed(info.seed % 2**32)
                attempt(worker)
        finally:
            np.random.set_state(before)
        return dataset

    def numbers(worker: int = 0, epoch: int = 0) -> list[int]:
        dataset = copy_of(worker, epoch)
        return [dataset[i] for i in range(8)]

    def changes_info() -> bool:
        try:
            copy_of(0, 0)
        except FrozenInstanceError:
            return True
        return False

    untouched = OwnGenerator(8, seed=5)[0]
    return attempt_or_solution(
        "reseed",
        attempt,
        reseed,
        (
            lambda: not changes_info(),
            "`info` cannot be changed, but the copy in it can: assign the new generator to `info.dataset.rng`.",
        ),
        (
            lambda: isinstance(copy_of(0, 0).rng, np.random.Generator),
            "The copy's `rng` is no longer a generator of NumPy, from which it can draw: use `np.random.default_rng`.",
        ),
        (
            lambda: numbers()[0] != untouched,
            "The worker's copy still has its old generator. Give a new one to the attribute `rng` of this copy, "
            "`info.dataset`.",
        ),
        (
            lambda: numbers() == numbers(),
            "With the same seed of the loader, a worker draws other numbers. Make the generator from `info.seed`.",
        ),
        (
            lambda: numbers(0) != numbers(1),
            "Two workers still draw the same numbers. Make the generator from `info.seed`, which differs for every "
            "worker.",
        ),
        (
            lambda: numbers(0, 0) != numbers(0, 1) and numbers(1, 0) != numbers(1, 1),
            "In the second epoch, a worker draws the same numbers as in the first: the number of the worker stays the "
            "same. Make the generator from `info.seed`, which is new in every epoch.",
        ),
    )


# Exercise 7: the whole pipeline.


def check_make_loaders(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """What the lecture continues with: `attempt` if its loaders make none of the mistakes, else our `make_loaders`."""
    drawn = np.random.default_rng(3)
    card = np.arange(80) % 20  # four scans of each of 20 cards
    images = (drawn.integers(0, 60, (80, 4, 6)) + 8 * card[:, None, None]).astype(np.uint8)
    x = torch.from_numpy(images)[:, None] / 255
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, images, 1000 + np.arange(80), card)  # the label of a scan is its row

        class Augment:
            """Adds 3 to each image; notes the smallest value that it was given."""

            def __init__(self) -> None:
                self.calls, self.smallest = 0, 0.0

            def __call__(self, image: torch.Tensor) -> torch.Tensor:
                self.calls += 1
                self.smallest = min(self.smallest, image.min().item())
                return image + 3

        def made(seed: int = 0, augment: Callable[[torch.Tensor], torch.Tensor] | None = None) -> Any:
            return attempt(folder, augment or Augment(), seed)

        def rows_of(loader: Any) -> list[int]:
            return [int(label) - 1000 for _, labels in loader for label in labels]

        def rows(seed: int = 0) -> tuple[list[int], list[int]]:
            train, valid = made(seed)
            with torch.random.fork_rng(devices=[]):
                torch.seed()  # other code may draw between the making of a loader and its first batch
                return rows_of(train), rows_of(valid)

        def cards(seed: int = 0) -> tuple[set[int], set[int]]:
            train, valid = rows(seed)
            return set(card[train].tolist()), set(card[valid].tolist())

        def calls(part: int) -> int:
            augment = Augment()
            loader = made(augment=augment)[part]
            augment.calls = 0
            list(loader)
            return augment.calls

        def smallest() -> float:
            augment = Augment()
            list(made(augment=augment)[0])
            return augment.smallest

        def is_normalized(part: int, by: torch.Tensor, shift: float = 0.0) -> bool:
            """Whether the images are those of the files plus `shift`, normalized with the statistics of `by`."""
            batches = list(made()[part])
            got, which = torch.cat([b[0] for b in batches]), torch.cat([b[1] for b in batches]) - 1000
            return torch.allclose(got, (x[which] + shift - by.mean()) / by.std(), rtol=2e-3, atol=5e-3)

        return attempt_or_solution(
            "make_loaders",
            attempt,
            make_loaders,
            (lambda: made() is not None, NOTHING_RETURNED),
            (
                lambda: isinstance(made(), (tuple, list)) and len(made()) == 2,
                "Return two things: the loader for training and the one for validation.",
            ),
            (
                lambda: all(isinstance(loader, DataLoader) for loader in made()),
                "Both should be loaders: `DataLoader(...)` around each data set.",
            ),
            (
                lambda: not _calls_a("list", rows),
                "A list of transforms cannot be called on an image. Chain them: `v2.Compose([augment, ...])`.",
            ),
            (
                lambda: [len(part) for part in rows()] not in ([50, 16], [64, 0], [50, 0]),
                "Some scans come in neither loader: no `drop_last=True`.",
            ),
            (
                lambda: set().union(*rows()) == set(range(80)),
                "The check made a folder with 80 scans. Each of them should be in one of the two loaders: give each "
                "loader its own rows of the split, and take the scans, the cards and the split from `folder`, and not "
                "from variables of the notebook.",
            ),
            (
                lambda: not set.intersection(*cards()),
                "Some cards are in both loaders. Split the array of cards with `split_by_group`, and give each loader "
                "the `Subset` of its rows.",
            ),
            (
                lambda: len(rows()[0]) > len(rows()[1]),
                "More scans are for validation than for training. Either the loaders are swapped (the one for training "
                "comes first), or the `fraction` is not 0.2.",
            ),
            (
                lambda: len(cards()[1]) == 4,
                "Of 20 cards, a fifth is for validation: the `fraction` is 0.2.",
            ),
            (
                lambda: set(rows(3)[1]) == set(rows(3)[1]),
                "Two calls with the same seed choose other scans for validation: pass `seed` to the split.",
            ),
            (
                lambda: calls(1) == 0,
                "The validation images are augmented, too. Make two data sets over the same files, each with its own "
                "`transform`.",
            ),
            (
                lambda: calls(0) > 0,
                "The training images are not augmented. Their `transform` should begin with `augment`. (Two subsets of "
                "one data set share its transform: make two data sets.)",
            ),
            (
                lambda: smallest() == 0,
                "`augment` is called after the normalization. It should get the image as `ScanFiles` reads it: "
                "`v2.Compose([augment, ...])`.",
            ),
            (
                lambda: not torch.equal(made()[1].dataset[0][0], x[int(made()[1].dataset[0][1]) - 1000]),
                "The validation images are not normalized.",
            ),
            (
                lambda: is_normalized(1, x[sorted(rows()[0])]) or not is_normalized(1, x),
                "The statistics are those of all scans. Validation images must not take part: pass the training rows.",
            ),
            (
                lambda: not is_normalized(1, x[sorted(rows()[1])]),
                "The validation images are normalized with their own statistics. Use those of the training rows.",
            ),
            (
                lambda: not is_normalized(1, x[sorted(rows()[0])] + 3),
                "The statistics are those of augmented images. Fit them on a `ScanFiles` without a `transform`.",
            ),
            (
                lambda: is_normalized(1, x[sorted(rows()[0])]),
                "The validation images are not normalized with mean and std of the training rows.",
            ),
            (
                lambda: is_normalized(0, x[sorted(rows()[0])], shift=3),
                "The training images should be what `augment` returns, normalized like the validation images.",
            ),
            (
                lambda: [[len(labels) for _, labels in loader] for loader in made()] == [[50, 14], [16]],
                "The batches of both loaders should have 50 images, the last one the rest.",
            ),
            (
                lambda: rows()[0] != sorted(rows()[0]),
                "The training images come in the stored order: `shuffle=True`.",
            ),
            (
                lambda: rows()[1] == sorted(rows()[1]),
                "The validation images are shuffled. Only the loader for training gets `shuffle=True`.",
            ),
            (
                lambda: rows(3) == rows(3),
                "Two calls with the same seed give different batches. Give the loader a generator with this seed: "
                "`torch.Generator().manual_seed(seed)`.",
            ),
            (
                lambda: set(rows(3)[1]) != set(rows(4)[1]),
                "Another seed should choose other cards for validation: pass `seed` to the split.",
            ),
            (
                lambda: np.argsort(rows(3)[0]).tolist() != np.argsort(rows(4)[0]).tolist(),
                "Another seed should give another order of the training images: make the loader's generator from "
                "`seed`.",
            ),
        )


# In "If you want more": a collate function.


def check_pad_images(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """What the lecture continues with: `attempt` if it pads and masks as it should, else our `pad_images`."""

    def items() -> list[tuple[torch.Tensor, int]]:
        first = torch.full((2, 3), 5.0)
        first[1, 1] = 0.0
        return [(first, 4), (torch.full((4, 1), 6.0), 9), (torch.full((1, 2), 7.0), 1)]

    def batch() -> torch.Tensor:
        return attempt(items())[0]  # type: ignore[no-any-return]

    def mask() -> torch.Tensor:
        return attempt(items())[1]  # type: ignore[no-any-return]

    right = torch.zeros(3, 4, 3)
    right[0, :2, :3], right[1, :4, :1], right[2, :1, :2] = 5.0, 6.0, 7.0
    inside = right > 0
    right[0, 1, 1] = 0.0

    def same(got: torch.Tensor, wanted: torch.Tensor) -> bool:
        return got.shape == wanted.shape and torch.equal(got.float(), wanted.float())

    def leaves_items() -> bool:
        given = items()
        attempt(given)
        return all(same(a[0], b[0]) for a, b in zip(given, items(), strict=True))

    return attempt_or_solution(
        "pad_images",
        attempt,
        pad_images,
        (lambda: attempt(items()) is not None, NOTHING_RETURNED),
        (
            lambda: isinstance(attempt(items()), (tuple, list)) and len(attempt(items())) == 3,
            "Return three things: images, mask, labels.",
        ),
        (lambda: all(map(torch.is_tensor, attempt(items()))), "All three should be tensors."),
        (
            lambda: tuple(batch().shape) != (3, 3, 4),
            "Height and width are swapped: axis 0 of an image is its height.",
        ),
        (
            lambda: tuple(batch().shape) == (3, 4, 3),
            "The images are 2 by 3, 4 by 1 and 1 by 2, so the batch should have the shape (3, 4, 3): the largest "
            "height is 4, and the largest width is 3.",
        ),
        (
            lambda: sorted(batch().flatten().tolist()) == sorted(right.flatten().tolist()),
            "The batch should hold each pixel of each image once, and zeros elsewhere.",
        ),
        (
            lambda: same(batch(), right),
            "An image should stand in the upper left corner of its sheet, with zeros to its right and below.",
        ),
        (lambda: mask().dtype == torch.bool, "The mask should be a bool tensor: `dtype=torch.bool`."),
        (lambda: tuple(mask().shape) == (3, 4, 3), "The mask should have the shape of the images, (3, 4, 3)."),
        (lambda: not same(mask(), ~inside), "The mask is the wrong way round: it should be true where the image is."),
        (
            lambda: not same(mask(), right != 0),
            "The mask is false where a pixel of an image is 0. Set it by the size of the image, not by its values.",
        ),
        (
            lambda: same(mask(), inside),
            "The mask should be true in the slice where the image stands, and nowhere else.",
        ),
        (lambda: attempt(items())[2].tolist() == [4, 9, 1], "The labels should be 4, 9, 1."),
        (
            lambda: attempt(items())[2].dtype == torch.int64,
            "The labels should be whole numbers (int64): a loss such as `cross_entropy` needs them.",
        ),
        (
            lambda: tuple(attempt(items()[2:])[0].shape) == (1, 1, 2),
            "A sheet should be as large as the largest image of this batch, and no larger.",
        ),
        (lambda: leaves_items(), "Your function changes the items that it is given."),
    )


def kept_of(labels: Sequence[int], size: int, seed: int) -> tuple[list[int], list[int]]:
    """The places of a stream of `labels` that a reservoir and a balanced reservoir of `size` keep."""
    plain = Reservoir(size, np.random.default_rng(seed))
    balanced = BalancedReservoir(size, np.random.default_rng(seed))
    for place, label in enumerate(labels):
        plain.offer(place)
        balanced.offer(place, label)
    return plain.kept, [place for place, _ in balanced.kept]
