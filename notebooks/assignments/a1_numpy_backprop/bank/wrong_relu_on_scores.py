"""A second ReLU after the second layer."""

EXPECTED = {
    "test_two_layer_forward": "failed:relu-on-the-scores",
    "test_train": "failed:relu-on-the-scores",
}
KIND = "fault"
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    relu = lambda t: t.clip(0)
    h = relu(x @ params["W1"] + params["b1"])
    out = relu(h @ params["W2"] + params["b2"])
    return out, {"x": x, "hidden": h, "W2": params["W2"]}
""",
}
