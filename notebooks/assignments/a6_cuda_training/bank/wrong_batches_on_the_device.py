"""The whole data set is put on the device."""

EXPECTED = {"test_make_loaders": "partial:batches-on-the-device"}
KIND = "fault"
CELLS = {
    "make_loaders": """
def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    def dataset(x, y):
        return TensorDataset(torch.tensor(x).to(device), torch.tensor(y).to(device))

    g = torch.Generator()
    g.manual_seed(seed)
    train = DataLoader(dataset(x_train, y_train), batch_size=batch_size, shuffle=True, generator=g)
    val = DataLoader(dataset(x_val, y_val), batch_size=batch_size)
    return train, val
""",
}
