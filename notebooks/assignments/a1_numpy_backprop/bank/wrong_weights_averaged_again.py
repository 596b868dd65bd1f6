"""The weight gradients are divided by the batch size once more."""

EXPECTED = {
    "test_two_layer_backward": "failed:weight-gradients-averaged-again",
    "test_train": "failed:weight-gradients-averaged-again",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    n = x.shape[0]
    dh = dscores @ W2.T * (hidden > 0)
    return {"W1": (1 / n) * x.T @ dh, "b1": dh.sum(0), "W2": (1 / n) * hidden.T @ dscores, "b2": dscores.sum(0)}
""",
}
