"""Wrong answers to `make_loaders`."""

from autograder.bank import Wrong

BASES = {
    "own_generator": """
def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    def dataset(x, y):
        return TensorDataset(torch.tensor(x), torch.tensor(y))

    g = torch.Generator()
    g.manual_seed(seed)
    train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True, generator=g)
    val = DataLoader(dataset(x_val, y_val), batch_size=batch_size)
    return train, val
""",
}

WRONG = [
    Wrong(
        "wrong_loaders_share_a_generator", "Both loaders draw from one generator, so a pass over one moves the other."
    )
    .breaks("however often it goes through `val_loader`")
    .expect(test_make_loaders="partial:loaders-share-a-generator")
    .edit("batch_size=batch_size)\n    return", "batch_size=batch_size, generator=g)\n    return"),
    Wrong("wrong_generator_on_the_device", "The generator is made for the device.")
    .breaks("both on the host")
    .expect(test_make_loaders="partial:generator-on-the-device")
    .edit("torch.Generator()", "torch.Generator(device=device)"),
    Wrong("wrong_loaders_by_one_helper", "Both datasets and the generator go through the same keyword arguments.")
    .breaks("however often it goes through `val_loader`")
    .expect(test_make_loaders="partial:loaders-share-a-generator")
    .whole("""
def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    common = {"batch_size": batch_size, "generator": torch.Generator().manual_seed(seed)}
    sets = [TensorDataset(*map(torch.from_numpy, pair)) for pair in ((x_train, y_train), (x_val, y_val))]
    return DataLoader(sets[0], shuffle=True, **common), DataLoader(sets[1], shuffle=False, **common)
"""),
    Wrong("wrong_batches_of_another_dtype", "Labels become float32.")
    .breaks("`x` is a float32 tensor and `y` an int64")
    .expect(test_make_loaders="partial:batches-of-another-dtype")
    .edit("torch.tensor(y)", "torch.Tensor(y)"),
    Wrong("wrong_batches_on_the_device", "The whole data set is put on the device.")
    .breaks("both on the host")
    .expect(test_make_loaders="partial:batches-on-the-device")
    .edit(
        "return TensorDataset(torch.tensor(x), torch.tensor(y))",
        "return TensorDataset(torch.tensor(x).to(device), torch.tensor(y).to(device))",
    ),
    Wrong("wrong_global_generator_seeded", "torch.manual_seed instead of a generator.")
    .breaks("The call leaves the random generators")
    .expect(test_make_loaders="partial:global-generator-seeded")
    .edit(
        """g = torch.Generator()
    g.manual_seed(seed)
    train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True, generator=g)""",
        """torch.manual_seed(seed)
    train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True)""",
    ),
    Wrong("wrong_labels_not_with_rows", "The labels are sorted.")
    .breaks("Row `i` of `x` stays with")
    .expect(test_make_loaders="partial:labels-not-with-rows")
    .edit("dataset(x_train, y_train)", "dataset(x_train, y_train[::-1].copy())"),
    Wrong("wrong_last_batch_dropped", "drop_last for training.")
    .breaks("Both loaders give all rows once")
    .expect(test_make_loaders="partial:last-batch-dropped")
    .edit("generator=g", "generator=g, drop_last=True"),
    Wrong("wrong_last_validation_batch_dropped", "drop_last for validation.")
    .expect(test_make_loaders="partial:last-batch-dropped")
    .edit(
        "val = DataLoader(dataset(x_val, y_val), batch_size=batch_size)",
        "val = DataLoader(dataset(x_val, y_val), batch_size=batch_size, drop_last=True)",
    ),
    Wrong("wrong_numpy_seeded", "np.random shuffles the arrays once more.")
    .expect(test_make_loaders="partial:global-generator-seeded")
    .edit(
        "g = torch.Generator()",
        """import numpy as np

    np.random.seed(seed)
    g = torch.Generator()""",
    ),
    Wrong("wrong_same_order_each_epoch", "One permutation for all epochs.")
    .breaks("in another order each epoch")
    .expect(test_make_loaders="partial:same-order-each-epoch")
    .edit(
        "train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True, generator=g)",
        """order = torch.randperm(len(x_train), generator=g).tolist()
    train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, sampler=order)""",
    ),
    Wrong("wrong_seed_does_not_decide", "The generator is made and not used.")
    .breaks("`seed` decides the orders", "Two calls with the same seed")
    .expect(test_make_loaders="partial:seed-does-not-decide")
    .edit(
        "train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True, generator=g)",
        "train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True)",
    ),
    Wrong("wrong_seed_ignored", "The seed is always 42.")
    .breaks("Another seed gives other orders")
    .expect(test_make_loaders="partial:seed-ignored")
    .edit("g.manual_seed(seed)", "g.manual_seed(42)"),
    Wrong("wrong_training_not_shuffled", "shuffle is left at its default.")
    .breaks("`train_loader` gives the rows in random order")
    .expect(test_make_loaders="partial:training-not-shuffled")
    .edit(
        "train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True, generator=g)",
        "train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, generator=g)",
    ),
    Wrong("wrong_validation_shuffled", "One helper makes both loaders.")
    .breaks("`val_loader` gives them in the order")
    .expect(test_make_loaders="partial:validation-shuffled")
    .edit(
        "val = DataLoader(dataset(x_val, y_val), batch_size=batch_size)",
        "val = DataLoader(dataset(x_val, y_val), batch_size=batch_size, shuffle=True, generator=g)",
    ),
    Wrong("wrong_loaders_swapped", "The validation loader comes first.")
    .breaks("It returns the tuple `(train_loader, val_loader)`")
    .expect(test_make_loaders="partial:loaders-swapped")
    .edit("return train, val", "return val, train"),
    Wrong("wrong_loader_is_a_list", "The validation batches are collected in a list.")
    .breaks("two `DataLoader`s that give batches")
    .expect(test_make_loaders="partial:loader-is-no-dataloader")
    .edit(
        "return train, val",
        """places = range(0, len(x_val), batch_size)
    x, y = ([torch.tensor(part[i : i + batch_size]) for i in places] for part in (x_val, y_val))
    return train, list(zip(x, y))""",
    ),
    Wrong("wrong_loader_with_workers", "Two worker processes.")
    .breaks("Use no worker processes")
    .expect(test_make_loaders="partial")
    .edit("val = DataLoader(dataset(x_val, y_val)", "val = DataLoader(dataset(x_val, y_val), num_workers=2"),
    Wrong("wrong_shuffled_once", "The arrays are shuffled once, before the loader is made.")
    .expect(test_make_loaders="partial:same-order-each-epoch")
    .edit(
        "train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True, generator=g)",
        """p = torch.randperm(len(x_train), generator=g).numpy()
    train = DataLoader(dataset(x_train[p], y_train[p]), batch_size=batch_size)""",
    ),
    Wrong("wrong_loaders_order_of_blocks", "Whole batches change places, and rows never leave theirs.")
    .breaks("gives the rows in random order")
    .expect(test_make_loaders="partial:training-order-in-runs")
    .whole("""
class Blocks(torch.utils.data.Sampler):
    def __init__(self, rows, size, seed):
        self.places = torch.arange(rows).split(size)
        self.g = torch.Generator().manual_seed(seed)

    def __len__(self):
        return sum(map(len, self.places))

    def __iter__(self):
        for k in torch.randperm(len(self.places), generator=self.g).tolist():
            yield from self.places[k].tolist()


def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    train = TensorDataset(torch.tensor(x_train), torch.tensor(y_train))
    val = TensorDataset(torch.tensor(x_val), torch.tensor(y_val))
    order = Blocks(len(train), batch_size, seed)
    first = DataLoader(train, batch_size=batch_size, sampler=order, generator=torch.Generator().manual_seed(seed))
    return first, DataLoader(val, batch_size=batch_size)
"""),
]
