"""ReLU's slope and the sum for b2 both missing."""

EXPECTED = {
    "test_two_layer_backward": "failed:relu-derivative-missing+b2-gradient-not-summed",
    "test_train": "failed:relu-derivative-missing+b2-gradient-not-summed",
}
KIND = "fault"
CELLS = {
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    dh = dscores @ cache["W2"].T
    return {"W1": cache["x"].T @ dh, "b1": dh.sum(0), "W2": cache["hidden"].T @ dscores, "b2": dscores}
""",
}
