"""The gradient of W2 uses the hidden values before ReLU."""

EXPECTED = {
    "test_two_layer_backward": "partial:w2-gradient-before-relu",
    "test_train": "failed:w2-gradient-before-relu",
}
KIND = "fault"
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    pre = x @ params["W1"] + params["b1"]
    return np.maximum(pre, 0) @ params["W2"] + params["b2"], (x, pre, params["W2"])
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, pre, W2 = cache
    dpre = np.where(pre > 0, dscores @ W2.T, 0)
    return {"W1": x.T @ dpre, "b1": dpre.sum(0), "W2": pre.T @ dscores, "b2": dscores.sum(0)}
""",
}
