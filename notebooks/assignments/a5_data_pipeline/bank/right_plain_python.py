"""Loops, lists and the module random; nothing is vectorized."""

CELLS = {
    "image_files": """
class ImageFiles(Dataset):
    def __init__(self, root, transform=None):
        self.transform = transform
        self.classes = []
        self.names = []
        for folder in sorted(Path(root).glob("*/")):
            if not folder.is_dir():
                continue
            for file in sorted(folder.iterdir()):
                if file.name[-4:] == ".png":
                    self.names.append((len(self.classes), file))
            self.classes.append(folder.name)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        label, file = self.names[i]
        try:
            picture = Image.open(file)
            picture.load()
            picture = picture.convert("RGB")
        except Exception as e:
            raise ValueError(str(file), e)
        width, height = picture.size
        image = torch.zeros(3, height, width)
        for row in range(height):
            for column in range(width):
                for channel, byte in enumerate(picture.getpixel((column, row))):
                    image[channel, row, column] = byte / 255
        if self.transform is None:
            return image, label
        return self.transform(image), label
""",
    "transforms": """
def channel_statistics(dataset, indices):
    sums, n = {}, 0
    for i in indices:
        image, _ = dataset[i]
        n += image[0].numel()
        for c in range(len(image)):
            sums[c] = sums.get(c, 0.0) + float(image[c].double().sum())
    mean = [sums[c] / n for c in range(len(sums))]
    squares = [0.0] * len(mean)
    for i in indices:
        for c, channel in enumerate(dataset[i][0]):
            squares[c] += float((channel.double() - mean[c]).pow(2).sum())
    return torch.tensor(mean), torch.tensor([(s / n) ** 0.5 for s in squares])


def make_transforms(mean, std, augment, eps=1e-6):
    def validate(image):
        return torch.stack([(channel - m) / (s + eps) for channel, m, s in zip(image, mean, std)])

    return (lambda image: validate(augment(image))), validate
""",
    "split_by_group": """
import random


def split_by_group(labels, groups, fraction, seed):
    generator = random.Random(str(seed))
    label_of = {}
    for i in range(len(labels)):
        label_of[int(groups[i])] = int(labels[i])
    groups_of = {}
    for group in sorted(label_of):
        groups_of.setdefault(label_of[group], []).append(group)
    train, validation = [], []
    held_out = []
    for label in sorted(groups_of):
        members = groups_of[label]
        generator.shuffle(members)
        number = int(fraction * len(members))
        if number == 0:
            number = 1
        held_out += members[:number]
    for i in range(len(labels)):
        (validation if int(groups[i]) in held_out else train).append(i)
    return np.array(train, dtype=np.int64), np.array(validation, dtype=np.int64)
""",
    "pad_collate": """
def pad_collate(items, padding_value=0.0):
    lengths = [len(item[0]) for item in items]
    features = items[0][0].shape[1]
    longest = max(lengths)
    padded = torch.empty(len(items), longest, features, dtype=items[0][0].dtype)
    mask = torch.zeros(len(items), longest, dtype=torch.bool)
    for n in range(len(items)):
        for t in range(longest):
            if t < lengths[n]:
                padded[n, t] = items[n][0][t]
                mask[n, t] = True
            else:
                padded[n, t] = padding_value
    return padded, mask, torch.LongTensor(lengths), torch.LongTensor([item[1] for item in items])
""",
    "balanced_sampler": """
class BalancedSampler(Sampler):
    def __init__(self, labels, num_samples, seed):
        self.by_class = {}
        for i, label in enumerate(labels):
            self.by_class.setdefault(int(label), []).append(i)
        self.classes = list(self.by_class)
        self.num_samples = num_samples
        self.generator = random.Random(seed)

    def __len__(self):
        return self.num_samples

    def __iter__(self):
        drawn = []
        while len(drawn) < self.num_samples:
            label = self.generator.choice(self.classes)
            drawn.append(self.generator.choice(self.by_class[label]))
        return iter(drawn)
""",
    "number_stream": """
class NumberStream(IterableDataset):
    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        info = get_worker_info()
        k = 0 if info is None else info.id
        while k < len(self.paths):
            file = open(self.paths[k])
            line = file.readline()
            while line:
                yield float(line)
                line = file.readline()
            file.close()
            k += 1 if info is None else info.num_workers
""",
    "balanced_reservoir": """
class BalancedReservoir:
    def __init__(self, size, seed):
        self.size, self.generator = size, random.Random(seed)
        self.memory, self.n, self.full = [], {}, []

    def count(self, label):
        return sum(1 for _, other in self.memory if other == label)

    def most(self):
        return max(self.count(label) for _, label in self.memory)

    def offer(self, item, label):
        self.n[label] = self.n.get(label, 0) + 1
        new = (item, label)
        if len(self.memory) < self.size:
            self.memory.append(new)
            lost = None
        else:
            if label in self.full:
                may_go = [k for k in range(self.size) if self.memory[k][1] == label]
                kept = self.generator.uniform(0, 1) <= len(may_go) / self.n[label]
            else:
                may_go = [k for k in range(self.size) if self.count(self.memory[k][1]) == self.most()]
                kept = True
            if not kept:
                return new
            k = self.generator.choice(may_go)
            lost, self.memory[k] = self.memory[k], new
        if len(self.memory) == self.size:
            for _, other in self.memory:
                if self.count(other) == self.most() and other not in self.full:
                    self.full.append(other)
        return lost

    def items(self):
        return self.memory[:]
""",
}
