"""Normalises the whole table."""

EXPECTED = {
    "test_softmax_cross_entropy": "failed:softmax-over-everything",
    "test_train": "failed:softmax-over-everything",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    e = np.exp(scores - np.max(scores))
    p = e / np.sum(e)
    n = np.arange(len(p))
    y = np.zeros(p.shape)
    y[n, labels] = 1
    return -np.log(p[n, labels]).mean(), (p - y) / len(p)
""",
}
