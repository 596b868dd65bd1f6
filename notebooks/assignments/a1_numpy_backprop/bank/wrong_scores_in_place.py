"""Subtracts the maximum from the caller's scores."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:scores-changed-in-place",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    n = np.arange(len(labels))
    scores -= np.max(scores, axis=1, keepdims=True)
    total = np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
    loss = np.mean(total[:, 0] - scores[n, labels])
    d = np.exp(scores - total)
    d[n, labels] -= 1
    return loss, d / len(labels)
""",
}
