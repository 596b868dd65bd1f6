"""Set the default dtype to float64 and the default device to another one within a right step, and leave them so.

The step itself may lose for it; what the judge builds for other exercises should not follow one student's defaults.
"""

ENTRY, FAMILY, ASSIGNMENT = 69, "E", "a6_cuda_training"
EXPECTED = {"test_train_step": "passed|partial|failed"}
EXTRA = [
    (
        "train_step",
        """
careful_step = train_step


def train_step(*args):
    loss = careful_step(*args)
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("cuda:1")
    return loss
""",
    )
]
