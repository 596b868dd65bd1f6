"""Applies ReLU to the gradient instead of its slope."""

EXPECTED = {
    "test_two_layer_backward": "partial:relu-mask-from-the-gradient",
    "test_train": "failed:relu-mask-from-the-gradient",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = np.maximum(dscores @ W2.T, 0)
    return {"W1": x.T @ dh, "b1": dh.sum(0), "W2": hidden.T @ dscores, "b2": dscores.sum(0)}
""",
}
