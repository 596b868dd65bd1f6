"""Lecture 07 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. The rules of the balanced reservoir are counted on more than the lecture
shows, the exercises are solved rightly and wrongly, and the online path is tried against a server on this machine.
"""

# ruff: noqa: RUF001 - the lecture writes sizes with the multiplication sign

from __future__ import annotations

import ast
import gzip
import hashlib
import io
import pickle
import struct
import tarfile
import textwrap
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/07_datasets_and_dataloaders.ipynb"], indirect=True)

FACTS = {
    # 1 A data set
    "1500 small images of digits, 8 × 8 pixels each, and the label as a plain number.": (
        "len(digits) == 1500 and digits[0][0].shape == (8, 8) and type(digits[0][1]) is int"
    ),
    "makes batches of 64": "loader.batch_size == 64",
    "24 batches: 23 full ones, and the last has 28.": "sizes == [64] * 23 + [28] and len(loader) == 24",
    "put the images on top of each other along a new first axis, and made a tensor of the plain labels": (
        "torch.equal(next(iter(loader))[0], torch.stack([digits[i][0] for i in range(64)]))"
        " and next(iter(loader))[1].dtype == torch.int64"
    ),
    "each of its 28 examples counts more than twice as much as others": "64 / 28 > 2",
    "`drop_last=True` leaves it out": "len(DataLoader(digits, batch_size=64, drop_last=True)) == 23",
    "beyond the end an `IndexError` is right: Python's own `for` loop stops at it": (
        "sum(1 for _ in Digits(x_test, y_test)) == 297"
    ),
    "41 of the 297 images were never looked at": (
        "sum(len(y) for _, y in DataLoader(Digits(x_test, y_test), batch_size=64, drop_last=True)) == 297 - 41"
    ),
    "297 = 4 · 64 + 41": "297 == 4 * 64 + 41",
    "with `drop_last=True` and batches of 64": "len(x_test) == 297",
    "since 64 does not divide 297": "297 % 64 != 0",
    # 2 In three lines
    "The same batches, bit for bit.": "len(same) == 24 and all(same)",
    # 3 Shuffle
    "first all zeros, at last all nines": "(sorted_digits[0][1], sorted_digits[1499][1]) == (0, 9)",
    "see the same 1500 images five times": "len(sorted_digits) == 1500 and len(accuracy['sorted']) == 5",
    "Shuffled, it passes 80 % in the first epoch.": "accuracy['shuffled'][0] > 0.8",
    "and now calls everything a nine: right on about 10 %": (
        "set(after_one_epoch(held_out[0]).argmax(dim=1).tolist()) == {9} and abs(accuracy['sorted'][0] - 0.1) < 0.01"
    ),
    "After five epochs it still lags behind.": "accuracy['sorted'][-1] < accuracy['shuffled'][-1] - 0.1",
    "Each epoch has an order of its own, and the whole run repeats.": (
        "two_epochs(3)[0] != two_epochs(3)[1] and two_epochs(3) == two_epochs(3) != two_epochs(4)"
    ),
    "(`range(6)` has a length and items, so it is a data set, too.)": "len(range(6)) == 6",
    "At the start of each pass a loader draws a seed for its workers, even if it has none, and takes it from PyTorch's"
    " global generator.": "drawn[0] != drawn[1]",
    "With `generator=...` it draws from there.": "after_a_pass(generator=torch.Generator()) == drawn[0]",
    "then example 17 is the same in every run": (
        "torch.equal(list(DataLoader(digits, batch_size=1))[17][0][0], digits[17][0])"
    ),
    # 4 Collate
    "Numbers become a tensor, text stays a list.": (
        "torch.is_tensor(batch_of_items['label']) and batch_of_items['name'] == ['first', 'second']"
    ),
    "the message names the first pair that differs": "'[8, 6] at entry 0 and [8, 5] at entry 1' in raised(stack_four)",
    "as large as the largest *of this batch*": (
        "pad([(torch.ones(2, 5), 1), (torch.ones(3, 4), 2)])[0].shape == (2, 3, 5)"
    ),
    '"batch must contain tensors, numpy arrays, numbers, dicts or lists; found NoneType"': (
        "'found' in raised(lambda: default_collate([None, None])) and 'batch must contain tensors, numpy arrays,"
        " numbers, dicts or lists; found' in raised(lambda: default_collate([None, None]))"
        " and 'NoneType' in raised(lambda: default_collate([None, None]))"
    ),
    "such as -100, which `cross_entropy` leaves out": (
        "torch.equal(F.cross_entropy(torch.eye(3), torch.tensor([0, -100, 1])),"
        " F.cross_entropy(torch.eye(3)[[0, 2]], torch.tensor([0, 1])))"
    ),
    # 5 Files
    "The course ships 40 small photographs in the format of CIFAR-10, a famous collection: one byte for the label, then"
    " 1024 bytes for each of red, green and blue. So a record has 3073 bytes.": (
        "records.shape == (40, 3073) and 1 + 3 * 1024 == 3073 and photos.shape == (40, 3, 32, 32)"
    ),
    "`cat/00.png` and so on": "len(list(folder.glob('*/*.png'))) == 40 and (folder / 'rocket' / '00.png').exists()"
    " or any(folder.glob('*/00.png'))",
    "It opens a file only when it is asked for one.": (
        "all(isinstance(path, Path) for path, _ in PhotoFolder(folder).files)"
    ),
    "They agree, because both sort.": (
        "ours.classes == theirs.classes and [(str(p), y) for p, y in ours.files] == theirs.samples"
    ),
    "it comes only when that file is read": "isinstance(broken_but_made(), PhotoFolder)",
    "The photographs are eight crops of each of five pictures.": (
        "np.bincount(photo_labels).tolist() == [8, 8, 8, 8, 8]"
    ),
    # 6 Transforms
    "A file gives bytes from 0 to 255.": "np.asarray(photo).dtype == np.uint8",
    "`ToDtype` with `scale=True` also divides by 255": (
        "torch.allclose(to_float(photo) * 255, v2.ToImage()(photo).float())"
    ),
    "Without `scale` you get float numbers up to 255, with no error.": (
        "v2.ToDtype(torch.float32)(torch.tensor([[[255]]], dtype=torch.uint8)).item() == 255"
    ),
    "Let us take six crops of each picture for training.": (
        "Counter(ours.files[i][1] for i in in_training) == {k: 6 for k in range(5)}"
    ),
    "Over 30 · 32 · 32 = 30,720 pixels for each channel.": (
        "pixels_of_training.shape == (30, 3, 32, 32) and 30 * 32 * 32 == 30_720"
    ),
    "Afterwards each channel has mean 0 and spread 1.": (
        "after[0].abs().max().item() < 1e-3 and (after[1] - 1).abs().max().item() < 1e-3"
    ),
    "numbers up to 255, as without `scale`": "forms['up to 255'].max().item() == 255",
    "Normalised data learn fastest.": "np.mean(curves['normalised'][-30:]) < 0.7 * np.mean(curves['0 to 1'][-30:])",
    "with numbers up to 255 it is hundreds of times larger. The first steps are far too long, and the loss jumps above"
    " a million.": (
        "200 < first_gradient(forms['up to 255']) / first_gradient(forms['0 to 1']) < 1000"
        " and max(curves['up to 255']) > 1e6"
    ),
    "no unit answers to any image: every ReLU gives zero": (
        "trained['up to 255'][1] == 0 and trained['0 to 1'][1] > 50 < trained['normalised'][1]"
    ),
    "and the loss stays near $\\log 10$": "abs(np.mean(curves['up to 255'][-30:]) - np.log(10)) < 0.02",
    "a `sampler` may be any list of indices": (
        "[b.tolist() for b in DataLoader(range(9), sampler=[7, 2])] == [[7], [2]]"
    ),
    "so `torch.manual_seed` repeats all five": "five_versions() == five_versions()",
    # 7 Workers
    "A worker makes a whole *batch*, and they take turns. The batches arrive in order": (
        "[[b.tolist() for b in pair] for pair in DataLoader(loading.WhoLoads(8), batch_size=2, num_workers=2)]"
        " == [[[0, 1], [0, 0]], [[2, 3], [1, 1]], [[4, 5], [0, 0]], [[6, 7], [1, 1]]]"
    ),
    "With workers the main process counts 0. Each worker got a *copy* of the data set and counted in that, up to 4.": (
        "counted.asked == 0 and counts == [[1, 2], [1, 2], [3, 4], [3, 4]]"
    ),
    "On Linux, up to Python 3.13, a worker is *forked*": (
        "sys.platform != 'linux' or sys.version_info >= (3, 14) or start_method() == 'fork'"
    ),
    "and on Linux from Python 3.14 on, it is a fresh Python": (
        "sys.platform == 'linux' and sys.version_info < (3, 14) or start_method() != 'fork'"
    ),
    "`Digits` cannot be found": "\"Can't get attribute 'Digits' on <module '__main__'\" in in_a_fresh_python(digits)",
    "that works everywhere": "in_a_fresh_python(loading.OwnGenerator(8)) == '8 items'",
    "The worker lives on: the next batch still comes.": "after_it == [(2, 4)]",
    "images multiplied by 0.9 again: 0.81": "0.9 * 0.9 - 0.81 < 1e-9",
    "images multiplied by 0.9 once, as in the first epoch": "second_epoch_of_a_data_set_that_changes(2) == 0.9",
    "Without workers it would be 0.81.": "abs(second_epoch_of_a_data_set_that_changes(0) - 0.81) < 1e-9",
    "`self.images[i] *= 0.9`. With workers and two epochs": "second_epoch_of_a_data_set_that_changes(1) == 0.9",
    # 8 Seeding
    "sixteen random numbers below a million": "loading.BELOW == 1_000_000 and np.size(trapped) == 16",
    "Four! The second batch equals the first": "np.unique(trapped).size == 4 and trapped[0][0] == trapped[0][1]",
    "And the second epoch equals the first": "trapped[0] == trapped[1]",
    "simply a quarter of what you think": "np.unique(trapped).size * 4 == 16",
    "`getsource` shows its source.": "'integers(BELOW)' in inspect.getsource(loading.OwnGenerator)",
    "`get_worker_info().seed` is the worker's own seed": "np.unique(draws(loading.FromTorch(8))).size == 16",
    "All three give sixteen different numbers.": (
        "[np.unique(ways[name](2)).size for name in list(ways)[1:4]] == [16, 16, 16]"
    ),
    "But only the third does not depend on the number of workers": (
        "[ways[name](1) == ways[name](2) for name in ways] == [False, False, False, True, False]"
    ),
    "For some years PyTorch has seeded it in each worker, as you see.": (
        'np.unique(ways["NumPy\'s global one"](2)).size == 16'
    ),
    "They do not: their copies are older than your assignment.": "seen_by_stayers[0] == seen_by_stayers[1]",
    "or hand the epoch over inside the index, by a sampler that yields pairs": (
        "[b.tolist() for b in DataLoader(Pairs(), sampler=[(0, 5), (1, 5)], num_workers=1)] == [[5], [15]]"
    ),
    "both workers copy the same generator, and now you cannot even repeat it": "unseeded_twins() == [True, False]",
    "Then the epochs differ, but the workers are still twins.": "stayers_of_own_generator() == [True, False]",
    # 9 Streams
    "Everything twice: each worker has a copy of the stream and reads all of it.": (
        "sorted(numbers(split=False)) == sorted([*range(6)] * 2)"
    ),
    "With `split`, worker 0 takes every second number from 0 on, and worker 1 the others.": (
        "numbers(split=True) == [0, 2, 1, 3, 4, 5]"
    ),
    '"DataLoader with IterableDataset: expected unspecified shuffle option"': (
        "'DataLoader with IterableDataset: expected unspecified shuffle option'"
        " in raised(lambda: DataLoader(loading.Numbers(6), shuffle=True))"
    ),
    "section 11 keeps some in a cleverer way": "Reservoir(3, rng).kept == []",
    "the order in sections 3 and 10, collating in section 4": "list(mini_loader([5], [0], 1)) == [torch.tensor([5])]",
    # 10 Samplers
    "It draws 390 indices in an epoch, as many as there are examples.": "len(long_tail) == len(indices) == 390",
    "About 39 of each.": "max(abs(count - 39) for count in np.bincount(drawn_labels)) < 4 * 39**0.5",
    "The two nines come about twenty times each, and many zeros not at all.": (
        "abs((drawn_labels == 9).sum().item() / 2 - 20) < 3"
        " and len({i for i in indices if long_tail.labels[i] == 0}) < 0.5 * 140"
    ),
    "Without workers none, and two after the first batch.": "given_out(0) == [0, 2]",
    "With two workers eight at once: `prefetch_factor=2` batches for each worker. After that, each batch taken orders"
    " another.": "given_out(2) == [8, 10] and DataLoader(range(9), num_workers=2).prefetch_factor == 2",
    # 11 Reservoir
    "In 3000 runs a stream of 50 items passes a reservoir of ten.": (
        "share_kept.__defaults__ == (3000, 50, 10) and abs(shares['reservoir'].sum() - 10) < 1e-9"
    ),
    "The reservoir is level at 0.2, ten of 50.": "np.abs(shares['reservoir'] - 0.2).max() < 4 * (0.16 / 3000) ** 0.5",
    "the last item is kept in half of the runs, the first in about one of eight": (
        "abs(shares['half chance'][-1] - 1 / 2) < 0.04 and abs(shares['half chance'][0] - 1 / 8) < 0.025"
    ),
    "The eleventh has it worst, in one of fifteen": (
        "shares['half chance'].argmin() == 10 and abs(shares['half chance'][10] - 1 / 15) < 0.02"
    ),
    "Multiply these up to 50, and all but $10/50$ cancels.": (
        "abs(np.prod([(k - 1) / k for k in range(31, 51)]) * 10 / 30 - 10 / 50) < 1e-12"
    ),
    "The long tail has 390 digits, and 140 of them are zeros.": (
        "len(long_tail) == 390 and (long_tail.labels == 0).sum().item() == 140"
    ),
    "A reservoir of 50 keeps about 18 zeros, and a nine in one run of four.": (
        "round(50 * 140 / 390) == 18 and abs(50 * 2 / 390 - 1 / 4) < 0.01"
    ),
    "*Class-balancing reservoir sampling* (Chrysakis and Moens, 2020)": "len(BalancedReservoir(3, rng).kept) == 0",
    "The long tail passes a memory of 50. Its classes have 140, 91, 59, 38, 24, 16, 10, 6, 4 and 2 digits.": (
        "wanted == [140, 91, 59, 38, 24, 16, 10, 6, 4, 2] == np.bincount(long_tail.labels).tolist()"
        " and len(kept[1]) == 50"
    ),
    "The balanced memory holds both nines and all four eights, and five or six of each other class.": (
        "per_class['balanced'][8:] == [4, 2] and set(per_class['balanced'][:8]) == {5, 6}"
    ),
    "It should be kept with chance 6/12.": "abs(entered - 6 / 12) < 4 * 0.008",
    "Within one standard deviation of a half.": "abs(entered - 0.5) < (0.5 * 0.5 / 4000) ** 0.5",
    "In 4000 runs, how far may the share be from 0.5 by chance alone? One standard deviation is"
    " $\\sqrt{0.5 \\cdot 0.5 / 4000}$, about 0.008.": "round((0.25 / 4000) ** 0.5, 3) == 0.008",
    "Each a was the victim about 500 times of 3000.": (
        "sum(victims.values()) == 3000 and max(abs(count - 500) for count in victims.values()) < 4 * 20.5"
    ),
    "It must always be kept, and each a must be its victim equally often.": (
        "bool(always) and set(victims) == {*range(6)}"
    ),
    "Each b replaces an a, so two a remain.": (
        "dict(before_it.stored) == {'a': 2, 'b': 3} and before_it.full == {'a', 'b'}"
    ),
    "In a third: a was the largest once, so it stays full, and $m/n$ is 2 of 6.": (
        "abs(smaller - 2 / 6) < 4 * (2 / 9 / 4000) ** 0.5"
    ),
    "first 20 of a, then 20 of b, then 4 of c, memory nine": (
        "len(kept_times) == 44 and abs(kept_times.sum() / 3000 - 9) < 1e-9"
    ),
    "Items of a and of b have 3 places for 20, a share of 0.15; those of c have 3 places for 4, so 0.75.": (
        "np.nanmax(np.abs(by_label['a'] - 0.15)) < 4 * 0.0066 and np.nanmax(np.abs(by_label['b'] - 0.15)) < 4 * 0.0066"
        " and np.nanmax(np.abs(by_label['c'] - 0.75)) < 4 * 0.008"
    ),
    "We train on the 50 kept digits, for five different seeds.": "learnt.shape == (5, 2)",
    "With the balanced memory the network is better for each seed": "bool((learnt[:, 1] > learnt[:, 0]).all())",
    # 12 How many
    "a training step of 20 ms, batches of four items, each of which waits for 5 ms": (
        "min(e - b for b, e in alone['main trains']) > 19 and min(e - b for b, e in alone['main loads']) > 19"
    ),
    "Without workers the main process loads, trains, loads, trains.": "overlaps(alone) == 0",
    "With two, the batches are made while it trains": "overlaps(helped) > 0",
    "The beginning is empty: workers need time to start.": (
        "min(b for name, spans in helped.items() for b, _ in spans) > min(b for b, _ in alone['main loads'])"
    ),
    "In memory, workers make it slower": "speed['in memory'][0] > max(speed['in memory'][1:])",
    "Where items wait, four workers do better than none": "speed['waiting'][3] > speed['waiting'][0]",
    "One worker alone gains nothing here": "speed['waiting'][1] < 1.3 * speed['waiting'][0]",
    "Training takes 30 ms for each batch, and loading a batch takes 90 ms in one process": "90 / 30 == 3",
    "One worker makes a batch each 90 ms, and training could use three in that time.": "90 / 30 == 3",
    "Yes: 90 / 30. Three workers deliver a batch each 30 ms.": "90 / 30 == 3",
    "`loading.Working(..., compute=0.003)`": "seconds_of(loading.Working([1], compute=0.003)[0]) >= 0.003",
    # 13 Online
    "CIFAR-10 has 50,000 colour photographs of 32 × 32": "datasets_of_torchvision('CIFAR10') == 5",
    "MNIST has 60,000 digits of 28 × 28 pixels": "datasets_of_torchvision('MNIST') == 4",
    "(about 12 MB and 170 MB)": "ONLINE is False",
    "The form is that of the shipped data": "type(split) is type(colour) is data.ImageSplit",
}

SHORTHAND = """
import itertools, multiprocessing
import torchvision


def first_gradient(x):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    F.cross_entropy(net(x[:50]), torch.from_numpy(y_train[:50])).backward()
    return net[0].weight.grad.norm().item()


def raised(function):
    try:
        function()
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def after_a_pass(**options):
    torch.manual_seed(0)
    list(DataLoader(range(6), **options))
    return torch.rand(()).item()


batch_of_items = default_collate(items)
pixels_of_training = torch.stack([to_float(ours[i][0]) for i in in_training])


def stack_four():
    next(iter(DataLoader(cropped, batch_size=4)))


def broken_but_made():
    path = folder / "cat" / "zz.png"
    path.write_text("not an image")
    made = PhotoFolder(folder)
    path.unlink()
    return made


def five_versions():
    torch.manual_seed(5)
    return [augment(photo).sum().item() for _ in range(5)]


def start_method():
    return multiprocessing.get_start_method()


class Pairs(Dataset):
    def __getitem__(self, pair):
        return 10 * pair[0] + pair[1]


def seconds_of(item):
    return item["end"] - item["begin"]


class Changing(Dataset):
    def __init__(self):
        self.images = [1.0]

    def __len__(self):
        return 1

    def __getitem__(self, i):
        self.images[i] *= 0.9
        return self.images[i]


def second_epoch_of_a_data_set_that_changes(workers):
    loader = DataLoader(Changing(), num_workers=workers)
    return [batch.item() for _ in range(2) for batch in loader][1]


def unseeded_twins():
    runs = []
    for _ in range(2):
        dataset = loading.OwnGenerator(8)
        dataset.rng = np.random.default_rng()
        runs.append(draws(dataset)[0])
    return [runs[0][0] == runs[0][1], runs[0] == runs[1]]


def stayers_of_own_generator():
    epochs = draws(loading.OwnGenerator(8), persistent_workers=True)
    return [epochs[0][0] == epochs[0][1] and epochs[1][0] == epochs[1][1], epochs[0] == epochs[1]]


def numbers(split):
    loader = DataLoader(loading.Numbers(6, split=split), batch_size=2, num_workers=2)
    return [number for batch in loader for number in batch.tolist()]


def given_out(workers):
    noting = Noting(40)
    batches = iter(DataLoader(loading.WhoLoads(40), batch_size=2, sampler=noting, num_workers=workers))
    before = noting.given
    next(batches)
    return [before, noting.given]


def overlaps(spans):
    trains = spans["main trains"]
    loads = [span for name, rows in spans.items() if "loads" in name for span in rows]
    return sum(b < e2 and b2 < e for b, e in trains for b2, e2 in loads)


def datasets_of_torchvision(name):
    source = getattr(torchvision.datasets, name)
    return len(source.resources) if name == "MNIST" else len(source.train_list)
"""
"""names for the facts above, made in the lecture's kernel after its last cell"""


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(ran: Any, said: str) -> None:
    assert said in ran.prose, "the text no longer says this"
    ran.do(SHORTHAND)
    assert ran.value(FACTS[said]) is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS) == []


# What fails on purpose fails, with the words that the text quotes.

ON_PURPOSE = {
    "class NoLength": "TypeError: object of type 'NoLength' has no len()\n"
    "IndexError: index 5000 is out of bounds for axis 0 with size 1500",
    "class Cropped": "RuntimeError: stack expects each tensor to be equal size, but got [8, 6] at entry 0 and [8, 5]",
    '"not an image"': "UnidentifiedImageError: cannot identify image file",
    "v2.Normalize([0.5], [0.5])": "TypeError: Input tensor should be a float tensor. Got torch.uint8.",
    "after_it = ": "RuntimeError: Caught RuntimeError in DataLoader worker process 0.\nOriginal Traceback",
    "num_workers=1000": "UserWarning: This DataLoader will create 1000 worker processes in total.",
}
"""piece of a cell -> what the cell shows"""


@pytest.mark.parametrize("cell", ON_PURPOSE)
def test_what_fails_on_purpose_fails_with_the_message_that_the_text_explains(ran: Any, cell: str) -> None:
    assert ON_PURPOSE[cell] in ran.printed(cell)


def test_nothing_else_fails_on_purpose(ran: Any) -> None:
    assert len(ran.failing_on_purpose()) == len(ON_PURPOSE)


def test_the_error_without_workers_is_the_error_itself(ran: Any) -> None:
    assert ran.printed("after_it = ").splitlines()[-1].startswith("RuntimeError: stack expects each tensor")


# The reservoirs, rule by rule, by counting; each bound is five standard deviations.


@pytest.fixture
def reservoirs(ran: Any) -> dict[str, Any]:
    """The two classes as the notebook writes them, in this process."""
    names: dict[str, Any] = {"np": np, "Counter": Counter}
    for cell in ran.notebook.cells:
        if cell.cell_type == "code" and "%pip" not in cell.source:
            for node in ast.parse(cell.source).body:
                if getattr(node, "name", "") in ("Reservoir", "BalancedReservoir", "offer"):
                    exec(ast.unparse(node), names)
    names["BalancedReservoir"].offer = names["offer"]
    return names


def _run(reservoirs: Any, stream: str, size: int, rng: np.random.Generator) -> Any:
    reservoir = reservoirs["BalancedReservoir"](size, rng)
    for item, label in enumerate(stream):
        reservoir.offer(item, label)
    return reservoir


def _near(share: float, chance: float, runs: int) -> bool:
    return bool(abs(share - chance) <= 5 * (chance * (1 - chance) / runs) ** 0.5)


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_reservoir_keeps_every_pair_of_items_equally_often(ran: Any, reservoirs: Any, size: int) -> None:
    rng, runs, stream = np.random.default_rng(1), 6000, 9
    kept = np.zeros((runs, stream))
    for row in kept:
        reservoir = reservoirs["Reservoir"](size, rng)
        for item in range(stream):
            reservoir.offer(item)
        row[reservoir.kept] = 1
    assert (kept.sum(axis=1) == size).all()
    together = kept.T @ kept / runs
    for i in range(stream):
        assert _near(together[i, i], size / stream, runs)
        assert all(_near(together[i, j], size * (size - 1) / (stream * (stream - 1)), runs) for j in range(i))


def test_rule_1_while_there_is_room_everything_is_kept(ran: Any, reservoirs: Any) -> None:
    reservoir = _run(reservoirs, "abcab", 5, np.random.default_rng(0))
    assert reservoir.kept == [(0, "a"), (1, "b"), (2, "c"), (3, "a"), (4, "b")]
    assert reservoir.full == {"a", "b"}
    assert not _run(reservoirs, "aaaa", 5, np.random.default_rng(0)).full


def test_rule_2_a_full_class_stays_full_when_it_is_no_longer_the_largest(ran: Any, reservoirs: Any) -> None:
    rng, runs = np.random.default_rng(2), 6000
    assert _run(reservoirs, "aaaaabbb", 5, rng).largest() == {"b"}
    share = np.mean([(8, "a") in _run(reservoirs, "aaaaabbba", 5, rng).kept for _ in range(runs)])
    assert _near(share, 2 / 6, runs)


def test_rule_3_a_class_that_is_not_full_is_always_kept_and_its_victim_is_any_of_the_largest(
    ran: Any, reservoirs: Any
) -> None:
    rng, runs, victims = np.random.default_rng(3), 6000, Counter[int]()
    for _ in range(runs):
        reservoir = _run(reservoirs, "aabbcd", 5, rng)
        assert (5, "d") in reservoir.kept and (4, "c") in reservoir.kept
        victims.update(set(range(6)) - {item for item, _ in reservoir.kept})
    assert set(victims) == {0, 1, 2, 3}, "of the two classes that are largest together"
    assert all(_near(count / runs, 1 / 4, runs) for count in victims.values())


@pytest.mark.parametrize("seen", [7, 12, 30])
def test_rules_4_and_5_a_full_class_changes_only_its_own_with_the_chance_m_over_n(
    ran: Any, reservoirs: Any, seen: int
) -> None:
    rng, runs, victims = np.random.default_rng(4), 5000, Counter[int]()
    for _ in range(runs):
        reservoir = _run(reservoirs, "aaabbb" + "a" * (seen - 4), 6, rng)
        before = list(reservoir.kept)
        reservoir.offer(seen + 2, "a")
        assert [pair for pair in reservoir.kept if pair[1] == "b"] == [(3, "b"), (4, "b"), (5, "b")]
        assert reservoir.stored == {"a": 3, "b": 3} and reservoir.seen["a"] == seen
        victims.update(place for place in range(6) if reservoir.kept[place] != before[place])
    assert set(victims) == {0, 1, 2}
    assert _near(victims.total() / runs, 3 / seen, runs)
    assert all(_near(count / runs, 1 / seen, runs) for count in victims.values())


@pytest.mark.parametrize("order", ["sorted", "mixed"])
def test_within_a_class_every_item_is_kept_equally_often(ran: Any, reservoirs: Any, order: str) -> None:
    rng, runs = np.random.default_rng(5), 3000
    stream = "a" * 14 + "b" * 10 + "c" * 4 + "d" * 2
    if order == "mixed":
        stream = "".join(np.random.default_rng(0).permutation(list(stream)))
    kept, stored = np.zeros(len(stream)), Counter[str]()
    for _ in range(runs):
        reservoir = _run(reservoirs, stream, 11, rng)
        kept[[item for item, _ in reservoir.kept]] += 1
        stored.update(label for _, label in reservoir.kept)
        assert reservoir.stored == Counter(label for _, label in reservoir.kept)
    for label in "abcd":
        shares = kept[[i for i, other in enumerate(stream) if other == label]] / runs
        assert all(_near(share, stored[label] / runs / len(shares), runs) for share in shares), label
    assert stored["d"] == 2 * runs


# The exercises: a check waits, names the mistake, and accepts what is right.

LENGTHS = """
def with_lengths(items):
    sequences, labels = zip(*items)
    lengths = [len(s) for s in sequences]
    {more}
    rows = [F.pad(s, {pad}) for s in sequences]
    return {result}
"""
SHARE = "import itertools\ndef my_share(items, worker, workers):\n    {body}"
BATCHES = """
class BalancedBatches:
    def __init__(self, labels, per_class, seed):
        self.places = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        self.per_class, self.seed, self.rng = per_class, seed, np.random.default_rng(seed)

    def __len__(self):
        return {length}

    def __iter__(self):
        {begin}
        mixed = [{mix} for places in self.places]
        for at in range(0, len(self) * self.per_class, self.per_class):
            yield [int(i) for places in mixed for i in places[{cut}]]
"""


def _lengths(pad: str = "(0, max(lengths) - len(s))", more: str = "", result: str = "") -> str:
    return LENGTHS.format(
        pad=pad, more=more, result=result or "torch.stack(rows), torch.tensor(lengths), torch.tensor(labels)"
    )


def _batches(
    length: str = "min(map(len, self.places)) // self.per_class",
    begin: str = "pass",
    mix: str = "self.rng.permutation(places)",
    cut: str = "at : at + self.per_class",
) -> str:
    return BATCHES.format(length=length, begin=begin, mix=mix, cut=cut)


ANSWERS = [
    (1, _lengths(), "right, all 7 checks hold."),
    (1, _lengths(result="torch.stack(rows), torch.tensor(lengths)"), "Return three things"),
    (1, _lengths(result="torch.stack(rows), lengths, torch.tensor(labels)"), "All three should be tensors."),
    (1, _lengths(pad="(0, 5 - len(s))"), "the shape is (3, 3)"),
    (1, _lengths(pad="(max(lengths) - len(s), 0)"), "Zeros belong at the right"),
    (1, _lengths(pad="(0, 3 - len(s))"), "as wide as its own longest"),
    (
        1,
        _lengths(result="torch.stack(rows), torch.tensor([len(r) for r in rows]), torch.tensor(labels)"),
        "The lengths are 2, 1, 3",
    ),
    (1, _lengths(result="torch.stack(rows), torch.tensor(lengths), torch.tensor(lengths)"), "should be 5, 6, 7"),
    (2, SHARE.format(body="return itertools.islice(items, worker, None, workers)"), "right, all 6 checks hold."),
    (
        2,
        SHARE.format(body="for i, item in enumerate(items):\n        if i % workers == worker: yield item"),
        "right, all 6 checks hold.",
    ),
    (2, SHARE.format(body="pass"), "Your function returns None."),
    (2, SHARE.format(body="return items"), "given out twice"),
    (2, SHARE.format(body="return itertools.islice(items, worker + 1, None, workers)"), "takes everything, in order"),
    (2, SHARE.format(body="return itertools.islice(items, worker, None, workers + (workers > 1))"), "belong to nobody"),
    (2, SHARE.format(body="return list(items)[worker::workers]"), "It may be endless"),
    (2, SHARE.format(body="yield from list(items)[worker::workers]"), "It may be endless"),
    (2, SHARE.format(body="return items if worker == 0 else iter([])"), "should get 2 or 3"),
    (3, _batches(), "right, all 8 checks hold."),
    (3, _batches(length="max(map(len, self.places)) // self.per_class"), "The smallest class has 4 examples"),
    (3, _batches(cut=": self.per_class"), "An index comes twice"),
    (3, _batches(begin="self.rng = np.random.default_rng(self.seed)"), "The second epoch is the same"),
    (3, _batches(begin="self.rng = np.random.default_rng()"), "With the same seed"),
    (3, _batches(mix="self.rng.permutation(places[:4])"), "never drawn"),
    (3, _batches(cut="at : at + 1"), "two indices of every class"),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("exercise", "answer", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(ran: Any, exercise: int, answer: str, said: str) -> None:
    assert said in ran.say(exercise, answer, errors_as_text=True)


@pytest.mark.parametrize("exercise", [1, 2, 3])
def test_a_check_waits_for_who_has_not_begun(ran: Any, exercise: int) -> None:
    ran.assert_waits(exercise)


# The online path, against a server on this machine that has tiny files in the real formats.


def _idx(array: np.ndarray[Any, Any]) -> bytes:
    """MNIST's own format: two zero bytes, the type (8: bytes), the number of axes, their lengths, the values."""
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return gzip.compress(head + array.astype(np.uint8).tobytes())


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path))) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}/", tmp_path
        listening.shutdown()


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def _stand_ins(url: str, folder: Path) -> str:
    """Write the tiny files into `folder`, and return the statements that let torchvision expect them at `url`."""
    rng = np.random.default_rng(0)
    resources = []
    for name, shape in {"train": (3, 28, 28), "t10k": (2, 28, 28)}.items():
        images, labels = rng.integers(0, 256, shape), np.arange(shape[0])
        for kind, content in {"images-idx3": _idx(images), "labels-idx1": _idx(labels)}.items():
            file = f"{name}-{kind}-ubyte.gz"
            (folder / file).write_bytes(content)
            resources.append((file, _md5(content)))
    batches = {}
    for name in (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"):
        pixels = rng.integers(0, 256, (2, 3072)).astype(np.uint8)
        batches[name] = pickle.dumps({"data": pixels, "labels": [0, 1]})
    batches["batches.meta"] = pickle.dumps({"label_names": ["cat", "dog"]})
    archive = _tar({f"cifar-10-batches-py/{name}": content for name, content in batches.items()})
    (folder / "cifar-10-python.tar.gz").write_bytes(archive)
    pairs = [[name, _md5(content)] for name, content in batches.items()]
    return f"""
from torchvision import datasets as shelves
shelves.MNIST.mirrors, shelves.MNIST.resources = [{url!r}], {resources!r}
shelves.CIFAR10.url, shelves.CIFAR10.tgz_md5 = {url!r} + "cifar-10-python.tar.gz", {_md5(archive)!r}
shelves.CIFAR10.train_list, shelves.CIFAR10.test_list = {pairs[:5]!r}, {pairs[5:6]!r}
shelves.CIFAR10.meta = {{"filename": "batches.meta", "key": "label_names", "md5": {pairs[6][1]!r}}}
"""


def _online_cells(ran: Any, folder: Path) -> dict[str, Any]:
    """What the two cells print with `ONLINE` set to True in an empty folder, and the shapes of what they load."""
    cells = [c.source for c in ran.notebook.cells if c.cell_type == "code" and "if ONLINE else" in c.source]
    code = "\n".join(cells).replace("ONLINE = False", "ONLINE = True")
    ran.do(
        "import contextlib, io, os\nkept_split, kept_colour, kept_place = split, colour, os.getcwd()\n"
        f"os.chdir({str(folder)!r})\n"
        "with contextlib.redirect_stdout(io.StringIO()) as said:\n"
        + textwrap.indent(code, "    ")
        + "\nos.chdir(kept_place)\nshapes = [[list(a.shape) for a in s] for s in (split, colour)]\n"
        "kinds_of = [[str(a.dtype) for a in s] for s in (split, colour)]\n"
        "split, colour, ONLINE = kept_split, kept_colour, False"
    )
    told = ran.value("[said.getvalue(), shapes, kinds_of]")
    return dict(zip(("said", "shapes", "kinds"), told, strict=True))


def test_online_the_same_cells_give_mnist_and_cifar_10_in_the_same_form(ran: Any, server: Any, tmp_path: Path) -> None:
    url, shelf = server
    place = tmp_path / "reader"
    place.mkdir()
    ran.do(_stand_ins(url, shelf))
    told = _online_cells(ran, place)
    assert "100% of" in told["said"]
    assert told["shapes"] == [
        [[3, 28, 28], [3], [2, 28, 28], [2]],
        [[10, 3, 32, 32], [10], [2, 3, 32, 32], [2]],
    ]
    assert told["kinds"] == [["float32", "int64"] * 2] * 2


def test_offline_each_cell_says_so_in_one_sentence_and_goes_on_with_the_shipped_data(
    ran: Any, server: Any, tmp_path: Path
) -> None:
    url, shelf = server
    place = tmp_path / "reader"
    place.mkdir()
    ran.do(_stand_ins(url + "nowhere/", shelf))
    told = _online_cells(ran, place)
    lines = [line for line in told["said"].splitlines() if "could not be downloaded" in line]
    assert len(lines) == 2 and all(line.endswith("use the shipped data instead.") for line in lines)
    assert told["shapes"][0][0] == [1500, 8, 8] and told["shapes"][1][0] == [30, 3, 32, 32]


FIGURES = (
    "right on held-out digits against epoch. shuffled: from 0.8",
    "item 3, a 3, 8 by 6",
    "5 colour images side by side: cat, 32 by 32",
    "Line plot of loss against updates. up to 255 goes from",
    "6 colour images side by side: as it is, 32 by 32",
    "shuffle: 140, 91, 59, 38, 24, 16, 10, 6, 4, 2; weighted:",
    "half chance: from 0.1",
    "examples for each class, from 0 on. reservoir:",
    "c: from 0.7",
    "milliseconds, no workers. main trains: 8 spans",
    "milliseconds, two workers. main trains: 8 spans",
    "items per second against workers. in memory: from",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)
