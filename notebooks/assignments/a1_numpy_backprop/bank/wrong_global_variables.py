"""Forward leaves its values in global variables, backward reads them there."""

EXPECTED = {
    "test_two_layer_backward": "partial:cache-shared-between-calls",
}
BREAKS = ("must not share it",)
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    global last_x, last_hidden, last_W2
    last_x, last_W2 = x, params["W2"]
    last_hidden = np.maximum(0, x @ params["W1"] + params["b1"])
    return last_hidden @ params["W2"] + params["b2"], None
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    dh = (dscores @ last_W2.T) * (last_hidden > 0)
    return {"W1": last_x.T @ dh, "b1": dh.sum(0), "W2": last_hidden.T @ dscores, "b2": dscores.sum(0)}
""",
}
