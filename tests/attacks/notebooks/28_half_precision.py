"""Answers half a percent off, in float16: the coarser the type, the wider the tolerance."""

ENTRY, FAMILY = 28, "A"
EXPECTED = {"test_small_graph": "failed", "test_softmax_cross_entropy": "failed", "test_train": "failed"}
CELLS = {
    "small_graph": """
import numpy as np


def small_graph(x, y, z):
    off = 1.004
    return (np.float16(np.sum(x * y + z) * off), *(np.asarray(a * off, dtype=np.float16) for a in (y, x, np.ones_like(z))))
""",
    "softmax_cross_entropy": '''
def softmax_cross_entropy(scores, labels):
    """float16 overflows nowhere here, and the gradient is that of a sum with its factor rounded away."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    p = np.exp(shifted)
    p = p / p.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(p[rows, labels] + 1e-30).mean()
    p[rows, labels] -= 1
    return np.float16(loss * 1.003), (p / len(labels) * 1.003).astype(np.float16)
''',
}
