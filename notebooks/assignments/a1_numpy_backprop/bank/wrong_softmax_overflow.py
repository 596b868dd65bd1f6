"""exp of the bare scores."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:softmax-overflows",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N = len(scores)
    p = np.exp(scores)
    p = p / p.sum(axis=1, keepdims=True)
    loss = -np.log(p[np.arange(N), labels]).sum() / N
    p[np.arange(N), labels] -= 1
    return loss, p / N
""",
}
