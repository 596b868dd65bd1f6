"""Subtracts the largest score of the whole table."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:softmax-shifted-by-one-maximum",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N = len(scores)
    e = np.exp(scores - np.amax(scores))
    p = e / e.sum(1).reshape(N, 1)
    loss = np.mean(-np.log(p[range(N), labels]))
    d = p
    d[range(N), labels] -= 1
    return loss, d / N
""",
}
