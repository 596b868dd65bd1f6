"""Replace `torch.optim.SGD.step`: the judge's own optimiser, built here, takes other steps and counts them all.

A checkpoint is compared with a run of the reference, so it loses too; and what is only observed earns nothing then.
"""

ENTRY, FAMILY, ASSIGNMENT = 70, "E", "a6_cuda_training"
EXPECTED = {
    "test_train_step": "failed",
    "test_train_epoch": "partial|failed",
    "test_train_epoch_amp": "failed|partial",
    "test_checkpoint": "failed",
    "test_fit": "failed",
}
EXTRA = [
    (
        "",
        """
import torch


def step(self, closure=None):
    with torch.no_grad():
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= 0.01 * p.grad.sign()


torch.optim.SGD.step = torch.optim.Optimizer.profile_hook_step(step)
""",
    )
]
