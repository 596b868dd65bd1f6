"""b1 gets the gradient from before the mask."""

EXPECTED = {
    "test_two_layer_backward": "partial:b1-gradient-skips-relu",
    "test_train": "failed:b1-gradient-skips-relu",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2.T
    b1 = dh.sum(0)
    dh[hidden == 0] = 0
    return {"W1": x.T @ dh, "b1": b1, "W2": hidden.T @ dscores, "b2": dscores.sum(0)}
""",
}
