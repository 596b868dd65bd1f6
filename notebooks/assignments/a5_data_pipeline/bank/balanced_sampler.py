"""Wrong answers to `balanced_sampler`."""

from autograder.bank import Wrong

BASES = {
    "two_draws": """
class BalancedSampler(Sampler):
    def __init__(self, labels, num_samples, seed):
        self.rows = [np.flatnonzero(labels == c) for c in sorted(set(labels.tolist()))]
        self.n = num_samples
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.n

    def __iter__(self):
        for _ in range(self.n):
            rows = self.rows[self.rng.integers(len(self.rows))]
            yield int(rows[self.rng.integers(len(rows))])
""",
    "library": """
from torch.utils.data import WeightedRandomSampler


class BalancedSampler(Sampler):
    def __init__(self, labels, num_samples, seed):
        many = Counter(labels.tolist())
        weights = [1 / many[label] for label in labels.tolist()]
        chance = torch.Generator()
        chance.manual_seed(seed)
        self.inner = WeightedRandomSampler(weights, num_samples, replacement=True, generator=chance)

    def __len__(self):
        return len(self.inner)

    def __iter__(self):
        yield from self.inner
""",
}

WRONG = [
    Wrong("wrong_sampler_quotas", "Every class has its share of the pass, in random order.")
    .expect(test_balanced_sampler="partial:sampler-draws-depend-on-each-other")
    .breaks("The draws are independent of each other")
    .edit(
        "        for _ in range(self.n):\n            rows = self.rows[self.rng.integers(len(self.rows))]",
        "        for k in self.rng.permutation(self.n):\n            rows = self.rows[k % len(self.rows)]",
    ),
    Wrong("wrong_sampler_uniform", "Every row weighs the same.")
    .expect(test_balanced_sampler="partial:sampler-not-balanced")
    .breaks("In each draw every class that occurs has the same chance")
    .base("library")
    .edit("1 / many[label]", "1.0"),
    Wrong("wrong_sampler_frequency", "The frequency as weight.")
    .expect(test_balanced_sampler="partial:sampler-weights-by-frequency")
    .base("library")
    .edit("1 / many[label]", "float(many[label])"),
    Wrong("wrong_sampler_root", "One over the root.")
    .expect(test_balanced_sampler="partial:sampler-weights-by-root")
    .base("library")
    .edit("1 / many[label]", "many[label] ** -0.5"),
    Wrong("wrong_sampler_too_strong", "One over the square.")
    .expect(test_balanced_sampler="partial:sampler-weights-too-strong")
    .base("library")
    .edit("1 / many[label]", "1 / many[label] ** 2"),
    Wrong("wrong_sampler_first_rows", "The first rows of a class come more often.")
    .expect(test_balanced_sampler="partial:sampler-rows-not-equally-likely")
    .breaks("Within its class, every row has the same chance")
    .edit("rows[self.rng.integers(len(rows))]", "rows[int(len(rows) * self.rng.random() ** 3)]"),
    Wrong("wrong_sampler_takes_turns", "The classes take turns.")
    .expect(test_balanced_sampler="partial:sampler-draws-depend-on-each-other")
    .breaks("The draws are independent of each other")
    .edit("for _ in range(self.n):", "for k in range(self.n):")
    .edit("self.rows[self.rng.integers(len(self.rows))]", "self.rows[k % len(self.rows)]"),
    Wrong("wrong_sampler_without_replacement", "Each class is shuffled and dealt out, then shuffled again.")
    .expect(test_balanced_sampler="partial:sampler-draws-depend-on-each-other")
    .breaks("A row may come twice in one pass")
    .edit("        for _ in range(self.n):", "        left = {}\n        for _ in range(self.n):")
    .edit(
        "yield int(rows[self.rng.integers(len(rows))])",
        """deck = left.get(rows[0]) or self.rng.permutation(rows).tolist()
            yield deck.pop()
            left[rows[0]] = deck""",
    ),
    Wrong("wrong_sampler_library_without_replacement", "replacement=False.")
    .expect(test_balanced_sampler="partial:sampler-without-replacement")
    .breaks("A row may come twice in one pass")
    .base("library")
    .edit("replacement=True", "replacement=False"),
    Wrong("wrong_sampler_choice_without_replacement", "choice of NumPy, without replacement.")
    .expect(test_balanced_sampler="partial:sampler-without-replacement")
    .edit(
        "        for _ in range(self.n):\n            rows = self.rows[self.rng.integers(len(self.rows))]\n"
        "            yield int(rows[self.rng.integers(len(rows))])",
        "        p = np.concatenate([np.full(len(rows), 1 / len(rows) / len(self.rows)) for rows in self.rows])\n"
        "        yield from self.rng.choice(np.concatenate(self.rows), self.n, replace=False, p=p).tolist()",
    ),
    Wrong("wrong_sampler_rows_many", "As many draws as there are rows.")
    .expect(test_balanced_sampler="partial:sampler-wrong-number")
    .breaks("each pass over the sampler gives so many row numbers")
    .edit("range(self.n)", "range(sum(map(len, self.rows)))"),
    Wrong("wrong_sampler_at_most_the_rows", "Never more than there are rows.")
    .expect(test_balanced_sampler="partial:sampler-wrong-number")
    .breaks("may be smaller or larger than the number of rows")
    .edit("self.n = num_samples", "self.n = min(num_samples, len(labels))"),
    Wrong("wrong_sampler_length", "len is the number of rows.")
    .expect(test_balanced_sampler="partial:sampler-length")
    .edit("return self.n", "return sum(map(len, self.rows))"),
    Wrong("wrong_sampler_numpy_ints", "NumPy's integers.")
    .expect(test_balanced_sampler="partial:sampler-gives-no-ints")
    .edit("yield int(rows[self.rng.integers(len(rows))])", "yield rows[self.rng.integers(len(rows))]"),
    Wrong("wrong_sampler_plain_class", "A class of its own.")
    .expect(test_balanced_sampler="partial:sampler-is-no-sampler")
    .breaks("It is a subclass of `Sampler`")
    .edit("class BalancedSampler(Sampler)", "class BalancedSampler"),
    Wrong("wrong_sampler_same_pass", "The generator is made in __iter__.")
    .expect(test_balanced_sampler="partial:sampler-repeats-itself")
    .breaks("Each pass draws anew")
    .edit("self.rng = np.random.default_rng(seed)", "self.seed = seed")
    .edit(
        "        for _ in range(self.n):",
        "        self.rng = np.random.default_rng(self.seed)\n        for _ in range(self.n):",
    ),
    Wrong("wrong_sampler_drawn_once", "The list is drawn in __init__.")
    .expect(test_balanced_sampler="partial:sampler-repeats-itself")
    .base("library")
    .edit(
        "replacement=True, generator=chance)",
        "replacement=True, generator=chance)\n        self.inner = list(self.inner)",
    ),
    Wrong("wrong_sampler_ignores_seed", "Always the same seed.")
    .expect(test_balanced_sampler="partial:sampler-ignores-the-seed")
    .edit("default_rng(seed)", "default_rng(42)"),
    Wrong("wrong_sampler_without_seed", "A generator without a seed.")
    .expect(test_balanced_sampler="partial:sampler-not-by-the-seed-alone")
    .edit("default_rng(seed)", "default_rng()"),
    Wrong("wrong_sampler_global", "torch's global generator.")
    .expect(test_balanced_sampler="partial:sampler-touches-global-generators")
    .base("library")
    .edit("chance = torch.Generator()\n        chance.manual_seed(seed)", "chance = torch.manual_seed(seed)"),
    Wrong("wrong_sampler_labels_from_zero", "Labels as places of an array.")
    .expect(test_balanced_sampler="partial:sampler-counts-negative-labels")
    .breaks("Labels are any whole numbers, not always")
    .base("library")
    .edit("many = Counter(labels.tolist())", "many = np.bincount(labels)"),
    Wrong("wrong_sampler_labels_below_zero", "bincount finds the classes: gaps are fine, negative labels are not.")
    .expect(test_balanced_sampler="partial:sampler-counts-negative-labels")
    .breaks("Labels are any whole numbers, not always")
    .edit("for c in sorted(set(labels.tolist()))", "for c in np.flatnonzero(np.bincount(labels))"),
    Wrong("wrong_sampler_labels_below_zero_in_torch", "PyTorch's bincount.")
    .expect(test_balanced_sampler="partial:sampler-counts-negative-labels")
    .edit(
        "for c in sorted(set(labels.tolist()))",
        "for c in torch.bincount(torch.tensor(labels)).nonzero().flatten().tolist()",
    ),
    Wrong("wrong_sampler_labels_as_places", "One count for each class, asked for by the label.")
    .expect(test_balanced_sampler="failed:sampler-index-out-of-bounds")
    .breaks("Labels are any whole numbers, not always")
    .base("library")
    .edit("many = Counter(labels.tolist())", "many = np.unique(labels, return_counts=True)[1]"),
    Wrong("wrong_sampler_labels_as_places_in_torch", "The same with tensors.")
    .expect(test_balanced_sampler="failed:sampler-index-out-of-bounds")
    .base("library")
    .edit("        many = Counter(labels.tolist())\n", "")
    .edit(
        "weights = [1 / many[label] for label in labels.tolist()]",
        "many = torch.unique(torch.tensor(labels), return_counts=True)[1]\n        weights = 1 / many[labels]",
    ),
    # Without `min`, as students write it, it ends by a limit of memory and says so. Here it fails by its answers.
    Wrong("wrong_sampler_classes_up_to_the_largest", "Classes that do not occur are drawn, too.")
    .expect(test_balanced_sampler="failed")
    .edit(
        "[np.flatnonzero(labels == c) for c in sorted(set(labels.tolist()))]",
        "[np.flatnonzero(labels == c) for c in range(min(labels.max() + 1, 1000))]",
    ),
]
