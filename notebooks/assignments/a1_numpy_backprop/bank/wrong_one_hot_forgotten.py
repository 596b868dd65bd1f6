"""The gradient is the probabilities."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:one-hot-not-subtracted",
    "test_train": "failed:one-hot-not-subtracted",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.eye(C)[labels]
    loss = -np.sum(y * np.log(p + 1e-12)) / N
    return loss, p / N
""",
}
