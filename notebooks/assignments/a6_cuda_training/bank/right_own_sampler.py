"""An own data set and an own sampler that draws from NumPy."""

EXPECTED = {}
CELLS = {
    "make_loaders": """
class Pairs(torch.utils.data.Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i].copy()) if self.x[i].ndim else torch.tensor(self.x[i]), int(self.y[i])


class Shuffled(torch.utils.data.Sampler):
    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)

    def __len__(self):
        return self.n

    def __iter__(self):
        return iter(self.rng.permutation(self.n).tolist())


def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    train = DataLoader(Pairs(x_train, y_train), batch_size=batch_size, sampler=Shuffled(len(x_train), seed))
    return train, DataLoader(Pairs(x_val, y_val), batch_size=batch_size)
""",
}
EXTRA = [
    (
        "how_it_works",
        """
import numpy as np
""",
    ),
]
