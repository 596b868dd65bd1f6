"""Honest: seeds, threads, TF32, determinism, printing and warnings are set anew all the time. It costs nothing."""

ENTRY, FAMILY, ASSIGNMENT = 69, "E", "a6_cuda_training"
EXPECTED = {}
EXTRA = [
    (
        "",
        """
import random
import warnings

import numpy as np
import torch


def change_everything():
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("high")
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_printoptions(precision=1)
    np.set_printoptions(precision=1)
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")


change_everything()
""",
    ),
    (
        "train_step",
        """
its_step = train_step


def train_step(*args):
    change_everything()
    return its_step(*args)
""",
    ),
    (
        "train_epoch",
        """
its_epoch = train_epoch


def train_epoch(*args):
    change_everything()
    return its_epoch(*args)
""",
    ),
]
