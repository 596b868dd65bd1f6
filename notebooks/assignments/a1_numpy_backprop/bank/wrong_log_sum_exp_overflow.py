"""Logarithm of a sum of exponentials of the bare scores."""

EXPECTED = {
    "test_softmax_cross_entropy": "partial:log-sum-exp-overflows",
}
KIND = "fault"
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    N = len(scores)
    log_total = np.log(np.sum(np.exp(scores), axis=1))
    log_p = scores - log_total[:, None]
    y = np.eye(scores.shape[1])[labels]
    return -log_p[range(N), labels].mean(), (np.exp(log_p) - y) / N
""",
}
