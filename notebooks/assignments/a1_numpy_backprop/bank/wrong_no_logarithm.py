"""Minus the mean probability."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:logarithm-missing",
    "test_train": "partial:logarithm-missing",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.eye(C)[labels]
    return -(p * y).sum() / N, (p - y) / N
""",
}
