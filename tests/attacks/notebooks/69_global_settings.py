"""Settings of the whole program, changed."""

from tests.attacks.corpus import variant

# The step itself may lose for it; what the judge builds for other exercises should not follow one student's defaults.
defaults_left_changed = variant(
    "Set the default dtype to float64 and the default device to another one within a right step, and leave them so.",
    after_train_step="""
careful_step = train_step
def train_step(*args):
    loss = careful_step(*args)
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("cuda:1")
    return loss""",
    expected="passed|partial|failed train_step",
)

# The exercise at fault and those that call it may lose; mixed precision and checkpoints are asked with gradients on.
gradients_left_off = variant(
    "Switch gradients off for the whole program in `evaluate` and leave them so: other exercises are not to blame.",
    after_evaluate="""
with_gradients = evaluate
def evaluate(model, loader, loss_fn, device):
    torch.set_grad_enabled(False)
    return with_gradients(model, loader, loss_fn, device)""",
    expected="passed|partial evaluate, partial|failed fit",
)

settings_changed = variant(
    "Honest: seeds, threads, TF32, determinism, printing and warnings are set anew all the time. It costs nothing.",
    first="""
import random, warnings
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
change_everything()""",
    after_train_step="""
its_step = train_step
def train_step(*args):
    change_everything()
    return its_step(*args)""",
    after_train_epoch="""
its_epoch = train_epoch
def train_epoch(*args):
    change_everything()
    return its_epoch(*args)""",
    expected="passed",
)
