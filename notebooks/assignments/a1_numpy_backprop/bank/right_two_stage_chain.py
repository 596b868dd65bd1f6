"""Cross-entropy and softmax differentiated one after the other, each with its own slopes."""

EXPECTED = {}
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    n, c = scores.shape
    e = np.exp(scores - scores.max(axis=1).reshape(n, 1))
    p = e / e.sum(axis=1).reshape(n, 1)
    safe = np.maximum(p, 1e-300)
    picked = np.take_along_axis(safe, labels.reshape(n, 1).astype(np.int64), axis=1)
    loss = -np.log(picked).mean()
    # dL/dp has one entry in each row; row i of the Jacobian of softmax is diag(p) - p p^T.
    d = np.zeros((n, c))
    for i in range(n):
        k = int(labels[i])
        jacobian_column = p[i] * ((np.arange(c) == k) - p[i, k])
        d[i] = jacobian_column / -(n * safe[i, k]) if p[i, k] > 1e-300 else (p[i] - (np.arange(c) == k)) / n
    return loss, d
""",
}
