"""Keeps the probability away from 0 before the logarithm: 27.6 instead of 2000 where certain and wrong."""

EXPECTED = {}
CELLS = {
    "softmax_cross_entropy": """
def softmax(scores):
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)


def softmax_cross_entropy(scores, labels):
    N = scores.shape[0]
    p = softmax(scores)
    y = np.zeros_like(p)
    y[np.arange(N), labels] = 1
    loss = -np.sum(y * np.log(np.clip(p, 1e-12, 1))) / N
    return loss, (p - y) / N
""",
}
