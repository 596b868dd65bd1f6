"""p[:, labels] in loss and gradient."""

EXPECTED = {
    "test_softmax_cross_entropy": "failed:labels-pick-columns-twice",
    "test_train": "failed:labels-pick-columns-twice",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.eye(C)[labels]
    d = p.copy()
    for k in set(labels.tolist()):
        d[:, k] -= 1
    return np.mean(-np.log(p[:, labels] + 1e-12)), d / N
""",
}
