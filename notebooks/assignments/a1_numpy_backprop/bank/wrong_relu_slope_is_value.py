"""Multiplies by hidden, not by its slope."""

EXPECTED = {
    "test_two_layer_backward": "partial:relu-slope-is-its-value",
    "test_train": "failed:relu-slope-is-its-value",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = hidden * (dscores @ W2.T)
    return {"W1": x.T @ dh, "b1": dh.sum(0), "W2": hidden.T @ dscores, "b2": dscores.sum(0)}
""",
}
