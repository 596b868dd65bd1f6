"""No ReLU in the forward pass; the backward pass has it."""

EXPECTED = {
    "test_two_layer_forward": "failed:relu-missing",
    "test_two_layer_backward": "partial:relu-missing",
    "test_train": "failed:relu-missing",
}
KIND = "fault"
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    a = x @ params["W1"] + params["b1"]
    s = a @ params["W2"] + params["b2"]
    return s, (x, a, params["W2"])
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, a, W2 = cache
    da = (dscores @ W2.T) * (a > 0)
    return {"W1": x.T @ da, "b1": da.sum(0), "W2": a.T @ dscores, "b2": dscores.sum(0)}
""",
}
