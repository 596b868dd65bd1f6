"""The hidden checks of a5: the sentences of the notebook, on files, arrays and seeds that nobody has seen.

What is decided by the text is compared with the reference. What is random is counted by the judge, from the numbers
that came back, and held against its exact probability.

False alarms. `unlikely` refuses a count that a right program gives with a probability below ALPHA (Chernoff's bound,
which holds for every number of draws). A submission is asked fewer than MOST_COMPARISONS such questions, so a right one
loses points by chance with a probability below ALPHA * MOST_COMPARISONS = 5e-7. The other chances add less than 1e-9:
orders of 20 rows and more that are the same twice, 53-bit numbers that are drawn twice. A test counts the questions.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from probes import (
    collated,
    collated_in_a_loader,
    damaged_items,
    drawn_by_a_loader,
    draws_of_a_sampler,
    facts_of_a_folder,
    facts_of_a_sampler,
    items_of_a_folder,
    loaders_under_noise,
    many_splits,
    numbers_of_a_stream,
    numbers_of_changing_files,
    prefetching,
    reservoir_runs,
    reservoirs_under_noise,
    rows_of_a_balanced_loader,
    samples_under_noise,
    splits_under_noise,
    statistics_of_images,
    transformed_images,
    types_in_a_stream,
)

ALPHA = 1e-9
MOST_COMPARISONS = 500
WORKERS = [0, 1, 3]


# --- 1. ImageFiles --------------------------------------------------------------------------------------------------

# As text, the path cat-2/00.png stands before cat/00.png.
CLASSES = ["ant", "Bee", "cat", "cat-2", "dog", "d.2", "elk"]


@pytest.mark.cell("test_image_files", weight=2)
@pytest.mark.parametrize("workers", WORKERS)
def test_images_and_labels(student, reference, draw, expect, workers):
    """Images of every kind and their labels are right, in the order of the sorted names, with 0, 1 and 3 workers."""
    data = {"images": a_folder(draw), "workers": workers, "as_text": workers == 1}
    require_folder(student, reference, expect, data)


@pytest.mark.cell("test_image_files")
def test_transform(student, reference, draw, expect):
    """A transform gets the tensor, and its result takes the place of the image."""
    data = {"images": a_folder(draw), "workers": 0, "scale": float(draw.uniform((), 2.0, 3.0))}
    require_folder(student, reference, expect, data)


@pytest.mark.cell("test_image_files", weight=2.25)
def test_files_are_read_when_asked_for(student, reference, draw, expect):
    """What is in a file when its item is asked for is what comes: files may change between, once and again."""
    names = [f"{name}/{k}.png" for name in ("cat", "dog") for k in range(2)]
    first, second = ([(name, pixels(draw, (3, 2, 3))) for name in names] for _ in range(2))
    # With a worker nothing is asked for before the files change, without workers every item is.
    data = {"images": first, "workers": 1, "later": second}
    got = student.run(items_of_a_folder, **data)
    expect.true(not same_images(got["images"], first), OLD, fault="images-opened-at-the-start")
    require_items(expect, got, reference.run(items_of_a_folder, **data))
    data = {"images": [(name, np.zeros(0, np.uint8)) for name in names], "workers": 1, "later": second, "scale": 2.5}
    got = student.run(items_of_a_folder, **data)
    sentence = "With empty files, which are filled before the first item is asked for, the data set cannot be made."
    expect.true(not got["refused"].any(), sentence, fault="images-opened-at-the-start")
    require_items(expect, got, reference.run(items_of_a_folder, **data))
    data = {"images": first, "workers": 0, "later": second}
    got = student.run(items_of_a_folder, **data)
    expect.true(not same_images(got["images"], first), OLD, fault="images-kept-after-reading")
    require_items(expect, got, reference.run(items_of_a_folder, **data))


OLD = "After a file was written anew, its item is the old image."


@pytest.mark.cell("test_image_files", weight=2.25)
@pytest.mark.parametrize("workers", WORKERS)
def test_damaged_files(student, reference, draw, expect, workers):
    """A damaged file raises ValueError with its path when it is asked for, and the other items stay as they are."""
    images, damaged = with_damaged(draw)
    # Workers are started anew for each of them, so with more workers fewer are asked for.
    data = {"images": images, "damaged": damaged[workers:] or damaged[:1], "workers": workers}
    got, wanted = student.run(damaged_items, **data), reference.run(damaged_items, **data)
    sentence = f"len(dataset) is {got['length']}; the folder has {wanted['length']} examples, damaged ones included."
    fewer = wanted["length"] - got["length"] == sum(content.ndim == 1 for _, content in images)
    fault = "images-damaged-left-out" if fewer else ""
    expect.true(got["length"] == wanted["length"], sentence, kind="length", fault=fault)
    told = [told for _, told in got["errors"]]
    kinds = [kind for kind, _ in got["errors"]]
    sentence = "An item whose file is damaged came without any error."
    expect.true(all(kinds), sentence, fault="images-damaged-passes")
    others = sorted(set(kinds) - {"ValueError"})
    sentence = f"A damaged file raised {', '.join(others)}; it should raise ValueError."
    expect.true(not others, sentence, fault="images-damaged-other-error")
    sentence = "The ValueError of a damaged file does not contain the file's path."
    expect.true(all(told), sentence, fault="images-damaged-without-path")
    expect.close(got["images"], wanted["images"], "the images of the other items")
    expect.close(got["labels"], wanted["labels"], "the labels of the other items")


@pytest.mark.cell("test_image_files", weight=0.5)
def test_classes_and_length(student, reference, draw, expect):
    """`classes`, the length of the data set and the type of a label are right."""
    nothing = np.frombuffer(b"no image", np.uint8)
    data = {"images": [*a_folder(draw), ("elk/TITLE.PNG", nothing), ("bug/none.txt", nothing)]}
    got, wanted = student.run(facts_of_a_folder, **data), reference.run(facts_of_a_folder, **data)
    folders = {path.partition("/")[0] for path, _ in data["images"] if path.endswith(".png")}
    with_images = [name for name in wanted["classes"] if name in folders]
    found = f"classes is {got['classes']}; the folders are {wanted['classes']}."
    expect.true(got["classes"] != with_images, found, kind="length", fault="images-empty-class-left-out")
    expect.equal(got["classes"], wanted["classes"], "classes")
    expect.equal(got["length"], wanted["length"], "len(dataset)")
    sentence = f"The label has the type {got['label']}; it should be a Python int."
    expect.true(got["label"] == "int", sentence, kind="type", fault="images-label-is-no-int")


def a_folder(draw):
    """Six classes of several images, in no order, with files between them that are no examples."""
    # Gray, with transparency, a single pixel, gray with transparency.
    shapes = [(2, 3), (3, 2, 4), (1, 1, 3), (2, 2, 2)]
    # By name, 100 stands before 90.
    images = [(f"cat/{90 + 10 * (k == 0) + k}.png", pixels(draw, shape)) for k, shape in enumerate(shapes)]
    for name in CLASSES:
        many = int(draw.integers(2, 5, ()))
        images += [(f"{name}/{k:02}.png", pixels(draw, (2, 3, 3))) for k in draw.choice(90, many)]
    nothing = np.frombuffer(b"no image", np.uint8)
    images += [("cat/notes.txt", nothing), ("dog/picture.png.txt", nothing), ("bat.txt", nothing), ("README", nothing)]
    # A folder without images, an ending without its dot, and an image that lies in no folder.
    images += [("bug/none.txt", nothing), ("dog/04png", nothing), ("bat.png", pixels(draw, (2, 3, 3)))]
    return [images[k] for k in draw.permutation(len(images))]


def with_damaged(draw):
    """Images of which three are damaged, each in its own way, and their places in the sorted order."""
    text = np.frombuffer(b"this is not an image", np.uint8)
    images = [(f"{name}/{k}.png", pixels(draw, (9, 8, 3))) for name in ("cat", "dog") for k in range(4)]
    places = sorted(int(k) for k in draw.choice(8, 3))
    for place, content in zip(places, (text, half_a_png(draw), np.zeros(0, np.uint8)), strict=True):
        images[place] = (images[place][0], content)
    return images, [(place, images[place][0]) for place in places]


def half_a_png(draw):
    """The first part of an image file, as an interrupted download leaves it."""
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels(draw, (30, 30, 3))).save(file, format="PNG")
    content = np.frombuffer(file.getvalue(), np.uint8)
    return content[: len(content) // 2]


def pixels(draw, shape):
    return draw.integers(0, 256, shape).astype(np.uint8)


def same_images(got, files):
    """Whether the images are those of these files, in this order."""
    files = [np.moveaxis(array, -1, 0) / np.float32(255) for _, array in files]
    return [*map(as_bytes, got)] == [*map(as_bytes, files)]


def require_folder(student, reference, expect, data):
    got, wanted = student.run(items_of_a_folder, **data), reference.run(items_of_a_folder, **data)
    found = [name.split("/") for name, _ in data["images"] if name.endswith(".png") and "/" in name]
    names = ["/".join(parts) for parts in sorted(found)]
    by_path = [wanted["images"][k] for k in sorted(range(len(names)), key=names.__getitem__)]
    require_items(expect, got, wanted, by_path)


def require_items(expect, got, wanted, by_path=()):
    dtype = wanted["images"][0].dtype
    require_tensors(expect, {f"image {i}": image for i, image in enumerate(got["images"])}, dtype)
    sentence = f"The data set has {len(got['images'])} items; the folder has {len(wanted['images'])} examples."
    expect.true(len(got["images"]) == len(wanted["images"]), sentence, kind="length")
    shuffled = len(set(map(as_bytes, wanted["images"]))) == len(wanted["images"])
    same = shuffled and sorted(map(as_bytes, got["images"])) == sorted(map(as_bytes, wanted["images"]))
    in_order = [*map(as_bytes, got["images"])] == [*map(as_bytes, wanted["images"])]
    sentence = "All images are there, but not in the order of the sorted names."
    as_text = [*map(as_bytes, got["images"])] == [*map(as_bytes, by_path)]
    fault = "images-sorted-by-path" if as_text else "images-not-sorted"
    expect.true(not same or in_order, sentence, kind="order", fault=fault)
    if same and not np.array_equal(got["labels"], wanted["labels"]):
        # One folder has one label throughout, and the labels are some order of the right ones: the numbering is off.
        pairs = set(zip(wanted["labels"], got["labels"], strict=True))
        renumbered = len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) > 1
        ordered = sorted({b for _, b in pairs}) == sorted({a for a, _ in pairs})
        sentence = "Every class has one label, but not the place of its name in the sorted list."
        expect.true(not (renumbered and ordered), sentence, kind="order", fault="images-not-sorted")
        without_gaps = np.unique(wanted["labels"], return_inverse=True)[1]
        sentence = "The labels are numbered without the classes that have no images."
        closed = np.array_equal(got["labels"], without_gaps)
        expect.true(not closed, sentence, kind="order", fault="images-empty-class-left-out")
    pairs = list(zip(got["images"], wanted["images"], strict=True))
    if all(np.shape(a.array) == np.shape(b.array) for a, b in pairs):
        by_256 = all(np.allclose(a.array * 256, b.array * 255, rtol=1e-5, atol=1e-4) for a, b in pairs)
        bright = any(np.any(b.array > 0.5) for _, b in pairs)
        sentence = "White is 255/256 and not 1."
        expect.true(not (by_256 and bright), sentence, kind="factor", fault="images-divided-by-256")
    expect.close(got["images"], wanted["images"], "the images")
    expect.close(got["labels"], wanted["labels"], "the labels")


def as_bytes(value):
    array = np.asarray(getattr(value, "array", value))
    return (array.shape, np.round(array, 5).tobytes())


# --- 2. channel_statistics, make_transforms -------------------------------------------------------------------------


@pytest.mark.cell("test_transforms", weight=2)
@pytest.mark.parametrize("channels", [1, 3])
def test_statistics(student, reference, draw, expect, channels):
    """mean and std are those of the pixels of the given items, each pixel once, whatever the sizes."""
    sizes = [(1, 2), (4, 3), (2, 2), (3, 5), (2, 1)]
    images = [draw.uniform((channels, *size), 0.0, 0.5 + 0.1 * k, np.float32) for k, size in enumerate(sizes)]
    images[4] += 2.0  # whoever takes in all items is far off
    data = {"images": images, "indices": [int(i) for i in draw.permutation(4)[:3]]}
    got, wanted = student.run(statistics_of_images, **data), reference.run(statistics_of_images, **data)
    require_tensors(expect, {"mean": got["mean"], "std": got["std"]}, "float32")
    expect.close(got["mean"], wanted["mean"], "mean", rtol=1e-4, atol=1e-4)
    expect.close(got["std"], wanted["std"], "std", rtol=1e-3, atol=1e-3)
    sentence = f"The items {numbers(got['asked'])} were asked for; the indices are {numbers(wanted['asked'])}."
    expect.true(set(got["asked"]) <= set(wanted["asked"]), sentence, fault="statistics-ask-for-other-items")


@pytest.mark.cell("test_transforms", weight=1.6)
def test_statistics_of_a_flat_channel(student, reference, draw, expect):
    """std is right for a channel that is bright and hardly varies, where a difference of squares loses all digits."""
    images = [0.9 + draw.uniform((1, 4, 5), 0.0, 2e-4) for _ in range(3)]
    data = {"images": [image.astype(np.float32) for image in images], "indices": [2, 0, 1]}
    got, wanted = student.run(statistics_of_images, **data), reference.run(statistics_of_images, **data)
    expect.close(got["mean"], wanted["mean"], "mean", rtol=1e-4, atol=1e-4)
    # Which deviation it is shows in the other check.
    data["images"] = [draw.uniform((1, 4, 5), 0.0, 1.0, np.float32) for _ in range(3)]
    usual, right = (side.run(statistics_of_images, **data)["std"] for side in (student, reference))
    for std in (got["std"], usual):
        expect.form(std, right, "std")
    small, wanted = float(got["std"].array[0]), float(wanted["std"].array[0])
    fault = "statistics-lose-a-small-deviation" if np.allclose(usual.array, right.array, rtol=1e-3) else ""
    sentence = f"The std of a channel that hardly varies is {small:.3g}; it should be {wanted:.3g}."
    expect.true(abs(small - wanted) <= 0.2 * wanted + 1e-6, sentence, fault=fault)


@pytest.mark.cell("test_transforms", weight=0.4)
def test_statistics_of_one_value(student, reference, draw, expect):
    """std is 0 for a channel that has one value everywhere, where rounding may leave less than 0 under the root."""
    levels = np.float32(draw.uniform((120, 1, 1), 0.1, 0.9))
    images = [np.broadcast_to(levels, (120, *size)).copy() for size in ((31, 1), (13, 37), (2, 11))]
    std = student.run(statistics_of_images, images=images, indices=[0, 2, 1])["std"]
    nans = int(np.isnan(getattr(std, "array", 0.0)).sum())
    sentence = f"The std of {nans} of 120 channels, each with one value everywhere, is nan; it should be 0."
    expect.true(not nans, sentence, fault="statistics-root-of-less-than-zero")
    wanted = reference.run(statistics_of_images, images=images, indices=[0, 2, 1])["std"]
    expect.close(std, wanted, "std", atol=1e-3)


@pytest.mark.cell("test_transforms", weight=2)
@pytest.mark.parametrize("eps", [0.25, None])
def test_both_transforms(student, reference, draw, expect, eps):
    """validate normalizes each channel, train augments first; eps counts where std is 0; images stay as they are."""
    channels = 2 if eps is None else 3
    images = [draw.uniform((channels, *size), 0.0, 1.0, np.float32) for size in ((2, 4), (3, 2), (4, 3))]
    std = draw.uniform((channels,), 0.2, 0.6, np.float32)
    std[1] = 1e-4 if eps is None else 0.0
    data = {"images": images, "mean": draw.uniform((channels,), 0.3, 0.6, np.float32), "std": std}
    data |= {"factors": draw.uniform((9,), 1.5, 3.0), "offset": 0.5, "options": {} if eps is None else {"eps": eps}}
    data["factors"][1] = 0.0
    got, wanted = student.run(transformed_images, **data), reference.run(transformed_images, **data)
    for of_image, right in zip(got, wanted, strict=True):
        names = ["validate(image)", "train(image)", "validate(image) after train(image)"]
        for name, value, correct in zip(names, of_image, right, strict=False):
            expect.close(value, correct, name)
        sentence = f"augment was called {of_image[3]:g} times; it should be once for each call of train."
        expect.true(of_image[3] == right[3], sentence, fault="augment-called-elsewhere")


# --- 3. split_by_group ----------------------------------------------------------------------------------------------

HUGE = 10**15
MANY_GROUPS = {3: 12, -4: 5, HUGE: 2, HUGE + 1: 3}
"""class -> how many groups"""
FRACTIONS = [0.25, 0.5, 0.375, 0.75]


@pytest.mark.cell("test_split_by_group", weight=4)
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_split(student, draw, expect, fraction):
    """Each row is in one part, each group too, and each class has its number of validation groups."""
    labels, groups = patients(draw, MANY_GROUPS)
    for seed in draw.integers(0, 10**6, 3):
        split = student.split_by_group(labels, groups, fraction, int(seed))
        require_split(expect, labels, groups, fraction, split)


@pytest.mark.cell("test_split_by_group", weight=3)
def test_every_group_has_the_same_chance(student, draw, expect):
    """Over many seeds every group of a class is for validation equally often."""
    labels, groups = patients(draw, {0: 6, 1: 2})
    seeds = draw.integers(0, 10**9, 400)
    data = {"labels": labels, "groups": groups, "fraction": 0.5, "seeds": seeds}
    found = np.asarray(student.run(many_splits, **data))
    expect.form(found, np.zeros((400, len(labels))), "the rows for validation")
    sentence = "400 different seeds gave the same split."
    expect.true(np.any(found != found[0]), sentence, fault="split-ignores-the-seed")
    for group in np.unique(groups):
        rows = found[:, groups == group]
        expect.true(np.all(rows == rows[:, :1]), "A group is on both sides.", fault="split-by-row")
        times = int(rows[:, 0].sum())
        sentence = f"A group was for validation with {times} of 400 seeds; half of them are expected."
        expect.true(not unlikely(times, 400, 0.5), sentence, fault="split-groups-not-equally-likely")


@pytest.mark.cell("test_split_by_group", weight=3)
def test_seed_of_the_split(student, reference, draw, expect):
    """The seed alone decides the split, and the global generators stay as they are."""
    labels, groups = patients(draw, {0: 40, 1: 40})
    data = {"labels": labels, "groups": groups, "fraction": 0.5}
    require_seeded(student, reference, draw, expect, splits_under_noise, data, "split")


@pytest.mark.cell("test_split_by_group")
def test_arguments_of_the_split_stay(student, draw, expect):
    """labels and groups are as they were, and the split is right."""
    labels, groups = patients(draw, MANY_GROUPS)
    split = student.split_by_group(labels, groups, 0.5, 3)
    require_split(expect, labels, groups, 0.5, split)
    after = student.calls[-1].after.get("_args", (labels, groups))
    expect.observed = True
    same = all(np.array_equal(a, b) for a, b in zip(after[:2], (labels, groups), strict=True))
    expect.true(same, "labels or groups have changed.", kind="changed", fault="split-changes-its-arguments")


def patients(draw, many_groups):
    """Labels and groups of rows in random order; group numbers are any, and sizes differ."""
    total = sum(many_groups.values())
    names = draw.choice(1000, total) - 300
    names = names // 10 * 10**12 + names % 10  # any whole numbers: too large to count from 0 on, and some of them close
    sizes = draw.integers(1, 6, total)
    of_groups = np.repeat(list(many_groups), list(many_groups.values()))
    order = draw.permutation(int(sizes.sum()))
    return np.repeat(of_groups, sizes)[order].astype(np.int64), np.repeat(names, sizes)[order].astype(np.int64)


def require_split(expect, labels, groups, fraction, split):
    n = len(labels)
    pair = isinstance(split, (tuple, list)) and len(split) == 2
    expect.true(pair, "split_by_group should return the pair (train, validation).", kind="type")
    train, validation = (np.asarray(getattr(part, "array", part)) for part in split)
    flat = all(isinstance(part, np.ndarray) and part.ndim == 1 for part in split)
    expect.true(flat, "train and validation should be NumPy arrays of one axis.", kind="type")
    kinds = train.dtype == validation.dtype == np.int64
    sentence = f"train has dtype {train.dtype}, validation {validation.dtype}; both should be int64 row numbers."
    expect.true(kinds, sentence, kind="dtype")
    both = np.concatenate([train, validation])
    sentence = f"A row number lies outside 0 to {n - 1}."
    expect.true(np.all((both >= 0) & (both < n)), sentence)
    counts = np.bincount(both, minlength=n)
    doubled, missing = int(np.sum(counts > 1)), int(np.sum(counts == 0))
    expect.true(not doubled, f"{doubled} rows are in the results twice.", fault="split-rows-twice")
    expect.true(not missing, f"{missing} rows are in neither part.", fault="split-rows-lost")
    straddling = np.intersect1d(groups[train], groups[validation])
    sentence = f"{len(straddling)} of {len(np.unique(groups))} groups have rows on both sides."
    expect.true(not len(straddling), sentence, fault="split-by-row")
    require_strata(expect, labels, groups, fraction, train, validation)
    ascending = all(np.all(np.diff(part) > 0) for part in (train, validation))
    expect.true(ascending, "The row numbers are not in ascending order.", kind="order", fault="split-not-ascending")


def require_strata(expect, labels, groups, fraction, train, validation):
    classes = np.unique(labels)
    total = {c: len(np.unique(groups[labels == c])) for c in classes}
    wanted = {c: max(1, int(fraction * total[c])) for c in classes}

    def held_out(rows):
        return {c: len(np.unique(groups[rows][labels[rows] == c])) for c in classes}

    got = held_out(validation)
    rules = {
        "split-parts-swapped": held_out(train) == wanted,
        "split-rounds-up": got == {c: math.ceil(fraction * total[c]) for c in classes},
        "split-class-left-out": got == {c: int(fraction * total[c]) for c in classes},
        "split-rounds-to-nearest": got == {c: max(1, round(fraction * total[c])) for c in classes},
    }
    fault = next((name for name, fits in rules.items() if fits), "split-wrong-number-of-groups")
    if rules["split-parts-swapped"] and rules["split-rounds-up"]:
        fault = ""  # at one half the two can be the same
    c = next((c for c in classes if got[c] != wanted[c]), classes[0])
    sentence = f"A class has {total[c]} groups; for fraction {fraction} {wanted[c]} should be for validation, "
    sentence += f"and here it is {got[c]}."
    expect.true(got == wanted, sentence, fault=fault)


# --- 4. pad_collate -------------------------------------------------------------------------------------------------

NARROW = "padded is float32 for sequences in float64."
PARTS = ["padded", "mask", "lengths", "labels"]


@pytest.mark.cell("test_pad_collate", weight=2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lengths", [(2, 1, 3), (4, 4), (1,), (3, 0, 5), (0, 0)], ids=str)
def test_collate(student, reference, draw, expect, lengths, dtype):
    """padded, mask, lengths and labels are right for sequences of any lengths, also where all are empty."""
    data = sequences_of(draw, lengths, dtype) | {"options": {}}
    require_collated(expect, student.run(collated, **data), reference.run(collated, **data), dtype)


@pytest.mark.cell("test_pad_collate", weight=1.5)
@pytest.mark.parametrize("padding", [-1.5, 0.0, 1e300])
def test_padding_value(student, reference, draw, expect, padding):
    """padding_value fills up, and a step that holds this value is no padding."""
    dtype = "float64" if padding > 1e38 else "float32"  # it has room for this one
    data = sequences_of(draw, (3, 1, 4, 2), dtype) | {"options": {"padding_value": padding}}
    data["sequences"][0][2] = padding
    data["sequences"][2][3] = padding
    data["sequences"][3][0] = padding
    got, wanted = student.run(collated, **data), reference.run(collated, **data)
    require_collated(expect, got, wanted, dtype, PARTS[:3])


@pytest.mark.cell("test_pad_collate")
@pytest.mark.parametrize("workers", WORKERS)
def test_collate_in_a_loader(student, reference, draw, expect, workers):
    """In a loader each batch is as wide as its own longest sequence, with 0, 1 and 3 workers."""
    data = sequences_of(draw, (2, 5, 1, 1, 7, 3, 2), "float32") | {"batch_size": 2, "workers": workers}
    got, wanted = student.run(collated_in_a_loader, **data), reference.run(collated_in_a_loader, **data)
    expect.true(len(got) == len(wanted), f"There are {len(got)} batches; it should be {len(wanted)}.", kind="length")
    for batch, right in zip(got, wanted, strict=True):
        require_collated(expect, batch, right, "float32")


def sequences_of(draw, lengths, dtype):
    features = int(draw.integers(1, 4, ()))
    sequences = [draw.away_from_zero((n, features), dtype=dtype) for n in lengths]
    labels = draw.integers(0, 50, len(lengths))
    labels[0] += 2**40 + 1  # an int, too
    return {"sequences": sequences, "labels": labels}


def require_collated(expect, got, wanted, dtype, parts=PARTS):
    four = isinstance(got, (tuple, list)) and len(got) == 4
    expect.true(four, "pad_collate should return (padded, mask, lengths, labels).", kind="type")
    dtypes = dict(zip(PARTS, (dtype, "bool", "int64", "int64"), strict=True))
    for name, value, right in zip(parts, got, wanted, strict=False):
        require_tensors(expect, {name: value}, None)
        if name == "padded":
            narrow = (value.dtype, dtype) == ("float32", "float64")
            expect.true(not narrow, NARROW, kind="dtype", fault="collate-always-float32")
        expect.close(as_numbers(value), as_numbers(right), name)
        require_tensors(expect, {name: value}, dtypes[name])


def as_numbers(tensor):
    return tensor.array.astype(np.int64) if tensor.array.dtype == bool else tensor.array


# --- 5. BalancedSampler ---------------------------------------------------------------------------------------------

SIZES = {0: 18, HUGE: 6, -2: 2, HUGE + 1: 1}
"""class -> how many rows"""


@pytest.mark.cell("test_balanced_sampler", weight=4)
def test_chances_of_rows(student, draw, expect):
    """Every class comes equally often, and within a class every row."""
    labels = rows_of_classes(draw, SIZES)
    seeds = draw.integers(0, 10**9, 8)
    data = {"labels": labels, "num_samples": 300, "seeds": seeds, "passes": 3}
    found = require_draws(expect, labels, student.run(draws_of_a_sampler, **data), (8, 3, 300))
    sentence = "Eight different seeds give the same rows."
    expect.true(np.any(found != found[0]), sentence, fault="sampler-ignores-the-seed")
    for k, earlier in ((1, 0), (2, 0), (2, 1)):
        sentence = f"Pass {k + 1} gives the same rows as pass {earlier + 1}."
        same = np.array_equal(found[:, earlier], found[:, k])
        expect.true(not same, sentence, fault="sampler-repeats-itself")
    counts = np.bincount(found.ravel(), minlength=len(labels))
    total = int(counts.sum())
    many = {c: int(np.sum(labels == c)) for c in SIZES}
    of_class = {c: int(counts[labels == c].sum()) for c in SIZES}
    laws = {
        "": dict.fromkeys(SIZES, 1 / len(SIZES)),
        "sampler-not-balanced": {c: many[c] / len(labels) for c in SIZES},
        "sampler-weights-by-frequency": normed({c: many[c] ** 2 for c in SIZES}),
        "sampler-weights-by-root": normed({c: many[c] ** 0.5 for c in SIZES}),
        "sampler-weights-too-strong": normed({c: 1 / many[c] for c in SIZES}),
    }
    fault = only_law(laws, lambda law: not any(unlikely(of_class[c], total, law[c]) for c in SIZES))
    c = max(SIZES, key=lambda c: abs(of_class[c] / total - 1 / len(SIZES)))
    sentence = f"A class with {many[c]} of {len(labels)} rows has {of_class[c] / total:.1%} of the draws; "
    sentence += f"with {len(SIZES)} classes it should be {1 / len(SIZES):.1%}."
    fits = not any(unlikely(of_class[c], total, 1 / len(SIZES)) for c in SIZES)
    expect.true(fits, sentence, fault=fault or "")
    for row, times in enumerate(counts):
        chance = 1 / len(SIZES) / many[int(labels[row])]
        sentence = f"A row came {times} times in {total} draws; {chance * total:.0f} are expected."
        expect.true(not unlikely(int(times), total, chance), sentence, fault="sampler-rows-not-equally-likely")


@pytest.mark.cell("test_balanced_sampler", weight=4)
def test_draws_are_independent(student, draw, expect):
    """One draw says nothing about the next: neither about its class nor about its row."""
    sizes = {5: 3, 1: 3, 2: 3}
    labels = rows_of_classes(draw, sizes)
    data = {"labels": labels, "num_samples": 40, "seeds": draw.integers(0, 10**9, 60), "passes": 2}
    found = require_draws(expect, labels, student.run(draws_of_a_sampler, **data), (60, 2, 40)).reshape(120, 40)
    # Only where every row is equally likely do repetitions tell of draws that depend on each other.
    of_class = np.bincount(labels[found].ravel(), minlength=6)
    balanced = not any(unlikely(int(of_class[c]), found.size, 1 / 3) for c in sizes)
    expect.true(balanced, "Three classes of three rows each do not come equally often.")
    counts = np.bincount(found.ravel(), minlength=9)
    fair = not any(unlikely(int(times), found.size, 1 / 9) for times in counts)
    expect.true(fair, "Rows of a class do not come equally often.", fault="sampler-rows-not-equally-likely")
    first, second = found[:, ::2], found[:, 1::2]
    total = first.size
    same_class = int(np.sum(labels[first] == labels[second]))
    sentence = f"A draw has the class of the one before in {same_class / total:.1%} of all cases; chance gives 33.3%."
    expect.true(not unlikely(same_class, total, 1 / 3), sentence, fault="sampler-draws-depend-on-each-other")
    same_row = int(np.sum(first == second))
    sentence = f"A draw has the row of the one before in {same_row / total:.1%} of all cases; chance gives 11.1%."
    expect.true(not unlikely(same_row, total, 1 / 9), sentence, fault="sampler-draws-depend-on-each-other")
    # Pass after pass: ends and beginnings, and whole passes beside each other.
    alike = int(np.sum(found[::2] == found[1::2]))
    sentence = f"Two passes have the same row in the same place in {alike / found[::2].size:.1%} of all cases."
    fault = "sampler-repeats-itself" if 9 * alike > found[::2].size else "sampler-draws-depend-on-each-other"
    expect.true(not unlikely(alike, found[::2].size, 1 / 9), sentence, fault=fault)
    spread = np.apply_along_axis(np.bincount, 1, found, minlength=9)
    classes = np.stack([np.sum(labels[found] == c, axis=1) for c in sizes], axis=1)
    # All rows equally often: a wonder. All classes, 13 or 14 times each: 6 % of the passes, and half of them never.
    for what, times in (("rows", spread), ("classes", classes)):
        equal = int(np.sum(times.max(axis=1) - times.min(axis=1) <= 1))
        sentence = f"In {equal} of 120 passes all {what} came equally often; independent draws hardly ever do that."
        expect.true(equal < 60, sentence, fault="sampler-draws-depend-on-each-other")


@pytest.mark.cell("test_balanced_sampler", weight=1.5)
@pytest.mark.parametrize("num_samples", [7, 1, 60])
def test_number_of_samples(student, draw, expect, num_samples):
    """Each pass gives num_samples row numbers, whether there are more rows or fewer."""
    labels = rows_of_classes(draw, SIZES)
    data = {"labels": labels, "num_samples": num_samples, "seeds": [int(draw.integers(0, 99, ()))], "passes": 2}
    require_draws(expect, labels, student.run(draws_of_a_sampler, **data), (1, 2, num_samples))


@pytest.mark.cell("test_balanced_sampler", weight=0.5)
@pytest.mark.parametrize("workers", WORKERS)
def test_sampler_in_a_loader(student, draw, expect, workers):
    """In a loader with 0, 1 and 3 workers it decides which rows come, and how many."""
    labels = rows_of_classes(draw, SIZES)
    data = {"labels": labels, "num_samples": 20, "seed": int(draw.integers(0, 99, ())), "workers": workers}
    epochs = student.run(rows_of_a_balanced_loader, **data, batch_size=8)
    for batches in epochs:
        expect.form(batches, [np.zeros(n, np.int64) for n in (8, 8, 4)], "the batches")
    asked = {"labels": labels, "num_samples": 20, "seeds": [data["seed"]], "passes": 1}
    direct = require_draws(expect, labels, student.run(draws_of_a_sampler, **asked), (1, 1, 20))[0]
    same = np.array_equal(np.concatenate(epochs[0]), direct[0])
    sentence = "A loader gets other rows than a loop over a sampler with the same seed."
    expect.true(same, sentence)


@pytest.mark.cell("test_balanced_sampler", weight=4)
def test_seed_of_the_sampler(student, reference, draw, expect):
    """The seed alone decides all passes, and the global generators stay as they are."""
    data = {"labels": rows_of_classes(draw, {4: 20, 9: 20}), "num_samples": 30}
    require_seeded(student, reference, draw, expect, samples_under_noise, data, "sampler")


@pytest.mark.cell("test_balanced_sampler", weight=0.5)
def test_kind_of_sampler(student, draw, expect):
    """It is a Sampler, its len is num_samples, and it gives Python ints."""
    got = student.run(facts_of_a_sampler, labels=rows_of_classes(draw, SIZES), num_samples=9, seed=1)
    expect.true(got["length"] == 9, f"len(sampler) is {got['length']}; it should be 9.", fault="sampler-length")
    sentence = f"It gives values of type {', '.join(got['types'])}; they should be Python ints."
    expect.true(got["types"] == ["int"], sentence, kind="type", fault="sampler-gives-no-ints")
    expect.true(
        got["sampler"], "BalancedSampler is no subclass of Sampler.", kind="type", fault="sampler-is-no-sampler"
    )


def rows_of_classes(draw, sizes):
    labels = np.repeat(list(sizes), list(sizes.values()))
    return labels[draw.permutation(len(labels))].astype(np.int64)


def require_draws(expect, labels, found, shape):
    found = np.asarray(found)
    width = found.shape[2] if found.ndim == 3 else 0
    sentence = f"A pass gives {width} row numbers; num_samples is {shape[2]}."
    fault = "sampler-wrong-number" if width != shape[2] else ""
    expect.true(found.shape == shape and np.all(found != -1), sentence, kind="length", fault=fault)
    sentence = f"A row number lies outside 0 to {len(labels) - 1}."
    expect.true(np.all((found >= 0) & (found < len(labels))), sentence)
    return found


def normed(shares):
    return {c: share / sum(shares.values()) for c, share in shares.items()}


# --- 6. NumberStream ------------------------------------------------------------------------------------------------

LENGTHS = (2, 0, 3, 1, 4)
NAMES = ["d", "a", "e", "c", "b"]  # the list decides which file is the first, not the alphabet


@pytest.mark.cell("test_number_stream", weight=3)
@pytest.mark.parametrize(("lengths", "workers"), [(LENGTHS, 0), (LENGTHS, 1), (LENGTHS, 3), ((3, 2), 3)], ids=str)
def test_numbers_of_a_stream(student, reference, draw, expect, workers, lengths):
    """With 0, 1 and 3 workers each number comes once, from the worker that its file belongs to, in each pass."""
    files = [draw.normal((n,)) for n in lengths]
    data = {"files": files, "workers": workers, "batch_size": 2, "passes": 1 if workers else 2}
    data["names"] = NAMES[: len(files)]
    got, wanted = student.run(numbers_of_a_stream, **data), reference.run(numbers_of_a_stream, **data)
    # Asked first: the pass that was not read to the end has taken numbers from the first one, too.
    sentence = "In the second pass come no numbers, though some came in the first."
    used_up = len(got) == 2 and len(got[0]) > 0 and not len(got[1])
    expect.true(not used_up, sentence, kind="length", fault="stream-used-up")
    for name, batches, right in zip(("the first pass", "the second pass"), got, wanted, strict=False):
        theirs, ours = (np.sort(np.concatenate([np.zeros(0), *map(np.ravel, b)])) for b in (batches, right))
        sentence = f"In {name} come {len(theirs)} numbers; the files have {len(ours)}."
        twice = len(theirs) == workers * len(ours) and np.allclose(theirs, np.sort(np.tile(ours, workers)))
        fault = "stream-doubled" if workers > 1 and twice else ""
        expect.true(len(theirs) == len(ours), sentence, kind="length", fault=fault)
        expect.close(batches, right, f"the batches of {name}", rtol=1e-12, atol=0.0)


@pytest.mark.cell("test_number_stream", weight=1.5)
def test_files_are_opened_late(student, reference, draw, expect):
    """A file is opened when the numbers before it have been given out: what is in it then is what comes."""
    files, later = ([draw.normal((n,)) for n in (2, 3, 2)] for _ in range(2))
    for taken in (1, 2):
        data = {"files": files, "later": [files[0], *later[1:]], "taken": taken}
        got, wanted = student.run(numbers_of_changing_files, **data), reference.run(numbers_of_changing_files, **data)
        early = np.array_equal(np.asarray(got), np.concatenate(files))
        sentence = "A file that was written anew, before its first number was asked for, gave its old numbers."
        expect.true(not early, sentence, fault="stream-opens-early")
        expect.close(got, wanted, "the numbers")


@pytest.mark.cell("test_number_stream")
def test_kind_of_numbers(student, reference, draw, expect):
    """The numbers are Python floats."""
    got = student.run(types_in_a_stream, files=[draw.normal((2,)), draw.normal((1,))])
    sentence = f"The stream yields values of type {', '.join(got)}; they should be Python floats."
    expect.true(got == ["float"], sentence, kind="type", fault="stream-gives-no-floats")


# --- 7. make_loader -------------------------------------------------------------------------------------------------

LENGTH, BATCH, EPOCHS = 22, 4, 2


@pytest.mark.cell("test_make_loader", weight=4)
@pytest.mark.parametrize("workers", [0, 3, 1])  # one worker alone cannot show what workers have in common
def test_order_and_random_numbers(student, draw, expect, workers):
    """Each epoch gives every item once, in another order, and no random number comes twice, with 0, 1 and 3 workers."""
    data = {"length": LENGTH, "start": int(draw.integers(0, 10**6, ())), "batch_size": BATCH, "workers": workers}
    epochs = student.run(drawn_by_a_loader, **data, seed=int(draw.integers(0, 10**6, ())), epochs=EPOCHS)
    require_epochs(expect, epochs)
    orders = [order_of(batches) for batches in epochs]
    ascending = all(np.array_equal(order, np.arange(LENGTH)) for order in orders)
    expect.true(not ascending, "The items come in their own order.", kind="order", fault="loader-does-not-shuffle")
    same = any(np.array_equal(a, b) for a, b in itertools.combinations(orders, 2))
    expect.true(not same, "Two epochs have the same order.", kind="order", fault="loader-same-order")
    # In a random order one item in 22 is followed by the next one; 14 of 21 are never.
    blocks = all(np.all(np.diff(batch[:, 0]) == 1) for batches in epochs for batch in batches)
    sentence = "The items of each batch are neighbors in the data set."
    expect.true(not blocks, sentence, kind="order", fault="loader-shuffles-batches")
    neighbors = max(int(np.sum(np.diff(order) == 1)) for order in orders)
    sentence = f"In the order of an epoch {neighbors} of {LENGTH} items stand before the one that follows them."
    expect.true(neighbors < 14, sentence, kind="order")
    drawn_numbers = [[batch[:, 1] for batch in batches] for batches in epochs]
    # Batch k is made by worker k % workers, so the first batches of an epoch come from different workers.
    workers_alike = workers > 1 and any(alike(one[0], one[1]) for one in drawn_numbers)
    epochs_alike = any(alike(a[0], b[0]) for a, b in itertools.combinations(drawn_numbers, 2))
    whole = np.concatenate([np.concatenate(one) for one in drawn_numbers])
    fault = {
        (True, True): "loader-copied-generator",
        (True, False): "loader-workers-alike",
        (False, True): "loader-epochs-alike",
    }.get((bool(workers_alike), bool(epochs_alike)), "loader-seeds-overlap" if across(drawn_numbers, workers) else "")
    sentence = f"Of {len(whole)} random numbers only {len(np.unique(whole))} are different."
    expect.true(len(np.unique(whole)) == len(whole), sentence, kind="draws", fault=fault)


@pytest.mark.cell("test_make_loader", weight=4)
@pytest.mark.parametrize("workers", WORKERS)
def test_seed_of_the_loader(student, reference, draw, expect, workers):
    """The seed alone decides order and random numbers, in each epoch, whatever the global generators hold."""
    data = {"length": LENGTH, "batch_size": BATCH, "workers": workers, "epochs": 1 if workers == 3 else 2}
    seed, another = (int(s) for s in draw.choice(10**8, 2)) if workers else SEEDS
    asked = {"seeds": [seed, seed, another], "noise": [int(n) for n in draw.integers(0, 10**6, 3)], **data}
    got = student.run(loaders_under_noise, **asked)
    once, again, other = got["results"]
    for epochs in (once, again, other):
        require_epochs(expect, epochs)
    require_untouched(expect, got["draws"], reference.run(loaders_under_noise, **asked)["draws"], "loader")
    same_order = all(np.array_equal(order_of(a), order_of(b)) for a, b in zip(once, again, strict=True))
    same_numbers = all(np.array_equal(numbers_of(a), numbers_of(b)) for a, b in zip(once, again, strict=True))
    sentence = "Two loaders with the same seed give the items in different orders."
    expect.true(same_order, sentence, kind="order", fault="loader-order-without-seed")
    sentence = "Two loaders with the same seed have the same order, but different random numbers."
    expect.true(same_numbers, sentence, kind="draws", fault="loader-numbers-without-seed")
    sentence = "Two loaders with different seeds give the items in the same order."
    expect.true(
        not np.array_equal(order_of(once[0]), order_of(other[0])), sentence, fault="loader-order-ignores-the-seed"
    )
    repeated = np.intersect1d(numbers_of(once[0]), numbers_of(other[0]))
    sentence = f"Two loaders with different seeds have {len(repeated)} random numbers in common."
    expect.true(not len(repeated), sentence, kind="draws", fault="loader-numbers-ignore-the-seed")


@pytest.mark.cell("test_make_loader", weight=3)
@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("options", [{"prefetch": 3}, {}], ids=["three", "default"])
def test_prefetch(student, reference, expect, workers, options):
    """The loader has so many workers, and each of them prepares `prefetch` batches ahead."""
    data = {"length": 6, "workers": workers, "options": options}
    got, wanted = student.run(prefetching, **data), reference.run(prefetching, **data)
    expect.true(got["loader"], "make_loader should return a DataLoader.", kind="type")
    sentence = f"The loader has {got['workers']} workers; num_workers is {workers}."
    expect.true(got["workers"] == workers, sentence, fault="loader-workers-ignored")
    right = wanted["ahead"] if workers else got["ahead"]
    sentence = f"Each worker prepares {got['ahead']} batches ahead; prefetch is {right}."
    expect.true(got["ahead"] == right, sentence, fault="loader-prefetch-ignored")


def require_epochs(expect, epochs):
    for batches in epochs:
        sizes = [len(batch) for batch in batches]
        wanted = [BATCH] * (LENGTH // BATCH) + [LENGTH % BATCH]
        fault = "loader-drops-the-last-batch" if sizes == wanted[:-1] else ""
        expect.true(sizes == wanted, f"The batches have {sizes} items; it should be {wanted}.", fault=fault)
        expect.form(batches, [np.zeros((n, 2)) for n in wanted], "the batches")
        items = np.sort(order_of(batches))
        sentence = "An epoch does not give every item once."
        expect.true(np.array_equal(items, np.arange(LENGTH)), sentence, fault="loader-items-not-once")


def order_of(batches):
    return np.concatenate([np.asarray(batch)[:, 0] for batch in batches])


def numbers_of(batches):
    return np.concatenate([np.asarray(batch)[:, 1] for batch in batches])


def alike(some, others):
    return bool(np.intersect1d(some, others).size)


def across(epochs, workers):
    """Whether each number that comes again comes from another worker in another epoch."""
    came = {}
    for epoch, batches in enumerate(epochs):
        for k, batch in enumerate(batches):
            for number in np.asarray(batch).tolist():
                came.setdefault(number, []).append((epoch, k % max(workers, 1)))
    return all(len(set(of)) == len(places) for places in came.values() for of in zip(*places, strict=True))


# --- 8. BalancedReservoir -------------------------------------------------------------------------------------------

RUNS = 600
STREAMS = {
    "one class": (3, "aaaaaa"),
    "a new class": (4, "aaaab"),
    "two of a new class": (4, "aaabb"),
    "a tie": (4, "aabbc"),
    "once full": (5, "aaaaabbba"),
    "two full classes": (4, "aabba"),
    "the other of two": (4, "aabbb"),
    "full later": (4, "aaabbb"),
    "a single place": (1, "aab"),
}
"""size and labels of short streams: each shows one rule"""


@pytest.mark.cell("test_balanced_reservoir", weight=2)
@pytest.mark.parametrize("stream", ["abac", "a", "abcabc"])
def test_while_there_is_room(student, draw, expect, stream):
    """While there is room everything is kept and nothing is lost."""
    size = len(stream) + (stream == "a")
    found = runs_of(student, draw, size, stream, 3)
    lost = found["lost"]
    expect.true(np.all(lost == -1), "offer returned a pair though there was room.", fault="reservoir-loses-early")
    require_memory(expect, size, stream, found)


@pytest.mark.cell("test_balanced_reservoir", weight=8)
def test_rules_of_the_reservoir(student, draw, expect):
    """In hundreds of runs of short streams every item is lost as often as the rules say, and at the right offers."""
    counts = {}
    for name, (size, stream) in STREAMS.items():
        found = runs_of(student, draw, size, stream, RUNS)
        require_memory(expect, size, stream, found)
        lost = found["lost"]
        counts[name] = [np.bincount(column[column >= 0], minlength=len(stream)) for column in lost.T]
    fault = only_law({rule: rule for rule in RULES}, lambda rule: first_unlikely(counts, rule) is None)
    odd = first_unlikely(counts, "")
    if odd is not None:
        name, offer, item, chance = odd
        size, stream = STREAMS[name]
        times = int(counts[name][offer][item])
        sentence = f"Memory of {size}, stream {' '.join(stream)}: with offer {offer + 1}, item {item + 1} was lost in "
        sentence += f"{times} of {RUNS} runs; about {chance * RUNS:.0f} are expected."
        expect.true(False, sentence, fault=fault or "")


@pytest.mark.cell("test_balanced_reservoir", weight=0.5)
def test_class_that_is_gone(student, draw, expect):
    """An item of a full class of which no item is in memory any more is not kept: m / n is 0."""
    found = runs_of(student, draw, 2, "abca", 60)
    require_memory(expect, 2, "abca", found)
    lost = np.asarray(found["lost"])
    gone = lost[:, 2] == 0
    kept = int(np.sum(lost[gone, 3] != 3))
    sentence = f"Memory of 2, stream a b c a: in {int(gone.sum())} of 60 runs c replaced the first a, and {kept} times "
    expect.true(not kept, sentence + "the second a was kept then.", fault="reservoir-keeps-a-class-that-is-gone")


@pytest.mark.cell("test_balanced_reservoir", weight=2)
def test_longer_streams(student, draw, expect):
    """At the end of a longer stream the classes are balanced, and each item of a class was kept equally often."""
    size, stream = 6, "aaaaaaaabbbbbbbbcc"
    found = runs_of(student, draw, size, stream, 400)
    require_memory(expect, size, stream, found)
    kept = found["kept"][:, :size]
    times = np.bincount(kept.ravel(), minlength=len(stream))
    for place, label in enumerate(stream):
        chance = {"a": 2 / 8, "b": 2 / 8, "c": 1.0}[label]
        sentence = f"Item {place + 1} of the stream {' '.join(stream)} was kept in {times[place]} of 400 runs; "
        sentence += f"about {chance * 400:.0f} are expected."
        expect.true(not unlikely(int(times[place]), 400, chance), sentence)


@pytest.mark.cell("test_balanced_reservoir", weight=4.5)
def test_seed_of_the_reservoir(student, reference, draw, expect):
    """The seed alone decides what is kept, and the global generators stay as they are."""
    data = {"size": 30, "labels": "ab" * 60}
    require_seeded(student, reference, draw, expect, reservoirs_under_noise, data, "reservoir")


def runs_of(student, draw, size, stream, runs):
    return student.run(reservoir_runs, size=size, labels=stream, seeds=draw.integers(0, 10**9, runs))


def require_memory(expect, size, stream, found):
    """What offer returned and what is in memory at the end fit together: nothing is kept twice or made up."""
    lost, kept = np.asarray(found["lost"]), np.asarray(found["kept"])
    expect.form(lost, np.zeros((len(lost), len(stream)), np.int64), "what was lost")
    expect.true(np.all((lost >= -1) & (lost < len(stream))), "offer returned a pair that was never offered.")
    many = np.sum(kept >= 0, axis=1)
    sentence = f"Memory of {size}, {len(stream)} items offered: {many.min()} to {many.max()} items are in memory."
    expect.true(np.all(many == min(size, len(stream))), sentence, kind="length", fault="reservoir-wrong-size")
    for of_run, in_memory in zip(lost, kept, strict=True):
        gone = of_run[of_run >= 0]
        left = sorted(set(range(len(stream))) - set(gone.tolist()))
        fits = len(set(gone.tolist())) == len(gone) and left == [k for k in in_memory.tolist() if k >= 0]
        sentence = "What offer said was lost and what items() returns do not fit together."
        expect.true(fits, sentence, fault="reservoir-returns-the-wrong-pair")


RULES = (
    "",
    "reservoir-counts-too-late",
    "reservoir-never-replaces",
    "reservoir-always-replaces",
    "reservoir-not-balanced",
    "reservoir-forgets-what-was-full",
    "reservoir-full-decided-once",
    "reservoir-one-of-a-tie",
    "reservoir-one-of-a-tie/last",
    "reservoir-one-of-a-tie/place",
    "reservoir-replaces-any",
    "reservoir-chance-of-all-items",
    "reservoir-largest-of-a-tie",
    "reservoir-largest-of-a-tie/last",
    "reservoir-replaces-oldest",
    "reservoir-replaces-newest",
    "reservoir-replaces-first/place",
    "reservoir-full-class-replaces-largest",
)
"""the rules of the text, and what students make of them; behind a slash how, where one mistake has two forms"""


def laws_of(name):
    return {rule: law(*STREAMS[name], rule) for rule in RULES}


def law(size, stream, rule):
    """For each offer the probability with which each item is lost, worked out over all courses of chance."""
    chances = np.zeros((len(stream), len(stream)))
    states = {((), frozenset()): 1.0}
    for k, label in enumerate(stream):
        following = {}
        for (kept, full), p in states.items():
            for lost, q in losses(size, stream, kept, full, k, label, rule):
                if lost is not None:
                    chances[k, lost] += p * q
                memory = (*kept, k) if lost is None else tuple(k if i == lost else i for i in kept)
                if not rule.endswith("/place"):  # where a list grows at its end, the oldest item stands first
                    memory = tuple(sorted(memory))
                state = (memory, now_full(size, stream, memory, full, rule))
                following[state] = following.get(state, 0.0) + p * q
        states = following
    return chances


def losses(size, stream, kept, full, k, label, rule):
    """What an offer may lose, with probabilities: pairs (item or None, probability)."""
    if len(kept) < size:
        return [(None, 1.0)]
    labels = [stream[i] for i in kept]
    n, m = stream[: k + 1].count(label), labels.count(label)
    most = largest(labels)
    balanced = rule != "reservoir-not-balanced"
    if balanced and label not in full:
        if rule.startswith("reservoir-largest-of-a-tie"):
            most = one_of(most, rule)
        victims = list(kept) if rule == "reservoir-replaces-any" else [i for i in kept if stream[i] in most]
        return replaced(victims, 1.0, k, rule)
    own = [i for i in kept if stream[i] == label] if balanced else list(kept)
    chance = m / n
    if rule == "reservoir-full-class-replaces-largest":
        own = [i for i in kept if stream[i] in most]
    if rule == "reservoir-counts-too-late":
        chance = min(1.0, m / (n - 1))
    if rule == "reservoir-never-replaces":
        chance = 0.0
    if rule == "reservoir-always-replaces":
        chance = 1.0
    if rule in ("reservoir-not-balanced", "reservoir-chance-of-all-items"):
        chance = size / (k + 1)
    return replaced(own, chance, k, rule)


def replaced(victims, chance, k, rule):
    if rule in ("reservoir-replaces-oldest", "reservoir-replaces-first/place"):
        victims = victims[:1]
    if rule == "reservoir-replaces-newest":
        victims = victims[-1:]
    return [(i, chance / len(victims)) for i in victims if chance] + [(k, 1 - chance)] * (chance < 1)


def now_full(size, stream, memory, full, rule):
    if len(memory) < size or (rule == "reservoir-full-decided-once" and full):
        return full
    most = largest([stream[i] for i in memory])
    if rule.startswith("reservoir-one-of-a-tie"):
        most = one_of(most, rule)
    return frozenset(most) if rule == "reservoir-forgets-what-was-full" else full | frozenset(most)


def one_of(most, rule):
    return most[-1:] if rule.endswith("/last") else most[:1]


def largest(labels):
    """The labels that occur most often, in the order of their first place."""
    return [label for label in dict.fromkeys(labels) if labels.count(label) == max(map(labels.count, labels))]


def first_unlikely(counts, rule):
    """Stream, offer, item and its chance to be lost there, where a count does not fit the rule; or None."""
    for name in counts:
        chances = LAWS[name][rule]
        for offer, item in itertools.product(range(len(chances)), repeat=2):
            if item <= offer >= STREAMS[name][0] and unlikely(
                int(counts[name][offer][item]), RUNS, chances[offer, item]
            ):
                return name, offer, item, chances[offer, item]
    return None


# --- shared ---------------------------------------------------------------------------------------------------------


def unlikely(count, n, p):
    """Whether a count of `n` independent draws, each a hit with probability `p`, is one of the rarest ALPHA of all.

    Chernoff: the share q or one further from p, on its side, has a probability of at most exp(-n KL(q, p)).
    """
    if p < 1e-12 or p > 1 - 1e-12:
        return count != round(n * p)
    q = count / n
    distance = sum(a * math.log(a / b) for a, b in ((q, p), (1 - q, 1 - p)) if a > 0)
    return n * distance > math.log(2 / ALPHA)


LAWS = {name: laws_of(name) for name in STREAMS}


def only_law(laws, fits):
    """The name of the only law that fits what was counted; None if none does or several do."""
    found = {name.partition("/")[0] for name, law in laws.items() if fits(law)}
    return found.pop() if len(found) == 1 else None


SEEDS = (0, 2**32 - 1)
"""the smallest and the largest"""


def require_seeded(student, reference, draw, expect, probe, data, what):
    """Results follow the seed alone, whatever the global generators hold, and leave those as they are."""
    for seed, another in ((int(s) for s in draw.choice(10**8, 2)), SEEDS):
        require_two_seeds(student, reference, draw, expect, probe, data, what, seed, another)


def require_two_seeds(student, reference, draw, expect, probe, data, what, seed, another):
    asked = {"seeds": [seed, seed, another], "noise": [int(n) for n in draw.integers(0, 10**6, 3)], **data}
    got = student.run(probe, **asked)
    require_untouched(expect, got["draws"], reference.run(probe, **asked)["draws"], what)
    once, again, other = (flat(result) for result in got["results"])
    sentence = "The same seed gave two different results."
    expect.true(np.array_equal(once, again), sentence, fault=f"{what}-not-by-the-seed-alone")
    sentence = "Another seed gives the same result."
    expect.true(not np.array_equal(once, other), sentence, fault=f"{what}-ignores-the-seed")


def require_untouched(expect, got, wanted, what):
    for k, name in enumerate(("torch", "NumPy", "random")):
        same = all(np.array_equal(theirs[k], ours[k]) for theirs, ours in zip(got, wanted, strict=True))
        sentence = f"After your code has run, the global generator of {name} gives other numbers than without it."
        expect.true(same, sentence, fault=f"{what}-touches-global-generators")


def flat(result):
    if isinstance(result, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(flat, result)])
    return np.ravel(np.asarray(getattr(result, "array", result), dtype=float))


def require_tensors(expect, values, dtype):
    for name, value in values.items():
        tensor = getattr(value, "framework", "") == "torch"
        expect.true(tensor, f"{name} should be a PyTorch tensor; it is a {type(value).__name__}.", kind="type")
        wrong = dtype is not None and value.dtype != dtype
        expect.true(not wrong, f"{name} has dtype {value.dtype}; it should be {dtype}.", kind="dtype")


def numbers(values):
    return ", ".join(f"{value:g}" for value in values)
