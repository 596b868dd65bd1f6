"""One call makes a run repeatable: it seeds every source of chance that the program has loaded, and loads no other."""

from __future__ import annotations

import random
import sys

import numpy as np


def seed_everything(seed: int) -> np.random.Generator:
    """Seed `random`, NumPy and, where they are already imported, torch and TensorFlow. Returns a NumPy generator.

    `seed`: 0 up to 2**32 - 1, the range that all of them take. Raises ValueError outside it.
    """
    if not 0 <= seed < 2**32:
        raise ValueError(
            f"seed_everything: seed is {seed}; choose one from 0 to {2**32 - 1}, which every library takes"
        )
    random.seed(seed)
    np.random.seed(seed)
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(seed)
    if (tensorflow := sys.modules.get("tensorflow")) is not None:
        tensorflow.random.set_seed(seed)
    return np.random.default_rng(seed)
