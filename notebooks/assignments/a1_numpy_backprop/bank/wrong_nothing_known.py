"""A leaky ReLU and an invented loss: no known mistake gives these values."""

EXPECTED = {
    "test_two_layer_forward": "failed",
    "test_softmax_cross_entropy": "failed",
}
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    a = x @ params["W1"] + params["b1"]
    hidden = np.where(a > 0, a, 0.1 * a)
    return hidden @ params["W2"] + params["b2"], {"x": x, "hidden": hidden, "W2": params["W2"]}
""",
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    n = len(labels)
    y = np.eye(scores.shape[1])[labels]
    return ((scores - y) ** 2).sum() / n, (scores - y) / n
""",
}
