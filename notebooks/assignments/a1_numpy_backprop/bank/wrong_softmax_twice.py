"""Chains p - y through the Jacobian of softmax again."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:softmax-jacobian-twice",
    "test_train": "failed:softmax-jacobian-twice",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.eye(C)[labels]
    loss = -np.sum(y * np.log(p + 1e-12)) / N
    d = np.zeros_like(p)
    for i in range(N):
        d[i] = (np.diag(p[i]) - np.outer(p[i], p[i])) @ (p[i] - y[i])
    return loss, d / N
""",
}
