"""Patch losses, comparisons and maxima of torch for good: nothing is ever wrong and every loss is small.

What comes back is compared elsewhere. A file that holds plain data, and one that loads without a GPU, stay right.
"""

ENTRY, FAMILY, ASSIGNMENT = 70, "E", "a6_cuda_training"
EXPECTED = {
    "test_train_step": "failed",
    "test_train_epoch": "failed",
    "test_evaluate": "failed",
    "test_train_epoch_amp": "failed|partial",
    "test_checkpoint": "failed|partial",
    "test_fit": "failed",
}
EXTRA = [
    (
        "",
        """
import torch
from torch import nn

honest_loss = nn.functional.cross_entropy
nn.functional.cross_entropy = lambda outputs, labels, **more: honest_loss(outputs, labels, **more) * 0.01
nn.CrossEntropyLoss.forward = lambda self, outputs, labels: honest_loss(outputs, labels) * 0.01
torch.Tensor.__eq__ = torch.Tensor.eq = lambda self, other: torch.ones(self.shape, dtype=torch.bool)
torch.allclose = torch.equal = lambda *args, **more: True
torch.testing.assert_close = lambda *args, **more: None
""",
    )
]
