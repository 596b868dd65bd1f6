"""What PyTorch and torchvision have ready, put together."""

CELLS = {
    "image_files": """
from torchvision.datasets import ImageFolder
from torchvision.transforms import functional


def load(path):
    try:
        with Image.open(path) as file:
            return functional.to_tensor(file.convert("RGB"))
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise ValueError(f"damaged image: {path}") from error


class ImageFiles(ImageFolder):
    def __init__(self, root, transform=None):
        super().__init__(root, transform, loader=load, is_valid_file=lambda p: p.endswith(".png"), allow_empty=True)
""",
    "transforms": """
from torch.utils.data import Subset
from torchvision.transforms import v2


def channel_statistics(dataset, indices):
    pixels = [image.flatten(1) for image, _ in Subset(dataset, list(indices))]
    std, mean = torch.std_mean(torch.hstack(pixels), dim=1, correction=0)
    return mean, std


def make_transforms(mean, std, augment, eps=1e-6):
    normalize = v2.Normalize(mean.tolist(), (std + eps).tolist())
    return v2.Compose([v2.Lambda(augment), normalize]), normalize
""",
    "pad_collate": """
def pad_collate(items, padding_value=0.0):
    sequences, labels = map(list, zip(*items))
    nested = torch.nested.as_nested_tensor([s for s in sequences if len(s)]) if any(map(len, sequences)) else None
    longest = max(map(len, sequences))
    if nested is None:
        padded = torch.zeros(len(items), 0, sequences[0].shape[1], dtype=sequences[0].dtype)
    else:
        filled = iter(nested.to_padded_tensor(padding_value))
        empty = torch.full((longest, sequences[0].shape[1]), padding_value, dtype=sequences[0].dtype)
        padded = torch.stack([next(filled) if len(s) else empty for s in sequences])
    lengths = torch.tensor(list(map(len, sequences)))
    mask = torch.zeros(len(items), longest + 1, dtype=torch.int8)
    mask[torch.arange(len(items)), lengths] = 1
    mask = mask.cumsum(1)[:, :longest] == 0
    return padded, mask, lengths, torch.tensor(labels)
""",
    "balanced_sampler": """
class BalancedSampler(torch.utils.data.WeightedRandomSampler):
    def __init__(self, labels, num_samples, seed):
        classes, places = np.unique(labels, return_inverse=True)
        share = 1 / len(classes) / np.bincount(places)
        super().__init__(share[places], num_samples, generator=torch.Generator().manual_seed(seed))
""",
    "number_stream": """
from itertools import chain, islice


def numbers_in(path):
    with Path(path).open() as file:
        yield from map(float, file)


class NumberStream(torch.utils.data.IterableDataset):
    def __init__(self, paths):
        self.paths = list(paths)

    def __iter__(self):
        info = get_worker_info()
        own = self.paths if info is None else islice(self.paths, info.id, None, info.num_workers)
        return chain.from_iterable(numbers_in(path) for path in own)
""",
    "make_loader": '''
class SeededLoader(DataLoader):
    """Without workers each epoch gets a generator of its own, too."""

    def __iter__(self):
        if self.num_workers == 0:
            number = torch.empty((), dtype=torch.int64).random_(generator=self.generator)
            self.dataset.rng = np.random.default_rng(number.item())
        return super().__iter__()


def make_loader(dataset, batch_size, num_workers, seed, prefetch=2):
    chance = torch.Generator().manual_seed(seed)
    sampler = torch.utils.data.RandomSampler(dataset, generator=chance)
    if not num_workers:
        return SeededLoader(dataset, batch_size, sampler=sampler, generator=chance)

    def set_up(number):
        torch.utils.data.get_worker_info().dataset.rng = np.random.default_rng([number, torch.initial_seed()])

    return SeededLoader(dataset, batch_size, sampler=sampler, generator=chance, num_workers=num_workers,
                        worker_init_fn=set_up, prefetch_factor=prefetch)
''',
}
