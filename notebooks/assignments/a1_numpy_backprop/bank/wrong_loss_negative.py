"""The minus sign is missing."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:loss-negative",
    "test_train": "partial:loss-negative",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.eye(C)[labels]
    return np.sum(y * np.log(p + 1e-12)) / N, (p - y) / N
""",
}
