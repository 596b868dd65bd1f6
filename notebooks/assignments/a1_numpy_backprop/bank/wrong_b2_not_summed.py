"""The gradient of b2 keeps the batch axis."""

EXPECTED = {
    "test_two_layer_backward": "partial:b2-gradient-not-summed",
    "test_train": "failed:b2-gradient-not-summed",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2.T * (hidden > 0)
    return {"W1": x.T @ dh, "b1": np.ones(len(x)) @ dh, "W2": hidden.T @ dscores, "b2": 1 * dscores}
""",
}
