"""Every gradient is divided by the batch size once more."""

EXPECTED = {
    "test_two_layer_backward": "failed:gradients-averaged-again",
    "test_train": "failed:gradients-averaged-again",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    n = x.shape[0]
    dh = dscores @ W2.T * (hidden > 0)
    return {"W1": x.T @ dh / n, "b1": dh.sum(0) / n, "W2": hidden.T @ dscores / n, "b2": dscores.sum(0) / n}
""",
}
