"""p[:, labels] instead of one entry of each row, in the loss."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:labels-pick-columns",
    "test_train": "partial:labels-pick-columns",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.eye(C)[labels]
    return np.mean(-np.log(p[:, labels] + 1e-12)), (p - y) / N
""",
}
