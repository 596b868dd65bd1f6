"""A solution pasted a second time into a new cell; the later one counts, and both are right."""

EXPECTED = {}
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    raise NotImplementedError("see the next cell")
""",
}
EXTRA = [
    (
        "softmax_cross_entropy",
        """
def softmax_cross_entropy(scores, labels):
    m = scores.max(axis=1, keepdims=True)
    z = scores - m
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    i = range(len(scores))
    d = np.exp(logp)
    d[i, labels] -= 1
    return -np.mean(logp[i, labels]), d / scores.shape[0]
""",
    ),
]
