"""The gradient of W2 comes out transposed."""

EXPECTED = {
    "test_two_layer_backward": "partial:w2-gradient-transposed",
    "test_train": "failed:w2-gradient-transposed",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2.T * (hidden > 0)
    return {"W1": x.T @ dh, "b1": dh.sum(0), "W2": np.einsum("nh,nc->ch", hidden, dscores), "b2": dscores.sum(0)}
""",
}
