"""Train on the first three batches of an epoch and let the others pass by; evaluate the first three, too.

A shortcut of this kind is worth nothing in any check that recomputes; whoever feeds three batches at most sees none.
"""

ENTRY, FAMILY, ASSIGNMENT = 68, "E", "a6_cuda_training"
EXPECTED = {
    "test_train_epoch": "partial|failed",
    "test_evaluate": "partial|failed",
    "test_train_epoch_amp": "partial|failed",
    "test_fit": "partial",
}
EXTRA = [
    (
        "train_epoch",
        """
import itertools

all_of_it = train_epoch


class Some:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        for number, batch in enumerate(self.loader):
            if number < 3:
                yield batch


def train_epoch(model, loader, *others):
    return all_of_it(model, Some(loader), *others)
""",
    ),
    (
        "evaluate",
        """
whole_evaluation = evaluate


def evaluate(model, loader, *others):
    return whole_evaluation(model, Some(loader), *others)
""",
    ),
    (
        "train_epoch_amp",
        """
whole_amp_epoch = train_epoch_amp


def train_epoch_amp(model, loader, *others):
    return whole_amp_epoch(model, Some(loader), *others)
""",
    ),
]
