"""Keeps the negative half."""

EXPECTED = {
    "test_two_layer_forward": "failed:relu-upside-down",
    "test_two_layer_backward": "failed:relu-upside-down",
    "test_train": "failed:relu-upside-down",
}
KIND = "fault"
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    h = x @ params["W1"] + params["b1"]
    h[h > 0] = 0
    return h @ params["W2"] + params["b2"], {"x": x, "hidden": h, "W2": params["W2"]}
""",
}
