"""Everything with einsum."""

EXPECTED = {}
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    letters = "abcdefg"[: x.ndim]
    c = np.einsum(f"{letters},{letters}->", x, y) + np.einsum(f"{letters}->", z)
    return c, y.copy(), x.copy(), np.full(z.shape, 1.0)
""",
    "two_layer_forward": """
def two_layer_forward(x, params):
    first = np.einsum("nd,dh->nh", x, params["W1"]) + params["b1"][None, :]
    hidden = np.where(first > 0, first, 0.0)
    scores = np.einsum("nh,hc->nc", hidden, params["W2"]) + params["b2"][None, :]
    return scores, (x, first, hidden, params)
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, first, hidden, params = cache
    back = np.einsum("nc,hc->nh", dscores, params["W2"]) * np.heaviside(first, 0.5)
    return {
        "W2": np.einsum("nh,nc->hc", hidden, dscores),
        "b2": np.einsum("nc->c", dscores),
        "W1": np.einsum("nd,nh->dh", x, back),
        "b1": np.einsum("nh->h", back),
    }
""",
}
