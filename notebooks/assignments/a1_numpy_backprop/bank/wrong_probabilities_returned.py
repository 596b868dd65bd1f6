"""Returns the probabilities in place of the loss."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:probabilities-returned",
    "test_train": "partial:probabilities-returned",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.eye(C)[labels]
    return p, (p - y) / N
""",
}
