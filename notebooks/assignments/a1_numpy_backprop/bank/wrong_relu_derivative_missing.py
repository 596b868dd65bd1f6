"""The gradient passes through ReLU unchanged."""

EXPECTED = {
    "test_two_layer_backward": "partial:relu-derivative-missing",
    "test_train": "failed:relu-derivative-missing",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = np.dot(dscores, W2.T)
    return {"W1": np.dot(x.T, dh), "b1": np.sum(dh, 0), "W2": np.dot(hidden.T, dscores), "b2": np.sum(dscores, 0)}
""",
}
