"""Bias gradients of shape (1, H) and (1, C)."""

EXPECTED = {
    "test_two_layer_backward": "failed:bias-gradients-keep-an-axis",
    "test_train": "partial:bias-gradients-keep-an-axis",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2.T * (hidden > 0)
    ones = np.ones((1, len(x)))
    return {"W1": x.T @ dh, "b1": ones @ dh, "W2": hidden.T @ dscores, "b2": ones @ dscores}
""",
}
