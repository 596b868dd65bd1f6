"""Returns one loss for each row."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:loss-of-each-row-returned",
    "test_train": "partial:loss-of-each-row-returned",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.eye(C)[labels]
    return np.log(e.sum(1)) - np.log(e[range(N), labels] + 1e-300), (p - y) / N
""",
}
