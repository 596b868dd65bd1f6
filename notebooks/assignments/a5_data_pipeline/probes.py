"""What the hidden checks of a5 ask: each function is sent as source and runs beside the student's code.

Files are written here from the judge's arrays, into a folder of the student's own, and read by the student's code with
0, 1 and 3 workers. Arrays come back. What is only watched has probes of its own. No right answers stand here.
"""

from __future__ import annotations

# --- 1. ImageFiles --------------------------------------------------------------------------------------------------


def items_of_a_folder(ns, images, workers, as_text=False, scale=None, later=None):
    """Image and label of every item, in order.

    scale: a transform adds 1, multiplies by it in float64 and cuts off a column. later: files that are written
    anew once the data set is made and, without workers, all items were asked for. refused: whether the data set could
    not be made.
    """
    import pathlib
    import tempfile

    import numpy as np

    from course_lib.checks import a5_data_pipeline as pipeline

    def transform(image):
        return image[:, :, 1:].add(1).double().mul(scale)

    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "images")
        pipeline.write_images(root, images)
        options = {} if scale is None else {"transform": transform}
        try:
            dataset = ns.ImageFiles(str(root) if as_text else root, **options)
        except (OSError, ValueError, SyntaxError):
            if later is None:
                raise
            return {"images": [], "labels": np.zeros(0), "refused": np.ones(1)}
        if later is not None:
            for i in reversed(range(len(dataset) if workers == 0 else 0)):
                dataset[i]
            pipeline.write_images(root, later)
        items = pipeline.batches_of(dataset, workers, batch_size=None)[0]
    labels = np.array([float(label) for _, label in items])
    return {"images": [image for image, _ in items], "labels": labels, "refused": np.zeros(1)}


def facts_of_a_folder(ns, images):
    """The attribute `classes`, the length, and the types of the labels."""
    import tempfile

    from course_lib.checks import a5_data_pipeline as pipeline

    with tempfile.TemporaryDirectory() as folder:
        pipeline.write_images(folder, images)
        dataset = ns.ImageFiles(folder)
        types = sorted({type(dataset[i][1]).__name__ for i in range(len(dataset))})
        return {"classes": list(dataset.classes), "label": " or ".join(types), "length": len(dataset)}


def damaged_items(ns, images, damaged, workers):
    """What happens when each of the `damaged` items is asked for; for all others the sum of the image."""
    import pathlib
    import tempfile

    import numpy as np

    from course_lib.checks import a5_data_pipeline as pipeline

    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        pipeline.write_images(root, images)
        dataset = ns.ImageFiles(root)
        found = {"length": len(dataset), "errors": [], "labels": []}
        for i, name in damaged:
            try:
                pipeline.batches_of(dataset, workers, batch_size=None, sampler=[i])
            except Exception as error:
                told = name in str(error) and str(root) in str(error)
                kind = "ValueError" if isinstance(error, ValueError) else type(error).__name__
                found["errors"].append([kind, told])
            else:
                found["errors"].append(["", False])
        others = [i for i, (_, pixels) in enumerate(images) if pixels.ndim > 1 and i < len(dataset)]
        items = pipeline.batches_of(dataset, workers, batch_size=None, sampler=others)[0]
        found["images"] = [image for image, _ in items]
        found["labels"] = np.array([float(label) for _, label in items])
    return found


# --- 2. channel_statistics, make_transforms -------------------------------------------------------------------------


def statistics_of_images(ns, images, indices):
    """What `channel_statistics` returns, and the items that it asked for."""
    import numpy as np

    from course_lib.checks import a5_data_pipeline as pipeline

    dataset = pipeline.Asked(images)
    mean, std = ns.channel_statistics(dataset, indices)
    return {"mean": mean, "std": std, "asked": np.array(sorted(set(dataset.asked)), dtype=float)}


def transformed_images(ns, images, mean, std, factors, offset, options):
    """Each image validated, trained on and validated again; and how often augment was called.

    factors: augment multiplies by one of them in each call; where it is 0, augment returns a part of the image itself.
    """
    import numpy as np
    import torch

    calls = []

    def augment(image):
        calls.append(len(calls))
        if factors[len(calls) - 1] == 0:
            return image[:, :, 1:]
        return image.flip(2)[:, :, : image.shape[2] - 1] * factors[len(calls) - 1] + offset

    train, validate = ns.make_transforms(torch.tensor(mean), torch.tensor(std), augment, **options)
    found = []
    for image in images:
        given = torch.tensor(image)
        results = [validate(given), train(given), validate(given)]
        found.append([*results, np.array(float(len(calls)))])
    return found


# --- 3. split_by_group ----------------------------------------------------------------------------------------------


def many_splits(ns, labels, groups, fraction, seeds):
    """For each seed which rows are for validation, as a row of zeros and ones."""
    import numpy as np

    found = np.zeros((len(seeds), len(labels)))
    for row, seed in zip(found, seeds, strict=True):
        _, validation = ns.split_by_group(labels.copy(), groups.copy(), fraction, int(seed))
        row[np.asarray(validation)] = 1
    return found


# --- 4. pad_collate -------------------------------------------------------------------------------------------------


def collated(ns, sequences, labels, options):
    """What `pad_collate` returns for one list of items."""
    import torch

    items = [(torch.tensor(sequence), int(label)) for sequence, label in zip(sequences, labels, strict=True)]
    return ns.pad_collate(items, **options)


def collated_in_a_loader(ns, sequences, labels, batch_size, workers):
    """The batches of a loader with `pad_collate`."""
    import torch

    from course_lib.checks import a5_data_pipeline as pipeline

    items = [(torch.tensor(sequence), int(label)) for sequence, label in zip(sequences, labels, strict=True)]
    return pipeline.batches_of(items, workers, batch_size=batch_size, collate_fn=ns.pad_collate)[0]


# --- 5. BalancedSampler ---------------------------------------------------------------------------------------------


def draws_of_a_sampler(ns, labels, num_samples, seeds, passes):
    """The row numbers of each pass, for each seed; shorter passes are filled up with -1."""
    import numpy as np

    found = []
    for seed in seeds:
        sampler = ns.BalancedSampler(labels.copy(), num_samples, int(seed))
        found.append([[int(i) for i in sampler] for _ in range(passes)])
    most = max(len(one) for of_seed in found for one in of_seed)
    return np.array([[one + [-1] * (most - len(one)) for one in of_seed] for of_seed in found], dtype=np.int64)


def facts_of_a_sampler(ns, labels, num_samples, seed):
    """Its length, the types that it yields, and whether it is a Sampler."""
    import torch

    sampler = ns.BalancedSampler(labels, num_samples, seed)
    found = {"length": len(sampler), "types": sorted({type(i).__name__ for i in sampler})}
    return found | {"sampler": isinstance(sampler, torch.utils.data.Sampler)}


def rows_of_a_balanced_loader(ns, labels, num_samples, seed, workers, batch_size):
    """The rows in the batches of a loader with this sampler, in one epoch."""
    from course_lib.checks import a5_data_pipeline as pipeline

    sampler = ns.BalancedSampler(labels, num_samples, seed)
    epochs = pipeline.batches_of(range(len(labels)), workers, batch_size=batch_size, sampler=sampler)
    return [[batch.numpy() for batch in batches] for batches in epochs]


# --- 6. NumberStream ------------------------------------------------------------------------------------------------


def numbers_of_a_stream(ns, files, names, workers, batch_size, passes):
    """The batches of each pass of a loader over the stream. names: of the files, in the order of `paths`.

    Every second file ends without a line break. Without workers, a pass that is not read to the end comes first.
    """
    import pathlib
    import tempfile

    from course_lib.checks import a5_data_pipeline as pipeline

    with tempfile.TemporaryDirectory() as folder:
        paths = pipeline.write_numbers(folder, files, names)
        for path in map(pathlib.Path, paths[::2]):
            path.write_text(path.read_text().rstrip("\n"))
        stream = ns.NumberStream(paths)
        if not workers:
            next(iter(stream))
        found = pipeline.batches_of(stream, workers, passes, batch_size=batch_size)
    return [[batch.numpy() for batch in batches] for batches in found]


def numbers_of_changing_files(ns, files, later, taken):
    """The numbers of one pass without workers; after `taken` numbers other files take the place of these."""
    import os
    import tempfile

    import numpy as np

    from course_lib.checks import a5_data_pipeline as pipeline

    with tempfile.TemporaryDirectory() as folder:
        paths = pipeline.write_numbers(folder, files)
        numbers = iter(ns.NumberStream(paths))
        found = [float(next(numbers)) for _ in range(taken)]
        # A file that is open already stays what it was.
        for path in paths:
            os.remove(path)
        pipeline.write_numbers(folder, later)
        found += [float(number) for number in numbers]
    return np.array(found)


def types_in_a_stream(ns, files):
    """The types that it yields; one more file holds a number without a point."""
    import pathlib
    import tempfile

    from course_lib.checks import a5_data_pipeline as pipeline

    with tempfile.TemporaryDirectory() as folder:
        paths = pipeline.write_numbers(folder, files)
        whole = pathlib.Path(folder, "whole.txt")
        whole.write_text("3\n")
        return sorted({type(number).__name__ for number in ns.NumberStream([*paths, str(whole)])})


# --- 7. make_loader -------------------------------------------------------------------------------------------------


def drawn_by_a_loader(ns, length, start, batch_size, workers, seed, epochs):
    """The batches of each epoch: pairs of an item's number and the random number that it drew.

    They are drawn as `integers`, which a NumPy Generator has, and a RandomState has not.
    """
    import torch

    from course_lib.checks import a5_data_pipeline as pipeline

    class Drawing(pipeline.Drawing):
        def __getitem__(self, i):
            if not 0 <= i < self.length:
                raise IndexError(i)
            return torch.tensor([i, self.rng.integers(2**53) / 2**53], dtype=torch.float64)

    loader = ns.make_loader(Drawing(length, start), batch_size, workers, seed)
    return [[batch.numpy() for batch in one] for one in pipeline.epochs_of(loader, epochs)]


def prefetching(ns, length, workers, options):
    """What the loader says of its workers."""
    import torch

    from course_lib.checks import a5_data_pipeline as pipeline

    loader = ns.make_loader(pipeline.Drawing(length), 2, workers, 0, **options)
    found = {"loader": isinstance(loader, torch.utils.data.DataLoader)}
    return found | {"workers": getattr(loader, "num_workers", -1), "ahead": getattr(loader, "prefetch_factor", -1)}


# --- 8. BalancedReservoir -------------------------------------------------------------------------------------------


def reservoir_runs(ns, size, labels, seeds):
    """For each seed the item that each offer loses, -1 for none; and the items in memory at the end, sorted.

    An item is an array that holds its place in the stream; labels are a text, a tuple and a number. After each offer
    `items()` is called, too.
    """
    import numpy as np

    kinds = {"a": ("a", 1), "b": "b", "c": 0}

    def place(pair):
        item, label = pair
        return int(item[0]) if label == kinds[labels[int(item[0])]] else -9

    stream = [(np.array([k, k]), kinds[label]) for k, label in enumerate(labels)]
    lost = np.full((len(seeds), len(labels)), -1)
    kept = np.full((len(seeds), size + 1), -1)
    for run, seed in enumerate(seeds):
        reservoir = ns.BalancedReservoir(size, int(seed))
        for k, (item, label) in enumerate(stream):
            gone = reservoir.offer(item, label)
            if gone is not None:
                lost[run, k] = place(gone)
            reservoir.items()
        items = sorted(place(pair) for pair in reservoir.items())[: size + 1]
        kept[run, : len(items)] = items
    return {"lost": lost, "kept": kept}


# --- seeds, in exercises 3, 5, 7 and 8 --------------------------------------------------------------------------------


def splits_under_noise(ns, seeds, noise, labels, groups, fraction):
    """Two splits for each seed, and the next numbers of the global generators, which start from `noise`."""
    from course_lib.checks import a5_data_pipeline as pipeline

    def use(seed):
        return [ns.split_by_group(labels.copy(), groups.copy(), fraction, seed) for _ in range(2)]

    return pipeline.under_noise(use, seeds, noise)


def samples_under_noise(ns, seeds, noise, labels, num_samples):
    """Two passes of a sampler for each seed, another sampler between, and the next numbers of the global generators."""
    import numpy as np

    from course_lib.checks import a5_data_pipeline as pipeline

    def use(seed):
        sampler = ns.BalancedSampler(labels.copy(), num_samples, seed)
        first = np.array([float(i) for i in sampler])
        list(ns.BalancedSampler(labels.copy(), num_samples, int(np.random.randint(10**6))))
        return [first, np.array([float(i) for i in sampler])]

    return pipeline.under_noise(use, seeds, noise)


def loaders_under_noise(ns, seeds, noise, length, batch_size, workers, epochs):
    """The epochs of a loader for each seed, other loaders between, and the next numbers of the global generators."""
    import numpy as np

    from course_lib.checks import a5_data_pipeline as pipeline

    def use(seed):
        loader = ns.make_loader(pipeline.Drawing(length), batch_size, workers, seed)
        found = []
        for _ in range(epochs):
            found.append([batch.numpy() for batch in pipeline.epochs_of(loader)[0]])
            ns.make_loader(pipeline.Drawing(length), batch_size, workers, int(np.random.randint(10**6)))
        return found

    return pipeline.under_noise(use, seeds, noise)


def reservoirs_under_noise(ns, seeds, noise, size, labels):
    """What a reservoir keeps of a stream, for each seed, another one beside it, and the next global numbers."""
    import numpy as np

    from course_lib.checks import a5_data_pipeline as pipeline

    def use(seed):
        reservoir = ns.BalancedReservoir(size, seed)
        for k, label in enumerate(labels):
            reservoir.offer(k, label)
            if k == size:
                ns.BalancedReservoir(size, int(np.random.randint(10**6))).offer(k, label)
        return np.array(sorted(float(item) for item, _ in reservoir.items()))

    return pipeline.under_noise(use, seeds, noise)
