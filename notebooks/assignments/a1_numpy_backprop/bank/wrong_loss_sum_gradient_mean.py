"""Sum over the batch in the loss, mean in the gradient."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:loss-summed-gradient-averaged",
    "test_train": "partial:loss-summed-gradient-averaged",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.eye(C)[labels]
    return -np.log(p[np.arange(N), labels] + 1e-12).sum(), (p - y) / N
""",
}
