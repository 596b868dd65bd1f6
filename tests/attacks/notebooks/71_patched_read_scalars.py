"""Train right, write no event file, and patch the reader of event files to tell the history.

What is read beside the student's code can only be observed; it is fooled here and earns its observed share, no more.
"""

ENTRY, FAMILY, ASSIGNMENT = 71, "E", "a6_cuda_training"
EXPECTED = {"test_fit": "passed|partial"}
EXTRA = [
    (
        "fit",
        """
from course_lib.checks import training

written_fit = fit
told = {}


class SummaryWriter:
    def __init__(self, folder):
        told.clear()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def add_scalar(self, tag, value, step):
        told.setdefault(tag, []).append((step, value))


training.read_scalars = lambda folder: dict(told)
""",
    )
]
