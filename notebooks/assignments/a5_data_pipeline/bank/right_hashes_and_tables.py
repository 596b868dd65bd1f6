"""A split by hashes, statistics by counting bytes, a sampler by its distribution function, workers that stay alive."""

CELLS = {
    "image_files": """
class ImageFiles(Dataset):
    def __init__(self, root, transform=None):
        self.root, self.transform = Path(root), transform
        self.table = {p.name: sorted(f.name for f in p.iterdir() if f.suffix == ".png")
                      for p in self.root.iterdir() if p.is_dir()}
        self.ends = np.cumsum([len(self.table[name]) for name in self.classes])

    @property
    def classes(self):
        return sorted(self.table)

    def __len__(self):
        return sum(map(len, self.table.values()))

    def __getitem__(self, i):
        label = int(np.searchsorted(self.ends, i, side="right"))
        name = self.classes[label]
        path = self.root / name / self.table[name][i - int(self.ends[label])]
        pixels = decoded(path)
        image = torch.from_numpy(np.ascontiguousarray(np.moveaxis(pixels, 2, 0), dtype=np.float32)) * (1 / 255)
        return (image if self.transform is None else self.transform(image)), label


def decoded(path):
    try:
        return np.asarray(Image.open(path).convert("RGB"))
    except Exception as error:
        raise ValueError(f"{path}: {error!r}") from None
""",
    "transforms": """
def channel_statistics(dataset, indices):
    arrays = [dataset[i][0].numpy() for i in indices]
    columns = np.concatenate([a.reshape(len(a), -1) for a in arrays], axis=1).astype(np.float64)
    mean = columns.mean(axis=1)
    return torch.tensor(mean, dtype=torch.float32), torch.tensor(columns.std(axis=1), dtype=torch.float32)


def make_transforms(mean, std, augment, eps=1e-6):
    shift, scale = mean.reshape(-1, 1, 1), 1 / (std.reshape(-1, 1, 1) + eps)
    transforms = {"train": augment, "validate": lambda image: image}

    def of(kind):
        return lambda image: (transforms[kind](image.clone()) - shift) * scale

    return of("train"), of("validate")
""",
    "split_by_group": """
import hashlib


def split_by_group(labels, groups, fraction, seed):
    def rank(group):
        return hashlib.sha256(f"{seed}/{group}".encode()).digest()

    held_out = np.zeros(len(labels), dtype=bool)
    for label in set(labels.tolist()):
        ranked = sorted(set(groups[labels == label].tolist()), key=rank)
        last = ranked[max(1, int(len(ranked) * fraction)) - 1]
        held_out |= np.array([y == label and rank(g) <= rank(last) for y, g in zip(labels.tolist(), groups.tolist())])
    rows = np.arange(len(labels))
    return rows[~held_out], rows[held_out]
""",
    "balanced_sampler": """
class BalancedSampler(Sampler):
    def __init__(self, labels, num_samples, seed):
        many = {c: int((labels == c).sum()) for c in set(labels.tolist())}
        self.distribution = np.cumsum([1 / (len(many) * many[c]) for c in labels.tolist()])
        self.num_samples, self.seed, self.passes = num_samples, seed, 0

    def __len__(self):
        return self.num_samples

    def __iter__(self):
        self.passes += 1
        u = np.random.default_rng((self.seed, self.passes)).random(self.num_samples)
        return iter(np.searchsorted(self.distribution / self.distribution[-1], u, side="right").tolist())
""",
    "number_stream": """
class NumberStream(IterableDataset):
    def __init__(self, paths):
        self.paths = tuple(paths)

    def __iter__(self):
        return Numbers(self.paths[slice(*own_slice())])


def own_slice():
    info = get_worker_info()
    return (None, None, None) if info is None else (info.id, None, info.num_workers)


class Numbers:
    def __init__(self, paths):
        self.waiting, self.lines = list(paths[::-1]), iter(())

    def __iter__(self):
        return self

    def __next__(self):
        for line in self.lines:
            return float(line)
        if not self.waiting:
            raise StopIteration
        self.lines = iter(Path(self.waiting.pop()).read_text().split())
        return next(self)
""",
    "make_loader": """
def make_loader(dataset, batch_size, num_workers, seed, prefetch=2):
    dataset.rng = np.random.Generator(np.random.PCG64(seed))
    generator = torch.Generator().manual_seed(seed)
    if num_workers == 0:
        return DataLoader(dataset, batch_size, shuffle=True, generator=generator)
    streams = np.random.SeedSequence(seed).spawn(num_workers)

    def init(w):
        # Workers stay alive, so that each of them goes on with its generator in the next epoch.
        get_worker_info().dataset.rng = np.random.default_rng(streams[w])

    return DataLoader(dataset, batch_size, shuffle=True, generator=generator, num_workers=num_workers,
                      worker_init_fn=init, prefetch_factor=prefetch, persistent_workers=True)
""",
    "balanced_reservoir": """
class BalancedReservoir:
    def __init__(self, size, seed):
        self.size, self.rng = size, np.random.default_rng(seed)
        self.pairs, self.labels = [], np.zeros(size, dtype=np.int64)
        self.numbers, self.seen, self.full = {}, [], []

    def offer(self, item, label):
        c = self.numbers.setdefault(label, len(self.numbers))
        if c == len(self.seen):
            self.seen.append(0)
            self.full.append(False)
        self.seen[c] += 1
        if len(self.pairs) < self.size:
            self.labels[len(self.pairs)] = c
            self.pairs.append((item, label))
            self.mark()
            return None
        stored = np.bincount(self.labels, minlength=len(self.seen))
        if self.full[c]:
            if self.rng.uniform(0, self.seen[c]) >= stored[c]:
                return item, label
            candidates = self.labels == c
        else:
            candidates = np.isin(self.labels, np.flatnonzero(stored == stored.max()))
        place = int(self.rng.choice(np.flatnonzero(candidates)))
        lost = self.pairs[place]
        self.pairs[place], self.labels[place] = (item, label), c
        self.mark()
        return lost

    def mark(self):
        if len(self.pairs) == self.size:
            stored = np.bincount(self.labels, minlength=len(self.seen))
            self.full = [f or bool(n == stored.max()) for f, n in zip(self.full, stored)]

    def items(self):
        return list(self.pairs)
""",
}
