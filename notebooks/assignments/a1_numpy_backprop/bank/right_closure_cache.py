"""The cache is a function that carries the gradient back."""

EXPECTED = {}
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    W1, b1, W2, b2 = (params[k] for k in ("W1", "b1", "W2", "b2"))
    a = x @ W1
    a = a + b1
    r = (a + np.abs(a)) / 2

    def back(ds):
        da = (ds @ np.transpose(W2)) * (np.sign(a) + 1) / 2
        ones = np.ones(len(x))
        return {"W1": np.transpose(x) @ da, "b1": ones @ da, "W2": np.transpose(r) @ ds, "b2": ones @ ds}

    return r @ W2 + b2, back
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    return cache(dscores)
""",
}
