"""One cell does not parse and another raises for every call."""

EXPECTED = {
    "test_small_graph": "failed",
    "test_two_layer_forward": "failed",
}
CELLS = {
    "small_graph": """
def small_graph(x, y, z)
    return np.sum(x * y + z), y, x, np.ones_like(z)
""",
    "two_layer_forward": """
def two_layer_forward(x, params):
    hidden = np.maximum(0, x @ params["W1"] + params["b1"])
    scores = hidden @ params["W2"] + params["b3"]
    return scores, (x, hidden, params)
""",
}
