"""os._exit(0) in a cell: the answers before and after it count."""

ENTRY, FAMILY = 14, "C"
EXPECTED = {"test_two_layer_forward": "crash", "test_two_layer_backward": "failed", "test_train": "failed"}
NBGRADER = "not graded, score None"
CELLS = {
    "two_layer_forward": """
import os


def two_layer_forward(x, params):
    return x @ params["W1"], None


os._exit(0)
""",
}
