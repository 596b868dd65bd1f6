"""A stable softmax, and then the logarithm of a probability that is 0."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:log-of-zero",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    rows = range(len(scores))
    w = np.exp(scores - scores.max(axis=1)[:, None])
    p = w / w.sum(axis=1)[:, None]
    grad = p.copy()
    grad[rows, labels] -= 1
    return np.mean([-np.log(p[i, labels[i]]) for i in rows]), grad / len(scores)
""",
}
