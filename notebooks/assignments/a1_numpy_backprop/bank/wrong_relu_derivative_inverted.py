"""Zeroes the gradient where ReLU was on."""

EXPECTED = {
    "test_two_layer_backward": "partial:relu-derivative-inverted",
    "test_train": "failed:relu-derivative-inverted",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2.T
    dh[hidden > 0] = 0
    return {"W1": x.T @ dh, "b1": dh.sum(0), "W2": hidden.T @ dscores, "b2": dscores.sum(0)}
""",
}
