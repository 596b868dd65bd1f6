"""b2 is forgotten."""

EXPECTED = {
    "test_two_layer_forward": "failed:second-bias-missing",
    "test_train": "failed:second-bias-missing",
}
KIND = "fault"
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    h = np.maximum(np.dot(x, params["W1"]) + params["b1"], 0)
    return np.dot(h, params["W2"]), {"x": x, "hidden": h, "W2": params["W2"]}
""",
}
