"""The gradient of W1 comes out transposed."""

EXPECTED = {
    "test_two_layer_backward": "partial:w1-gradient-transposed",
    "test_train": "failed:w1-gradient-transposed",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2.T * (hidden > 0)
    return {"W1": (x.T @ dh).T, "b1": dh.sum(0), "W2": hidden.T @ dscores, "b2": dscores.sum(0)}
""",
}
