"""RandomSampler and BatchSampler with a generator; never pinned."""

EXPECTED = {}
CELLS = {
    "make_loaders": """
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler


def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    g = torch.Generator()
    g.manual_seed(seed)
    train = TensorDataset(torch.tensor(x_train), torch.tensor(y_train))
    val = TensorDataset(torch.tensor(x_val), torch.tensor(y_val))
    batches = BatchSampler(RandomSampler(train, generator=g), batch_size, drop_last=False)
    return (
        DataLoader(train, batch_sampler=batches),
        DataLoader(val, batch_sampler=BatchSampler(SequentialSampler(val), batch_size, drop_last=False)),
    )
""",
}
