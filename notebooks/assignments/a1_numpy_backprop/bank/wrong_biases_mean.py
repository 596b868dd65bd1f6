"""Bias gradients are means over the batch."""

EXPECTED = {
    "test_two_layer_backward": "failed:bias-gradients-are-means",
    "test_train": "failed:bias-gradients-are-means",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2.T * (hidden > 0)
    return {"W1": x.T @ dh, "b1": np.mean(dh, 0), "W2": hidden.T @ dscores, "b2": np.mean(dscores, 0)}
""",
}
