"""Right training, but `torch.cuda` is patched to deny every device, so that nobody watches one.

Where an observation then finds nothing it does not pass: that share is lost by the program's own doing. Mixed
precision is switched off by a scaler that asks the patched function.
"""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = {
    "test_train_epoch": "partial",
    "test_evaluate": "partial",
    "test_train_epoch_amp": "partial|failed",
    "test_checkpoint": "passed|partial",
}
EXTRA = [
    (
        "make_loaders",
        """
torch.cuda.is_available = lambda: False
torch.cuda.device_count = lambda: 0
""",
    )
]
