"""Wrong answers to `balanced_reservoir`."""

from autograder.bank import Wrong

BASES = {
    "by_class": """
import random


class BalancedReservoir:
    def __init__(self, size, seed):
        self.size = size
        self.chance = random.Random(seed)
        self.of_class = {}
        self.offered = {}
        self.full = set()

    def offer(self, item, label):
        self.offered[label] = self.offered.get(label, 0) + 1
        own = self.of_class.setdefault(label, [])
        if sum(map(len, self.of_class.values())) < self.size:
            own.append((item, label))
            gone = None
        elif label not in self.full:
            candidates = [pair for name in self.largest() for pair in self.of_class[name]]
            gone = self.remove(self.chance.randrange(len(candidates)), self.largest())
            own.append((item, label))
        elif self.chance.random() * self.offered[label] < len(own):
            gone = self.remove(self.chance.randrange(len(own)), [label])
            own.append((item, label))
        else:
            gone = (item, label)
        self.mark()
        return gone

    def mark(self):
        if sum(map(len, self.of_class.values())) >= self.size:
            self.full.update(self.largest())

    def largest(self):
        most = max(map(len, self.of_class.values()))
        return [name for name, pairs in self.of_class.items() if len(pairs) == most]

    def remove(self, place, names):
        for name in names:
            if place < len(self.of_class[name]):
                return self.of_class[name].pop(place)
            place -= len(self.of_class[name])

    def items(self):
        return [pair for pairs in self.of_class.values() for pair in pairs]
""",
    "places": """
import random


class BalancedReservoir:
    def __init__(self, size, seed):
        self.size, self.chance = size, random.Random(seed)
        self.memory, self.offered, self.full = [], Counter(), set()

    def most(self):
        held = Counter(c for _, c in self.memory)
        return [c for c in held if held[c] == max(held.values())]

    def offer(self, item, label):
        self.offered[label] += 1
        lost = None
        if len(self.memory) < self.size:
            self.memory.append((item, label))
        else:
            classes = [label] if label in self.full else self.most()
            places = [i for i, (_, c) in enumerate(self.memory) if c in classes]
            if label in self.full and self.chance.random() >= len(places) / self.offered[label]:
                return item, label
            place = self.chance.choice(places)
            lost, self.memory[place] = self.memory[place], (item, label)
        if len(self.memory) == self.size:
            self.full.update(self.most())
        return lost

    def items(self):
        return list(self.memory)
""",
}

KEPT = "elif self.chance.random() * self.offered[label] < len(own):"
OWN = "gone = self.remove(self.chance.randrange(len(own)), [label])"
ANY = "gone = self.remove(self.chance.randrange(len(candidates)), self.largest())"
MARK = "self.full.update(self.largest())"
SEEDED = "random.Random(seed)"

WRONG = [
    Wrong("wrong_reservoir_counts_too_late", "Counted after the draw.")
    .expect(test_balanced_reservoir="partial:reservoir-counts-too-late")
    .breaks("it is kept with probability `m / n`")
    .edit(KEPT, "elif self.chance.random() * (self.offered[label] - 1) < len(own):"),
    Wrong("wrong_reservoir_never_replaces", "Full is full.")
    .expect(test_balanced_reservoir="partial:reservoir-never-replaces")
    .edit(KEPT, "elif False:"),
    Wrong("wrong_reservoir_always_replaces", "The newest is always kept.")
    .expect(test_balanced_reservoir="partial:reservoir-always-replaces")
    .breaks("Otherwise the memory stays as it is")
    .edit(KEPT, "elif True:"),
    Wrong("wrong_reservoir_plain", "A plain reservoir.")
    .expect(test_balanced_reservoir="partial:reservoir-not-balanced")
    .edit("elif label not in self.full:", "elif self.chance.random() * sum(self.offered.values()) < self.size:")
    .edit("[pair for name in self.largest() for pair in self.of_class[name]]", "self.items()")
    .edit(ANY, "gone = self.remove(self.chance.randrange(len(candidates)), list(self.of_class))")
    .edit(KEPT, "elif False:"),
    Wrong("wrong_reservoir_forgets", "Full is what is the largest now.")
    .expect(test_balanced_reservoir="partial:reservoir-forgets-what-was-full")
    .breaks("A class that has once been full stays full")
    .edit(MARK, "self.full = set(self.largest())"),
    Wrong("wrong_reservoir_decided_once", "Full is what was the largest when the memory was filled.")
    .expect(test_balanced_reservoir="partial:reservoir-full-decided-once")
    .edit(MARK, "self.full = self.full or set(self.largest())"),
    Wrong("wrong_reservoir_one_of_a_tie", "Only one of several is called full.")
    .expect(test_balanced_reservoir="partial:reservoir-one-of-a-tie")
    .breaks("As soon as the memory is filled")
    .edit(MARK, "self.full.add(self.largest()[0])"),
    Wrong("wrong_reservoir_first_of_a_tie_in_memory", "Counted over a memory in which a new item takes a place.")
    .expect(test_balanced_reservoir="partial:reservoir-one-of-a-tie")
    .breaks("As soon as the memory is filled")
    .base("places")
    .edit("self.full.update(self.most())", "self.full.add(self.most()[0])"),
    Wrong("wrong_reservoir_same_of_a_tie", "Of several classes always the first.")
    .expect(test_balanced_reservoir="partial:reservoir-largest-of-a-tie")
    .breaks("It replaces an item of the class with the most items")
    .edit(ANY, "gone = self.remove(self.chance.randrange(len(self.of_class[self.largest()[0]])), self.largest())"),
    Wrong("wrong_reservoir_replaces_any", "Any item may go.")
    .expect(test_balanced_reservoir="partial:reservoir-replaces-any")
    .edit("[pair for name in self.largest() for pair in self.of_class[name]]", "self.items()")
    .edit(ANY, "gone = self.remove(self.chance.randrange(len(candidates)), list(self.of_class))"),
    Wrong("wrong_reservoir_oldest", "The oldest goes.")
    .expect(test_balanced_reservoir="partial:reservoir-replaces-oldest")
    .edit("self.remove(self.chance.randrange(len(candidates)), self.largest())", "self.remove_oldest(self.largest())")
    .edit("self.remove(self.chance.randrange(len(own)), [label])", "self.remove_oldest([label])")
    .edit(
        "    def items(self):",
        """    def remove_oldest(self, names):
        places = {id(pair): place for place, pair in enumerate(self.items())}
        name = min(names, key=lambda name: int(np.ravel(self.of_class[name][0][0])[0]))
        return self.of_class[name].pop(0)

    def items(self):""",
    ),
    Wrong("wrong_reservoir_newest", "list.pop() without a place; of several classes each may lose one.")
    .expect(test_balanced_reservoir="partial:reservoir-replaces-newest")
    .breaks("It replaces an item of its own class")
    .edit(
        "candidates = [pair for name in self.largest() for pair in self.of_class[name]]",
        "newest = max(self.largest(), key=lambda name: int(np.ravel(self.of_class[name][-1][0])[0]))",
    )
    .edit(ANY, "gone = self.of_class[newest].pop()")
    .edit(OWN, "gone = own.pop()"),
    Wrong("wrong_reservoir_first_place", "The first place that fits.")
    .expect(test_balanced_reservoir="partial:reservoir-replaces-first")
    .base("places")
    .edit("place = self.chance.choice(places)", "place = places[0]"),
    Wrong("wrong_reservoir_chance_of_all", "Size by all items offered.")
    .expect(test_balanced_reservoir="partial:reservoir-chance-of-all-items")
    .edit(KEPT, "elif self.chance.random() * sum(self.offered.values()) < self.size:"),
    Wrong("wrong_reservoir_full_replaces_largest", "One of the largest class goes.")
    .expect(test_balanced_reservoir="partial:reservoir-full-class-replaces-largest")
    .breaks("It replaces an item of its own class")
    .edit(
        OWN,
        "gone = self.remove(self.chance.randrange(sum(len(self.of_class[c]) for c in self.largest())), self.largest())",
    ),
    Wrong("wrong_reservoir_new_class_by_chance", "A new class must be lucky, too.")
    .expect(test_balanced_reservoir="partial")
    .breaks("that is not full, it is always kept")
    .edit("elif label not in self.full:", "elif label not in self.full and self.chance.random() < 0.7:")
    .edit(KEPT, "elif label in self.full and self.chance.random() * self.offered[label] < len(own):"),
    Wrong("wrong_reservoir_returns_the_kept", "offer returns what it kept.")
    .expect(test_balanced_reservoir="partial:reservoir-loses-early")
    .breaks("While fewer than `size` items are in memory")
    .edit("gone = None", "gone = (item, label)"),
    Wrong("wrong_reservoir_one_too_few", "The last place stays empty.")
    .expect(test_balanced_reservoir="partial:reservoir-loses-early")
    .edit(
        "if sum(map(len, self.of_class.values())) < self.size:",
        "if sum(map(len, self.of_class.values())) < self.size - 1:",
    )
    .edit(
        "if sum(map(len, self.of_class.values())) >= self.size:",
        "if sum(map(len, self.of_class.values())) >= self.size - 1:",
    ),
    Wrong("wrong_reservoir_one_too_many", "One place more.")
    .expect(test_balanced_reservoir="partial:reservoir-wrong-size")
    .edit("self.size = size", "self.size = size + 1"),
    Wrong("wrong_reservoir_wrong_pair", "offer returns the new pair whenever something is lost.")
    .expect(test_balanced_reservoir="partial:reservoir-returns-the-wrong-pair")
    .breaks("`offer` returns the pair that is lost")
    .edit("        return gone\n", "        return gone and (item, label)\n"),
    Wrong("wrong_reservoir_ignores_seed", "Seed 1.")
    .expect(test_balanced_reservoir="partial:reservoir-ignores-the-seed")
    .edit(SEEDED, "random.Random(1)"),
    Wrong("wrong_reservoir_without_seed", "A generator without a seed.")
    .expect(test_balanced_reservoir="partial:reservoir-not-by-the-seed-alone")
    .edit(SEEDED, "random.Random()"),
    Wrong("wrong_reservoir_global", "The module random.")
    .expect(test_balanced_reservoir="partial:reservoir-touches-global-generators")
    .edit("self.chance = random.Random(seed)", "random.seed(seed)\n        self.chance = random"),
    Wrong("wrong_reservoir_compares_items", "The item is looked for by ==.")
    .expect(test_balanced_reservoir="partial:reservoir-array-as-truth-value")
    .breaks("Items may be of any type")
    .edit("        self.mark()\n", "        self.mark()\n        known = (item, label) in self.items()[::-1]\n"),
    Wrong("wrong_reservoir_removes_by_value", "list.remove, which looks for the pair by ==.")
    .expect(test_balanced_reservoir="partial:reservoir-array-as-truth-value")
    .breaks("Items may be of any type")
    .edit(
        "return self.of_class[name].pop(place)",
        "gone = self.of_class[name][place]\n"
        "                self.of_class[name].remove(gone)\n                return gone",
    ),
    Wrong("wrong_reservoir_items_alone", "items() returns the items without labels.")
    .expect(test_balanced_reservoir="failed")
    .breaks("returns a list of the pairs `(item, label)`")
    .edit("return [pair for pairs", "return [pair[0] for pairs"),
    Wrong("wrong_reservoir_class_that_is_gone", "A full class without items is treated as a new one.")
    .expect(test_balanced_reservoir="partial:reservoir-keeps-a-class-that-is-gone")
    .breaks("it is kept with probability `m / n`")
    .edit("elif label not in self.full:", "elif label not in self.full or not own:"),
]
