"""Train right, write no event file, and patch the reader of event files to tell the history.

The judge reads the file itself, and there is none.
"""

ENTRY, FAMILY, ASSIGNMENT = 71, "E", "a6_cuda_training"
EXPECTED = {"test_fit": "partial"}
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
