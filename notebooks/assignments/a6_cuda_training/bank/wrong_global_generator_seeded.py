"""torch.manual_seed instead of a generator."""

EXPECTED = {"test_make_loaders": "partial:global-generator-seeded"}
KIND = "fault"
CELLS = {
    "make_loaders": """
def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    def dataset(x, y):
        return TensorDataset(torch.tensor(x), torch.tensor(y))

    torch.manual_seed(seed)
    train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True)
    val = DataLoader(dataset(x_val, y_val), batch_size=batch_size)
    return train, val
""",
}
