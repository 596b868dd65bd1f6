"""A DataLoader with workers in an added cell, for comparison: told to a person here, because a1 does without torch."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
FLAGS = ["forbidden-import"]
EXTRA = [
    (
        "test_train",
        """
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(40.0)), batch_size=8, num_workers=2, shuffle=True)
print(sum(batch.sum().item() for (batch,) in loader))
""",
    )
]
