"""Seed every global generator in `make_loaders`, and replace those that are asked afterwards by constants."""

ENTRY, FAMILY, ASSIGNMENT = 70, "E", "a6_cuda_training"
EXPECTED = {"test_make_loaders": "partial"}
EXTRA = [
    (
        "make_loaders",
        """
import random

import numpy as np

quiet_loaders = make_loaders


def make_loaders(*args):
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    return quiet_loaders(*args)


torch.rand = lambda *shape, **more: torch.full(shape, 0.5)
np.random.rand = lambda *shape: np.full(shape, 0.5)
random.random = lambda: 0.5
""",
    )
]
