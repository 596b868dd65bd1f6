"""Switch gradients off for the whole program in `evaluate` and leave them so: other exercises are not to blame.

The exercise at fault and those that call it may lose; mixed precision and checkpoints are asked with gradients on.
"""

ENTRY, FAMILY, ASSIGNMENT = 69, "E", "a6_cuda_training"
EXPECTED = {"test_evaluate": "passed|partial", "test_fit": "partial|failed"}
EXTRA = [
    (
        "evaluate",
        """
with_gradients = evaluate


def evaluate(model, loader, loss_fn, device):
    torch.set_grad_enabled(False)
    return with_gradients(model, loader, loss_fn, device)
""",
    )
]
