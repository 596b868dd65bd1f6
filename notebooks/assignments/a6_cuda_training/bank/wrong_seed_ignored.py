"""The seed is always 42."""

EXPECTED = {"test_make_loaders": "partial:seed-ignored"}
KIND = "fault"
CELLS = {
    "make_loaders": """
def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    def dataset(x, y):
        return TensorDataset(torch.tensor(x), torch.tensor(y))

    g = torch.Generator()
    g.manual_seed(42)
    train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True, generator=g)
    val = DataLoader(dataset(x_val, y_val), batch_size=batch_size)
    return train, val
""",
}
