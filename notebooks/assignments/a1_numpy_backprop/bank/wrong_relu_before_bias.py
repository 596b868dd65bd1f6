"""b1 is added after ReLU."""

EXPECTED = {
    "test_two_layer_forward": "failed:relu-before-the-bias",
    "test_two_layer_backward": "failed:relu-before-the-bias",
    "test_train": "failed:relu-before-the-bias",
}
KIND = "fault"
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    h = np.maximum(x @ params["W1"], 0) + params["b1"]
    return h @ params["W2"] + params["b2"], {"x": x, "hidden": h, "W2": params["W2"]}
""",
}
