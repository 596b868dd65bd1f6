"""The visible checks of assignment a5: what a right answer must satisfy, told without the answer.

What is random is counted over many seeds and held against its probability; seeds and inputs are fixed, and the bounds
so wide that a right program meets them, whatever generator it uses.

The first part writes files and makes data sets for workers. The judge's probes use it too.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import random
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, Sampler

from course_lib.checks.outcome import check, fail, require
from course_lib.compare import compare

Function = Callable[..., Any]

# --- files, data sets and loaders -------------------------------------------------------------------------------------


@contextlib.contextmanager
def forked_workers() -> Iterator[None]:
    """Workers are forked meanwhile, whatever this Python does by itself; no advice on their number is printed."""
    before = multiprocessing.get_start_method(allow_none=True)
    forks = (before or multiprocessing.get_all_start_methods()[0]) == "fork"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if forks or not can_fork():
            yield
            return
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
        try:
            return [list(loader) for _ in range(epochs)]
        except Exception as error:
            # PyTorch raises what a worker raised in a frame that holds the error: a cycle, and the pass with its queues
            # in it. Left to the garbage collector, their files are closed before the pass is ended. Its workers then
            # never hear of the end, and its threads go on to use the numbers of closed files, which by then may belong
            # to the next loader: on a busy machine one of a hundred loaders failed.
            traceback.clear_frames(error.__traceback__)
            raise


def batches_of(dataset: Any, workers: int, epochs: int = 1, **options: Any) -> list[list[Any]]:
    """The batches of each pass of a loader over the data set."""
    # What a worker cannot send (an exception of a class that cannot be pickled) never comes: then stop waiting.
    with forked_workers():
        loader = DataLoader(dataset, num_workers=workers, timeout=60 if workers else 0, **options)
        return epochs_of(loader, epochs)


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


def write_numbers(folder: Path | str, files: Sequence[np.ndarray], names: Sequence[str] = ()) -> list[str]:
    """Text files of one number in each line, called 0, 1 and so on or by `names`, and their paths."""
    paths = []
    for number, values in enumerate(files):
        path = Path(folder) / f"{names[number] if names else number}.txt"
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


def _many(workers: int) -> str:
    return "1 worker" if workers == 1 else f"{workers} workers"


# --- 1. ImageFiles --------------------------------------------------------------------------------------------------

_WITHOUT_WORKERS = " (this machine cannot fork workers: tried without)"
_IMAGE_HINTS = {
    "shape": "A file has the colors last; PyTorch wants a plane for each color first.",
    "factor": "Each byte is divided by 255.",
    "": "A file has the colors last; axes are moved by `permute` or `transpose`, and not by `reshape`.",
}


@contextlib.contextmanager
def _folder(*images: tuple[str, np.ndarray]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder, images)
        yield Path(folder)


def _picture(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def _tensor_of(picture: np.ndarray) -> np.ndarray:
    return np.moveaxis(picture, -1, 0) / np.float32(255)


def _require_image(name: str, got: Any, wanted: np.ndarray) -> None:
    if not torch.is_tensor(got):
        fail(f"{name} is of type {type(got).__name__}; it should be a tensor.")
    if got.dtype != torch.float32:
        fail(
            f"{name} has dtype {got.dtype}; it should be torch.float32.",
            "Integers divided by 255 in NumPy are float64.",
        )
    require(compare(name, got.numpy(), wanted), _IMAGE_HINTS)


@check("the worked example gives 1.0, 0.2 and 0.0, and images are not mirrored")
def images_example(ImageFiles: Function) -> None:
    picture = _picture(0, 2, 3, 3)
    with _folder(("cat/0.png", np.array([[[255, 51, 0]]], np.uint8)), ("cat/1.png", picture)) as root:
        dataset = ImageFiles(root)
        if len(dataset) != 2:
            fail(f"len(dataset) is {len(dataset)}; the folder has 2 images.")
        image, label = dataset[0]
        _require_image("the image of one pixel", image, np.array([1.0, 0.2, 0.0], np.float32).reshape(3, 1, 1))
        if type(label) is not int or label != 0:
            fail(f"the label is {label!r}; it should be the int 0.")
        _require_image("an image of 2 rows and 3 columns", dataset[1][0], _tensor_of(picture))
        doubled = ImageFiles(str(root), transform=lambda x: 2 * x)[1][0]
        _require_image("the image after a transform that doubles", doubled, 2 * _tensor_of(picture))


@check("classes and files are in the order of their sorted names")
def images_are_sorted(ImageFiles: Function) -> None:
    names = ["dog/1.png", "ant/2.png", "cat/9.png", "ant/0.png", "dog/0.png", "bee/5.png", "cat/3.png", "ant/7.png"]
    pictures = {name: _picture(k, 1, 1, 3) for k, name in enumerate(names)}
    text = np.frombuffer(b"no image", np.uint8)
    others = [("notes.txt", text), ("cat/notes.txt", text)]
    with _folder(*pictures.items(), *others) as root:
        dataset = ImageFiles(root)
        if list(dataset.classes) != ["ant", "bee", "cat", "dog"]:
            fail(f"classes is {list(dataset.classes)}; the folders are ant, bee, cat and dog.")
        if len(dataset) != len(names):
            fail(f"len(dataset) is {len(dataset)}; there are {len(names)} files that end in .png.")
        for i, name in enumerate(sorted(names)):
            image, label = dataset[i]
            if not np.allclose(np.ravel(image), np.ravel(pictures[name]) / 255):
                fail(
                    f"item {i} is not the image of {name}.", "The order in which a folder is listed is not fixed: sort."
                )
            if label != list(dataset.classes).index(name[:3]):
                fail(
                    f"the label of item {i}, {name}, is {label}.", "It is the place of the folder's name in `classes`."
                )


@check("gray images and images with transparency become RGB")
def images_become_rgb(ImageFiles: Function) -> None:
    gray, clear = _picture(3, 2, 2), _picture(4, 2, 2, 4)
    with _folder(("cat/0.png", gray), ("cat/1.png", clear)) as root:
        dataset = ImageFiles(root)
        _require_image("a gray image", dataset[0][0], _tensor_of(np.stack([gray] * 3, axis=-1)))
        _require_image("an image with transparency", dataset[1][0], _tensor_of(clear[..., :3]))


@check("a file is read when its item is asked for, each time anew")
def images_are_read_when_asked_for(ImageFiles: Function) -> None:
    first, second = _picture(5, 2, 3, 3), _picture(6, 2, 3, 3)
    with _folder(("cat/0.png", np.zeros(0, np.uint8))) as root:
        try:
            dataset = ImageFiles(root)
        except NotImplementedError:
            raise  # said in words of its own: the class is not written yet
        except Exception as error:
            hint = "`__init__` needs the names of the files, not what is in them."
            fail(f"With an empty file in the folder the data set cannot be made: {type(error).__name__}.", hint)
        for picture in (first, second):
            write_images(root, [("cat/0.png", picture)])
            image = dataset[0][0]
            if tuple(image.shape) != (3, 2, 3) or not np.allclose(np.asarray(image), _tensor_of(picture)):
                fail("The file was written anew, and the item is not what is in it.", "Keep names, not images.")


@check("a damaged file raises ValueError with its path, also in a worker")
def images_name_what_is_damaged(ImageFiles: Function) -> str:
    text = np.frombuffer(b"this is not an image", np.uint8)
    good = _picture(7, 40, 40, 3)
    with _folder(("cat/0.png", good), ("cat/1.png", text), ("cat/2.png", good)) as root:
        half = np.frombuffer((root / "cat" / "0.png").read_bytes()[:2000], np.uint8)
        write_images(root, [("cat/2.png", half)])
        dataset = ImageFiles(root)
        if len(dataset) != 3:
            fail(
                f"len(dataset) is {len(dataset)}; there are 3 files, 2 of them damaged.",
                "They are examples all the same.",
            )
        for i, workers in ((1, 0), (2, 0), (2, 1 if can_fork() else 0)):
            name = f"cat/{i}.png, {'no image' if i == 1 else 'the first half of an image'},"
            try:
                batches_of(dataset, workers, batch_size=None, sampler=[i])
            except ValueError as error:
                if str(root / "cat" / f"{i}.png") not in str(error):
                    hint = "Write it into the message. Item i is file i in the order of the names."
                    fail(f"The ValueError of {name} does not contain the path of the file.", hint)
            except NotImplementedError:
                raise  # said in words of its own: `__getitem__` is not written yet
            except Exception as error:
                hint = "Some files fail when they are opened, others when their pixels are read."
                fail(f"{name} raises {type(error).__name__}; it should raise ValueError.", hint)
            else:
                fail(f"{name} gives an item, and no error.", "Which exceptions do you catch, and what then?")
        _require_image("the undamaged image", dataset[0][0], _tensor_of(good))
    return "" if can_fork() else _WITHOUT_WORKERS


# --- 2. channel_statistics, make_transforms -------------------------------------------------------------------------


def _statistics(channel_statistics: Function, images: Sequence[Any], indices: Sequence[int]) -> Any:
    dataset = Asked([np.asarray(image, np.float32) for image in images])
    found = channel_statistics(dataset, indices)
    if not isinstance(found, (tuple, list)) or len(found) != 2 or not all(map(torch.is_tensor, found)):
        fail("channel_statistics should return a pair of tensors, (mean, std).")
    for name, value in zip(("mean", "std"), found, strict=True):
        if value.dtype != torch.float32:
            fail(f"{name} has dtype {value.dtype}; it should be torch.float32.")
    return dataset, found[0].numpy(), found[1].numpy()


@check("the worked example has mean 0.833 and std 0.373")
def statistics_example(channel_statistics: Function) -> None:
    _, mean, std = _statistics(channel_statistics, [[[[0, 1]]], [[[1, 1], [1, 1]]]], [0, 1])
    hints = {"": "0.75 is the mean of the two images' means. Each of the six pixels counts once."}
    require(compare("mean", mean, np.array([5 / 6], np.float32), rtol=1e-4), hints)
    hints = {"": "0.408 divides by 5 and not by 6; 0.139 has no root; 0.25 averages over images."}
    require(compare("std", std, np.array([np.sqrt(5) / 6], np.float32), rtol=1e-3), hints)


@check("the statistics are those of the given items, channel by channel")
def statistics_of_the_given_items(channel_statistics: Function) -> None:
    rng = np.random.default_rng(1)
    images = [rng.random((3, 2 + k, 3)) + k for k in range(4)]
    dataset, mean, std = _statistics(channel_statistics, images, [2, 0])
    pixels = np.concatenate([images[k].reshape(3, -1) for k in (0, 2)], axis=1)
    hints = {"": "Only the items `indices` count, and each channel has its own mean and std."}
    require(compare("mean", mean, pixels.mean(axis=1).astype(np.float32), rtol=1e-3), hints)
    require(compare("std", std, pixels.std(axis=1).astype(np.float32), rtol=1e-2), hints)
    if not set(dataset.asked) <= {0, 2}:
        fail(f"The items {sorted(set(dataset.asked))} were asked for; indices is [2, 0].", "Other files are not read.")


def _transforms(make_transforms: Function, augment: Function, std: Sequence[float], **options: float) -> Any:
    found = make_transforms(torch.tensor([0.5, 1.0, 0.0]), torch.tensor(std), augment, **options)
    if not isinstance(found, (tuple, list)) or len(found) != 2 or not all(map(callable, found)):
        fail("make_transforms should return a pair of functions, (train, validate).")
    return found


_IMAGE = np.arange(18, dtype=np.float32).reshape(3, 2, 3) / 8


@check("validate normalizes each channel, also where std is 0")
def transforms_example(make_transforms: Function) -> None:
    _, validate = _transforms(make_transforms, lambda image: image, [0.25, 0.5, 0.0], eps=0.25)
    wanted = (_IMAGE - np.array([0.5, 1, 0]).reshape(3, 1, 1)) / np.array([0.5, 0.75, 0.25]).reshape(3, 1, 1)
    hints = {
        "": "mean and std have the shape (3,), the image (3, H, W): which axis do they meet? eps is added to std.",
        "infinite": "Where std is 0, eps is all that you divide by.",
    }
    require(compare("validate(image)", validate(torch.tensor(_IMAGE)).numpy(), wanted.astype(np.float32)), hints)


@check("train augments first and then normalizes, validate never augments")
def transforms_augment_for_training_alone(make_transforms: Function) -> None:
    calls: list[int] = []

    def augment(image: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return 3 * image[:, :, 1:]

    train, validate = _transforms(make_transforms, augment, [0.25, 0.5, 1.0])
    before = validate(torch.tensor(_IMAGE)).numpy()
    if calls:
        fail("validate calls augment.", "What is random belongs to training.")
    got = train(torch.tensor(_IMAGE)).numpy()
    if len(calls) != 1:
        fail(f"train calls augment {len(calls)} times; it should be once.")
    shift, scale = (np.array(v).reshape(3, 1, 1) for v in ([0.5, 1, 0], [0.25, 0.5, 1.0]))
    wanted = ((3 * _IMAGE[:, :, 1:] - shift) / scale).astype(np.float32)
    require(compare("train(image)", got, wanted, rtol=1e-4), {"": "First augment, then subtract and divide."})
    require(compare("validate(image)", before, ((_IMAGE - shift) / scale).astype(np.float32), rtol=1e-4))


@check("the image that is given stays as it is")
def transforms_leave_the_image(make_transforms: Function) -> None:
    for name, function in zip(
        ("train", "validate"), _transforms(make_transforms, lambda image: image, [0.25, 0.5, 1.0]), strict=True
    ):
        given = torch.tensor(_IMAGE)
        function(given)
        if not np.array_equal(given.numpy(), _IMAGE):
            fail(f"{name} changed its image.", "`-=`, `/=` and methods such as `sub_` write into the tensor itself.")


# --- 3. split_by_group ----------------------------------------------------------------------------------------------


def _split(split_by_group: Function, labels: np.ndarray, groups: np.ndarray, fraction: float, seed: int) -> Any:
    given = labels.copy(), groups.copy()
    found = split_by_group(*given, fraction, seed)
    if not (np.array_equal(given[0], labels) and np.array_equal(given[1], groups)):
        fail("split_by_group changed labels or groups.", "`sort()` and `rng.shuffle` work in place.")
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        fail("split_by_group should return the pair (train, validation).")
    for name, part in zip(("train", "validation"), found, strict=True):
        if not isinstance(part, np.ndarray) or part.dtype != np.int64 or part.ndim != 1:
            shown = f"{part.dtype} of shape {part.shape}" if isinstance(part, np.ndarray) else type(part).__name__
            fail(f"{name} is {shown}; it should be an int64 array of row numbers.")
        if np.any(np.diff(part) <= 0):
            fail(f"{name} is not in ascending order, or has a row twice.")
    both = np.sort(np.concatenate(found))
    if not np.array_equal(both, np.arange(len(labels))):
        fail(
            f"{len(labels)} rows were given; train and validation have {len(found[0])} and {len(found[1])}.",
            "Every row is in one of the two, and in one only.",
        )
    return found


def _rows(many: dict[int, int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels and groups of rows in random order: label -> number of groups."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(500)[: sum(many.values())]
    sizes = rng.integers(1, 6, len(names))
    order = rng.permutation(sizes.sum())
    of_groups = np.repeat(list(many), list(many.values()))
    return np.repeat(of_groups, sizes)[order].astype(np.int64), np.repeat(names, sizes)[order].astype(np.int64)


@check("of ten and three patients, two and one are for validation")
def split_example(split_by_group: Function) -> None:
    labels, groups = _rows({0: 10, 1: 3})
    _, validation = _split(split_by_group, labels, groups, 0.25, 1)
    found = [len(set(groups[validation][labels[validation] == c].tolist())) for c in (0, 1)]
    if found != [2, 1]:
        hint = "int(0.25 * 10) is 2; int(0.25 * 3) is 0, and at least one is asked for. Which result comes first?"
        said = f"Class 0 has {found[0]} validation groups, and class 1 has {found[1]}; it should be 2 and 1."
        fail(said, hint)


@check("no group is on both sides")
def split_keeps_groups_together(split_by_group: Function) -> None:
    labels, groups = _rows({0: 20, 1: 20}, 3)
    for seed in range(5):
        train, validation = _split(split_by_group, labels, groups, 0.5, seed)
        both = np.intersect1d(groups[train], groups[validation])
        if len(both):
            fail(f"{len(both)} of 40 groups have rows on both sides.", "Draw groups, and then take all of their rows.")


@check("each class has its number of validation groups, and every group has the same chance")
def split_is_stratified(split_by_group: Function) -> None:
    many = {3: 8, -4: 5, 11: 2}
    labels, groups = _rows(many, 4)
    times = dict.fromkeys(groups.tolist(), 0)
    for seed in range(200):
        _, validation = _split(split_by_group, labels, groups, 0.5, seed)
        chosen = set(groups[validation].tolist())
        for label, of_class in many.items():
            found = len(chosen & set(groups[labels == label].tolist()))
            if found != max(1, int(0.5 * of_class)):
                hint = "Each class is split by itself, and no group is drawn twice."
                said = f"Class {label} has {of_class} groups; for fraction 0.5 {max(1, int(0.5 * of_class))} should be "
                fail(f"{said}for validation, and here it is {found}.", hint)
        for group in chosen:
            times[group] += 1
    for group, found in times.items():
        chance = max(1, int(0.5 * many[int(labels[groups == group][0])])) / many[int(labels[groups == group][0])]
        if abs(found / 200 - chance) > 0.25:
            hint = "Which groups are drawn should depend on nothing but chance."
            fail(
                f"With 200 seeds a group was for validation {found} times; about {200 * chance:.0f} are expected.", hint
            )


def _require_seeded(use: Callable[[int], Any], what: str) -> None:
    found = under_noise(use, [5, 5, 6], [1, 2, 3])
    once, again, other = (_flat(result) for result in found["results"])
    untouched = under_noise(lambda seed: None, [5, 5, 6], [1, 2, 3])
    if not np.array_equal(found["draws"], untouched["draws"]):
        hint = "Make a generator of your own from the seed, and hand it to all that draws. A DataLoader draws, too."
        fail(f"{what} changes a global random generator, of torch, NumPy or random.", hint)
    if not np.array_equal(once, again):
        fail(f"{what} gives two results for the same seed.", "Where does each random number come from?")
    if np.array_equal(once, other):
        fail(f"{what} gives the same for two seeds.", "Where do you use `seed`?")


def _flat(result: Any) -> np.ndarray:
    if isinstance(result, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(_flat, result)])
    return np.ravel(np.asarray(result, dtype=float))


@check("the seed decides the split, and nothing else does")
def split_follows_the_seed(split_by_group: Function) -> None:
    labels, groups = _rows({0: 40, 1: 40}, 5)
    _require_seeded(lambda seed: _split(split_by_group, labels, groups, 0.5, seed), "split_by_group")


# --- 4. pad_collate -------------------------------------------------------------------------------------------------

_COLLATE_HINTS = {
    "mask": "True where padded holds a step of a sequence. Only the lengths tell what is padding.",
    "lengths": "The lengths of the sequences before padding, in the order of the items.",
    "padded shape": "As long as the longest sequence of this batch, and no longer.",
    "padded": "The sequence first, then the padding value; rows in the order of the items.",
    "labels": "In the order of the items.",
    "": "Compare with the worked example.",
}


def _require_batch(name: str, got: Any, sequences: Sequence[np.ndarray], labels: Sequence[int], value: float) -> None:
    if not isinstance(got, (tuple, list)) or len(got) != 4 or not all(map(torch.is_tensor, got)):
        fail(f"{name} should be four tensors, (padded, mask, lengths, labels).")
    longest = max(map(len, sequences))
    padded = np.full((len(sequences), longest, sequences[0].shape[1]), value, sequences[0].dtype)
    mask = np.zeros((len(sequences), longest), bool)
    for row, of_row, sequence in zip(padded, mask, sequences, strict=True):
        row[: len(sequence)] = sequence
        of_row[: len(sequence)] = True
    wanted = [padded, mask, np.array([len(s) for s in sequences]), np.array(labels)]
    for part, tensor, right in zip(("padded", "mask", "lengths", "labels"), got, wanted, strict=True):
        if str(tensor.dtype) != f"torch.{right.dtype}":
            fail(f"{part} has dtype {tensor.dtype}; it should be torch.{right.dtype}.")
        require(compare(part, tensor.numpy() * 1, right * 1, rtol=0, atol=0), _COLLATE_HINTS)


def _items(sequences: Sequence[np.ndarray]) -> list[tuple[torch.Tensor, int]]:
    return [(torch.tensor(sequence), k + 5) for k, sequence in enumerate(sequences)]


@check("the worked example comes out as in the text")
def collate_example(pad_collate: Function) -> None:
    sequences = [
        np.array([[1.0], [2.0]], np.float32),
        np.array([[3.0]], np.float32),
        np.array([[4.0], [5], [6]], np.float32),
    ]
    _require_batch("the batch", pad_collate(_items(sequences)), sequences, [5, 6, 7], 0.0)


@check("a batch is as long as its longest sequence, in the dtype of its sequences")
def collate_fits_each_batch(pad_collate: Function) -> None:
    rng = np.random.default_rng(0)
    for lengths in ((2, 4), (1,), (0, 3), (0,)):
        sequences = [rng.random((n, 2)) for n in lengths]
        name = f"the batch of lengths {', '.join(map(str, lengths))}"
        _require_batch(name, pad_collate(_items(sequences)), sequences, range(5, 5 + len(lengths)), 0.0)


@check("padding_value fills up, and steps that hold it are no padding")
def collate_masks_by_length(pad_collate: Function) -> None:
    for value in (-1.0, 0.0):
        sequences = [np.array([[1.0, 2.0], [value, value]], np.float32), np.array([[value, value]] * 3, np.float32)]
        _require_batch("the batch", pad_collate(_items(sequences), padding_value=value), sequences, [5, 6], value)


@check("a DataLoader takes it as collate_fn, with workers and without")
def collate_in_a_loader(pad_collate: Function) -> str:
    rng = np.random.default_rng(1)
    sequences = [rng.random((n, 1)).astype(np.float32) for n in (2, 5, 1)]
    for workers in (0, 1 if can_fork() else 0):
        batches = batches_of(_items(sequences), workers, batch_size=2, collate_fn=pad_collate)[0]
        _require_batch("the first batch", batches[0], sequences[:2], [5, 6], 0.0)
        _require_batch("the second batch", batches[1], sequences[2:], [7], 0.0)
    return "" if can_fork() else _WITHOUT_WORKERS


# --- 5. BalancedSampler ---------------------------------------------------------------------------------------------

_LABELS = np.array([0, 0, 0, 0, 0, 0, 7, 7])


@check("it gives num_samples row numbers in each pass, as Python ints")
def sampler_gives_as_many_as_asked(BalancedSampler: Function) -> None:
    for many in (5, 20):
        sampler = BalancedSampler(_LABELS.copy(), many, 0)
        if not isinstance(sampler, Sampler):
            fail("BalancedSampler is no subclass of Sampler.", "Look at the first line of the class.")
        if len(sampler) != many:  # type: ignore[arg-type]
            fail(f"len(sampler) is {len(sampler)}; num_samples is {many}.")  # type: ignore[arg-type]
        drawn = list(sampler)
        if len(drawn) != many:
            fail(f"A pass gives {len(drawn)} row numbers; num_samples is {many}.", "Where does their number come from?")
        odd = [i for i in drawn if type(i) is not int or not 0 <= i < 8]
        if odd:
            fail(f"{odd[0]!r} is not a Python int from 0 to 7.", "`.tolist()` and `int()` make Python ints.")


def _drawn(BalancedSampler: Function, labels: np.ndarray) -> np.ndarray:
    return np.array([list(BalancedSampler(labels.copy(), 100, seed)) for seed in range(60)])


@check("each class has its share of the draws, and draws are independent")
def sampler_balances_classes(BalancedSampler: Function) -> None:
    drawn = _drawn(BalancedSampler, _LABELS)
    share = float(np.mean(drawn >= 6))
    if abs(share - 0.5) > 0.06:
        hint = "25 % is the share of its rows. A row of a large class should weigh less than one of a small class."
        fail(f"Of 6000 draws {share:.1%} are of class 7; with two classes it should be about 50 %.", hint)
    again = float(np.mean(drawn[:, ::2] == drawn[:, 1::2]))
    # 6 rows of 1/12 and 2 rows of 1/4: 6 / 144 + 2 / 16
    if abs(again - 1 / 6) > 0.06:
        hint = "Each draw is made for itself, with replacement: nothing takes turns, nothing is used up."
        fail(f"A draw gives the row of the one before in {again:.1%} of all cases; chance gives 16.7 %.", hint)


@check("within a class each row is equally likely, in each pass anew")
def sampler_is_fair_within_a_class(BalancedSampler: Function) -> None:
    counts = np.bincount(_drawn(BalancedSampler, _LABELS).ravel(), minlength=8) / 6000
    for row, (found, chance) in enumerate(zip(counts, [1 / 12] * 6 + [1 / 4] * 2, strict=True)):
        if abs(found - chance) > 0.05:
            hint = "First the class, then a row of this class; or a weight for each row."
            fail(f"Row {row} has {found:.1%} of the draws; it should be about {chance:.1%}.", hint)
    sampler = BalancedSampler(np.arange(50) // 5, 30, 0)
    if list(sampler) == list(sampler):
        fail("The second pass is the first one again.", "When is the generator made, and when are the rows drawn?")


@check("the seed decides the draws, and nothing else does")
def sampler_follows_the_seed(BalancedSampler: Function) -> None:
    def use(seed: int) -> Any:
        sampler = BalancedSampler(np.arange(50) // 5, 30, seed)
        return [list(sampler), list(sampler)]

    _require_seeded(use, "BalancedSampler")


# --- 6. NumberStream ------------------------------------------------------------------------------------------------

_FILES = [np.array(values) for values in ([1.0, 2.0], [], [3.5], [4.0, 5.0, 6.0], [7.0])]


@check("without workers all numbers come, in order, in each pass")
def stream_without_workers(NumberStream: Function) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stream = NumberStream(write_numbers(folder, _FILES))
        for name in ("first", "second"):
            found = list(stream)
            if any(type(number) is not float for number in found):
                fail(f"The stream yields a {type(found[0]).__name__}; it should be a Python float.")
            if found != np.concatenate(_FILES).tolist():
                fail(
                    f"The {name} pass gives {found}; it should be [1.0, 2.0, 3.5, 4.0, 5.0, 6.0, 7.0].",
                    "Each pass calls __iter__ once.",
                )


@check("with one worker and with three, each number comes once, from the right worker")
def stream_with_workers(NumberStream: Function) -> str:
    if not can_fork():
        return _WITHOUT_WORKERS
    wanted = {1: [[1, 2, 3.5, 4, 5, 6, 7]], 3: [[1, 2, 4, 5, 6], [7], [3.5]]}
    with tempfile.TemporaryDirectory() as folder:
        for workers, shares in wanted.items():
            stream = NumberStream(write_numbers(folder, _FILES))
            found = [batch.tolist() for batch in batches_of(stream, workers, batch_size=10)[0]]
            numbers = sorted(number for batch in found for number in batch)
            if len(numbers) != 7:
                hint = "Each worker has a copy of the stream. `get_worker_info()` says which of how many it is."
                fail(f"With {_many(workers)} {len(numbers)} numbers come; the files have 7.", hint)
            if found != shares:
                hint = "Worker w of W reads the files w, w + W, w + 2 * W and so on."
                fail(f"With {_many(workers)} the batches are {found}; it should be {shares}.", hint)
    return ""


@check("a file is opened when its first number is asked for")
def stream_opens_files_late(NumberStream: Function) -> None:
    with tempfile.TemporaryDirectory() as folder:
        numbers = iter(NumberStream(write_numbers(folder, [_FILES[0], _FILES[2]])))
        next(numbers)
        write_numbers(folder, [_FILES[0], np.array([9.0])])
        rest = [next(numbers), next(numbers)]
        if rest != [2.0, 9.0]:
            hint = "Open a file where you read it, and yield as you go."
            fail(f"The second file was written anew before it was its turn; then came {rest}, not [2.0, 9.0].", hint)


# --- 7. make_loader -------------------------------------------------------------------------------------------------


def _epochs(make_loader: Function, workers: int, seed: int = 3, epochs: int = 2) -> list[list[np.ndarray]]:
    """The batches of each epoch: pairs of an item's number and the random number that it drew."""
    with forked_workers():
        loader = make_loader(Drawing(22, seed=8), 4, workers, seed)
    if not isinstance(loader, DataLoader):
        fail(f"make_loader returned a {type(loader).__name__}; it should be a DataLoader.")
    return [[batch.numpy() for batch in one] for one in epochs_of(loader, epochs)]


def _workers() -> tuple[int, ...]:
    return (0, 1, 3) if can_fork() else (0,)


@check("each epoch gives every item once, in another order")
def loader_gives_every_item(make_loader: Function) -> None:
    orders = []
    for batches in _epochs(make_loader, 0):
        sizes = [len(batch) for batch in batches]
        if sizes != [4, 4, 4, 4, 4, 2]:
            fail(f"22 items come in batches of {sizes}; it should be [4, 4, 4, 4, 4, 2].")
        orders.append(np.concatenate(batches)[:, 0])
        if not np.array_equal(np.sort(orders[-1]), np.arange(22)):
            fail("An epoch does not give every item once.")
        if np.array_equal(orders[-1], np.arange(22)):
            fail("The items come in their own order.", "Which argument of DataLoader shuffles?")
    if np.array_equal(orders[0], orders[1]):
        fail("Two epochs have the same order.", "When is the order drawn?")


@check("no two items get the same random number, in any worker and any epoch")
def loader_draws_differ(make_loader: Function) -> str:
    for workers in _workers():
        epochs = [np.concatenate(batches)[:, 1] for batches in _epochs(make_loader, workers)]
        for which, numbers in (("one epoch", epochs[0]), ("two epochs", np.concatenate(epochs))):
            many = len(np.unique(numbers))
            if many < len(numbers):
                hint = "What does each worker have to do before its first item? `get_worker_info().seed` is another "
                hint += "one in each worker and each epoch."
                fail(
                    f"With {_many(workers)} {which} drew {len(numbers)} random numbers, only {many} different ones.",
                    hint,
                )
    return "" if can_fork() else _WITHOUT_WORKERS


@check("the seed decides order and random numbers, and nothing else does")
def loader_follows_the_seed(make_loader: Function) -> str:
    for workers in _workers():
        drawn = functools.partial(_epochs, make_loader, workers, epochs=1)
        _require_seeded(drawn, f"With {_many(workers)} the loader")
    return "" if can_fork() else _WITHOUT_WORKERS


@check("each worker prepares `prefetch` batches ahead, and a loader without workers is accepted")
def loader_prefetches(make_loader: Function) -> None:
    for workers in (0, 2):
        with forked_workers():
            loader = make_loader(Drawing(6), 2, workers, 0, prefetch=5)
        if loader.num_workers != workers:
            fail(f"The loader has {loader.num_workers} workers; num_workers is {workers}.")
        if workers and loader.prefetch_factor != 5:
            fail(f"Each worker prepares {loader.prefetch_factor} batches ahead; prefetch is 5.")


# --- 8. BalancedReservoir -------------------------------------------------------------------------------------------


def _lost(BalancedReservoir: Function, size: int, stream: str, runs: int = 400) -> np.ndarray:
    """For each seed and each offer the place in the stream of the item that is lost; -1 for none."""
    lost = np.full((runs, len(stream)), -1)
    for seed, of_run in enumerate(lost):
        reservoir = BalancedReservoir(size, seed)
        for k, label in enumerate(stream):
            gone = reservoir.offer(np.array([k, k]), label)
            if gone is not None:
                of_run[k] = int(gone[0][0])
        kept = sorted(int(item[0]) for item, _ in reservoir.items())
        left = sorted(set(range(len(stream))) - set(of_run.tolist()))
        if len(kept) != min(size, len(stream)):
            fail(f"A memory of {size} has {len(kept)} items after {len(stream)} were offered.")
        if kept != left:
            hint = "offer returns the pair that is replaced, or the new pair if it is not kept, or None."
            fail("What offer returned and what is in memory do not fit together.", hint)
    return lost


def _require_share(found: float, chance: float, sentence: str, hint: str) -> None:
    if abs(found - chance) > (0.13 if 0 < chance < 1 else 0):
        fail(f"{sentence} in {found:.1%} of 400 runs; it should be about {chance:.1%}.", hint)


@check("while there is room everything is kept, and the worked example holds")
def reservoir_example(BalancedReservoir: Function) -> None:
    if np.any(_lost(BalancedReservoir, 4, "aab", 3) != -1):
        fail("offer returned a pair though there was still room.", "It returns None if nothing is lost.")
    lost = _lost(BalancedReservoir, 4, "aaabba")
    hint = "A class that is not full replaces an item of the class with the most items, each with the same chance."
    for k in range(3):
        _require_share(float(np.mean(lost[:, 4] == k)), 1 / 3, f"`a a a b b`: the b replaces item {k + 1}", hint)
    hint = "Four a have come by, this one included, and two are in memory."
    _require_share(float(np.mean(lost[:, 5] != 5)), 0.5, "`a a a b b a`: the last a is kept", hint)


@check("an item of a full class is kept with chance m / n, in place of one of its class")
def reservoir_keeps_newcomers_of_a_full_class_rarely(BalancedReservoir: Function) -> None:
    lost = _lost(BalancedReservoir, 3, "aaaaaa")
    for k in (3, 4, 5):
        hint = "n counts the new item, too."
        _require_share(float(np.mean(lost[:, k] != k)), 3 / (k + 1), f"Memory of 3: the a number {k + 1} is kept", hint)
    for k in range(6):
        _require_share(
            float(np.mean(np.all(lost != k, axis=1))),
            0.5,
            f"Memory of 3, six a: number {k + 1} is left",
            "Which item is replaced? Each should have the same chance.",
        )


@check("an item of another class replaces one of the largest class, whichever has most")
def reservoir_keeps_newcomers_of_other_classes(BalancedReservoir: Function) -> None:
    lost = _lost(BalancedReservoir, 4, "aabbc")
    hint = "a and b have equally many: each of the four items has the same chance."
    for k in range(4):
        _require_share(float(np.mean(lost[:, 4] == k)), 0.25, f"`a a b b c`: the c replaces item {k + 1}", hint)
    lost = _lost(BalancedReservoir, 4, "aaabb")
    _require_share(
        float(np.mean(lost[:, 4] == 3)), 0.0, "`a a a b b`: the new b replaces the b", "b has only one item."
    )


@check("a class that was full once stays full")
def reservoir_remembers_what_was_full(BalancedReservoir: Function) -> None:
    hint = "a was the largest class, so it is full, though b has more items now: m / n is 2 / 6."
    lost = _lost(BalancedReservoir, 5, "aaaaabbba")
    _require_share(float(np.mean(lost[:, 8] != 8)), 1 / 3, "`a a a a a b b b a`: the last a is kept", hint)
    hint = "With two a and two b both classes have the most items, so both are full: m / n is 2 / 3."
    for stream in ("aabba", "aabbb", "aaabbb"):
        lost = _lost(BalancedReservoir, 4, stream)
        _require_share(
            float(np.mean(lost[:, -1] != len(stream) - 1)), 2 / 3, f"`{' '.join(stream)}`: the last is kept", hint
        )


@check("the seed decides what is kept, and nothing else does")
def reservoir_follows_the_seed(BalancedReservoir: Function) -> None:
    def use(seed: int) -> Any:
        reservoir = BalancedReservoir(20, seed)
        for k, label in enumerate("ab" * 40):
            reservoir.offer(k, label)
        return sorted(item for item, _ in reservoir.items())

    _require_seeded(use, "BalancedReservoir")
