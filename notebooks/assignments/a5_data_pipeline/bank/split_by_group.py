"""Wrong answers to `split_by_group`."""

from autograder.bank import Wrong

BASES = {
    "dicts": """
import random


def split_by_group(labels, groups, fraction, seed):
    chance = random.Random(seed)
    of_class = {}
    for label, group in zip(labels.tolist(), groups.tolist()):
        of_class.setdefault(label, set()).add(group)
    chosen = set()
    for label in sorted(of_class):
        names = sorted(of_class[label])
        number = max(1, int(fraction * len(names)))
        chosen.update(chance.sample(names, number))
    inside = [group in chosen for group in groups.tolist()]
    validation = [i for i, yes in enumerate(inside) if yes]
    train = [i for i, yes in enumerate(inside) if not yes]
    return np.array(train), np.array(validation)
""",
}

NUMBER = "number = max(1, int(fraction * len(names)))"
CHOSEN = "chosen.update(chance.sample(names, number))"
INSIDE = "inside = [group in chosen for group in groups.tolist()]"
RETURNED = "return np.array(train), np.array(validation)"

WRONG = [
    Wrong("wrong_split_by_row", "Rows are drawn, class by class.")
    .expect(test_split_by_group="partial:split-by-row")
    .breaks("No group is on both sides")
    .edit(
        INSIDE,
        """inside = [False] * len(labels)
    for label in sorted(of_class):
        rows = np.flatnonzero(labels == label).tolist()
        for i in chance.sample(rows, max(1, int(fraction * len(rows)))):
            inside[i] = True""",
    ),
    Wrong("wrong_split_swapped", "Validation first.")
    .expect(test_split_by_group="partial:split-parts-swapped")
    .breaks("which returns the pair `(train, validation)`")
    .edit(RETURNED, "return np.array(validation), np.array(train)"),
    Wrong("wrong_split_over_all_classes", "All groups in one pot.")
    .expect(test_split_by_group="partial:split-wrong-number-of-groups")
    .breaks("The split is stratified by class")
    .edit("of_class.setdefault(label, set())", "of_class.setdefault(0, set())"),
    Wrong("wrong_split_with_replacement", "A group may be drawn twice.")
    .expect(test_split_by_group="partial:split-wrong-number-of-groups")
    .breaks("groups are for validation, however many rows they have")
    .edit(CHOSEN, "chosen.update(chance.choices(names, k=number))"),
    Wrong("wrong_split_rounds_up", "ceil.")
    .expect(test_split_by_group="partial:split-rounds-up")
    .breaks("groups are for validation, however many rows they have")
    .edit(NUMBER, "number = int(-(-fraction * len(names) // 1))"),
    Wrong("wrong_split_rounds_to_nearest", "round.")
    .expect(test_split_by_group="partial:split-rounds-to-nearest")
    .edit(NUMBER, "number = max(1, round(fraction * len(names)))"),
    Wrong("wrong_split_class_left_out", "No group of a small class.")
    .expect(test_split_by_group="partial:split-class-left-out")
    .edit(NUMBER, "number = int(fraction * len(names))"),
    Wrong("wrong_split_rows_lost", "One row for each group.")
    .expect(test_split_by_group="partial:split-rows-lost")
    .breaks("Every row is in one of the two results")
    .edit(
        "[i for i, yes in enumerate(inside) if not yes]",
        "[i for i, yes in enumerate(inside) if not yes and groups.tolist().index(groups[i]) == i]",
    ),
    Wrong("wrong_split_rows_twice", "Training on all rows.")
    .expect(test_split_by_group="partial:split-rows-twice")
    .edit("[i for i, yes in enumerate(inside) if not yes]", "list(range(len(inside)))"),
    Wrong("wrong_split_not_ascending", "Shuffled at the end.")
    .expect(test_split_by_group="partial:split-not-ascending")
    .breaks("Every row is in one of the two results")
    .edit(RETURNED, "chance.shuffle(train)\n    return np.array(train), np.array(validation)"),
    Wrong("wrong_split_first_groups", "The first groups are always for training; the seed decides the rest.")
    .expect(test_split_by_group="partial:split-groups-not-equally-likely")
    .breaks("Which groups these are is random")
    .edit(CHOSEN, "chosen.update(names[-number:] if chance.random() < 0.9 else chance.sample(names, number))"),
    Wrong("wrong_split_by_size", "A group is drawn by one of its rows, so large groups come more often.")
    .expect(test_split_by_group="partial:split-groups-not-equally-likely")
    .edit(
        "max(1, int(fraction * len(names)))\n",
        """max(1, int(fraction * len(names)))
        rows = groups[labels == label].tolist()
        while len(chosen & set(names)) < number:
            chosen.add(max(rows, key=lambda g: chance.random() + rows.count(g) * 0.3))
            rows = [g for g in rows if g not in chosen]
""",
    )
    .edit(CHOSEN, "pass"),
    Wrong("wrong_split_ignores_seed", "Seed 0.")
    .expect(test_split_by_group="partial:split-ignores-the-seed")
    .edit("random.Random(seed)", "random.Random(0)"),
    Wrong("wrong_split_without_seed", "A generator without a seed.")
    .expect(test_split_by_group="partial:split-not-by-the-seed-alone")
    .breaks("It alone decides everything that is random")
    .edit("random.Random(seed)", "random.Random()"),
    Wrong("wrong_split_global", "The module random itself, seeded.")
    .expect(test_split_by_group="partial:split-touches-global-generators")
    .breaks("leave their state as it is")
    .edit("chance = random.Random(seed)", "random.seed(seed)\n    chance = random"),
    Wrong("wrong_split_changes_arguments", "Sorted in place at the end.")
    .expect(test_split_by_group="partial:split-changes-its-arguments")
    .breaks("Both arrays stay as they are")
    .edit(RETURNED, "groups.sort()\n    return np.array(train), np.array(validation)"),
    Wrong("wrong_split_labels_from_zero", "bincount, which knows no negative labels.")
    .expect(test_split_by_group="partial")
    .breaks("Labels and groups are any whole numbers")
    .edit(
        "for label in sorted(of_class):",
        "for label in range(len(np.bincount(labels))):\n        if label not in of_class:\n            continue",
    ),
    Wrong("wrong_split_lists", "Lists instead of arrays.")
    .expect(test_split_by_group="partial")
    .breaks("two int64 arrays of row numbers")
    .edit(RETURNED, "return train, validation"),
]
