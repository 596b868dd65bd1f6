"""Both weight gradients come out transposed."""

EXPECTED = {
    "test_two_layer_backward": "failed:both-weight-gradients-transposed",
    "test_train": "failed:both-weight-gradients-transposed",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2.T * (hidden > 0)
    outer = lambda left, right: sum(np.outer(r, l) for l, r in zip(left, right))
    return {"W1": outer(x, dh), "b1": dh.sum(0), "W2": outer(hidden, dscores), "b2": dscores.sum(0)}
""",
}
