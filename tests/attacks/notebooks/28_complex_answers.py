"""The right values as complex numbers with a wild imaginary part, and as texts."""

ENTRY, FAMILY = 28, "A"
EXPECTED = {"test_small_graph": "failed", "test_softmax_cross_entropy": "failed", "test_train": "failed"}
CELLS = {
    "small_graph": """
import numpy as np


def small_graph(x, y, z):
    return np.sum(x * y + z) + 7j, y + 1e300j, x + 0j, np.ones_like(z) - 1j
""",
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    return str(-log_p[rows, labels].mean()), "right"
""",
}
