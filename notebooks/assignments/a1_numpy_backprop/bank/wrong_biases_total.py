"""Bias gradients summed over everything."""

EXPECTED = {
    "test_two_layer_backward": "failed:bias-gradients-summed-over-everything",
    "test_train": "failed:bias-gradients-summed-over-everything",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2.T * (hidden > 0)
    return {"W1": x.T @ dh, "b1": np.sum(dh), "W2": hidden.T @ dscores, "b2": np.sum(dscores)}
""",
}
