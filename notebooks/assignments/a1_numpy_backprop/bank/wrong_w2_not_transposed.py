"""Goes back through W2 instead of its transpose."""

EXPECTED = {
    "test_two_layer_backward": "failed:w2-not-transposed",
    "test_train": "failed:w2-not-transposed",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2 * (hidden > 0)
    return {"W1": x.T @ dh, "b1": dh.sum(0), "W2": hidden.T @ dscores, "b2": dscores.sum(0)}
""",
}
