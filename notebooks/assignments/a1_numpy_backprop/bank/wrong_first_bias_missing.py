"""b1 is forgotten."""

EXPECTED = {
    "test_two_layer_forward": "failed:first-bias-missing",
    "test_two_layer_backward": "failed:first-bias-missing",
    "test_train": "failed:first-bias-missing",
}
KIND = "fault"
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    h = np.maximum(np.dot(x, params["W1"]), 0)
    return np.dot(h, params["W2"]) + params["b2"], {"x": x, "hidden": h, "W2": params["W2"]}
""",
}
