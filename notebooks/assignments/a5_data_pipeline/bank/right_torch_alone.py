"""Every random number and every table is a tensor."""

CELLS = {
    "image_files": """
class ImageFiles(Dataset):
    def __init__(self, root, transform=None):
        folders = [p for p in Path(root).iterdir() if p.is_dir()]
        folders.sort(key=lambda p: p.name)
        self.classes = [p.name for p in folders]
        self.examples = [(str(f), k) for k, p in enumerate(folders) for f in sorted(p.rglob("*.png"))]
        self.transform = transform or torch.nn.Identity()

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, i):
        name, k = self.examples[i]
        try:
            with open(name, "rb") as file:
                picture = Image.open(file).convert(mode="RGB")
        except BaseException as cause:
            raise ValueError(f"cannot decode {name!s}") from cause
        flat = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8)
        image = flat.view(picture.height, picture.width, 3).movedim(-1, 0)
        return self.transform(image.to(torch.float32).div(255)), k
""",
    "transforms": """
def channel_statistics(dataset, indices):
    n, mean, m2 = 0, 0.0, 0.0
    for i in indices:
        x = dataset[i][0].flatten(1).to(torch.float64)
        k = x.size(1)
        delta = x.mean(1) - mean
        m2 = m2 + x.var(1, unbiased=False) * k + delta**2 * n * k / (n + k)
        mean = mean + delta * k / (n + k)
        n = n + k
    return mean.to(torch.float32), torch.sqrt(m2 / n).to(torch.float32)


class Normalize(torch.nn.Module):
    def __init__(self, mean, std, eps):
        super().__init__()
        self.register_buffer("mean", mean[:, None, None])
        self.register_buffer("scale", std[:, None, None] + eps)

    def forward(self, image):
        return (image - self.mean) / self.scale


def make_transforms(mean, std, augment, eps=1e-6):
    normalize = Normalize(mean, std, eps)

    def train(image):
        augmented = augment(image)
        return normalize(augmented)

    return train, normalize
""",
    "split_by_group": """
def split_by_group(labels, groups, fraction, seed):
    g = torch.Generator()
    g.manual_seed(seed)
    y, names = torch.tensor(labels), torch.tensor(groups)
    held_out = torch.zeros(len(y), dtype=torch.bool)
    for label in torch.unique(y):
        own = torch.unique(names[y == label])
        order = torch.randperm(len(own), generator=g)
        for k in order[: max(1, int(fraction * len(own)))]:
            held_out |= names == own[k]
    return torch.nonzero(~held_out).flatten().numpy(), torch.nonzero(held_out).flatten().numpy()
""",
    "pad_collate": """
def pad_collate(items, padding_value=0.0):
    sequences = [item[0] for item in items]
    lengths = torch.as_tensor([s.shape[0] for s in sequences], dtype=torch.int64)
    longest = lengths.max().item()
    padded = torch.stack(
        [torch.nn.functional.pad(s, (0, 0, 0, longest - len(s)), value=padding_value) for s in sequences]
    )
    mask = lengths.unsqueeze(1).gt(torch.arange(longest).unsqueeze(0))
    return [padded, mask, lengths, torch.as_tensor([item[1] for item in items], dtype=torch.int64)]
""",
    "balanced_sampler": """
class BalancedSampler(torch.utils.data.Sampler):
    def __init__(self, labels, num_samples, seed):
        labels = torch.as_tensor(labels)
        self.order = torch.argsort(labels, stable=True)
        _, self.counts = torch.unique(labels, return_counts=True)
        self.starts = torch.cumsum(self.counts, 0) - self.counts
        self.num_samples = num_samples
        self.g = torch.Generator().manual_seed(seed)

    def __len__(self):
        return self.num_samples

    def __iter__(self):
        c = torch.randint(len(self.counts), (self.num_samples,), generator=self.g)
        u = torch.rand(self.num_samples, generator=self.g, dtype=torch.float64)
        place = self.starts[c] + (u * self.counts[c]).long()
        return map(int, self.order[place])
""",
    "make_loader": """
class Order(torch.utils.data.Sampler):
    def __init__(self, n, g):
        self.n, self.g = n, g

    def __len__(self):
        return self.n

    def __iter__(self):
        yield from torch.randperm(self.n, generator=self.g).tolist()


def make_loader(dataset, batch_size, num_workers, seed, prefetch=2):
    g = torch.Generator().manual_seed(seed)
    dataset.rng = np.random.default_rng(torch.randint(2**62, (), generator=g).item())

    def init(_):
        numbers = torch.randint(2**62, (2,))  # in a worker, torch's own generator has a seed of worker and epoch
        torch.utils.data.get_worker_info().dataset.rng = np.random.default_rng(numbers.tolist())

    return DataLoader(
        dataset,
        batch_sampler=torch.utils.data.BatchSampler(Order(len(dataset), g), batch_size, False),
        num_workers=num_workers,
        worker_init_fn=init,
        generator=g,
        prefetch_factor=prefetch if num_workers else None,
    )
""",
    "balanced_reservoir": """
class BalancedReservoir:
    def __init__(self, size, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.slots = [None] * size
        self.filled = 0
        self.seen, self.full = Counter(), {}

    def below(self, n):
        return torch.randint(n, (), generator=self.g).item()

    def offer(self, item, label):
        self.seen[label] += 1
        pair = item, label
        if self.filled < len(self.slots):
            self.slots[self.filled] = pair
            self.filled += 1
            self.note()
            return None
        own = [k for k, (_, other) in enumerate(self.slots) if other == label]
        if label in self.full:
            # One number decides both: whether it is kept, and which one goes.
            k = self.below(self.seen[label])
            if k >= len(own):
                return pair
            k = own[k]
        else:
            many = Counter(other for _, other in self.slots)
            top = many.most_common(1)[0][1]
            places = [k for k, (_, other) in enumerate(self.slots) if many[other] == top]
            k = places[self.below(len(places))]
        gone, self.slots[k] = self.slots[k], pair
        self.note()
        return gone

    def note(self):
        if self.filled == len(self.slots):
            many = Counter(other for _, other in self.slots)
            self.full.update({c: True for c in many if many[c] == max(many.values())})

    def items(self):
        return [pair for pair in self.slots if pair is not None]
""",
}
