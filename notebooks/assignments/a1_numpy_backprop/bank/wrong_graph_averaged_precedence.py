"""Gradients of a mean; `/ 2 * h` where `/ (2 * h)` is meant."""

EXPECTED = {
    "test_small_graph": "partial:graph-averaged",
    "test_numerical_gradient": "failed:difference-wrong-precedence",
}
KIND = "fault"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    n = x.size
    return np.sum(x * y + z), y / n, x / n, np.ones(z.shape) / n
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[i] = h
        g[i] = (f(x + e) - f(x - e)) / 2 * h
    return g
""",
}
