"""One permutation for all epochs."""

EXPECTED = {"test_make_loaders": "partial:same-order-each-epoch"}
KIND = "fault"
CELLS = {
    "make_loaders": """
def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    def dataset(x, y):
        return TensorDataset(torch.tensor(x), torch.tensor(y))

    g = torch.Generator()
    g.manual_seed(seed)
    order = torch.randperm(len(x_train), generator=g).tolist()
    train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, sampler=order)
    val = DataLoader(dataset(x_val, y_val), batch_size=batch_size)
    return train, val
""",
}
