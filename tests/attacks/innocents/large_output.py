"""Two megabytes of legal output in one cell, and a table of values in another."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
EXTRA = [
    (
        "test_small_graph",
        "for number in range(40_000):\n    print(number, 'a line of some fifty characters, no more, no less')",
    )
]
CELLS = {
    "softmax_cross_entropy": """
import numpy as np


def softmax_cross_entropy(scores, labels):
    print(scores, labels)
    print("debug " * 20_000)
    n = len(labels)
    shifted = scores - scores.max(axis=1, keepdims=True)
    p = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    loss = np.mean(np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(n), labels])
    d = p.copy()
    d[np.arange(n), labels] -= 1
    return loss, d / n


list(range(100_000))
""",
}
